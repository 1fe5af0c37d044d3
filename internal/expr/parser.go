// Package expr is the language in which users write conditions and quantities: --where, the rules of sla, --fail-if,
// runs as arguments, and the times and latencies of flags and settings. It knows how things are written, and callers
// know which names there are:
//
//	condition = NAME OP VALUE
//	NAME      = a word; callers say which ones: bs, write.p99, "label.my rack"
//	OP        = "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~"; callers say which ones
//	VALUE     = a quantity (4k, 5ms, 1e6, 30 days, 10 %, 1.5GB/s), a time (2026-10-01, 7d), a word, or a text in quotes
//
// Key words (and, or, not, in …), units and names may be in upper or lower case. Spaces are allowed between all parts,
// also between a number and its unit.
package expr

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is a mistake in a text.
type Error struct {
	Column  int    // in characters, from 1
	Problem string // what was wanted, and what is there instead
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Problem) }

// Parser reads a text from left to right. After the first mistake it reads nothing more, and each method returns its
// zero value, so callers look at [Parser.Err] only at the end and where they loop.
type Parser struct {
	text string
	at   int // offset of what comes next, in bytes; no space is there
	err  error
}

// New returns a parser of a text.
func New(text string) *Parser {
	p := &Parser{text: text}
	p.skip(0)
	return p
}

// skip moves on by n bytes, and by the spaces after them.
func (p *Parser) skip(n int) {
	p.at += n
	p.at += len(p.text[p.at:]) - len(strings.TrimLeftFunc(p.text[p.at:], unicode.IsSpace))
}

// Err returns the first mistake, an [*Error], or nil.
func (p *Parser) Err() error { return p.err }

// At returns the offset of what comes next, for [Parser.Since] and [Parser.Want].
func (p *Parser) At() int { return p.at }

// Since returns the text that was read since an offset.
func (p *Parser) Since(at int) string { return strings.TrimSpace(p.text[at:p.at]) }

// IsEnd reports whether nothing follows. It is also true after a mistake.
func (p *Parser) IsEnd() bool { return p.at == len(p.text) }

// Fail records a mistake at an offset, unless there is one already.
func (p *Parser) Fail(at int, format string, args ...any) {
	if p.err == nil {
		p.err = &Error{utf8.RuneCountInString(p.text[:at]) + 1, fmt.Sprintf(format, args...)}
		p.at = len(p.text)
	}
}

// Want records that something else was expected at an offset.
func (p *Parser) Want(at int, what string) {
	if p.err != nil {
		return
	}
	found := "the end"
	if at < len(p.text) {
		rest := p.text[at:]
		n := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || r == ')' })
		if n <= 0 {
			n = len(rest)
		}
		const most = 20 // characters, because the text may be long
		word := []rune(rest[:n])
		found = fmt.Sprintf("%q", string(word[:min(len(word), most)]))
	}
	p.Fail(at, "want %s, found %s", what, found)
}

// End records a mistake if anything follows.
func (p *Parser) End(want string) {
	if !p.IsEnd() {
		p.Want(p.at, want)
	}
}

// Keyword reads a key word if it comes next, and reports whether it did.
func (p *Parser) Keyword(word string) bool {
	rest := p.text[p.at:]
	if len(rest) < len(word) || !strings.EqualFold(rest[:len(word)], word) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest[len(word):])
	if unicode.IsLetter(next) || strings.ContainsRune("._-", next) { // a name that only begins so: order
		return false
	}
	p.skip(len(word))
	return true
}

// Op reads the first of these operators, parentheses and the like that comes next, and returns it, or "". Longer ones
// must come first: "<=" before "<".
func (p *Parser) Op(list ...string) string {
	for _, op := range list {
		if strings.HasPrefix(p.text[p.at:], op) {
			p.skip(len(op))
			return op
		}
	}
	return ""
}

// Until reads and returns the text before any of some characters, or to the end.
func (p *Parser) Until(stop string) string {
	at := p.at
	if n := strings.IndexAny(p.text[at:], stop); n >= 0 {
		p.skip(n)
	} else {
		p.at = len(p.text)
	}
	return p.Since(at)
}

// Word reads a word or a text in quotes, and returns it without them. ok is false if neither comes next.
func (p *Parser) Word() (text string, ok bool) {
	if p.IsEnd() {
		return "", false
	}
	rest := p.text[p.at:]
	if quote := rest[0]; quote == '"' || quote == '\'' {
		n := strings.IndexByte(rest[1:], quote)
		if n < 0 {
			p.Fail(p.at, "the text that begins here has no closing %c", quote)
			return "", false
		}
		p.skip(n + 2)
		return rest[1 : n+1], true
	}
	n := 0
	for !isBreak(rest[n:]) {
		n++
	}
	p.skip(n)
	return rest[:n], n > 0
}

// isBreak reports whether a text begins with what ends a word.
func isBreak(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return text == "" || unicode.IsSpace(r) || strings.ContainsRune(`=!~<>(),"'`, r)
}

// Quantity reads a quantity of a kind, which may be in quotes. at is its offset.
func (p *Parser) Quantity(k Kind) (value float64, at int) {
	at = p.at
	if !p.IsEnd() && strings.ContainsRune(`"'`, rune(p.text[at])) {
		text, _ := p.Word()
		v, ok := k.Parse(text)
		if !ok {
			p.Want(at, k.Want())
		}
		return v, at
	}
	v, n := k.scan(p.text[at:])
	if n == 0 || p.text[at+n-1] != '%' && !isBreak(p.text[at+n:]) {
		p.Want(at, k.Want())
		return 0, at
	}
	p.skip(n)
	return v, at
}

// Time reads a time in one of the forms of [Period], and returns its text.
func (p *Parser) Time() (text string, ok bool) {
	text, ok = p.Word()
	if ok && strings.Trim(text, "0123456789") == "" {
		rest := p.at
		word, _ := p.Word()
		if _, isUnit := ago[strings.ToLower(word)]; isUnit { // 30 days
			return text + word, true
		}
		p.at = rest
	}
	return text, ok
}

// Quote puts a name or a value in quotes if it is not a word.
func Quote(text string) string {
	p := New(text)
	if word, ok := p.Word(); ok && word == text {
		return text
	}
	if strings.Contains(text, `"`) {
		return "'" + text + "'"
	}
	return `"` + text + `"`
}

// Near returns the names that differ from a word in one character, or in two neighbours that changed places, or that
// begin with it.
func Near(word string, names []string) (list []string) {
	for _, name := range names {
		if isNear(strings.ToLower(word), strings.ToLower(name)) {
			list = append(list, name)
		}
	}
	return list
}

func isNear(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) > 3 && strings.HasPrefix(b, a) {
		return true
	}
	if len(b)-len(a) > 1 || len(a) < 2 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	return i == len(a) || a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
