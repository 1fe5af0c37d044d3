package setup

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/mapping/templates"
)

// object is a JSON object, from our templates or from an answer of a cluster.
type object = templates.Tree

// owner returns who manages an object, and its version, from its _meta.
func owner(o object) (by string, version int) {
	meta := o.At("_meta")
	by, _ = meta["managed_by"].(string)
	version, _ = strconv.Atoi(fmt.Sprint(meta["version"]))
	return by, version
}

// parts are the members that are compared. Servers add other members, such as defaults, dates, and where an object
// is used.
var parts = map[templates.Kind][]string{
	templates.Policy:    {"phases", "_meta"},
	templates.Component: {"template", "version", "_meta"},
	templates.Index:     {"index_patterns", "composed_of", "priority", "template", "data_stream", "version", "_meta"},
}

// canonical returns an object in one form for requests and answers. Answers have settings as nested texts, where
// requests have numbers and names with dots, and "false" instead of false.
func canonical(kind templates.Kind, o object) any {
	out := map[string]any{}
	for _, part := range parts[kind] {
		out[part] = o[part]
	}
	if template := o.At("template"); template != nil {
		template = maps.Clone(template)
		settings := map[string]any{}
		flatten("", template["settings"], settings)
		template["settings"] = settings
		out["template"] = map[string]any(template)
	}
	return plain(out)
}

// flatten adds settings to into, with names such as "index.number_of_shards".
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

// plain makes all values texts. It removes nulls, empty objects and arrays, and the type of objects.
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

// differences returns the paths at which two canonical values differ.
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

// show returns a value for people.
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
