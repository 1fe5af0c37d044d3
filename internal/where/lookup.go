package where

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/mapping"
)

// byName has the fields by name, alias and path in documents, in lower case.
var byName = func() map[string]*Field {
	all := map[string]*Field{}
	for _, f := range Fields {
		for _, name := range append([]string{f.Name, f.Path}, f.Aliases...) {
			if name != "" && all[name] == nil {
				all[name] = f
			}
		}
	}
	return all
}()

// Lookup returns the field with this name, alias or path in documents, or nil.
func Lookup(name string) *Field {
	if f := byName[strings.ToLower(name)]; f != nil && f.ofName == nil {
		return f
	}
	for _, f := range Fields {
		for _, pattern := range []string{f.Name, f.Path} {
			prefix, isMap := strings.CutSuffix(pattern, "*")
			if rest, ok := strings.CutPrefix(name, prefix); isMap && ok && rest != "" && f.ofName != nil {
				return f.named(prefix, rest)
			}
		}
	}
	return nil
}

// named returns the field of one name of a map.
func (f *Field) named(prefix, name string) *Field {
	one := *f
	one.Name, one.Path = prefix+name, strings.TrimSuffix(f.Path, "*")+name
	one.values = func(r *mapping.Run) []any { return f.ofName(r, name) }
	one.ofName, one.among = nil, f
	return &one
}

// Near returns the names that are similar to the field's, among the names that the run has, such as those of its
// labels.
func (f *Field) Near(run *mapping.Run) (names []string) {
	if f.among == nil {
		return nil
	}
	prefix := strings.TrimSuffix(f.among.Name, "*")
	for _, name := range namesOf(f.among, []*mapping.Run{run}) {
		if isNear(strings.ToLower(f.Name), strings.ToLower(prefix+name)) {
			names = append(names, prefix+name)
		}
	}
	return names
}

// inConfig returns the values under a path, which is names with dots between them. Names may contain dots. A list
// has the values of all its items.
func inConfig(value any, path string) []any {
	switch v := value.(type) {
	case nil:
		return nil
	case map[string]any:
		var list []any
		for name, item := range v {
			if name == path {
				list = append(list, inConfig(item, "")...)
			} else if rest, ok := strings.CutPrefix(path, name+"."); ok {
				list = append(list, inConfig(item, rest)...)
			}
		}
		return list
	case []any:
		var list []any
		for _, item := range v {
			list = append(list, inConfig(item, path)...)
		}
		return list
	}
	if path != "" {
		return nil
	}
	if n, ok := value.(float64); ok {
		return []any{strconv.FormatFloat(n, 'f', -1, 64)}
	}
	return []any{fmt.Sprint(value)}
}

// unknown says that there is no such field, and lists similar names.
func unknown(name string) string {
	var near []string
	for _, f := range Fields {
		for _, n := range append([]string{f.Name}, f.Aliases...) {
			if !slices.Contains(near, n) && isNear(strings.ToLower(name), n) {
				near = append(near, n)
			}
		}
	}
	text := fmt.Sprintf("no field is called %q", name)
	if len(near) > 0 {
		return text + ": did you mean " + strings.Join(near[:min(len(near), 4)], ", ") + "?"
	}
	return text + fmt.Sprintf(": fio2es help fields lists them; name ~ %s searches in names", quote(name))
}

// isNear reports whether two names differ in one character, or in two neighbours that changed places.
func isNear(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 || len(a) < 2 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	return i == len(a) || a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
