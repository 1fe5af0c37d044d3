package mapping

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
)

// A list of 10,000 runs decodes 10,000 documents, and most of its time was spent in encoding/json. So this file decodes
// the form that AppendJSON writes, four times as fast. That form has no spaces, and its members are in the order of the
// fields. encoding/json decodes any other form.

// UnmarshalJSON decodes a document.
func (r *Run) UnmarshalJSON(text []byte) error {
	type plain Run // without this method
	return unmarshal(text, r, (*plain)(r))
}

// UnmarshalJSON decodes a document.
func (d *Interval) UnmarshalJSON(text []byte) error {
	type plain Interval // without this method
	return unmarshal(text, d, (*plain)(d))
}

// unmarshal decodes a document to a struct. plain is the same struct for encoding/json, without the method
// UnmarshalJSON.
func unmarshal[T any](text []byte, to *T, plain any) error {
	before := *to
	if (&parser{text: text}).read(reflect.ValueOf(to).Elem()) {
		return nil
	}
	*to = before
	return json.Unmarshal(text, plain)
}

// parser reads values from the beginning of a text.
type parser struct {
	text    []byte   // not read yet
	depth   int      // of configurations
	isBrief bool     // leave out what [Run.Brief] does
	also    []string // paths to read nevertheless, with a dot at both ends
	isAlso  bool     // the value is a part of such a path
}

// read decodes the text. It returns false if the text does not have the form that AppendJSON writes. Then a part may be
// decoded already.
func (p *parser) read(to reflect.Value) bool {
	return p.members(membersOf(to.Type()), to) && len(p.text) == 0
}

// reader reads a value. It returns false if the text has another form.
type reader func(p *parser, v reflect.Value) bool

// besides are members of documents that the structs lack.
var besides = [...]string{`"@timestamp":`, `"link":`, `"direction":`, `"pending":`, `"light":`}

func readerOf(t reflect.Type) reader {
	switch {
	case t == reflect.TypeFor[Level]():
		return func(p *parser, v reflect.Value) bool {
			name, ok := p.string()
			l, err := ParseLevel(name)
			v.SetUint(uint64(l))
			return ok && err == nil
		}
	case t == timeType:
		return func(p *parser, v reflect.Value) bool {
			raw := p.raw()
			return raw != nil && v.Addr().Interface().(*time.Time).UnmarshalJSON(raw) == nil
		}
	case t == reflect.TypeFor[[]float64](): // of a histogram, which is nine tenths of a document
		return readerOfNumbers((*parser).float)
	case t == reflect.TypeFor[[]int64]():
		return readerOfNumbers((*parser).int)
	}
	switch t.Kind() {
	case reflect.String:
		return func(p *parser, v reflect.Value) bool {
			s, ok := p.string()
			v.SetString(s)
			return ok
		}
	case reflect.Bool:
		return func(p *parser, v reflect.Value) bool {
			v.SetBool(p.skip("true"))
			return v.Bool() || p.skip("false")
		}
	case reflect.Int, reflect.Int64:
		return func(p *parser, v reflect.Value) bool {
			n, ok := p.int()
			v.SetInt(n)
			return ok && !v.OverflowInt(n)
		}
	case reflect.Float64:
		return func(p *parser, v reflect.Value) bool {
			f, ok := p.float()
			v.SetFloat(f)
			return ok
		}
	case reflect.Struct:
		ms := membersOf(t)
		return func(p *parser, v reflect.Value) bool { return p.members(ms, v) }
	case reflect.Pointer:
		value := readerOf(t.Elem())
		return func(p *parser, v reflect.Value) bool {
			if v.IsNil() {
				v.Set(reflect.New(t.Elem()))
			}
			return value(p, v.Elem())
		}
	case reflect.Slice:
		return readerOfList(t)
	case reflect.Map:
		return readerOfMap(t)
	}
	return func(*parser, reflect.Value) bool { return false }
}

// members reads an object. Its members are a part of the struct's, in the same order.
func (p *parser) members(of members, v reflect.Value) bool {
	next := 0
	return p.list('{', '}', func() bool {
		for i := range of[next:] {
			if m := &of[next+i]; p.skip(m.key) {
				next += i + 1
				return p.member(m, v.Field(m.field))
			}
		}
		for _, key := range besides {
			if p.skip(key) {
				_, ok := p.any()
				return ok
			}
		}
		return false
	})
}

// member reads the value of a member, or skips it.
func (p *parser) member(m *member, v reflect.Value) bool {
	if !p.isBrief || !m.notBrief {
		return m.read(p, v)
	}
	if !p.isNamed(m.name) {
		return p.skipValue()
	}
	p.isAlso = true
	ok := m.read(p, v)
	p.isAlso = false
	return ok
}

func readerOfList(t reflect.Type) reader {
	item := readerOf(t.Elem())
	return func(p *parser, v reflect.Value) bool {
		v.Set(reflect.MakeSlice(t, 0, 0))
		return p.list('[', ']', func() bool {
			n := v.Len()
			v.Grow(1)
			v.SetLen(n + 1)
			return item(p, v.Index(n))
		})
	}
}

func readerOfNumbers[N any](number func(*parser) (N, bool)) reader {
	return func(p *parser, v reflect.Value) bool {
		list := make([]N, 0, 1+bytes.Count(p.text[:bytes.IndexByte(p.text, ']')+1], []byte{','}))
		ok := p.list('[', ']', func() bool {
			n, ok := number(p)
			list = append(list, n)
			return ok
		})
		*v.Addr().Interface().(*[]N) = list
		return ok
	}
}

// readerOfMap reads maps of texts, and configurations.
func readerOfMap(t reflect.Type) reader {
	switch t {
	case reflect.TypeFor[map[string]string]():
		return func(p *parser, v reflect.Value) bool { return readMap(p, v, (*parser).string) }
	case reflect.TypeFor[map[string]any]():
		return func(p *parser, v reflect.Value) bool { return readMap(p, v, (*parser).any) }
	}
	return func(*parser, reflect.Value) bool { return false }
}

func readMap[V any](p *parser, v reflect.Value, value func(*parser) (V, bool)) bool {
	if v.IsNil() {
		v.Set(reflect.ValueOf(map[string]V{}))
	}
	m := v.Interface().(map[string]V)
	return p.object(func(name string) (ok bool) {
		if p.isAlso && !p.isNamed(name) {
			return p.skipValue()
		}
		m[name], ok = value(p)
		return ok
	})
}

// isNamed reports whether a name is a part of one of the paths to read.
func (p *parser) isNamed(name string) bool {
	return slices.ContainsFunc(p.also, func(path string) bool { return strings.Contains(path, "."+name+".") })
}
