package templates

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Tree is a JSON object. Its numbers keep their text. All objects in it are Trees.
type Tree map[string]any

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Tree) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode((*map[string]any)(t))
}

// JSON returns the tree as text with ascending keys, so the same tree gives the same bytes.
func (t Tree) JSON() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(t); err != nil {
		panic(err) // it was decoded from JSON
	}
	return bytes.TrimSpace(b.Bytes())
}

// At returns the object at a path, or nil if there is none.
func (t Tree) At(path ...string) Tree {
	for _, k := range path {
		t, _ = t[k].(map[string]any)
	}
	return t
}

// load decodes one of the embedded files, with {prefix} and {level} replaced.
func load(name, prefix, level string) Tree {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is part of the program
	}
	var t Tree
	names := strings.NewReplacer("{prefix}", prefix, "{level}", level) // no text that JSON escapes
	if err := json.Unmarshal([]byte(names.Replace(string(text))), &t); err != nil {
		panic(name + ": " + err.Error())
	}
	return t
}

// set sets the value at a path, and makes missing objects above it. If value is nil, set removes what is there.
func (t Tree) set(value any, path ...string) {
	for _, k := range path[:len(path)-1] {
		next, ok := t[k].(map[string]any)
		if !ok {
			next = map[string]any{}
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

// manage sets the fields _meta.managed_by and version.
func (t Tree) manage() {
	t.set(Version, "version")
	t.set(Version, "_meta", "version")
	t.set(ManagedBy, "_meta", "managed_by")
}

// leaves adds the types of all fields below to into, by path.
func (t Tree) leaves(path string, into map[string]string) map[string]string {
	for _, inner := range []string{"properties", "fields"} {
		for name := range t.At(inner) {
			field := t.At(inner, name)
			if typ, _ := field["type"].(string); typ != "" && typ != "object" {
				into[path+name] = typ
			}
			field.leaves(path+name+".", into)
		}
	}
	return into
}
