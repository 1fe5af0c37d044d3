// Package where has the conditions on runs that users write, such as
//
//	bs=4k and iodepth in (16, 32) and write.p99 > 5ms and not label.release=reef and start >= 2026-10
//
// and decides which runs meet them. [Fields] lists the names in conditions; quantities and words are those of package
// expr.
//
//	condition = and { "or" and }
//	and       = not { "and" not }
//	not       = "not" not | "(" condition ")" | test
//	test      = field                              the run has it; a flag is set
//	          | field ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) value
//	          | field ( "~" | "!~" ) value         contains the text, in any case
//	          | field "in" "(" value { "," value } ")"
//
// The form of a value depends on the field: sizes, latencies, durations, rates, or times. A time such as a day or a month
// means all of that day or month.
//
// If a run lacks a field, every comparison with it is false, except != and !~: these are true.
//
// A latency in fio's last bin is only a lower bound. A comparison that needs an upper bound is undecided: p99 < 30s,
// if p99 is 17.0s or more. Then its opposite is undecided too, and neither selects the run.
package where

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Condition is a condition on runs. Every run meets nil and the zero value.
type Condition struct {
	text  string       // as the user wrote it
	join  string       // "and", "or" or "not" of the parts; empty for a test
	parts []*Condition // one for "not"

	field     *Field                  // of a test; nil for [That]
	op        string                  // "=", "<", "~" …; empty for a field alone
	value     any                     // that field is compared with: string, bool, float64 or period
	that      func(*mapping.Run) bool // of [That]
	workloads []string                // of [OfWorkloads]
}

// period is a time in a condition: [from, to).
type period struct{ from, to time.Time }

// verdict says whether a condition is met. "and" has the lowest verdict of its parts, "or" the highest.
type verdict int8

const (
	no        verdict = iota
	undecided         // the run lacks the values that decide it
	yes
)

func verdictOf(isMet bool) verdict {
	if isMet {
		return yes
	}
	return no
}

// Matches reports whether a run certainly meets the condition.
func (c *Condition) Matches(run *mapping.Run) bool { return c.of(run) == yes }

// Undecided reports whether it is unknown if a run meets the condition, because a number in it is a [Between].
func (c *Condition) Undecided(run *mapping.Run) bool { return c.of(run) == undecided }

func (c *Condition) of(run *mapping.Run) verdict {
	switch {
	case c == nil:
		return yes
	case c.that != nil:
		return verdictOf(c.that(run))
	case c.join == "not":
		return yes - c.parts[0].of(run)
	case c.field != nil: // the best verdict of its values counts
		result := no
		for _, v := range c.field.Values(run) {
			result = max(result, c.passes(v))
		}
		return result
	}
	result := verdictOf(c.join != "or")
	for _, part := range c.parts {
		if c.join == "or" {
			result = max(result, part.of(run))
		} else {
			result = min(result, part.of(run))
		}
	}
	return result
}

// Between is a number that is not known, and lies between two others. High is +Inf if there is no upper bound.
type Between struct{ Low, High float64 }

// passes compares a value of the field with that of the condition.
func (c *Condition) passes(value any) verdict {
	switch want := c.value.(type) {
	case nil: // a field alone
		return verdictOf(value != false && value != 0.0 && value != "")
	case bool:
		return verdictOf(value == want)
	case period:
		place := 1
		if at := value.(time.Time); at.Before(want.from) {
			place = -1
		} else if at.Before(want.to) {
			place = 0
		}
		return verdictOf(inOrder(place, c.op))
	case float64:
		return order(value, c.op, want)
	}
	have, want := value.(string), c.value.(string)
	if isID := c.field.Path == mapping.RunField; isID && c.op == "=" { // or the beginning of one, as it is printed
		return verdictOf(want != "" && strings.HasPrefix(have, strings.ToLower(want)))
	}
	if c.op == "~" {
		return verdictOf(strings.Contains(strings.ToLower(have), want))
	}
	// Options and configurations are texts even if they are numbers or sizes. So 4k equals 4096, and numbers have an
	// order. Numbers with more digits than a float64 has, such as a seed or the id of a build, are equal only as texts.
	n, isNumber := asNumber(want)
	if c.op == "=" && (have == want || math.Abs(n) >= maxExact) {
		return verdictOf(have == want)
	}
	m, ok := asNumber(have)
	return verdictOf(ok && isNumber && inOrder(cmp.Compare(m, n), c.op))
}

