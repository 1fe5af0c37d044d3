package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

const envPrefix = "FIO2ES_"

// delimiter is between viper's names of nested settings; not a dot, because hosts have dots.
const delimiter = "::"

// flagNames are the flags of settings that are not named like them.
var flagNames = map[string]string{
	"elasticsearch.addresses": "elasticsearch", "elasticsearch.ca": "ca", "elasticsearch.fingerprint": "fingerprint",
	"elasticsearch.request_timeout": "request-timeout", "elasticsearch.give_up_after": "give-up-after",
	"kibana.url": "kibana", "kibana.space": "kibana-space", "kibana.ca_cert": "kibana-ca", "sla": "rule",
}

// flagOf is the flag of a setting if the user gave it, else nil.
func flagOf(flags *pflag.FlagSet, name string) *pflag.Flag {
	f := flags.Lookup(cmp.Or(flagNames[name], name))
	if f == nil || !f.Changed {
		return nil
	}
	return f
}

// variable is the variable of the environment for a setting.
func variable(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
}

// viperName is viper's name of a setting.
func viperName(name string) string { return strings.ReplaceAll(name, ".", delimiter) }

// Load reads the settings. file is the one that the user names, or empty: then fio2es.yaml
// in the user's configuration folder is read, and the one in the current folder, which may
// set only how runs are analysed. flags are those of the command; only the ones that were
// set count. All faults come joined.
func Load(file string, flags *pflag.FlagSet) (Config, error) {
	v := viper.NewWithOptions(viper.KeyDelimiter(delimiter))
	flatten("", decoded(Default()), func(name string, value any) { v.SetDefault(viperName(name), value) })
	v.SetEnvPrefix(strings.TrimSuffix(envPrefix, "_"))
	v.SetEnvKeyReplacer(strings.NewReplacer(delimiter, "_"))
	v.AutomaticEnv()
	files, faults := readFiles(file)
	if err := v.MergeConfigMap(merged(files)); err != nil {
		faults = append(faults, err)
	}
	faults = append(faults, unknownVariables()...)
	for _, name := range names() {
		if f := flagOf(flags, name); f != nil {
			if err := v.BindPFlag(viperName(name), f); err != nil {
				faults = append(faults, err)
			}
		}
	}
	c := Config{}
	decode := viper.DecodeHook(mapstructure.ComposeDecodeHookFunc(
		mapstructure.TextUnmarshallerHookFunc(), mapstructure.StringToTimeDurationHookFunc(), mapstructure.StringToSliceHookFunc(","), stringToMap))
	if err := v.UnmarshalExact(&c, decode); err != nil {
		faults = append(faults, explain(err, paths(files))...)
	}
	if flagOf(flags, "elasticsearch.addresses") != nil && slices.ContainsFunc(c.Elasticsearch.Addresses, hasPassword) {
		faults = append(faults, errors.New("--elasticsearch: all users of the machine can read a password in a flag: set FIO2ES_ELASTICSEARCH_USERNAME and FIO2ES_ELASTICSEARCH_PASSWORD"))
	}
	c.Origins = origins(files, flags)
	for name, pairs := range map[string]map[string]string{"labels": c.Labels, "offset": c.Offset} {
		if strings.HasPrefix(c.Origins[name], "--") || strings.HasPrefix(c.Origins[name], envPrefix) {
			continue
		}
		restoreCase(pairs, files, name)
	}
	faults = append(faults, c.faults()...)
	return c, errors.Join(faults...)
}

// restoreCase gives labels and hosts of files the names that stand there: viper takes names in
// lower case, and the host Client01 is not client01. Those of flags and variables have theirs.
func restoreCase(pairs map[string]string, files []settingsFile, setting string) {
	written, _ := merged(files)[setting].(map[string]any)
	for name := range written {
		lower := strings.ToLower(name)
		if value, ok := pairs[lower]; ok && name != lower {
			delete(pairs, lower)
			pairs[name] = value
		}
	}
}

// paths are the paths of all files, for messages about a setting in one of them.
func paths(files []settingsFile) string {
	var all []string
	for _, f := range files {
		all = append(all, f.path)
	}
	return strings.Join(all, ", ")
}

// unknownVariables finds misspelt FIO2ES_* variables. Those for tests are not ours.
func unknownVariables() []error {
	var faults []error
	known := names()
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		key, ours := strings.CutPrefix(name, envPrefix)
		if !ours || strings.HasPrefix(key, "TEST_") || key == "CONFIG" {
			continue
		}
		if !slices.ContainsFunc(known, func(setting string) bool { return strings.EqualFold(variable(setting), name) }) {
			faults = append(faults, fmt.Errorf("environment: %s is no setting of fio2es", name))
		}
	}
	return faults
}

// explain makes one fault of each that the decoder found.
func explain(err error, file string) []error {
	var faults []error
	for _, line := range strings.Split(err.Error(), "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "*"))
		if where, names, ok := strings.Cut(line, "has invalid keys: "); ok {
			if where = strings.Trim(where, "' "); where != "" {
				where += "."
			}
			for name := range strings.SplitSeq(names, ", ") {
				faults = append(faults, fmt.Errorf("%s: %s%s is no setting of fio2es", file, where, name))
			}
			continue
		}
		if line != "" && !strings.Contains(line, "decoding failed") && !strings.HasSuffix(line, "error(s) decoding:") {
			faults = append(faults, errors.New(line))
		}
	}
	return faults
}
