package kibana

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
)

//go:embed objects
var embedded embed.FS

// objects is the folder of all sources.
func objects() fs.FS {
	files, err := fs.Sub(embedded, "objects")
	if err != nil {
		panic(err) // it is embedded
	}
	return files
}

// placeholder is ${name} or ${id:name}.
var placeholder = regexp.MustCompile(`\$\{([^}]*)\}`)

// sources reads the files of objects/ and puts values in their places.
type sources struct {
	files  fs.FS
	values map[string]string
	id     func(name string) string
}

// text is a file with all placeholders replaced; own ones come before general ones, and
// each of them must have a place.
func (s *sources) text(file string, own map[string]string) ([]byte, error) {
	text, err := fs.ReadFile(s.files, file)
	if err != nil {
		return nil, err // of package fs: it names the file
	}
	return s.replace(text, own)
}

func (s *sources) replace(text []byte, own map[string]string) ([]byte, error) {
	bands := bandsText()
	text = bytes.ReplaceAll(text, []byte(`"${bands}"`), bands.all)
	text = bytes.ReplaceAll(text, []byte(`"${bands:low}"`), bands.low)
	text = bytes.ReplaceAll(text, []byte(`"${bands:high}"`), bands.high)
	var faults []error
	unused := maps.Clone(own)
	text = placeholder.ReplaceAllFunc(text, func(match []byte) []byte {
		name := string(match[2 : len(match)-1])
		if value, ok := own[name]; ok {
			delete(unused, name)
			return []byte(value)
		}
		if value, ok := s.values[name]; ok {
			return []byte(value)
		}
		if dashboard, ok := strings.CutPrefix(name, "id:"); ok && s.has("dashboards/"+dashboard+".json") {
			return []byte(s.id(dashboard))
		}
		faults = append(faults, fmt.Errorf("nothing stands for %s", match))
		return match
	})
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		faults = append(faults, fmt.Errorf("there is no place for the value %q", name))
	}
	return text, errors.Join(faults...)
}

// decode reads a JSON file; names that the type does not have are errors.
func (s *sources) decode(file string, into any) error {
	text, err := s.text(file, nil)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is text after the end of the object")
	}
	return nil
}

// names are the JSON files of a folder, without the ending.
func (s *sources) names(folder string) ([]string, error) {
	entries, err := fs.ReadDir(s.files, folder)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && !strings.Contains(name, ".") {
			list = append(list, name)
		}
	}
	return list, nil
}

func (s *sources) has(file string) bool {
	_, err := fs.Stat(s.files, file)
	return err == nil
}
