package fiolog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
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

// ReadReports reads fio's JSON output, one document after the other. fio writes one for each run, or one a second with
// --status-interval=1. ReadReports skips text between documents, which --output-format=json,normal writes. name is the
// name for errors.
//
// A [*SyntaxError] stands for a document that is skipped, and later documents follow. Any other error is the last
// element. If the file ends within a document, the error is a SyntaxError with Partial set. At most one document is in
// memory at a time.
func ReadReports(r io.Reader, name string) iter.Seq2[*Report, error] {
	return func(yield func(*Report, error) bool) {
		s := documents{src: bufio.NewReaderSize(r, piece), name: name, yield: yield}
		if err := s.run(); err != nil && err != io.EOF && !s.stopped {
			yield(nil, fmt.Errorf("read %s: %w", name, err))
		}
	}
}

// documents finds where JSON documents begin and end. A document begins with a "{" at the start of a line or after
// another document, and a key follows. fio writes only the outermost braces in the first column.
type documents struct {
	src     *bufio.Reader
	name    string
	yield   func(*Report, error) bool
	stopped bool // yield returned false

	line        int    // 1-based, of the piece
	doc         []byte // the current document so far; empty outside of one
	first       int    // its first line
	column      int    // column in which it begins, 1-based
	depth       int    // of braces
	significant int    // bytes of it that are not blank, at most 2
	inString    bool
	escaped     bool
}

// run reads to the end. It returns io.EOF or the error of the source.
func (s *documents) run() error {
	atStart := true // of a line
	for !s.stopped {
		p, err := s.src.ReadSlice('\n')
		if atStart {
			s.line++
			if s.line == 1 {
				p = bytes.TrimPrefix(p, []byte("\xef\xbb\xbf"))
			}
		}
		s.take(p, atStart)
		switch {
		case err == nil:
			atStart = true
		case errors.Is(err, bufio.ErrBufferFull):
			atStart = false
		case err == io.EOF && len(s.doc) > 0 && !s.stopped:
			s.cutShort("the end of the file")
			return err
		default:
			return err
		}
	}
	return io.EOF
}

// take parses a line, or a piece of one.
func (s *documents) take(p []byte, atStart bool) {
	if atStart && len(s.doc) > 0 && isBareBrace(p) {
		p = bytes.Clone(p) // isAnother moves the buffer when it looks ahead
		if s.isAnother() {
			s.cutShort("another document")
		}
	}
	canBegin, column := atStart, 1
	for len(p) > 0 && !s.stopped {
		if len(s.doc) == 0 {
			rest := bytes.TrimLeft(p, " \t\r\n")
			column += len(p) - len(rest)
			if p = rest; !canBegin || len(p) == 0 || p[0] != '{' {
				return
			}
			s.start(column)
		}
		n := s.scan(p)
		if len(s.doc)+n > cap(s.doc) {
			s.doc = slices.Grow(s.doc, max(n, len(s.doc))) // append would grow in smaller steps and leave garbage
		}
		s.doc = append(s.doc, p[:n]...)
		p, column = p[n:], column+n
		switch {
		case s.significant < 0: // a brace that is part of other text
			s.doc = s.doc[:0]
			return
		case s.depth == 0:
			s.finish()
			canBegin = true
		case len(s.doc) > maxDocument:
			s.cutShort(fmt.Sprintf("more than %d bytes of one report, which group_reporting makes smaller",
				maxDocument))
			return
		}
	}
}

func (s *documents) start(column int) {
	if s.doc == nil {
		s.doc = make([]byte, 0, usualDocument)
	}
	s.doc, s.first, s.column = s.doc[:0], s.line, column
	s.depth, s.significant, s.inString, s.escaped = 0, 0, false, false
}

// isBareBrace reports whether a line is "{" in the first column and nothing else.
func isBareBrace(p []byte) bool {
	return len(p) > 0 && p[0] == '{' && len(bytes.TrimSpace(p)) == 1
}

// isAnother reports whether a bare brace within a document begins a new document. That is so if this document was cut
// short: fio's first key follows the brace, or no value is possible here.
func (s *documents) isAnother() bool {
	next, err := s.src.Peek(32)
	if err != nil && err != io.EOF {
		return false
	}
	if bytes.HasPrefix(bytes.TrimSpace(next), []byte(`"fio version"`)) {
		return true
	}
	before := bytes.TrimRight(s.doc, " \t\r\n")
	return len(before) > 0 && bytes.IndexByte([]byte(":,["), before[len(before)-1]) < 0
}

