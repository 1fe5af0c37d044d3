package templates

import (
	"bytes"
	"encoding/json"
	"strings"
)

// tree is a decoded JSON object.
type tree map[string]any

// load decodes one of the embedded files, with {prefix} and {level} filled in where they
// stand in texts.
func load(name, prefix, level string) tree {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is part of the program
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var t map[string]any
	if err := d.Decode(&t); err != nil {
		panic(name + ": " + err.Error())
	}
	fill(t, strings.NewReplacer("{prefix}", prefix, "{level}", level))
	return t
}

// fill puts names into all texts of v and gives v back.
func fill(v any, names *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return names.Replace(v)
	case []any:
		for i := range v {
			v[i] = fill(v[i], names)
		}
	case map[string]any:
		for k := range v {
			v[k] = fill(v[k], names)
		}
	}
	return v
}

// at is the object at a path, nil when there is none.
func (t tree) at(path ...string) tree {
	for _, k := range path {
		t, _ = asTree(t[k])
	}
	return t
}

// set puts a value where the path leads, making objects on the way; nil takes out what
// is there.
func (t tree) set(value any, path ...string) {
	for _, k := range path[:len(path)-1] {
		next, ok := asTree(t[k])
		if !ok {
			next = tree{}
			t[k] = next
		}
		t = next
	}
	last := path[len(path)-1]
	if value == nil {
		delete(t, last)
		return
	}
	t[last] = value
}

// manage says whose the object is, and of which version.
func (t tree) manage() {
	t.set(Version, "version")
	t.set(Version, "_meta", "version")
	t.set(ManagedBy, "_meta", "managed_by")
}

// encode writes the tree, keys ascending: the same bytes for the same tree.
func (t tree) encode() json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(t); err != nil {
		panic(err) // it was decoded from JSON
	}
	return bytes.TrimSpace(b.Bytes())
}

func asTree(v any) (tree, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case tree:
		return v, true
	}
	return nil, false
}

// leaves are the types of all fields below, by path.
func (t tree) leaves(path string, into map[string]string) map[string]string {
	for _, inner := range []string{"properties", "fields"} {
		for name := range t.at(inner) {
			field := t.at(inner, name)
			if typ, _ := field["type"].(string); typ != "" && typ != "object" {
				into[path+name] = typ
			}
			field.leaves(path+name+".", into)
		}
	}
	return into
}
