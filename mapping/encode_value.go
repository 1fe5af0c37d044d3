package mapping

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// strings appends an object of texts, keys ascending.
func (e *encoder) strings(name string, m map[string]string) {
	if len(m) == 0 {
		return
	}
	var few [8]string
	keys := few[:0]
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	e.key(name)
	e.b = append(e.b, '{')
	for _, k := range keys {
		e.b = append(appendString(e.b, k), ':')
		e.b = append(appendString(e.b, m[k]), ',')
	}
	e.end()
	e.comma()
}

// texts appends an array of texts.
func (e *encoder) texts(name string, list []string) {
	e.array(name, len(list), func(e *encoder, i int) { e.b = appendString(e.b, list[i]) })
}

// array appends an array whose n items are appended by item.
func (e *encoder) array(name string, n int, item func(e *encoder, i int)) {
	if n == 0 {
		return
	}
	e.key(name)
	e.b = append(e.b, '[')
	for i := range n {
		item(e, i)
		e.comma()
	}
	e.b = append(closeList(e.b), ',')
}

// objects appends an array of objects.
func (e *encoder) objects(name string, n int, fill func(e *encoder, i int)) {
	e.array(name, n, func(e *encoder, i int) {
		e.b = append(e.b, '{')
		fill(e, i)
		e.end()
	})
}

// appendValue writes any value that a configuration can hold. What JSON has no form
// for is written as text, so that an odd configuration never keeps a run out.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case string:
		return appendString(b, v)
	case float64:
		return appendFloat(b, v)
	case map[string]any:
		return appendMap(b, v)
	case map[any]any: // as YAML readers make them
		m := make(map[string]any, len(v))
		for key, value := range v {
			m[fmt.Sprint(key)] = value
		}
		return appendMap(b, m)
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, item)
		}
		return append(b, ']')
	}
	if text, err := json.Marshal(v); err == nil {
		return append(b, text...)
	}
	return appendString(b, fmt.Sprint(v))
}

func appendMap(b []byte, m map[string]any) []byte {
	b = append(b, '{')
	for i, k := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, k), ':')
		b = appendValue(b, m[k])
	}
	return append(b, '}')
}
