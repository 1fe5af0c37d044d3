package slo

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// SyntaxError says where a text is not a rule.
type SyntaxError struct {
	Text   string // the whole text
	Column int    // in characters, from 1
	Want   string // what was expected
	Found  string // what is there instead; empty: the end of the text
}

// Error implements [error].
func (e *SyntaxError) Error() string {
	found := "the end"
	if e.Found != "" {
		found = strconv.Quote(e.Found)
	}
	return fmt.Sprintf("%q, column %d: want %s, found %s", e.Text, e.Column, e.Want, found)
}

// Parse parses a rule in the grammar of the package comment. It fails with a [*SyntaxError].
func Parse(text string) (Rule, error) {
	p := parser{text: text}
	r := p.rule()
	if p.fault != nil {
		return Rule{}, p.fault
	}
	return r, nil
}

// parser parses a text from left to right. After the first error it consumes nothing.
type parser struct {
	text  string
	at    int // offset in bytes
	fault *SyntaxError
}

const (
	wantSubject = "a percentile such as p99, or min, mean, max, within, iops or requests"
	wantEnd     = `"in 99% of windows", "in every window" or the end`
)

func (p *parser) rule() Rule {
	var r Rule
	start := p.skip()
	word := p.word()
	if slices.Contains(mapping.Directions[:], word) {
		r.Direction = word
		p.symbol(`"."`, ".")
		start = p.skip()
		word = p.word()
	}
	r.Metric = p.metric(start, word)
	r.operator = p.symbol("<, <=, > or >=", "<=", ">=", "<", ">")
	switch r.Metric.Unit() {
	case window.Nanoseconds:
		r.limit = p.number(latency)
	case window.Share:
		r.limit = p.percent()
	default:
		r.limit = p.number(count)
	}
	if start = p.skip(); p.isEnd() {
		return r
	}
	switch {
	case p.word() != "in":
		p.failAt(start, wantEnd)
	case r.Metric.Unit() == window.Number:
		p.failAt(start, "the end (requests count over the whole run; in windows use iops)")
	default:
		r.share = p.windows()
	}
	return r
}

// metric returns the metric that a word means, and parses what belongs to it, such as the latency after "within".
// The word begins at start.
func (p *parser) metric(start int, word string) window.Metric {
	switch word {
	case "p":
		from := p.at
		p.while(func(c rune) bool { return isDigit(c) || c == '.' || c == '_' })
		percent := strings.Replace(p.text[from:p.at], "_", ".", 1)
		_, decimals, _ := strings.Cut(percent, ".")
		m, ok := window.Percentile(percent)
		if !ok || len(decimals) > 4 || strings.Contains(percent, "_") || strings.Trim(percent, ".") != percent {
			p.failAt(start, "a percentile between p0 and p100 with up to four decimals, such as p99.9")
		}
		return m
	case "within":
		n := p.number(latency)
		return window.Within(n.value, n.text)
	}
	m, ok := window.ParseMetric(word)
	if !ok {
		p.failAt(start, wantSubject)
	}
	return m
}

// windows parses what follows "in", and returns the share of windows.
func (p *parser) windows() number {
	start := p.skip()
	if p.word() == "every" {
		p.words("window")
		p.end()
		return everyWindow
	}
	if p.at != start || p.isEnd() || !isDigit(rune(p.text[p.at])) {
		p.failAt(start, `a share such as 99%, or "every window"`)
	}
	n := p.percent()
	if n.value == 0 {
		p.failAt(start, "a share above 0%")
	}
	p.words("of", "windows")
	p.end()
	if n.value == 1 {
		return everyWindow
	}
	return n
}

// suffix is a unit after a number, which multiplies the number by a power of ten.
type suffix struct {
	name  string // in lower case
	text  string
	power int
}

// quantity is a kind of number with its units.
type quantity struct {
	want, wantUnit string
	units          []suffix
}

