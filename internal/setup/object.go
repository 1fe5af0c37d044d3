package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/mapping/templates"
)

// object is a decoded JSON object, numbers as they were written.
type object map[string]any

// UnmarshalJSON implements [json.Unmarshaler].
func (o *object) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode((*map[string]any)(o))
}

// decode reads one of our own bodies.
func decode(text []byte) object {
	var o object
	if err := json.Unmarshal(text, &o); err != nil {
		panic(err) // package templates encoded it
	}
	return o
}

// at is the object at a path, nil when there is none.
func (o object) at(path ...string) object {
	for _, k := range path {
		o, _ = o[k].(map[string]any)
	}
	return o
}

// list are the objects in an array.
func (o object) list(name string) []object {
	var all []object
	items, _ := o[name].([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

// owner reads whose an object is, and of which version, from its _meta.
func owner(o object) (by string, version int) {
	meta := o.at("_meta")
	by, _ = meta["managed_by"].(string)
	version, _ = strconv.Atoi(fmt.Sprint(meta["version"]))
	return by, version
}

// parts are the members that count when objects are compared. Servers add others, and
// newer servers more of them: defaults, dates, who uses it.
var parts = map[templates.Kind][]string{
	templates.Policy:    {"phases", "_meta"},
	templates.Component: {"template", "version", "_meta"},
	templates.Index:     {"index_patterns", "composed_of", "priority", "template", "data_stream", "version", "_meta"},
}

// canonical is an object in one form, however the server writes it: its answers have
// settings as texts and nested, where the request had numbers and dots, and "false" for
// false.
func canonical(kind templates.Kind, o object) any {
	out := map[string]any{}
	for _, part := range parts[kind] {
		out[part] = o[part]
	}
	if template := o.at("template"); template != nil {
		template = maps.Clone(template)
		settings := map[string]any{}
		flatten("", template["settings"], settings)
		template["settings"] = settings
		out["template"] = map[string]any(template)
	}
	return plain(out)
}

// flatten makes settings one object of names with dots, all beginning with "index.".
func flatten(path string, v any, into map[string]any) {
	m, ok := v.(map[string]any)
	if !ok {
		if path != "" && v != nil {
			into["index."+strings.TrimPrefix(path, "index.")] = v
		}
		return
	}
	for k, inner := range m {
		if path != "" {
			k = path + "." + k
		}
		flatten(k, inner, into)
	}
}

// plain makes all values texts and takes out what says nothing: nulls, empty objects and
// arrays, and the type of objects.
func plain(v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case map[string]any:
		out := map[string]any{}
		for k, inner := range v {
			if p := plain(inner); p != nil && !(k == "type" && p == "object") {
				out[k] = p
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		var out []any
		for _, inner := range v {
			out = append(out, plain(inner))
		}
		if len(out) == 0 {
			return nil
		}
		return out
	}
	return fmt.Sprint(v)
}

// differences are the places where two canonical values differ.
func differences(want, have any) []string { return appendDifferences(nil, "", want, have) }

func appendDifferences(diffs []string, path string, want, have any) []string {
	w, isMap := want.(map[string]any)
	h, alsoMap := have.(map[string]any)
	if !isMap || !alsoMap {
		if text := fmt.Sprint(want); text != fmt.Sprint(have) {
			return append(diffs, fmt.Sprintf("%s is %s, becomes %s", path, show(have), show(want)))
		}
		return diffs
	}
	names := maps.Clone(w)
	maps.Copy(names, h)
	for _, k := range slices.Sorted(maps.Keys(names)) {
		inner := k
		if path != "" {
			inner = path + "." + k
		}
		diffs = appendDifferences(diffs, inner, w[k], h[k])
	}
	return diffs
}

// show is a value for people: short.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "not set"
	case string:
		return strconv.Quote(v)
	}
	text, err := json.Marshal(v)
	if err != nil || len(text) > 60 {
		return "another"
	}
	return string(text)
}
