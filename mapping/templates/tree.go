package templates

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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

// manage sets what [Meta] reads. Nothing may change the tree afterwards.
func (t Tree) manage() {
	t.set(ManagedBy, "_meta", "managed_by")
	t.set(Version, "_meta", "version")
	sum := sha256.Sum256(t.JSON())
	t.set(hex.EncodeToString(sum[:8]), "_meta", "hash")
}

// Meta is what _meta says about an object, ours or that of another program.
type Meta struct {
	ManagedBy string
	Version   int
	Hash      string // of all else that the object has
	Months    bool   // of an index template: its indices have the runs of a month, else of a year
}

// UnmarshalJSON implements [json.Unmarshaler]. What another program has put there is left out.
func (m *Meta) UnmarshalJSON(text []byte) error {
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	version, _ := all["version"].(float64)
	m.Version = int(version)
	m.ManagedBy, _ = all["managed_by"].(string)
	m.Months, _ = all["months"].(bool)
	m.Hash, _ = all["hash"].(string)
	return nil
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
