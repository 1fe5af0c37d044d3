package where

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/unit"
)

// Kind says what the values of a field are.
type Kind uint8

// The kinds of values, with the types that [Field.Values] returns.
const (
	Text      Kind = iota // string
	Number                // float64: a number without a unit
	Count                 // float64: a number of things
	Size                  // float64: bytes
	KiB                   // float64: KiB, also for a number without a unit
	Rate                  // float64: a number per second
	Bandwidth             // float64: bytes per second
	Latency               // float64: microseconds, or AtLeast
	Duration              // float64: seconds
	Time                  // time.Time
	Flag                  // bool
)

// kinds describes the kinds, in their order.
var kinds = [...]struct {
	name, unit string
	quantity   expr.Kind
}{
	{"text", "", 0},
	{"number", "", expr.Number},
	{"number", "", expr.Count},
	{"size", "bytes", expr.Size},
	{"size", "KiB", expr.KiB},
	{"rate", "per second", expr.Rate},
	{"bandwidth", "bytes per second", expr.Bandwidth},
	{"latency", "microseconds", expr.Latency},
	{"duration", "seconds", expr.Duration},
	{"time", "", 0},
	{"flag", "", 0},
}

// String returns the name of the kind.
func (k Kind) String() string { return kinds[k].name }

// Unit returns the unit of the kind's numbers in documents, or "".
func (k Kind) Unit() string { return kinds[k].unit }

func (k Kind) quantity() expr.Kind { return kinds[k].quantity }

// inDocuments converts a quantity to the unit of the kind's numbers.
func (k Kind) inDocuments(value float64) float64 {
	switch k {
	case Latency:
		return value / 1e3
	case Duration:
		return value / 1e9
	}
	return value
}

// AtLeast is a lower bound of a latency in microseconds: the latency lies in fio's last bin, which has no upper end.
type AtLeast float64

// passes compares a value of the field with that of the condition.
func (c *Condition) passes(value any) verdict {
	if c.op == "" { // a field alone
		return verdictOf(value != false && value != 0.0 && value != "")
	}
	switch want := c.value.(type) {
	case bool:
		return verdictOf(value == want)
	case string:
		return verdictOf(passesText(value.(string), c.op, want))
	case period:
		switch t := value.(time.Time); {
		case t.Before(want.from):
			return verdictOf(inOrder(-1, c.op))
		case t.Before(want.to):
			return verdictOf(inOrder(0, c.op))
		}
		return verdictOf(inOrder(1, c.op))
	}
	return order(value, c.op, c.value.(float64))
}

// order compares a number, or a lower bound of one, with another number.
func order(value any, op string, want float64) verdict {
	bound, isBound := value.(AtLeast)
	switch {
	case !isBound:
		return verdictOf(inOrder(cmp.Compare(value.(float64), want), op))
	case float64(bound) > want || float64(bound) == want && (op == "<" || op == ">="):
		return verdictOf(inOrder(1, op)) // the value is greater, or equal and greater give the same answer
	}
	return undecided
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

// passesText compares texts. Options and configurations are texts even if they are numbers or sizes. So 4k equals
// 4096, and numbers have an order. Numbers with more digits than a float64 has, such as a seed or the id of a build,
// are equal only as texts.
func passesText(value, op, want string) bool {
	if op == "~" {
		return strings.Contains(strings.ToLower(value), want)
	}
	n, isNumber := asNumber(want)
	if op == "=" && (value == want || math.Abs(n) >= maxExact) {
		return value == want
	}
	have, ok := asNumber(value)
	return ok && isNumber && inOrder(cmp.Compare(have, n), op)
}

// asNumber returns the number or size that a text in a document is. Texts with an exponent are none: 12e4 may be the
// beginning of a hash.
func asNumber(text string) (float64, bool) {
	if strings.ContainsAny(text, "eE ") {
		return 0, false
	}
	return expr.Size.Parse(text)
}

// Text returns a value of [Field.Values] as text for people.
func (k Kind) Text(value any) string {
	switch v := value.(type) {
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case time.Time:
		return v.UTC().Format(time.DateTime)
	case string:
		return v
	case AtLeast:
		return unit.OrMore(k.Text(float64(v)), true)
	}
	v := value.(float64)
	switch k {
	case Size:
		return unit.WholeBytes(int64(v))
	case KiB:
		return unit.WholeBytes(int64(v) * 1024)
	case Rate:
		return unit.Rate(v)
	case Bandwidth:
		return unit.Bandwidth(v)
	case Latency:
		return unit.Latency(v)
	case Duration:
		return unit.Short(time.Duration(v * float64(time.Second)))
	}
	return unit.Number(v)
}

// CompareValues compares two values of a field, like cmp.Compare.
func CompareValues(a, b any) int {
	switch a := a.(type) {
	case float64, AtLeast:
		return cmp.Compare(float(a), float(b))
	case time.Time:
		return a.Compare(b.(time.Time))
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// float returns a number, or the number of a lower bound.
func float(v any) float64 {
	if bound, ok := v.(AtLeast); ok {
		return float64(bound)
	}
	return v.(float64)
}
