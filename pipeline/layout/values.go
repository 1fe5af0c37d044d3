package layout

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
)

// cluster returns the flat configuration in benchmark_config.yaml, which is under one key there.
func cluster(m map[string]any) map[string]any {
	if c := asMap(m["cluster"]); c != nil {
		return c
	}
	return m
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

// text returns a single scalar as text, or "" for anything else. The only value of a list counts. A longer list has the
// values of several runs, and only the path can say which one is of this run.
func text(v any) string {
	if list, ok := v.([]any); ok && len(list) == 1 {
		v = list[0]
	}
	if isNested(v) {
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

// whole returns a single whole number, or false for anything else and for a negative one.
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
	n, _ := fioargs.ParseSize(text(v))
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
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}
