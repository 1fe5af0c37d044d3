package evidence

import (
	"bytes"
	"strconv"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Look is what the beginning of a file shows.
type Look struct {
	Content Content
	HasJSON bool // fio's output is in JSON
	IsEmpty bool
	Start   string // its first 40 bytes

	// Foreign says in which form it has fio's output that is not read, and how to take it out of that; else empty.
	Foreign string
}

// Look looks at the beginning of the file. It may be good although the rest of the file is damaged.
func (f *File) Look() *Look {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.see()
	return f.look
}

// IsReport reports whether the file begins like fio's output, damaged or not.
func (f *File) IsReport() bool { return f.Look().Content == Report }

// IsOutput reports whether a text begins like fio's output, also in a form that is not read.
func IsOutput(head []byte) bool { return hasReport(head) || foreign("", head, false) != "" }

// lookAt looks at the first bytes of a file.
func lookAt(name string, head []byte, isNamed bool) *Look {
	const start = 40
	return &Look{
		Content: contentOf(head), HasJSON: hasJSON(head), Start: string(head[:min(len(head), start)]),
		Foreign: foreign(name, head, isNamed),
	}
}

// hasReport reports whether a text has output of fio: the beginning of a JSON document, or a line of another format. Other
// text may come before it.
func hasReport(head []byte) bool { return hasJSON(head) || fiolog.IsText(head) }

// hasJSON looks for keys that only reports of fio have. Programs that write them again sort keys, so the version may come
// after the jobs.
func hasJSON(head []byte) bool {
	return hasKey(head, `"fio version"`) || hasKey(head, `"jobs"`) && hasKey(head, `"jobname"`)
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

// Content is the kind of a file, by its content alone.
type Content uint8

// The contents.
const (
	Unknown     Content = iota
	Histograms          // rows of a histogram log
	Completions         // rows of single completions, or of anything else with a block size
	Averages            // rows of averages; nothing in them says what of
	Report              // fio's output
)

// contentOf returns the kind of a text by its first few lines that fio may have written.
func contentOf(head []byte) Content {
	const lines = 8
	if hasReport(head) {
		return Report
	}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for range lines {
		line, rest, _ := bytes.Cut(head, []byte{'\n'})
		if c := rowContent(line); c != Unknown {
			return c
		}
		head = rest
	}
	return Unknown
}

// rowContent returns the kind of log from which a row may be, by the row's number of fields.
func rowContent(line []byte) Content {
	var values []uint64
	for field := range bytes.SplitSeq(bytes.TrimSpace(line), []byte{','}) {
		n, err := strconv.ParseUint(string(bytes.TrimSpace(field)), 0, 64)
		if err != nil {
			return Unknown
		}
		values = append(values, n)
	}
	if len(values) < 4 {
		return Unknown
	}
	// After three fields a row of a histogram log has bins: fio has 19 groups of 64 (fio 2) or 29, other builds more or
	// less, and log_hist_coarseness halves them. Other rows have up to eight fields.
	const fewest, most, coarsest = 17, 64, 6
	for c := range coarsest + 1 {
		n := len(values) - 3
		if groups := n << c / 64; fewest <= groups && groups <= most && groups*64>>c == n && values[1] <= 2 {
			return Histograms
		}
	}
	switch {
	case len(values) > 8 || values[2] > 2:
		return Unknown
	case values[3] == 0:
		return Averages
	}
	return Completions
}
