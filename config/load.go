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

// delimiter separates viper's names of nested settings. It is not a dot, because names of hosts have dots.
const delimiter = "::"

// flagNames are the flags whose names differ from their settings.
var flagNames = map[string]string{
	"elasticsearch.addresses": "elasticsearch", "elasticsearch.ca": "ca", "elasticsearch.fingerprint": "fingerprint",
	"elasticsearch.request_timeout": "request-timeout", "elasticsearch.give_up_after": "give-up-after",
	"kibana.url": "kibana", "kibana.space": "kibana-space", "kibana.ca_cert": "kibana-ca", "sla": "rule",
}

// flagOf returns the flag of a setting if the user gave it, else nil.
func flagOf(flags *pflag.FlagSet, name string) *pflag.Flag {
	f := flags.Lookup(cmp.Or(flagNames[name], name))
	if f == nil || !f.Changed {
		return nil
	}
	return f
}

// variable returns the name of the environment variable of a setting.
func variable(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
}

// Load reads the settings. file is the file that the user names. If it is empty, Load reads fio2es.yaml in the user's
// configuration folder and in the current folder. The latter may set only how runs are analysed. Of the flags of the
// command, only those that the user gave count. Load returns all errors joined.
func Load(file string, flags *pflag.FlagSet) (Config, error) {
	v := viper.NewWithOptions(viper.KeyDelimiter(delimiter))
	v.SetEnvPrefix(strings.TrimSuffix(envPrefix, "_"))
	v.SetEnvKeyReplacer(strings.NewReplacer(delimiter, "_"))
	v.AutomaticEnv()
	files, faults := readFiles(file)
	set, from := merged(files)
	faults = append(faults, v.MergeConfigMap(set))
	faults = append(faults, unknownVariables()...)
	c := Config{Origins: map[string]string{}}
	for name, value := range flat(Default()) {
		key := strings.ReplaceAll(name, ".", delimiter)
		v.SetDefault(key, value)
		if f := flagOf(flags, name); f != nil {
			faults = append(faults, v.BindPFlag(key, f))
			c.Origins[name] = "--" + f.Name
		} else if os.Getenv(variable(name)) != "" {
			c.Origins[name] = variable(name)
		} else if from[name] != "" {
			c.Origins[name] = from[name]
		}
	}
	decode := viper.DecodeHook(mapstructure.ComposeDecodeHookFunc(
		mapstructure.TextUnmarshallerHookFunc(), stringToDuration, mapstructure.StringToSliceHookFunc(","), stringToMap))
	faults = append(faults, c.valueFaults(v.Unmarshal(&c, decode))...)
	if flagOf(flags, "elasticsearch.addresses") != nil && slices.ContainsFunc(c.Elasticsearch.Addresses, hasPassword) {
		faults = append(faults, errors.New("--elasticsearch: all users of the machine can read a password in a flag: set FIO2ES_ELASTICSEARCH_USERNAME and FIO2ES_ELASTICSEARCH_PASSWORD"))
	}
	faults = append(faults, c.faults()...)
	return c, errors.Join(faults...)
}

// unknownVariables finds misspelt FIO2ES_* variables. It ignores those of tests, of the script of fio2es shim, and of
// the completion for fish.
func unknownVariables() []error {
	var faults []error
	known := names()
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		key, ours := strings.CutPrefix(name, envPrefix)
		if !ours || strings.HasPrefix(key, "TEST_") || strings.HasPrefix(key, "SHIM_") || key == "CONFIG" || key == "ACTIVE_HELP" {
			continue
		}
		if !slices.ContainsFunc(known, func(setting string) bool { return strings.EqualFold(variable(setting), name) }) {
			faults = append(faults, fmt.Errorf("environment: %s is no setting of fio2es", name))
		}
	}
	return faults
}

// each returns the single errors of a joined error.
func each(err error) (all []error) {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return []error{err}
	}
	for _, one := range joined.Unwrap() {
		all = append(all, each(one)...)
	}
	return all
}
