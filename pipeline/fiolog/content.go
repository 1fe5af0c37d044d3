package fiolog

import (
	"bytes"
	"errors"

	"github.com/fio2es/fio2es/hist"
)

// Content is what a file is, by its beginning alone.
type Content uint8

// The contents.
const (
	Unknown     Content = iota
	Histograms          // rows of a histogram log
	Completions         // rows of single completions, or of anything else with a block size
	Averages            // rows of averages; nothing in them says what of
	Output              // a report
)

// ContentOf returns what a file is by its first bytes: [Output] if a report begins in them, and else the rows that the first of its
// lines is that may be a row. The name of a log says more.
func ContentOf(head []byte) Content {
	const lines = 8
	if IsReport(head) {
		return Output
	}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for range lines {
		line, rest, _ := bytes.Cut(head, []byte{'\n'})
		if c := contentOfRow(bytes.TrimSpace(line)); c != Unknown {
			return c
		}
		head = rest
	}
	return Unknown
}

// contentOfRow returns the kind of log from which a row may be.
func contentOfRow(line []byte) Content {
	bins := binBuffers.Get().(*binBuffer)
	defer binBuffers.Put(bins)
	var r row
	if _, ok := parseSlow(line, bins, &r); ok {
		if _, err := hist.Resolve(r.columns, hist.Hint{}); !errors.Is(err, hist.ErrColumns) {
			return Histograms
		}
	}
	var rec Record
	switch _, ok := parseRaw(line, &rec); {
	case !ok:
		return Unknown
	case rec.Averaged || rec.BlockSize == 0:
		return Averages
	}
	return Completions
}

// IsReport reports whether a text has output of fio: the beginning of a JSON document, or a line of another format. Other
// text may come before it.
func IsReport(text []byte) bool { return IsJSON(text) || IsText(text) }

// IsJSON looks for keys that only reports of fio have. Programs that write them again sort keys, so the version may come
// after the jobs.
func IsJSON(text []byte) bool {
	return hasKey(text, `"fio version"`) || hasKey(text, `"jobs"`) && hasKey(text, `"jobname"`)
}

func hasKey(text []byte, key string) bool {
	const blanks = " \t\r\n"
	for {
		before, after, found := bytes.Cut(text, []byte(key))
		if !found {
			return false
		}
		before, value := bytes.TrimRight(before, blanks), bytes.TrimLeft(after, blanks)
		if n := len(before); n > 0 && (before[n-1] == '{' || before[n-1] == ',') && len(value) > 0 && value[0] == ':' {
			return true
		}
		text = after
	}
}
