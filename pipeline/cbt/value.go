package cbt

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/safeyaml"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

const (
	maxDepth = 20      // of a configuration when it is flattened; CBT's have four levels
	maxFlat  = 4 << 20 // bytes of the flattened names and values: each name repeats the names above it
)

// flattener gives nested maps and lists dotted names, up to [maxFlat] bytes.
type flattener struct {
	into map[string]any
	size int
	full bool
	lost error // about the first value whose name another value has
}

// file adds a configuration. Its error names the file if something had to be left out.
func (f *flattener) file(name, prefix string, m map[string]any) error {
	f.add(prefix, m, 0)
	err := f.lost
	if f.full {
		err = fmt.Errorf("%w: the run's document has the first %d bytes of its values and of their full names", safeyaml.ErrTooMuch, maxFlat)
	}
	if f.full, f.lost = false, nil; err != nil {
		err = fmt.Errorf("read %s: %w", name, err)
	}
	return err
}

// add adds a value below a name. A list of scalars becomes one text.
func (f *flattener) add(prefix string, v any, depth int) {
	f.size += len(prefix) // a name without a value counts, too: it takes as much time
	if f.full = f.full || f.size > maxFlat; depth > maxDepth || f.full {
		return
	}
	below := func(k string, v any) {
		k = strings.ReplaceAll(k, "\x00", "\uFFFD") // which a flattened field refuses in names
		if prefix != "" {
			k = prefix + "." + k
		}
		f.add(k, v, depth+1)
	}
	m := asMap(v)
	list, isList := v.([]any)
	switch {
	case m != nil:
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !f.full {
				below(k, m[k])
			}
		}
	case isList && slices.ContainsFunc(list, isNested):
		for i, e := range list {
			if !f.full {
				below(strconv.Itoa(i), e)
			}
		}
	case isList:
		parts := make([]string, len(list))
		for i, e := range list {
			parts[i] = scalar(e)
		}
		f.put(prefix, strings.Join(parts, ","))
	case v != nil:
		f.put(prefix, scalar(v))
	}
}

func (f *flattener) put(name, value string) {
	if f.size += len(value); f.size > maxFlat {
		f.full = true
		return
	}
	if have, ok := f.into[name]; ok && have != value && f.lost == nil {
		f.lost = fmt.Errorf("two settings have the name %.200s when dots join their keys: "+
			"the run's document has the value %.40q, not %.40q; rename one", name, have, value)
	} else if !ok {
		f.into[name] = value
	}
}

func isNested(v any) bool {
	_, isList := v.([]any)
	return isList || asMap(v) != nil
}

// asMap returns a value that is a map, or nil.
func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// single returns a value, or the only value of a list. A longer list has the values of several runs, and only the path
// can say which one is of this run.
func single(v any) any {
	if list, ok := v.([]any); ok && len(list) == 1 {
		return list[0]
	}
	return v
}

// text returns a single scalar as text, or "" for anything else.
func text(v any) string {
	if v = single(v); isNested(v) {
		return ""
	}
	return scalar(v)
}

func scalar(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case time.Time: // YAML takes a text that looks like a date for a date
		if v.Equal(v.Truncate(24 * time.Hour)) {
			return v.Format(time.DateOnly)
		}
		return v.Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v)
}

// number returns a single whole number, or 0 for anything else and for a negative one.
func number(v any) int64 {
	n, _ := whole(v)
	return n
}

func whole(v any) (n int64, ok bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(text(v)), 10, 64)
	if err != nil || n < 0 {
		return 0, false
	}
	return n, true
}

// size is a number of bytes, which may have a unit as fio writes it: 4k is 4096.
func size(v any) int64 {
	if n, ok := whole(v); ok {
		return n
	}
	n, _ := fiolog.ParseSize(text(v))
	return n
}

// hosts are the names in a list of nodes, which may be a map with nodes for keys or a
// single name, without the user to log in as and the port.
func hosts(v any) []string {
	var names []string
	if m := asMap(v); m != nil {
		names = slices.Collect(maps.Keys(m))
	} else if list, ok := v.([]any); ok {
		for _, e := range list {
			names = append(names, text(e))
		}
	} else {
		names = append(names, text(v))
	}
	for i, name := range names {
		if _, after, ok := strings.Cut(name, "@"); ok {
			name = after
		}
		if host, port, ok := strings.Cut(name, ":"); ok && !strings.Contains(port, ":") {
			name = host
		}
		names[i] = name
	}
	return namesIn(names)
}
