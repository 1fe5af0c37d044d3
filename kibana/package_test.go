package kibana_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/kibana"
)

// TestPackage: a package has all objects, in files with their ids as names, and the same bytes each time.
func TestPackage(t *testing.T) {
	b := bundle(t, kibana.Options{})
	var text, again bytes.Buffer
	for _, w := range []io.Writer{&text, &again} {
		if err := b.WritePackage(w, "v1.2.3-rc1"); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(text.Bytes(), again.Bytes()) {
		t.Error("two packages differ")
	}
	z, err := zip.NewReader(bytes.NewReader(text.Bytes()), int64(text.Len()))
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]kibana.Object{} // by id
	texts := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(f.Name, "fio2es-1.2.3/")
		if strings.Contains(string(content), "${") {
			t.Errorf("%s: a placeholder is left over", name)
		}
		if !strings.HasPrefix(name, "kibana/") {
			texts[name] = string(content)
			continue
		}
		var o kibana.Object
		if err := json.Unmarshal(content, &o); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if path.Base(name) != o.ID+".json" || path.Base(path.Dir(name)) != strings.ReplaceAll(o.Type, "-", "_") {
			t.Errorf("%s: %s %s", name, o.Type, o.ID)
		}
		objects[o.ID] = o
	}
	for _, name := range []string{"manifest.yml", "changelog.yml", "docs/README.md", "validation.yml"} {
		if texts[name] == "" {
			t.Errorf("there is no %s: %v", name, texts)
		}
	}
	if !strings.Contains(texts["manifest.yml"], "\nversion: 1.2.3\n") {
		t.Error(texts["manifest.yml"])
	}
	for _, want := range b.Objects {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(objects[want.ID]); err != nil || !cmp.Equal(string(text), string(got)) {
			t.Errorf("%s: %v, %s", want.ID, err, got)
		}
	}
}
