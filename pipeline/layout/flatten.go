package layout

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/internal/safeyaml"
)

const (
	maxDepth = 20      // of a configuration when it is flattened; CBT's have four levels
	maxFlat  = 4 << 20 // bytes of the flattened names and values: each name repeats the names above it
)

// flattener gives nested maps and lists dotted names, up to [maxFlat] bytes.
type flattener struct {
	into map[string]any
	size int
	lost error // about the first value whose name another value has
}

// file adds a configuration. Its error names the file if something had to be left out.
func (f *flattener) file(name, prefix string, m map[string]any) error {
	if len(m) == 0 {
		return nil
	}
	f.lost = nil
	f.add(prefix, m, 0)
	err := f.lost
	if f.size > maxFlat {
		err = fmt.Errorf("%w: the run's document has the first %d bytes of its values and of their full names", safeyaml.ErrTooMuch, maxFlat)
	}
	if err != nil {
		err = fmt.Errorf("read %s: %w", name, err)
	}
	return err
}

// add adds a value below a name. A list of scalars becomes one text.
func (f *flattener) add(name string, v any, depth int) {
	f.size += len(name) // a name without a value counts, too: it takes as much time
	if depth > maxDepth || f.size > maxFlat {
		return
	}
	below := func(k string, v any) {
		k = strings.ReplaceAll(k, "\x00", "\uFFFD") // which a flattened field refuses in names
		if name != "" {
			k = name + "." + k
		}
		if f.size <= maxFlat {
			f.add(k, v, depth+1)
		}
	}
	m := asMap(v)
	list, isList := v.([]any)
	value := ""
	switch {
	case m != nil:
		for _, k := range slices.Sorted(maps.Keys(m)) {
			below(k, m[k])
		}
		return
	case isList && slices.ContainsFunc(list, isNested):
		for i, e := range list {
			below(strconv.Itoa(i), e)
		}
		return
	case isList:
		parts := make([]string, len(list))
		for i, e := range list {
			parts[i] = scalar(e)
		}
		value = strings.Join(parts, ",")
	case v == nil:
		return
	default:
		value = scalar(v)
	}
	if f.size += len(value); f.size > maxFlat {
		return
	}
	if have, ok := f.into[name]; !ok {
		f.into[name] = value
	} else if have != value && f.lost == nil {
		f.lost = fmt.Errorf("two settings have the name %.200s when dots join their keys: "+
			"the run's document has the value %.40q, not %.40q; rename one", name, have, value)
	}
}
