package fiolog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fio2es/fio2es/internal/late"
	"github.com/fio2es/fio2es/internal/secret"
)

const (
	// maxDocument is the largest text of a report in bytes. json+ has only 20 to 100 KB for each job. Memory for the
	// parsed report has its own limit, maxMade.
	maxDocument = 64 << 20

	// usualDocument is the usual size of the report of one job, in bytes.
	usualDocument = 192 << 10

	// piece is the number of bytes of a line that are read at a time.
	piece = 64 << 10
)

// ReadReports reads fio's output. In JSON that is one document after the other: fio writes one for each run, or one a second
// with --status-interval=1. In the text between them it reads fio's normal and terse output, and skips the rest. Of a report
// in several formats (--output-format=normal,json) it returns the most exact one. name is the name for errors.
//
// A [*SyntaxError] stands for a document that is skipped, and later documents follow. Any other error is the last
// element. If the file ends within a document, the error is a SyntaxError with Partial set. At most one document is in
// memory at a time.
func ReadReports(r io.Reader, name string) iter.Seq2[*Report, error] {
	return func(yield func(*Report, error) bool) {
		buffers := reading.Get().(*documents)
		s := documents{src: buffers.src, doc: buffers.doc, name: name, atStart: true, outside: &texts{name: name, left: maxMade}}
		s.src.Reset(r)
		defer reading.Put(buffers)
		defer s.src.Reset(nil)
		for s.next() {
			rep, err := s.parse()
			if err == nil {
				s.outside.know(rep)
			}
			if !yield(rep, err) {
				return
			}
		}
		if s.err != io.EOF {
			yield(nil, fmt.Errorf("read %s: %w", name, s.err))
			return
		}
		reports, err := s.outside.end()
		for _, rep := range reports {
			if !yield(rep, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// reading has buffers, because those of one report are larger than most reports.
var reading = sync.Pool{New: func() any {
	return &documents{src: bufio.NewReaderSize(nil, piece), doc: make([]byte, 0, usualDocument)}
}}

// documents finds where JSON documents begin and end. A document begins with a "{" at the start of a line or of a list, after
// another document or before a line with fio's first key, and a key follows. fio writes only the outermost braces in the first column.
type documents struct {
	src  *bufio.Reader
	name string
	err  error // why no more can be read

	outside *texts // takes the lines outside of documents

	line    int    // 1-based, of rest
	rest    []byte // of a line or of a piece of one, not scanned yet
	column  int    // in which rest begins, 1-based
	atStart bool   // the next piece begins a line
	doc     []byte // the document; empty outside of one
	first   int    // its first line
	begin   int    // the column in which it begins, 1-based
	cut     string // where it ends too early; empty if it is complete
}

// next finds the next document. It returns false at the end (s.err).
func (s *documents) next() bool {
	s.doc, s.cut = s.doc[:0], ""
	depth, significant := 0, 0 // of braces; bytes that are not blank, at most 2
	inString, isEscaped := false, false
	mayBegin := len(s.rest) > 0 // after another document
	for {
		for len(s.rest) == 0 {
			if s.err != nil {
				s.cut = "the end of the file"
				return s.err == io.EOF && len(s.doc) > 0
			}
			isStart := s.atStart
			s.rest, s.err = s.src.ReadSlice('\n')
			if s.atStart = s.err == nil; errors.Is(s.err, bufio.ErrBufferFull) {
				s.err = nil
			}
			if isStart {
				s.line++
				if s.line == 1 {
					s.rest = bytes.TrimPrefix(s.rest, []byte("\xef\xbb\xbf"))
				}
			}
			s.column, mayBegin = 1, isStart
			// A bare brace in the first column begins a new document if this one was cut short: fio's first key
			// follows the brace, or no value is possible here.
			if !isStart || len(s.doc) == 0 || len(s.rest) == 0 || s.rest[0] != '{' || len(bytes.TrimSpace(s.rest)) != 1 {
				continue
			}
			s.rest = bytes.Clone(s.rest) // Peek moves the buffer
			after, err := s.src.Peek(32)
			before := bytes.TrimRight(s.doc, " \t\r\n")
			if (err == nil || err == io.EOF) && (bytes.HasPrefix(bytes.TrimSpace(after), []byte(`"fio version"`)) ||
				bytes.IndexByte([]byte(":,["), before[len(before)-1]) < 0) {
				s.cut = "another document"
				return true
			}
		}
		if len(s.doc) == 0 {
			text := bytes.TrimLeft(s.rest, " \t\r\n")
			if of := bytes.TrimLeft(text, " \t\r\n[,"); len(of) > 0 && of[0] == '{' {
				text = of // in a list
			}
			s.column += len(s.rest) - len(text)
			if !mayBegin || len(text) == 0 || text[0] != '{' {
				// The shell or another program may have written in this line, without a newline: "> {"
				at := bytes.LastIndexByte(text, '{')
				if at < 0 || len(bytes.TrimSpace(text[at:])) != 1 {
					s.outside.add(s.rest, s.line)
					s.rest = nil
					continue
				}
				line := bytes.Clone(s.rest) // Peek moves the buffer
				if after, _ := s.src.Peek(32); !bytes.HasPrefix(bytes.TrimSpace(after), []byte(`"fio version"`)) {
					s.outside.add(line, s.line)
					s.rest = nil
					continue
				}
				text = line[len(line)-len(text)+at:]
				s.column += at
			}
			s.rest = text
			s.first, s.begin = s.line, s.column
			depth, significant, inString, isEscaped = 0, 0, false, false
		}
		// A string ends with its line at the latest. So a quote that fio did not escape damages only its own document.
		n, isOther := len(s.rest), false
	scan:
		for i, c := range s.rest {
			if significant < 2 && c > ' ' {
				if significant++; significant == 2 && c != '"' {
					isOther = true // a brace that is part of other text
					break
				}
			}
			switch {
			case c == '\n':
				inString, isEscaped = false, false
			case isEscaped:
				isEscaped = false
			case inString:
				inString, isEscaped = c != '"', c == '\\'
			case c == '"':
				inString = true
			case c == '{':
				depth++
			case c == '}':
				if depth--; depth == 0 {
					n = i + 1
					break scan
				}
			}
		}
		if isOther {
			s.outside.add(s.rest, s.line)
			s.doc, s.rest = s.doc[:0], nil
			continue
		}
		if len(s.doc)+n > cap(s.doc) {
			s.doc = slices.Grow(s.doc, max(n, len(s.doc))) // append would grow in smaller steps and leave garbage
		}
		s.doc = append(s.doc, s.rest[:n]...)
		s.rest, s.column = s.rest[n:], s.column+n
		switch {
		case depth == 0:
			return true
		case len(s.doc) > maxDocument:
			s.cut = fmt.Sprintf("more than %d bytes of one report, which group_reporting makes smaller", maxDocument)
			s.rest = nil
			return true
		}
	}
}

// notNumbers matches strings, and what fio prints for numbers and is not JSON. In Windows "(ind)" may follow.
var notNumbers = late.Regexp(`"(?:\\.|[^"\\\n])*"?|(?i)-?(?:infinity|inf|nan)(?:\(ind\))?`)

// parse makes a report of the document. Values such as nan become 0, because all other values are good.
func (s *documents) parse() (*Report, error) {
	bad := &SyntaxError{File: s.name, Line: s.first, Column: s.begin}
	at := len(s.doc) // of the error, in the document
	if s.cut != "" {
		bad.Got, bad.Partial = s.cut, true
		bad.Want = fmt.Sprintf("the rest of the JSON document that begins in line %d", s.first)
	} else {
		isJSON := jsontext.Value(s.doc).IsValid(lenient...)
		if !isJSON {
			s.doc = notNumbers().ReplaceAllFunc(s.doc, func(text []byte) []byte {
				if text[0] == '"' {
					return text
				}
				return append([]byte{'0'}, bytes.Repeat([]byte{' '}, len(text)-1)...) // places stay
			})
			isJSON = jsontext.Value(s.doc).IsValid(lenient...)
		}
		if isJSON {
			rep, err := newReport(s.doc)
			switch {
			case err == nil:
				rep.Line, rep.Bytes = s.first, len(s.doc)
				return rep, nil
			case err == errNoReport:
				bad.Got, bad.Want = s.quoted(0), "a report of fio, which has a \"fio version\" and \"jobs\""
			default:
				bad.Got, bad.Want = err.Error(), "a report of fio"
			}
			return nil, bad
		}
		_, err := jsontext.NewDecoder(bytes.NewBuffer(s.doc), lenient...).ReadValue()
		if wrong, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			at = int(wrong.ByteOffset)
		}
		bad.Got, bad.Want = s.quoted(at), "JSON"
	}
	before := s.doc[:at]
	bad.Line += bytes.Count(before, []byte{'\n'})
	bad.Column += len(before)
	if i := bytes.LastIndexByte(before, '\n'); i >= 0 {
		bad.Column = len(before) - i
	}
	return nil, bad
}

// quoted quotes the document from a place on, unless a line of it has a secret.
func (s *documents) quoted(at int) string {
	first, end := bytes.LastIndexByte(s.doc[:at], '\n')+1, min(at+maxQuoted, len(s.doc))
	if i := bytes.IndexByte(s.doc[end:], '\n'); i >= 0 {
		end += i
	} else {
		end = len(s.doc)
	}
	for _, name := range names().FindAll(s.doc[first:end], -1) {
		if secret.IsName(string(name)) {
			return "a line with a secret"
		}
	}
	return quoted(s.doc[at:])
}

// names matches all that may be the name of an option.
var names = late.Regexp(`[\w.-]+`)
