package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
)

// names returns the names of all settings. Those in sections have dots.
func names() []string { return slices.Sorted(maps.Keys(flat(Default()))) }

// isSetting reports whether a name is the name of a setting or of a section.
func isSetting(name string) bool { return slices.Contains(names(), name) || isSection(name) }

func isSection(name string) bool {
	return slices.ContainsFunc(names(), func(key string) bool { return strings.HasPrefix(key, name+".") })
}

// decoded returns a Config, or a part of it, as a map by names.
func decoded(c any) map[string]any {
	all := map[string]any{}
	if err := mapstructure.Decode(c, &all); err != nil {
		panic(err) // a Config always decodes
	}
	return all
}

// flat returns the values of settings by name. Names in sections have dots.
func flat(c any) map[string]any {
	all := map[string]any{}
	for name, value := range decoded(c) {
		section, ok := value.(map[string]any)
		if !ok {
			all[name] = value
		}
		for key, value := range section {
			all[name+"."+key] = value
		}
	}
	return all
}
