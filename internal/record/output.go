package record

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/fioargs"
)

// reportName returns the name of the file with all of fio's output, in the folder of a run.
func reportName(run string) string { return run + ".json" }

// Output says where the user wants fio's output, and in which formats.
type Output struct {
	File    string   // empty: stdout
	Formats []string // normal, json, json+, terse
	All     bool     // all periodic reports, and not only the last one
}

// outputOf returns the output that a command wants.
func outputOf(c *fioargs.Command) Output {
	o := Output{Formats: []string{"normal"}}
	for _, a := range c.Args {
		switch {
		case !a.IsOwn:
		case a.Name == "output":
			o.File = a.Value
		case a.Name == "output-format":
			o.Formats = strings.FieldsFunc(a.Value, func(r rune) bool { return r == ',' || r == ' ' })
		case a.Name == "minimal":
			o.Formats = []string{"terse"}
		case a.Name == "append-terse":
			o.Formats = append(o.Formats, "terse")
		}
	}
	return o
}

const jsonPlus = "json+"

// wants reports whether the user wants a format.
func (o *Output) wants(format string) bool {
	return slices.Contains(o.Formats, format) || format == "terse" && slices.Contains(o.Formats, "minimal")
}

// recorded returns the formats that fio must write: those that the user wants, and json+.
func (o *Output) recorded() []string {
	formats := slices.DeleteFunc(slices.Clone(o.Formats), func(f string) bool { return f == "json" || f == jsonPlus })
	return append(formats, jsonPlus)
}

// Copy copies the part of fio's output that the user wants. hasEnded reports that fio ended by itself, so that its
// last report is the final one. Otherwise there is no final report. If the output ends within a report, Copy copies
// the messages outside of reports, and fails with [ErrCut].
func (o *Output) Copy(to io.Writer, from io.ReadSeeker, hasEnded bool) error {
	reports := 0
	count := &splitter{report: func([]string) error { reports++; return nil }, line: func(string) error { return nil }}
	if err := count.read(from); err != nil {
		return err
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	out := bufio.NewWriter(to)
	c := &copier{Output: o, to: out, final: reports}
	isCut := hasEnded && (count.open != nil || count.isCut)
	if !hasEnded || isCut {
		c.final = reports + 1
	}
	if err := (&splitter{report: c.report, line: c.line}).read(from); err != nil {
		return err
	}
	if err := out.Flush(); err != nil || !isCut {
		return err
	}
	return ErrCut
}

// ErrCut means that fio did not complete its last report.
var ErrCut = errors.New("fio's last report is cut off, as by a full disk")

// splitter splits fio's output into JSON reports and other lines. fio writes the brackets of a report on separate
// lines.
type splitter struct {
	report func(lines []string) error
	line   func(string) error
	open   []string // lines of the present report
	isCut  bool     // the last line has no newline
}

func (s *splitter) read(r io.Reader) error {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			s.isCut = !strings.HasSuffix(line, "\n")
			if err := s.take(line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil // an incomplete report does not count
		}
		if err != nil {
			return err
		}
	}
}

func (s *splitter) take(line string) error {
	switch text := strings.TrimRight(line, "\r\n"); {
	case s.open != nil:
		if s.open = append(s.open, line); text != "}" {
			return nil
		}
		report := s.open
		s.open = nil
		return s.report(report)
	case text == "{":
		s.open = []string{line}
		return nil
	}
	return s.line(line)
}

// copier writes the wanted parts.
type copier struct {
	*Output
	to    io.Writer
	final int // number of the final report
	seen  int // number of reports so far
}

func (c *copier) report(lines []string) error {
	c.seen++
	switch {
	case !c.All && c.seen != c.final:
		return nil
	case c.wants(jsonPlus):
	case c.wants("json"):
		lines = withoutBins(lines)
	default:
		return nil
	}
	_, err := io.WriteString(c.to, strings.Join(lines, ""))
	return err
}

// line writes a line that is not part of a JSON report. fio writes a report in terse format before the JSON, and in
// normal format after it.
func (c *copier) line(line string) error {
	isReport := c.seen > 0 && c.wants("normal") && !strings.HasPrefix(line, "fio: ")
	number := c.seen
	if isTerse(line) {
		isReport, number = true, c.seen+1
	}
	if isReport && !c.All && number != c.final {
		return nil
	}
	_, err := io.WriteString(c.to, line)
	return err
}

// isTerse reports whether a line is a report in terse format, such as "3;fio-3.33;…".
func isTerse(line string) bool {
	version, rest, ok := strings.Cut(line, ";")
	return ok && len(version) == 1 && strings.HasPrefix(rest, "fio-")
}

// withoutBins converts json+ to json, which has no bins.
func withoutBins(lines []string) (kept []string) {
	inside := false
	for _, line := range lines {
		text := strings.TrimSpace(line)
		switch {
		case !inside && strings.HasPrefix(text, `"bins" : {`):
			inside = true
		case !inside:
			kept = append(kept, line)
		case strings.HasPrefix(text, "}"):
			inside = false
			if last := len(kept) - 1; text == "}" { // no comma after what is now the last member of an object
				kept[last] = strings.TrimSuffix(kept[last], ",\n") + "\n"
			}
		}
	}
	return kept
}
