package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fio2es/fio2es/internal/safeyaml"
)

// mostFaults is the largest number of faults of one file that are reported.
const mostFaults = 20

// settingsFile is a file and its settings, by names in lower case.
type settingsFile struct {
	path  string
	found bool // it is in the current folder, so only settings of [Analysis] are allowed
	set   map[string]any
}

// readFiles reads the file that the user names. Without one, it reads those in the user's configuration folder and in
// the current folder, in this order: a later file wins. The result does not have refused settings.
func readFiles(named string) ([]settingsFile, []error) {
	var read []settingsFile
	var faults []error
	for _, f := range whichFiles(cmp.Or(named, os.Getenv(envPrefix+"CONFIG"))) {
		text, err := readRegular(f.path, mostSettings)
		if err != nil {
			faults = append(faults, fmt.Errorf("read settings %w", err))
			continue
		}
		if f.set, err = parseSettings(text); err != nil {
			faults = append(faults, fmt.Errorf("read settings %s: %w", f.path, err))
			continue
		}
		faults = append(faults, f.check()...)
		read = append(read, f)
	}
	return read, faults
}

func whichFiles(named string) []settingsFile {
	if named != "" {
		return []settingsFile{{path: named}}
	}
	var files []settingsFile
	own := ""
	if dir, err := os.UserConfigDir(); err == nil {
		if own = findFile(filepath.Join(dir, "fio2es")); own != "" {
			files = append(files, settingsFile{path: own})
		}
	}
	here, err := os.Getwd()
	if err != nil {
		return files
	}
	if found := findFile(here); found != "" && !sameFile(found, own) {
		files = append(files, settingsFile{path: found, found: true})
	}
	return files
}

// OwnFile returns the name of the settings file in the user's configuration folder. The file need not exist. The name
// is "" if there is no such folder.
func OwnFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "fio2es", "fio2es.yaml")
}

// findFile returns the name of the settings file in a folder, or "". A file fio2es without a suffix is not one: it is
// the program where it was built.
func findFile(dir string) string {
	for _, name := range []string{"fio2es.yaml", "fio2es.yml"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
	}
	return ""
}

func sameFile(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(ia, ib)
}

// check removes unknown names, and settings that a file in the current folder may not set. The errors say where these
// are allowed.
func (f *settingsFile) check() []error {
	var faults []error
	own := "--config FILE"
	if file := OwnFile(); file != "" {
		own = file + ", in a file given with --config,"
	}
	known, analysis := flat(Default()), flat(Analysis{})
	for _, name := range slices.Sorted(maps.Keys(f.set)) {
		before := len(faults)
		for _, key := range f.settingsIn(name, known) {
			_, isAnalysis := analysis[key]
			if !isSetting(key) || strings.Contains(name, ".") {
				faults = append(faults, fmt.Errorf("%s: %s is no setting of fio2es", f.path, key))
			} else if _, isText := f.set[name].(string); isText && isSection(key) {
				faults = append(faults, fmt.Errorf("%s: %s: want the settings of this section, indented below it", f.path, key))
			} else if f.found && !isAnalysis {
				const text = "%s: %s is not taken from a file found in the current folder, which may come from somebody else: set it in %s or as %s"
				faults = append(faults, fmt.Errorf(text, f.path, key, own, variable(key)))
			}
		}
		if len(faults) > before {
			delete(f.set, name)
		}
	}
	if more := len(faults) - mostFaults; more > 0 {
		faults = append(faults[:mostFaults], fmt.Errorf("%s: %d more like these", f.path, more))
	}
	return faults
}

// settingsIn returns the names of the settings that a name in the file sets. For a section these are all its settings,
// with dots.
func (f *settingsFile) settingsIn(name string, known map[string]any) []string {
	section, ok := f.set[name].(map[string]any)
	if _, isOne := known[name]; isOne || !ok || len(section) == 0 {
		return []string{name}
	}
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(section)) {
		keys = append(keys, name+"."+k)
	}
	return keys
}

// parseSettings reads YAML, which includes JSON. Names become lower case, except the names of labels and hosts.
func parseSettings(text []byte) (map[string]any, error) {
	root, more, err := safeyaml.Parse(text)
	var all map[string]any
	switch {
	case err != nil:
	case more:
		err = errors.New("it has more than one YAML document, want one: remove the others")
	case root == nil:
	case root.Content[0].Kind != yaml.MappingNode && root.Content[0].ShortTag() != "!!null":
		err = errors.New("want settings, such as interval: 10s, one a line")
	default:
		asWritten(root)
		err = root.Decode(&all)
	}
	if err == nil {
		all, err = lowered(all)
	}
	for name, value := range all {
		if section, ok := value.(map[string]any); ok && err == nil && isSection(name) {
			all[name], err = lowered(section)
		}
	}
	if err != nil { // the message must fit on one line
		text := strings.Join(strings.Fields(err.Error()), " ")
		if fault, ofLibrary := strings.CutPrefix(text, "yaml: "); ofLibrary {
			text = "not YAML: " + fault
		}
		return nil, errors.New(text)
	}
	return all, nil
}

// lowered returns a copy with names in lower case.
func lowered(m map[string]any) (map[string]any, error) {
	low := map[string]any{}
	for name, value := range m {
		lower := strings.ToLower(name)
		if _, twice := low[lower]; twice {
			return nil, fmt.Errorf("%s is set twice, in lower and upper case", lower)
		}
		low[lower] = value
	}
	return low, nil
}

// pairs are labels, or offsets by host. It is a type of its own because viper changes the names in a map[string]any to
// lower case. The host Client01 is not client01.
type pairs map[string]any

// merged returns the settings of all files, and for each the files that it comes from. The last file wins. Labels and
// offsets of all files are joined.
func merged(files []settingsFile) (all map[string]any, from map[string]string) {
	all, from = map[string]any{}, map[string]string{}
	for _, f := range files {
		for name, value := range f.set {
			m, isMap := value.(map[string]any)
			switch section := isSection(name); {
			case !isMap:
				all[name], from[name] = value, f.path
			case section:
				both, _ := all[name].(map[string]any)
				all[name] = joined(both, m)
				for k := range m {
					from[name+"."+k] = f.path
				}
			default:
				before, ok := all[name].(pairs)
				if all[name] = pairs(joined(before, m)); ok {
					from[name] += ", " + f.path
				} else {
					from[name] = f.path
				}
			}
		}
	}
	return all, from
}

// joined returns a map with the entries of both; m wins.
func joined(before, m map[string]any) map[string]any {
	both := map[string]any{}
	maps.Copy(both, before)
	maps.Copy(both, m)
	return both
}