// order compares a number, or the bounds of one, with another number.
func order(value any, op string, want float64) verdict {
	bounds, ok := value.(Between)
	if !ok {
		return verdictOf(inOrder(cmp.Compare(value.(float64), want), op))
	}
	low, high := inOrder(cmp.Compare(bounds.Low, want), op), inOrder(cmp.Compare(bounds.High, want), op)
	if isInside := op == "=" && bounds.Low <= want && want <= bounds.High; low != high || isInside {
		return undecided
	}
	return verdictOf(low)
}

// inOrder reports whether order, a result of cmp.Compare, is what an operator wants.
func inOrder(order int, op string) bool {
	switch op {
	case "=":
		return order == 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// maxExact is 2^53, the first integer whose successor a float64 cannot represent.
const maxExact = 1 << 53

// asNumber returns the number or size that a text in a document is. Texts with an exponent are none: 12e4 may be the
// beginning of a hash.
func asNumber(text string) (float64, bool) {
	if strings.ContainsAny(text, "eE ") {
		return 0, false
	}
	return expr.Size.Parse(text)
}

// String returns the condition as the user wrote it.
func (c *Condition) String() string {
	if c == nil {
		return ""
	}
	return c.text
}

// Parse parses a condition. Times such as 7d count back from now. Every run meets the empty text. An error is an
// [*expr.Error].
func Parse(text string, now time.Time) (*Condition, error) {
	if strings.TrimSpace(text) == "" {
		return &Condition{text: text}, nil
	}
	p := &parser{Parser: expr.New(text), now: now.In(unit.Zone())}
	c := *p.list("or", "and")
	if p.End("and, or, or the end"); p.Err() != nil {
		return nil, p.Err()
	}
	c.text = strings.TrimSpace(text)
	return &c, nil
}

// parser parses a condition by recursive descent, with one method for each rule of the grammar.
type parser struct {
	*expr.Parser
	now   time.Time
	depth int
}

// list parses parts that the first key word joins. The others join the parts of each part.
func (p *parser) list(joins ...string) *Condition {
	if len(joins) == 0 {
		return p.not()
	}
	at, c := p.At(), &Condition{join: joins[0]}
	for {
		if c.parts = append(c.parts, p.list(joins[1:]...)); !p.Keyword(joins[0]) {
			break
		}
	}
	if len(c.parts) == 1 {
		return c.parts[0]
	}
	c.text = p.Since(at)
	return c
}

func (p *parser) not() *Condition {
	const most = 100
	at := p.At()
	if p.depth++; p.depth > most {
		p.Fail(at, "more than %d parts within one another", most)
	}
	defer func() { p.depth-- }()
	var c Condition
	switch {
	case p.Keyword("not"):
		c = Condition{join: "not", parts: []*Condition{p.not()}}
	case p.Op("(") != "":
		c = *p.list("or", "and")
		if p.Op(")") == "" {
			p.Fail(at, "this parenthesis is not closed")
		}
	default:
		c = *p.test()
	}
	c.text = p.Since(at)
	return &c
}

func (p *parser) test() *Condition {
	at := p.At()
	name, ok := p.Word()
	field := Lookup(name)
	if !ok {
		p.Want(at, "the name of a field, such as bs or write.p99")
	} else if field == nil {
		p.Fail(at, "%s", unknown(name))
	}
	if p.Err() != nil {
		return &Condition{}
	}
	if !p.Keyword("in") {
		switch op := p.Op("!=", "!~", "<=", ">=", "==", "=", "~", "<", ">"); op {
		case "":
			return &Condition{field: field}
		case "!=", "!~":
			return &Condition{join: "not", parts: []*Condition{p.compare(field, op[1:])}}
		case "==":
			return p.compare(field, "=")
		default:
			return p.compare(field, op)
		}
	}
	if at := p.At(); p.Op("(") == "" {
		p.Want(at, "( after in")
	}
	c := &Condition{join: "or"}
	for {
		c.parts = append(c.parts, p.compare(field, "="))
		switch at := p.At(); p.Op(",", ")") {
		case ")":
			return c
		case "":
			p.Want(at, ", or ) in the list of values")
			return c
		}
	}
}

// compare parses the value after an operator.
func (p *parser) compare(field *Field, op string) *Condition {
	c, at := &Condition{field: field, op: op}, p.At()
	fail := func(want string) {
		p.Want(at, fmt.Sprintf("%s for %s", want, field.Name))
	}
	if op == "~" && field.Kind != expr.Text {
		p.Fail(at, "~ is for texts, and %s is a %s", field.Name, field.Kind)
		return c
	}
	switch field.Kind {
	case expr.Text:
		text, ok := p.Word()
		if !ok {
			fail("a text such as " + field.Example)
		} else if _, isNumber := asNumber(text); !isNumber && op != "=" && op != "~" {
			p.Fail(at, "%s: %s is for numbers, and %q is none: use =, != or ~", field.Name, op, text)
		}
		if op == "~" {
			text = strings.ToLower(text)
		}
		c.value = text
	case expr.Flag:
		text, _ := p.Word()
		value, ok := map[string]bool{"yes": true, "true": true, "no": false, "false": false}[strings.ToLower(text)]
		if c.value = value; !ok || op != "=" {
			fail("= yes or = no")
		}
	case expr.Time:
		text, _ := p.Time()
		from, to, ok := expr.Period(text, p.now)
		if c.value = (period{from, to}); !ok {
			fail(field.Kind.Want())
		}
	default:
		value, _ := p.Quantity(field.Kind)
		c.value = field.Kind.InDocuments(value)
	}
	return c
}

// All returns the condition that a run meets all conditions of a list. Every run meets nil.
func All(list ...*Condition) *Condition {
	all, texts := &Condition{join: "and"}, []string{}
	for _, c := range list {
		for _, part := range c.Parts() {
			all.parts, texts = append(all.parts, part), append(texts, part.text)
		}
	}
	all.text = strings.Join(texts, " and ")
	return all
}

// That returns a condition that a function decides. The function may use [mapping.Run.Light]. text says which runs
// meet the condition.
func That(text string, isMet func(*mapping.Run) bool) *Condition {
	return &Condition{text: text, that: isMet}
}

// OfWorkloads is like [That], for a function that only runs meet that are of workloads with these ids, or have a section that is.
func OfWorkloads(text string, ids []string, isMet func(*mapping.Run) bool) *Condition {
	return &Condition{text: text, that: isMet, workloads: ids}
}

// Workloads returns the ids of the only workloads that runs which meet the condition may have, or none if they may have any.
func (c *Condition) Workloads() []string {
	for t := range c.tests(true) {
		switch id, _ := t.value.(string); {
		case len(t.workloads) > 0:
			return t.workloads
		case t.field != nil && t.field.Path == mapping.WorkloadField && t.op == "=" && strings.Contains(id, "-"):
			return []string{id}
		}
	}
	return nil
}

// Members returns the members of run documents that decide the condition, or nil for all.
func (c *Condition) Members() []string {
	members := []string{}
	for t := range c.tests(false) {
		if t.field == nil || t.field.members == nil {
			return nil
		}
		members = append(members, t.field.members...)
	}
	slices.Sort(members)
	return slices.Compact(members)
}

// Parts returns the conditions that "and" joins. For other conditions it returns the condition itself; for the empty
// one, none.
func (c *Condition) Parts() []*Condition {
	switch {
	case c == nil || c.join == "" && c.field == nil && c.that == nil:
		return nil
	case c.join == "and":
		return c.parts
	case c.join == "or" && c.text != "" && !isWrapped(c.text):
		wrapped := *c
		wrapped.text = "(" + c.text + ")"
		return []*Condition{&wrapped}
	}
	return []*Condition{c}
}

// isWrapped reports whether a condition with "or" is one test with "in", or in parentheses as a whole.
func isWrapped(text string) bool {
	p := &parser{Parser: expr.New(text)}
	p.not()
	return p.IsEnd() && p.Err() == nil
}

// Fields returns the fields that the condition names, each once.
func (c *Condition) Fields() (list []*Field) {
	for t := range c.tests(false) {
		if t.field != nil && !slices.Contains(list, t.field) {
			list = append(list, t.field)
		}
	}
	return list
}

// tests yields the tests of fields, and the functions of [That]. With isRequired, it yields only those that a run must pass to meet the
// condition.
func (c *Condition) tests(isRequired bool) iter.Seq[*Condition] {
	return func(yield func(*Condition) bool) {
		switch {
		case c == nil || isRequired && (c.join == "or" || c.join == "not"):
		case c.field != nil, c.that != nil:
			yield(c)
		default:
			for _, part := range c.parts {
				for t := range part.tests(isRequired) {
					if !yield(t) {
						return
					}
				}
			}
		}
	}
}

// Tests returns lists of tests. Of each list, every run that meets the condition, or is undecided, passes a test or lacks the field of
// one: a setting that sections have apart, or a text that Elasticsearch does not index.
func (c *Condition) Tests() (all [][]mapping.FieldTest) {
	switch {
	case c == nil || c.join == "not":
	case c.field != nil:
		if t, ok := c.inDocuments(); ok {
			all = [][]mapping.FieldTest{{t}}
		}
	case c.join == "or":
		var either []mapping.FieldTest
		for _, part := range c.parts {
			lists := part.Tests()
			if len(lists) == 0 { // any run may meet this part
				return nil
			}
			either = append(either, lists[0]...)
		}
		all = append(all, either)
	default:
		for _, part := range c.parts {
			all = append(all, part.Tests()...)
		}
	}
	return all
}

// inDocuments returns the test of one field as [Condition.Tests] does, if documents have the values that it compares.
func (c *Condition) inDocuments() (t mapping.FieldTest, ok bool) {
	const longest = 1000 // bytes; longer texts are not indexed
	t = mapping.FieldTest{Field: c.field.Path, Op: c.op, Value: c.value}
	switch v := c.value.(type) {
	case bool:
		ok = true
	case float64: // with larger numbers, a float64 may equal several of a document
		ok = math.Abs(v) < maxExact
	case string: // texts that are numbers may also equal others
		n, isNumber := asNumber(v)
		ok = c.op == "=" && v != "" && len(v) <= longest && utf8.ValidString(v) && (!isNumber || math.Abs(n) >= maxExact)
	case period:
		ok, t.Value, t.From, t.To = true, nil, v.from, v.to
		switch c.op {
		case ">":
			t.From, t.To = v.to, time.Time{}
		case ">=":
			t.To = time.Time{}
		case "<":
			t.From, t.To = time.Time{}, v.from
		case "<=":
			t.From = time.Time{}
		}
	}
	return t, ok && c.field.isInDocuments
}

// Live reports whether only live runs can meet the condition.
func (c *Condition) Live() bool {
	for t := range c.tests(true) {
		if t.field != nil && t.field.Name == "live" && t.passes(true) == yes && t.passes(false) == no {
			return true
		}
	}
	return false
}
