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

	"github.com/fio2es/fio2es/internal/safeyaml"
)

// analysis are the settings that a file found in the current folder may set. That folder may
// be an archive of somebody else, so the file decides neither where runs and passwords are sent
// nor which files are read or written. A setting that is not here is refused there.
var analysis = []string{
	"source", "interval", "precision", "weighting", "inflight", "tolerance", "align", "levels",
	"archive", "labels", "start", "offset", "jobs", "sla", "groups", "unit",
}

// settingsLimits are the limits of a settings file.
var settingsLimits = safeyaml.Limits{Bytes: mostSettings, Values: 10_000, Text: mostSettings, Keys: 5_000, Depth: 16}

// mostFaults is how many faults of one file found in the current folder are named.
const mostFaults = 20

// settingsFile is a file and what it sets, by names in lower case.
type settingsFile struct {
	path  string
	found bool // in the current folder: only settings of analysis
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
		if err == nil {
			f.set, err = parseSettings(text)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("read settings %s: %w", f.path, err))
			continue
		}
		if f.found {
			faults = append(faults, f.refuse()...)
		}
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
	ia, err := os.Stat(a)
	if err != nil {
		return false
	}
	ib, err := os.Stat(b)
	return err == nil && os.SameFile(ia, ib)
}

// refuse removes what a file in the current folder may not set, and says where it may stand.
func (f *settingsFile) refuse() []error {
	var faults []error
	own := "--config FILE"
	if dir, err := os.UserConfigDir(); err == nil {
		own = filepath.Join(dir, "fio2es", "fio2es.yaml") + ", in a file given with --config,"
	}
	for _, name := range slices.Sorted(maps.Keys(f.set)) {
		if slices.Contains(analysis, name) {
			continue
		}
		for _, key := range settingsIn(name, f.set[name]) {
			if isSetting(key) {
				const text = "%s: %s is not taken from a file found in the current folder, which may come from somebody else: set it in %s or as %s"
				faults = append(faults, fmt.Errorf(text, f.path, key, own, variable(key)))
			} else {
				faults = append(faults, fmt.Errorf("%s: %s is no setting of fio2es", f.path, key))
			}
		}
		delete(f.set, name)
	}
	if more := len(faults) - mostFaults; more > 0 {
		faults = append(faults[:mostFaults], fmt.Errorf("%s: %d more like these", f.path, more))
	}
	return faults
}

// settingsIn are the names of the settings below a name of a file, with dots.
func settingsIn(name string, value any) []string {
	section, ok := value.(map[string]any)
	if !ok || len(section) == 0 {
		return []string{name}
	}
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(section)) {
		keys = append(keys, name+"."+strings.ToLower(k))
	}
	return keys
}

// isSetting reports whether a name with dots is that of a setting, or of a section of them.
func isSetting(name string) bool {
	return slices.ContainsFunc(names(), func(key string) bool {
		return key == name || strings.HasPrefix(key, name+".")
	})
}

// parseSettings reads YAML, of which JSON is a part.
func parseSettings(text []byte) (map[string]any, error) {
	root, more, err := safeyaml.Parse(context.Background(), text, settingsLimits)
	switch {
	case err != nil:
		return nil, oneLine(err)
	case more:
		return nil, errors.New("it has more than one YAML document: settings are one")
	case root == nil:
		return nil, nil
	}
	var all map[string]any
	if err := root.Decode(&all); err != nil {
		return nil, oneLine(err)
	}
	set := map[string]any{}
	for name, value := range all {
		lower := strings.ToLower(name)
		if _, twice := set[lower]; twice {
			return nil, fmt.Errorf("%s is set twice, in lower and upper case", lower)
		}
		set[lower] = value
	}
	return set, nil
}

// oneLine is a parser's error on one line.
func oneLine(err error) error {
	lines := strings.Split(err.Error(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return errors.New(strings.Join(lines, " "))
}

// merged are the settings of all files. Labels and offsets of several files are joined.
func merged(files []settingsFile) map[string]any {
	all := map[string]any{}
	for _, f := range files {
		for name, value := range f.set {
			section, isMap := value.(map[string]any)
			if !isMap {
				all[name] = value
				continue
			}
			both := map[string]any{} // a copy, because viper changes the case of names in what it is given
			if before, ok := all[name].(map[string]any); ok {
				maps.Copy(both, before)
			}
			maps.Copy(both, section)
			all[name] = both
		}
	}
	return all
}
