package where

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Suggestion is a continuation of a condition.
type Suggestion struct {
	Text string // the condition with the continuation
	Help string // what the continuation means; may be empty
}

// Suggest continues a condition that is being typed, with names of fields, operators, values that some runs have,
// "and" and "or". It returns nothing if the text is not the beginning of a condition. It calls runs only if it needs
// values, or names of labels and options; [mapping.Run.Brief] has most of them.
func Suggest(text string, runs func() []*mapping.Run) (list []Suggestion) {
	begin := len(text) - len(lastWord(text))
	before, typed := text[:begin], text[begin:]
	done, err := tokens(before)
	if err != nil {
		return nil
	}
	p := &parser{text: before, rest: done}
	if _, _ = p.condition(); len(p.rest) > 1 { // an error at the end of unfinished text is expected
		return nil
	}
	add := func(word, help string) {
		if len(word) >= len(typed) && strings.EqualFold(word[:len(typed)], typed) {
			list = append(list, Suggestion{before + word, help})
		}
	}
	switch p.want {
	case aField:
		if f := Lookup(typed); f != nil {
			for _, op := range operatorsOf(f.Kind) {
				add(typed+op, "such as "+typed+op+f.Example)
			}
		}
		addFields(typed, runs, add)
		add("not ", "the opposite")
	case anOperator:
		for _, op := range append(operatorsOf(p.field.Kind), "in (") {
			add(op, "such as "+p.field.Example)
		}
		fallthrough // a field alone is also a condition
	case aJoin:
		add("and ", "both")
		add("or ", "either")
	case aValue:
		addValues(p.field, runs, add)
	}
	return list
}

// lastWord returns what follows the last space, operator or parenthesis. A text with an open quote counts as one
// word.
func lastWord(text string) string {
	quote, begin := rune(0), 0
	for i, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote, begin = r, i
		case strings.ContainsRune(" \t=!~<>(),", r):
			begin = i + 1
		}
	}
	return text[begin:]
}

// expected says what can follow the beginning of a condition.
type expected int

const (
	nothing expected = iota
	aField
	anOperator
	aValue
	aJoin // "and", "or" or ")"
)

// operatorsOf returns the operators that a kind allows.
func operatorsOf(k Kind) []string {
	switch k {
	case Flag:
		return []string{"="}
	case Text:
		return []string{"=", "!=", "~", "!~"}
	}
	return []string{"=", "!=", "<", "<=", ">", ">="}
}

// addFields adds the names of fields. For a field with many names, such as label.*, it adds the names that runs
// have, once "label." is typed. A name in quotes is one of these.
func addFields(typed string, runs func() []*mapping.Run, add func(word, help string)) {
	mark := ""
	if typed != "" && strings.Contains(`"'`, typed[:1]) {
		mark, typed = typed[:1], typed[1:]
	}
	for _, f := range Fields {
		prefix, isMap := strings.CutSuffix(f.Name, "*")
		switch {
		case !isMap:
			add(f.Name, f.Help)
		case !strings.HasPrefix(typed, prefix):
			add(mark+prefix, f.Help)
		default:
			for _, name := range namesOf(f, runs()) {
				add(mark+prefix+name+mark, f.Help)
			}
		}
	}
	for _, f := range Fields {
		for _, alias := range f.Aliases {
			if typed != "" && !strings.Contains(alias, ".") {
				add(alias, f.Help)
			}
		}
	}
}

// namesOf returns the names that runs have for a field such as label.*.
func namesOf(f *Field, runs []*mapping.Run) []string {
	found := map[string]bool{}
	for _, run := range runs {
		of := run.Run.Labels
		if f.Name == "option.*" {
			of = run.Fio.Options
		}
		if f.Name == "config.*" {
			addPaths(found, "", run.Config)
			continue
		}
		for name := range of {
			found[name] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// addPaths adds the paths of a configuration's values to to.
func addPaths(to map[string]bool, path string, value any) {
	inner, ok := value.(map[string]any)
	if !ok {
		to[path] = true
		return
	}
	for name, item := range inner {
		addPaths(to, strings.TrimPrefix(path+"."+name, "."), item)
	}
}

// addValues adds the values that runs have in a field. If no two runs have the same value, it adds an example.
func addValues(f *Field, runs func() []*mapping.Run, add func(word, help string)) {
	switch f.Kind {
	case Latency, Rate, Bandwidth:
		add(f.Example, "")
		return
	case Flag:
		add("yes", "")
		add("no", "")
		return
	case Time:
		for _, text := range []string{"today", "yesterday", "7d", "30d"} {
			add(text, "")
		}
	}
	type found struct {
		value any
		runs  int
	}
	all := map[string]found{}
	for _, run := range runs() {
		for _, v := range f.Values(run) {
			text := f.Kind.wordOf(v)
			all[text] = found{v, all[text].runs + 1}
		}
	}
	for _, text := range slices.SortedFunc(maps.Keys(all), func(a, b string) int { return CompareValues(all[a].value, all[b].value) }) {
		add(text, unit.Plural(all[text].runs, "run"))
	}
}

// wordOf returns a value as it is written in a condition. For a time it returns the month.
func (k Kind) wordOf(value any) string {
	text := k.Text(value)
	if k == Time {
		return text[:len("2006-01")]
	}
	return quote(text)
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
