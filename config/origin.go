package config

import (
	"os"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/pflag"
)

// names are the names of all settings; in sections with dots.
func names() []string {
	var all []string
	flatten("", decoded(Default()), func(name string, _ any) { all = append(all, name) })
	slices.Sort(all)
	return all
}

// decoded is a Config by names.
func decoded(c Config) map[string]any {
	all := map[string]any{}
	if err := mapstructure.Decode(c, &all); err != nil {
		panic(err) // a Config always decodes
	}
	return all
}

// flatten calls add for each setting, with its section's name and a dot before its own.
func flatten(prefix string, m map[string]any, add func(name string, value any)) {
	for k, value := range m {
		if nested, ok := value.(map[string]any); ok {
			flatten(prefix+k+".", nested, add)
			continue
		}
		add(prefix+k, value)
	}
}

// origins are the places of all settings that are not the default: --interval,
// FIO2ES_INTERVAL, or the paths of files.
func origins(files []settingsFile, flags *pflag.FlagSet) map[string]string {
	from := map[string]string{}
	for _, name := range names() {
		if f := flagOf(flags, name); f != nil {
			from[name] = "--" + f.Name
		} else if os.Getenv(variable(name)) != "" {
			from[name] = variable(name)
		} else if where := filesWith(files, name); where != "" {
			from[name] = where
		}
	}
	return from
}

// filesWith are the files that a setting is taken from: the last one that has it, or all
// where they are joined.
func filesWith(files []settingsFile, name string) string {
	section, key, nested := strings.Cut(name, ".")
	where, before := "", false
	for _, f := range files {
		value, ok := f.set[section]
		m, isMap := value.(map[string]any)
		if nested {
			ok = slices.ContainsFunc(settingsIn(section, m), func(k string) bool { return k == section+"."+key })
		}
		switch {
		case !ok:
		case isMap && !nested && before:
			where += ", " + f.path
		default:
			where, before = f.path, isMap
		}
	}
	return where
}
