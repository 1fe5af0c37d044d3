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

// object is a JSON object, of ours or of a cluster's answer.
type object = templates.Tree

// owner reads from an object's _meta who manages it, and its version.
func owner(o object) (by string, version int) {
	meta := o.At("_meta")
	by, _ = meta["managed_by"].(string)
	version, _ = strconv.Atoi(fmt.Sprint(meta["version"]))
	return by, version
}

// parts are the members that are compared. Servers add others: defaults, dates, where an object is used.
var parts = map[templates.Kind][]string{
	templates.Policy:    {"phases", "_meta"},
	templates.Component: {"template", "version", "_meta"},
	templates.Index:     {"index_patterns", "composed_of", "priority", "template", "data_stream", "version", "_meta"},
}

// canonical is an object in one form, however the server writes it: answers have settings as texts and nested, where
// the request has numbers and dots, and "false" for false.
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

// flatten makes settings one object. All names begin with "index." and have dots in them.
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

// plain makes all values texts and removes nulls, empty objects and arrays, and the type of objects.
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

// differences are the paths at which two canonical values differ.
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

// show is a value for people.
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
