package cbt

import (
	"bytes"
	"io"
	"regexp"
	"strconv"

	"github.com/fio2es/fio2es/pipeline/source"
)

// peekLen is how much of a file is read to find out what it is.
const peekLen = 64 << 10

// head is the beginning of a file. It may be good although the rest of the file is damaged.
func head(f *source.File) []byte { return beginning(f, peekLen) }

// beginning returns the first n bytes of a file, or all of it if it has fewer.
func beginning(f *source.File, n int) []byte {
	in, err := f.Open()
	if err != nil {
		return nil
	}
	defer in.Close()
	b := make([]byte, n)
	n, _ = io.ReadFull(in, b)
	return b[:n]
}

func isReport(f *source.File) bool { return hasReport(head(f)) }

// hasReport reports whether the first JSON document in a text begins as fio's do. Other text
// may come before it.
func hasReport(head []byte) bool {
	_, after, found := bytes.Cut(head, []byte{'{'})
	for found {
		if bytes.HasPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte(`"fio version"`)) {
			return true
		}
		_, after, found = bytes.Cut(after, []byte{'{'})
	}
	return false
}

// The first lines of fio's output in its other formats.
var (
	normalOutput = regexp.MustCompile(`(?m)^.+: \(g(?:roupid)?=\d+[,)]`)
	terseOutput  = regexp.MustCompile(`(?m)^\d;fio-\d`)
)

// otherFormat says that a text is fio's output in a format that is not read. It is empty for other texts.
func otherFormat(head []byte) string {
	format := ""
	switch {
	case normalOutput.Match(head):
		format = "normal"
	case terseOutput.Match(head):
		format = "terse"
	default:
		return ""
	}
	return "is fio's " + format + " output, and only its JSON is read: run fio with --output-format=json+"
}

// addUnread adds a file that is no report. If it is fio's output in another format, people may expect it to be read.
func (l *leftovers) addUnread(f *source.File, why string) {
	if format := otherFormat(head(f)); format != "" {
		l.addNotable(f, format)
		return
	}
	l.add(f, why)
}

// content is the kind of a file, by its content alone.
type content uint8

const (
	unknown     content = iota
	histogram           // rows of a histogram log
	completions         // rows of single completions, or of anything else with a block size
	averages            // rows of averages; nothing in them says what of
	report              // fio's JSON output
)

// contentOf returns the kind of a text by its first few lines that fio may have written.
func contentOf(head []byte) content {
	const lines = 8
	if hasReport(head) {
		return report
	}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for range lines {
		line, rest, _ := bytes.Cut(head, []byte{'\n'})
		if c := rowContent(line); c != unknown {
			return c
		}
		head = rest
	}
	return unknown
}

// rowContent returns the kind of log from which a row may be, by the row's number of fields.
func rowContent(line []byte) content {
	fields := bytes.Split(bytes.TrimSpace(line), []byte{','})
	const (
		least, most = 4, 8 // fields of a row without a histogram
		before      = 3    // fields before the bins of a row with a histogram
	)
	var values []uint64
	for _, f := range fields {
		n, err := strconv.ParseUint(string(bytes.TrimSpace(f)), 0, 64)
		if err != nil {
			return unknown
		}
		values = append(values, n)
	}
	switch {
	case len(values) < least:
		return unknown
	case isBins(len(values)-before) && values[1] <= 2:
		return histogram
	case len(values) > most || values[2] > 2:
		return unknown
	case values[3] == 0:
		return averages
	}
	return completions
}

// isBins reports whether a row of a histogram log may have n bins: fio has 19 groups of 64 (fio 2) or 29, other builds
// more or less, and log_hist_coarseness halves them.
func isBins(n int) bool {
	const fewest, most, coarsest = 17, 64, 6
	for c := range coarsest + 1 {
		if groups := n << c / 64; fewest <= groups && groups <= most && groups*64>>c == n {
			return true
		}
	}
	return false
}