var (
	latency = quantity{"a latency such as 10ms", "ns, us, ms or s", []suffix{
		// micro sign and Greek mu
		{"ns", "ns", 0}, {"us", "us", 3}, {"µs", "us", 3}, {"μs", "us", 3}, {"ms", "ms", 6}, {"s", "s", 9},
	}}
	share = quantity{"a share such as 99.9%", "%", []suffix{{"%", "%", -2}}}
	count = quantity{"a number such as 5000 or 1e6", "k, M or no unit", []suffix{{"", "", 0}, {"k", "k", 3}, {"m", "M", 6}}}
)

// percent parses a share from 0 % to 100 %.
func (p *parser) percent() number {
	start := p.skip()
	n := p.number(share)
	if n.value > 1 {
		p.failAt(start, "100% at most")
	}
	return n
}

var numberForm = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(?:[eE]([+-]?[0-9]+))?`)

// number parses a number and its unit. A latency is returned in nanoseconds.
func (p *parser) number(of quantity) number {
	start := p.skip()
	m := numberForm.FindStringSubmatch(p.text[p.at:])
	if m == nil {
		p.failAt(start, of.want)
		return number{}
	}
	exponent, err := strconv.Atoi(cmp.Or(m[2], "0"))
	if err != nil || exponent < -30 || exponent > 30 {
		p.failAt(start+len(m[1]), "an exponent between -30 and 30")
		return number{}
	}
	p.at += len(m[0])
	n := number{text: m[1]}
	if exponent != 0 {
		n.text += "e" + strconv.Itoa(exponent)
	}
	if of.units[0].name != "" { // "10 ms" may have a space, but after "5 " the next letter may begin a word
		p.skip()
	}
	at := p.at
	name := p.word()
	if name == "" && strings.HasPrefix(p.text[p.at:], "%") {
		name = "%"
		p.at++
	}
	i := slices.IndexFunc(of.units, func(u suffix) bool { return u.name == name })
	if i < 0 {
		p.failAt(at, of.wantUnit)
		return number{}
	}
	n.text += of.units[i].text
	if n.value, err = strconv.ParseFloat(m[1]+"e"+strconv.Itoa(exponent+of.units[i].power), 64); err != nil {
		p.failAt(start, "a smaller number")
	}
	return n
}

// words parses these words, one after another.
func (p *parser) words(want ...string) {
	for _, w := range want {
		if start := p.skip(); p.word() != w {
			p.failAt(start, strconv.Quote(w))
		}
	}
}

// symbol consumes the first of these symbols that matches, and returns it.
func (p *parser) symbol(want string, symbols ...string) string {
	start := p.skip()
	for _, s := range symbols {
		if strings.HasPrefix(p.text[p.at:], s) {
			p.at += len(s)
			return s
		}
	}
	p.failAt(start, want)
	return ""
}

func (p *parser) end() {
	if start := p.skip(); !p.isEnd() {
		p.failAt(start, "the end")
	}
}

func (p *parser) isEnd() bool { return p.at == len(p.text) }

// word consumes letters, and returns them in lower case.
func (p *parser) word() string {
	from := p.at
	p.while(unicode.IsLetter)
	return strings.ToLower(p.text[from:p.at])
}

// skip consumes spaces, and returns the offset after them.
func (p *parser) skip() int {
	p.while(unicode.IsSpace)
	return p.at
}

func (p *parser) while(is func(rune) bool) {
	for p.at < len(p.text) {
		c, size := utf8.DecodeRuneInString(p.text[p.at:])
		if !is(c) {
			return
		}
		p.at += size
	}
}

// failAt records the first error, and ends parsing.
func (p *parser) failAt(at int, want string) {
	if p.fault != nil {
		return
	}
	found, isSpace := p.text[at:], false
	for i, c := range found {
		if isSpace = unicode.IsSpace(c); isSpace {
			found = found[:i]
			break
		}
	}
	const most = 20 // characters, because the text may be long
	if runes := []rune(found); len(runes) > most {
		found = string(runes[:most])
	}
	p.fault = &SyntaxError{Text: p.text, Column: utf8.RuneCountInString(p.text[:at]) + 1, Want: want, Found: found}
	p.at = len(p.text)
}

func isDigit(c rune) bool { return c >= '0' && c <= '9' }