// scan reads p until the document ends (depth 0) and returns the number of bytes that belong to it. A string ends with
// its line at the latest. So a quote that fio did not escape damages only its own document.
func (s *documents) scan(p []byte) int {
	for i, c := range p {
		if s.significant < 2 && c > ' ' {
			if s.significant++; s.significant == 2 && c != '"' {
				s.significant = -1
				return i
			}
		}
		switch {
		case c == '\n':
			s.inString, s.escaped = false, false
		case s.escaped:
			s.escaped = false
		case s.inString:
			s.inString, s.escaped = c != '"', c == '\\'
		case c == '"':
			s.inString = true
		case c == '{':
			s.depth++
		case c == '}':
			if s.depth--; s.depth == 0 {
				return i + 1
			}
		}
	}
	return len(p)
}

func (s *documents) finish() {
	r, err := s.parse()
	s.doc = s.doc[:0]
	s.stopped = !s.yield(r, err)
}

// cutShort yields an error for a document that ends too early.
func (s *documents) cutShort(got string) {
	line, column := s.position(len(s.doc))
	s.doc = s.doc[:0]
	s.stopped = !s.yield(nil, &SyntaxError{
		File: s.name, Line: line, Column: column, Got: got, Partial: true,
		Want: fmt.Sprintf("the rest of the JSON document that begins in line %d", s.first),
	})
}

// position returns the place in the file of the byte at offset of the document.
func (s *documents) position(offset int) (line, column int) {
	before := s.doc[:min(max(offset, 0), len(s.doc))]
	line = s.first + bytes.Count(before, []byte{'\n'})
	if i := bytes.LastIndexByte(before, '\n'); i >= 0 {
		return line, len(before) - i
	}
	return line, s.column + len(before)
}

// parse makes a report of the document. fio prints values such as nan, which are not JSON. They become 0, because all
// other values are good.
func (s *documents) parse() (*Report, error) {
	bad := syntaxError(s.doc)
	if bad != nil && repairNumbers(s.doc) {
		bad = syntaxError(s.doc)
	}
	if bad != nil {
		at := max(int(bad.Offset)-1, 0)
		line, column := s.position(at)
		got := s.doc[min(at, len(s.doc)):]
		return nil, &SyntaxError{File: s.name, Line: line, Column: column, Got: quoted(got), Want: "JSON"}
	}
	rep, err := (&decoder{doc: s.doc}).report()
	switch {
	case err == errNoReport:
		return nil, &SyntaxError{
			File: s.name, Line: s.first, Column: s.column,
			Got: quoted(s.doc), Want: "a report of fio, which has a \"fio version\" and \"jobs\"",
		}
	case err != nil:
		return nil, &SyntaxError{File: s.name, Line: s.first, Column: s.column, Got: err.Error(), Want: "a report of fio"}
	}
	rep.Line, rep.Bytes = s.first, len(s.doc)
	return rep, nil
}

// syntaxError returns the error of a text that is not JSON, or nil.
func syntaxError(text []byte) *json.SyntaxError {
	if json.Valid(text) {
		return nil
	}
	var bad *json.SyntaxError
	errors.As(json.Unmarshal(text, new(json.RawMessage)), &bad)
	return bad
}

// repairNumbers replaces nan and inf, which are not JSON, by 0. The length of the document does not change. It reports
// whether it replaced any.
func repairNumbers(doc []byte) bool {
	found := false
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '"':
			i = stringEnd(doc, i)
		case 'n', 'N', 'i', 'I', '-':
			if n := notNumber(doc[i:]); n > 0 {
				copy(doc[i:i+n], bytes.Repeat([]byte{' '}, n))
				doc[i] = '0'
				found = true
				i += n - 1
			}
		}
	}
	return found
}

// notNumber returns the length of nan, inf or infinity at the start of b, including the sign.
func notNumber(b []byte) int {
	n := 0
	if b[0] == '-' {
		n = 1
	}
	for _, word := range []string{"infinity", "inf", "nan"} {
		if len(b) >= n+len(word) && bytes.EqualFold(b[n:n+len(word)], []byte(word)) {
			n += len(word)
			if bytes.HasPrefix(b[n:], []byte("(ind)")) { // Windows
				n += len("(ind)")
			}
			return n
		}
	}
	return 0
}
