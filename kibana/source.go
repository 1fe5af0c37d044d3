package kibana

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

//go:embed objects
var embedded embed.FS

// objects returns the folder of all sources.
func objects() fs.FS { return must(fs.Sub(embedded, "objects")) }

// placeholder matches ${name} and ${id:name}.
var placeholder = regexp.MustCompile(`\$\{([^}]*)\}`)

// partPlace matches the placeholder of a part, with what is before it on its line.
var partPlace = regexp.MustCompile(`(?m)^( *)(.*)"\$\{part:([a-z-]+)\}"`)

// sources reads the files of objects/ and replaces placeholders. It panics if a file cannot be read, because the
// files are part of the program.
type sources struct {
	files  fs.FS
	values map[string]string
	id     func(name string) string
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("assemble saved objects: %v", err))
	}
	return v
}

// withParts returns the text of a file with its parts, which are indented like their placeholders.
func (s *sources) withParts(file string) string {
	text := string(must(fs.ReadFile(s.files, file)))
	return partPlace.ReplaceAllStringFunc(text, func(line string) string {
		place := partPlace.FindStringSubmatch(line)
		part := strings.TrimSpace(string(must(fs.ReadFile(s.files, "parts/"+place[3]+".json"))))
		return place[1] + place[2] + strings.ReplaceAll(part, "\n", "\n"+place[1])
	})
}

// text returns a file with values in place of placeholders. own values have precedence over general ones.
func (s *sources) text(file string, own map[string]string) string {
	text := s.withParts(file)
	text = strings.NewReplacer(`"${bands}"`, bands().all, `"${bands:low}"`, bands().low, `"${bands:high}"`, bands().high).Replace(text)
	return placeholder.ReplaceAllStringFunc(text, func(match string) string {
		name := match[2 : len(match)-1]
		if value, ok := own[name]; ok {
			return value
		}
		if value, ok := s.values[name]; ok {
			return value
		}
		if dashboard, ok := strings.CutPrefix(name, "id:"); ok {
			return s.id(dashboard)
		}
		return match
	})
}

func (s *sources) decode(file string, into any) {
	if err := json.Unmarshal([]byte(s.text(file, nil)), into); err != nil {
		panic(fmt.Sprintf("%s: %v", file, err))
	}
}

// names returns the JSON files in a folder, without the extension.
func (s *sources) names(folder string) []string {
	var list []string
	for _, e := range must(fs.ReadDir(s.files, folder)) {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && !strings.Contains(name, ".") {
			list = append(list, name)
		}
	}
	return list
}
