package kibana

import (
	"archive/zip"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
)

//go:embed package
var packageTexts embed.FS

// folders are those of a package, by type of object.
var folders = map[string]string{typeDataView: "index_pattern", typeSearch: "search", typeVisual: "visualization", typeDashboard: "dashboard"}

// WritePackage writes a zip file with all objects in Elastic's format of integration packages, which Kibana's Fleet
// installs. The version is that of the program. The name of the package begins the id of each object, so the prefix
// must be the default one.
func (b *Bundle) WritePackage(w io.Writer, version string) error {
	version = cmp.Or(strings.TrimPrefix(regexp.MustCompile(`^v\d+\.\d+\.\d+`).FindString(version), "v"), "0.0.0")
	z := zip.NewWriter(w)
	add := func(name string, text []byte) error {
		f, err := z.Create("fio2es-" + version + "/" + name)
		if err == nil {
			_, err = f.Write(text)
		}
		return err
	}
	texts := must(fs.Sub(packageTexts, "package"))
	err := fs.WalkDir(texts, ".", func(name string, d fs.DirEntry, _ error) error {
		if d.IsDir() {
			return nil
		}
		return add(name, []byte(strings.ReplaceAll(string(must(fs.ReadFile(texts, name))), "${version}", version)))
	})
	for _, o := range b.Objects {
		if err == nil {
			err = add("kibana/"+folders[o.Type]+"/"+o.ID+".json", must(json.MarshalIndent(o, "", "  ")))
		}
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return fmt.Errorf("write package: %w", err)
	}
	return nil
}
