package config

import (
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

// delimiter is between the names of nested settings; not a dot, which hosts have.
const delimiter = "::"

// flagNames are the flags of settings that are not named like them.
var flagNames = map[string]string{
	"elasticsearch::addresses": "elasticsearch", "elasticsearch::ca": "ca", "elasticsearch::fingerprint": "fingerprint",
	"elasticsearch::request_timeout": "request-timeout", "elasticsearch::give_up_after": "give-up-after",
	"kibana::url": "kibana", "kibana::space": "kibana-space", "kibana::ca_cert": "kibana-ca", "sla": "rule",
}

func flagName(key string) string {
	if name, ok := flagNames[key]; ok {
		return name
	}
	return key
}

// Load reads the settings. file is the one that the user names, or empty: then fio2es.yaml
// in the user's configuration folder is read, and the one in the current folder, which may
// set only how runs are analysed. flags are those of the command; only the ones that were
// set count. All faults come joined.
func Load(file string, flags *pflag.FlagSet) (Config, error) {
	v := viper.NewWithOptions(viper.KeyDelimiter(delimiter))
	keys := setDefaults(v, Default())
	v.SetEnvPrefix(strings.TrimSuffix(envPrefix, "_"))
	v.SetEnvKeyReplacer(strings.NewReplacer(delimiter, "_"))
	v.AutomaticEnv()
	files, faults := readFiles(file)
	if err := v.MergeConfigMap(merged(files)); err != nil {
		faults = append(faults, err)
	}
	faults = append(faults, unknownVariables(keys)...)
	for _, key := range keys {
		if f := flags.Lookup(flagName(key)); f != nil && f.Changed {
			if err := v.BindPFlag(key, f); err != nil {
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
	if f := flags.Lookup(flagName("elasticsearch::addresses")); f != nil && f.Changed && slices.ContainsFunc(c.Elasticsearch.Addresses, hasPassword) {
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

// setDefaults tells viper all names, without which it would not look for variables.
func setDefaults(v *viper.Viper, c Config) []string {
	var keys []string
	flatten("", delimiter, decoded(c), func(key string, value any) {
		v.SetDefault(key, value)
		keys = append(keys, key)
	})
	slices.Sort(keys)
	return keys
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

// paths names the files, for messages about what can be in any of them.
func paths(files []settingsFile) string {
	var all []string
	for _, f := range files {
		all = append(all, f.path)
	}
	return strings.Join(all, ", ")
}

// unknownVariables finds misspelt FIO2ES_* variables. Those for tests are not ours.
func unknownVariables(keys []string) []error {
	var faults []error
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		key, ours := strings.CutPrefix(name, envPrefix)
		if !ours || strings.HasPrefix(key, "TEST_") || key == "CONFIG" {
			continue
		}
		known := func(k string) bool { return strings.ReplaceAll(k, delimiter, "_") == strings.ToLower(key) }
		if !slices.ContainsFunc(keys, known) {
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
