package config

import (
	"cmp"
	"context"
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

var settingsLimits = safeyaml.Limits{Bytes: mostSettings, Values: 10_000, Text: mostSettings, Keys: 5_000, Depth: 16}

// mostFaults is how many faults of one file are named.
const mostFaults = 20

// settingsFile is a file and what it sets, by names in lower case.
type settingsFile struct {
	path  string
	found bool // in the current folder: only settings of [Analysis]
	set   map[string]any
}

// readFiles reads the file that the user names, else those in the user's configuration
// folder and in the current folder, in this order: a later one wins. What it refuses is
// not in the result.
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

// OwnFile is the settings file in the user's configuration folder, which need not exist. It is "" if there is no such
// folder.
func OwnFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "fio2es", "fio2es.yaml")
}

// findFile is the settings file in a folder, or empty. A file fio2es without a suffix is none:
// that is the program where it was built.
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

// check removes what is no setting, and what a file in the current folder may not set; it says
// where that may stand.
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

// settingsIn are the names of the settings that a name of the file sets: itself, or with dots
// those of the section.
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

// parseSettings reads YAML; JSON is a part of it. Names are in lower case, but not those
// of labels and hosts.
func parseSettings(text []byte) (map[string]any, error) {
	root, more, err := safeyaml.Parse(context.Background(), text, settingsLimits)
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
	if err != nil { // on one line
		text := strings.Join(strings.Fields(err.Error()), " ")
		if fault, ofLibrary := strings.CutPrefix(text, "yaml: "); ofLibrary {
			text = "not YAML: " + fault
		}
		return nil, errors.New(text)
	}
	return all, nil
}

// lowered is a copy with names in lower case.
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

// pairs are labels, or offsets by host. Viper lowers the names in a map[string]any, but the host
// Client01 is not client01.
type pairs map[string]any

// merged are the settings of all files, and by name the files that they are from: the last
// that has one, or all that have labels or offsets, which are joined.
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

// joined is a map with what is in either; m wins.
func joined(before, m map[string]any) map[string]any {
	both := map[string]any{}
	maps.Copy(both, before)
	maps.Copy(both, m)
	return both
}
