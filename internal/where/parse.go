package where

import (
	"fmt"
	"strings"
	"time"
)

// maxDepth limits the nesting of parentheses and "not".
const maxDepth = 100

// Parse parses a condition. Times such as 7d count back from now. Every run meets the empty text. An error is a
// [*SyntaxError].
func Parse(text string, now time.Time) (*Condition, error) {
	c := &Condition{text: text}
	if strings.TrimSpace(text) == "" {
		return c, nil
	}
	list, err := tokens(text)
	if err != nil {
		return nil, err
	}
	p := &parser{text: text, now: now, rest: list}
	if c.root, err = p.condition(); err != nil {
		return nil, err
	}
	if t := p.rest[0]; t.kind != end {
		return nil, p.fail(t, "want and, or, or the end, not %s", t.describe())
	}
	return c, nil
}

// parser parses a condition by recursive descent, with one method for each rule of the grammar.
type parser struct {
	text  string
	now   time.Time
	rest  []token
	depth int

	want  expected // what can follow
	field *Field   // the last field
}

func (p *parser) fail(at token, format string, args ...any) error {
	return &SyntaxError{at.column, fmt.Sprintf(format, args...)}
}

// next returns the next token.
func (p *parser) next() token {
	t := p.rest[0]
	if t.kind != end {
		p.rest, p.want = p.rest[1:], nothing
	}
	return t
}

// takes consumes the next token if it is one of these.
func (p *parser) takes(texts ...string) bool {
	for _, text := range texts {
		if p.rest[0].is(text) {
			p.next()
			return true
		}
	}
	return false
}

func (p *parser) condition() (node, error) { return p.list(true, p.and, "or") }

func (p *parser) and() (node, error) { return p.list(false, p.not, "and") }

// list parses parts that a key word joins.
func (p *parser) list(any bool, part func() (node, error), join string) (node, error) {
	g := group{any: any}
	for {
		begin := p.rest[0]
		n, err := part()
		if err != nil {
			return nil, err
		}
		g.texts = append(g.texts, p.between(begin, p.rest[0]))
		if g.parts = append(g.parts, n); !p.takes(join) {
			break
		}
	}
	if len(g.parts) == 1 {
		return g.parts[0], nil
	}
	return g, nil
}

// between returns the text from one token to another.
func (p *parser) between(from, to token) string {
	return strings.TrimSpace(p.text[from.at:to.at])
}

func (p *parser) not() (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(p.rest[0], "more than %d parts within one another", maxDepth)
	}
	defer func() { p.depth-- }()
	p.want = aField
	if p.takes("not") {
		n, err := p.not()
		return inverse{n}, err
	}
	open := p.rest[0]
	if !p.takes("(") {
		return p.test()
	}
	n, err := p.condition()
	if err != nil {
		return nil, err
	}
	if !p.takes(")") {
		return nil, p.fail(open, "this parenthesis is not closed")
	}
	p.want = aJoin
	return n, nil
}

func (p *parser) test() (node, error) {
	name := p.next()
	if name.kind != word && name.kind != quoted {
		return nil, p.fail(name, "want the name of a field, such as bs or write.p99, not %s", name.describe())
	}
	field := Lookup(name.text)
	if field == nil {
		return nil, p.fail(name, "%s", unknown(name.text))
	}
	p.want, p.field = anOperator, field
	op := p.rest[0]
	if op.is("in") {
		p.next()
		return p.oneOf(field, name.text)
	}
	if op.kind != operator || op.text == "(" || op.text == ")" || op.text == "," {
		return test{field: field, passes: always(isSet)}, nil
	}
	p.next()
	if op.text == "==" {
		op.text = "="
	}
	text, isInverse := strings.CutPrefix(op.text, "!")
	n, err := p.compare(field, name.text, text)
	if err != nil {
		return nil, err
	}
	if p.want = aJoin; isInverse {
		n = inverse{n}
	}
	return n, nil
}

// isSet reports whether the value of a field without an operator counts as set.
func isSet(value any) bool { return value != false && value != 0.0 && value != "" }

// oneOf parses the list after "in".
func (p *parser) oneOf(field *Field, name string) (node, error) {
	if t := p.rest[0]; !p.takes("(") {
		return nil, p.fail(t, "want ( after in: %s in (A, B)", name)
	}
	g := group{any: true}
	for {
		n, err := p.compare(field, name, "=")
		if err != nil {
			return nil, err
		}
		g.parts = append(g.parts, n)
		if p.takes(",") {
			continue
		}
		if t := p.rest[0]; !p.takes(")") {
			return nil, p.fail(t, "want , or ) in the list of values, not %s", t.describe())
		}
		p.want = aJoin
		return g, nil
	}
}

// compare parses the value after an operator.
func (p *parser) compare(field *Field, name, op string) (node, error) {
	p.want = aValue
	value := p.next()
	if value.kind != word && value.kind != quoted {
		return nil, p.fail(value, "want a value for %s, such as %s, not %s", name, field.Example, value.describe())
	}
	passes, err := field.Kind.comparison(op, value.text, p.now)
	if err != nil {
		return nil, p.fail(value, "%s: %v", name, err)
	}
	return test{field, passes, op, value.text, p.now}, nil
}
