package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
)

// reportName returns the name of the file with all of fio's output, in the folder of a run. If fio is asked for reports on a
// grid, the name has the time between its edges: see evidence.Grid.
func reportName(run string, grid time.Duration) string {
	if grid > 0 {
		run += fmt.Sprintf(".grid%ds", grid/time.Second)
	}
	return run + ".json"
}

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

// Copy copies the part of fio's output that the user wants. hasEnded reports that fio ended by itself, so that its
// last report is the final one. Otherwise there is no final report. If the output ends within a report, Copy copies
// the messages outside of reports, and fails with [ErrCut].
func (o *Output) Copy(to io.Writer, from io.ReadSeeker, hasEnded bool) error {
	final, isCut := 0, false // the number of the final report; the output ends within a report or line
	for lines, err := range parts(from) {
		if err != nil {
			return err
		}
		if len(lines) > 1 {
			final++
		}
		isCut = len(lines) == 0 || !strings.HasSuffix(lines[len(lines)-1], "\n")
	}
	isCut = isCut && hasEnded
	if !hasEnded || isCut {
		final++
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	out := bufio.NewWriter(to)
	seen := 0 // reports so far
	for lines, err := range parts(from) {
		if err != nil {
			return err
		}
		isReport, number := len(lines) > 1, seen
		switch {
		case isReport:
			seen++
			number = seen
			switch {
			case slices.Contains(o.Formats, jsonPlus):
			case slices.Contains(o.Formats, "json"):
				lines = withoutBins(lines)
			default:
				continue
			}
		case len(lines) == 0:
			continue
		case isTerse(lines[0]): // fio writes it before the JSON, and the normal format after it
			isReport, number = true, seen+1
		default:
			isReport = seen > 0 && slices.Contains(o.Formats, "normal") && !strings.HasPrefix(lines[0], "fio: ")
		}
		if isReport && !o.All && number != final {
			continue
		}
		if _, err := out.WriteString(strings.Join(lines, "")); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil || !isCut {
		return err
	}
	return ErrCut
}

// ErrCut means that fio did not complete its last report.
var ErrCut = errors.New("fio's last report is cut off, as by a full disk")

// parts iterates over the lines of each JSON report in fio's output, and over each other line. fio writes the brackets
// of a report on separate lines. An incomplete report is nil.
func parts(r io.Reader) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		in := bufio.NewReader(r)
		var report []string
		for {
			line, err := in.ReadString('\n')
			text := strings.TrimRight(line, "\r\n")
			switch {
			case report == nil && text == "{":
				report = []string{line}
			case report != nil && line != "":
				if report = append(report, line); text == "}" {
					if !yield(report, nil) {
						return
					}
					report = nil
				}
			case line != "" && !yield([]string{line}, nil):
				return
			}
			if err == io.EOF {
				if report != nil {
					yield(nil, nil)
				}
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
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
