package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
)

// names are the names of all settings; in sections with dots.
func names() []string { return slices.Sorted(maps.Keys(flat(Default()))) }

// isSetting reports whether a name is that of a setting, or of a section of them.
func isSetting(name string) bool { return slices.Contains(names(), name) || isSection(name) }

func isSection(name string) bool {
	return slices.ContainsFunc(names(), func(key string) bool { return strings.HasPrefix(key, name+".") })
}

// decoded is a Config, or a part of it, by names.
func decoded(c any) map[string]any {
	all := map[string]any{}
	if err := mapstructure.Decode(c, &all); err != nil {
		panic(err) // a Config always decodes
	}
	return all
}

// flat are the values of settings by name; in sections with dots.
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
