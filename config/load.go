package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/late"
	"github.com/fio2es/fio2es/internal/safeyaml"
)

const (
	envPrefix = "FIO2ES_"
	// delimiter separates viper's names of nested settings. It is not a dot, because names of hosts have dots.
	delimiter = "::"
	// mostSettings is the size in bytes of the largest settings file.
	mostSettings = 128 << 10 // as in safeyaml
	// mostFaults is the largest number of faults of one file that are reported.
	mostFaults = 20
)

// flagNames are the flags whose names differ from their settings.
var flagNames = map[string]string{
	"elasticsearch.addresses": "elasticsearch", "elasticsearch.ca": "ca",
	"kibana.url": "kibana", "kibana.space": "kibana-space", "kibana.ca_cert": "kibana-ca", "sla": "rule",
	"host": "", // the flag of this name chooses hosts of runs
}

// Variable returns the name of the environment variable of a setting.
func Variable(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
}

// Names returns the names of all settings. Those in sections have dots.
var Names = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(flat(Default()))) })

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

// decoded returns a Config, or a part of it, as a map by names.
func decoded(c any) map[string]any {
	all := map[string]any{}
	if err := mapstructure.Decode(c, &all); err != nil {
		panic(err) // a Config always decodes
	}
	return all
}

// Load reads the settings. file is the file that the user names. If it is empty, Load reads fio2es.yaml in the user's
// configuration folder and in the current folder. The latter may set only how runs are analysed. Of the flags of the
// command, only those that the user gave count. Load returns all errors joined.
func Load(file string, flags *pflag.FlagSet) (Config, error) {
	c := Config{Origins: map[string]string{}}
	faults := unknownVariables()
	values := flat(Default())
	for _, f := range settingsFiles(file) {
		set, wrong := f.read()
		faults = append(faults, wrong...)
		for name, value := range set {
			if now, ok := value.(pairs); ok { // those of all files count; the last file wins
				both := pairs{}
				earlier, _ := values[name].(pairs)
				maps.Copy(both, earlier)
				maps.Copy(both, now)
				value = both
			}
			values[name], c.Origins[name] = value, f.path
		}
	}
	v := viper.NewWithOptions(viper.KeyDelimiter(delimiter), viper.EnvKeyReplacer(strings.NewReplacer(delimiter, "_")))
	v.SetEnvPrefix(strings.TrimSuffix(envPrefix, "_"))
	v.AutomaticEnv()
	for name, value := range values {
		key := strings.ReplaceAll(name, ".", delimiter)
		v.SetDefault(key, value)
		flag, isOther := flagNames[name]
		if !isOther {
			flag = name
		}
		if f := flags.Lookup(flag); f != nil && f.Changed {
			faults = append(faults, v.BindPFlag(key, f))
			c.Origins[name] = "--" + f.Name
		} else if os.Getenv(Variable(name)) != "" {
			c.Origins[name] = Variable(name)
		}
	}
	decode := viper.DecodeHook(mapstructure.ComposeDecodeHookFunc(fromText, mapstructure.StringToSliceHookFunc(",")))
	if err := v.Unmarshal(&c, decode); err != nil {
		faults = append(faults, c.valueFaults(err)...)
	}
	if strings.HasPrefix(c.Origins["elasticsearch.addresses"], "--") && slices.ContainsFunc(c.Elasticsearch.Addresses, hasPassword) {
		faults = append(faults, errors.New("--elasticsearch: all users of the machine can read a password in a flag: set FIO2ES_ELASTICSEARCH_USERNAME and FIO2ES_ELASTICSEARCH_PASSWORD"))
	}
	_, err := c.Options()
	_, noZone := c.Zone()
	return c, errors.Join(append(append(faults, c.serverFaults()...), err, noZone)...)
}

type settingsFile struct {
	path   string
	isHere bool // it is in the current folder, so only settings of [Analysis] are allowed
}

// settingsFiles returns the file that the user names, or else those in the user's configuration folder and in the
// current folder. The last wins.
func settingsFiles(named string) (files []settingsFile) {
	if named = cmp.Or(named, os.Getenv(envPrefix+"CONFIG")); named != "" {
		return []settingsFile{{path: named}}
	}
	own := OwnFile()
	if own != "" {
		own = filepath.Dir(own)
	}
	here, _ := os.Getwd()
	var last os.FileInfo
	for _, dir := range []string{own, here} {
		for _, name := range []string{"fio2es.yaml", "fio2es.yml"} { // fio2es without a suffix is the program
			path := filepath.Join(dir, name)
			info, err := os.Stat(path)
			if dir == "" || err != nil || info.IsDir() {
				continue
			}
			if last == nil || !os.SameFile(last, info) {
				files = append(files, settingsFile{path, dir == here && dir != own})
			}
			last = info
			break
		}
	}
	return files
}

// OwnFile returns the name of the settings file in the user's configuration folder. The file need not exist. The name
// is "" if there is no such folder.
func OwnFile() string {
	dir := userFolder("XDG_CONFIG_HOME")
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "fio2es.yaml")
}

// pairs are labels, or offsets by host. It is a type of its own because viper changes the names in a map[string]any to
// lower case. The host Client01 is not client01.
type pairs map[string]any

// read returns the settings in the file by name, without those that it may not set, and all that is wrong with it.
func (f settingsFile) read() (set map[string]any, faults []error) {
	text, err := readRegular(f.path, mostSettings)
	if err != nil {
		return nil, []error{fmt.Errorf("read settings %w", err)}
	}
	root, more, err := safeyaml.Parse(text)
	switch {
	case err != nil:
	case more:
		err = errors.New("it has more than one YAML document, want one: remove the others")
	case root == nil:
	case root.Content[0].Kind != yaml.MappingNode && root.Content[0].ShortTag() != "!!null":
		err = errors.New("want settings, such as interval: 10s, one a line")
	default:
		asWritten(root)
		err = root.Decode(&set)
	}
	if err != nil { // the message must fit on one line
		text := strings.Join(strings.Fields(err.Error()), " ")
		text = quotedValue().ReplaceAllString(text, "a value")
		if fault, ofLibrary := strings.CutPrefix(text, "yaml: "); ofLibrary {
			text = "not YAML: " + fault
		}
		return nil, []error{fmt.Errorf("read settings %s: %s", f.path, text)}
	}
	for key, value := range set {
		entries, isMap := value.(map[string]any)
		switch section, _, isDotted := strings.Cut(key, "."); {
		case isDotted:
			faults = append(faults, fmt.Errorf("%s: %s: want it in a section %s", f.path, unknown(key, nil), section))
			delete(set, key)
		case isMap && slices.Contains(Names(), key):
			set[key] = pairs(entries)
		case value == nil && slices.ContainsFunc(Names(), func(name string) bool { return strings.HasPrefix(name, key+".") }):
			delete(set, key) // all settings of the section are comments
		}
	}
	set = flat(set)
	analysis := flat(Analysis{})
	for name, value := range set {
		_, isAnalysis := analysis[name]
		switch {
		case !slices.Contains(Names(), name):
			faults = append(faults, fmt.Errorf("%s: %s", f.path, unknown(name, Names())))
		case f.isHere && !isAnalysis:
			faults = append(faults, fmt.Errorf("%s: %s is not taken from a file found in the current folder, which may come from somebody else: set it in %s, with --config FILE, or as %s",
				f.path, name, OwnFile(), Variable(name)))
		case value != nil:
			continue
		}
		delete(set, name)
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	if more := len(faults) - mostFaults; more > 0 {
		faults = append(faults[:mostFaults], fmt.Errorf("%s: %d more like these", f.path, more))
	}
	return set, faults
}

// quotedValue matches a value in an error of the YAML library, such as that of !!null x.
var quotedValue = late.Regexp("`[^`]*`")

// unknown says that there is no setting of this name, and which of the names are near.
func unknown(name string, names []string) string {
	shown := name
	if i := strings.IndexFunc(name, func(r rune) bool {
		return !strings.ContainsRune("_.-", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}); i >= 0 {
		shown = name[:i] + "…" // password:x, without a blank, is a name to YAML
	}
	text := shown + " is no setting of fio2es"
	if near := expr.Near(name, names); len(near) > 0 {
		text += ": did you mean " + strings.Join(near[:min(3, len(near))], " or ") + "?"
	}
	return text
}

// asWritten makes the values below a node texts, as they are written in the file: the label 1.10 must not become the
// number 1.1.
func asWritten(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && slices.Contains([]string{"!!int", "!!float", "!!bool", "!!timestamp"}, n.ShortTag()) {
		n.Tag = "!!str"
	}
	for _, below := range n.Content {
		asWritten(below)
	}
}

// unknownVariables finds misspelt FIO2ES_* variables. It ignores those of tests, of the script of fio2es shim, and of
// the completion for fish.
func unknownVariables() (faults []error) {
	var known []string
	for _, setting := range Names() {
		known = append(known, Variable(setting))
	}
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		key, ours := strings.CutPrefix(name, envPrefix)
		if !ours || strings.HasPrefix(key, "TEST_") || strings.HasPrefix(key, "SHIM_") || key == "CONFIG" || key == "ACTIVE_HELP" {
			continue
		}
		if !slices.ContainsFunc(known, func(variable string) bool { return strings.EqualFold(variable, name) }) {
			faults = append(faults, errors.New("environment: "+unknown(name, known)))
		}
	}
	return faults
}

// textError is a text that a setting cannot have.
type textError struct{ value, want string }

func (e *textError) Error() string { return "want " + e.want }

// fromText reads texts: durations such as 5m, and "a=b,c=d", the form of labels and offsets in the environment.
func fromText(from, to reflect.Type, value any) (any, error) {
	text, isText := value.(string)
	switch {
	case !isText || from.Kind() != reflect.String:
		return value, nil
	case to == reflect.TypeFor[time.Duration]():
		d, ok := expr.ParseDuration(text)
		if !ok {
			return nil, &textError{text, "a time such as 90s or 5m"}
		}
		return d, nil
	case to.Kind() != reflect.Map:
		return value, nil
	}
	out := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		k, v, ok := strings.Cut(pair, "=")
		if !ok && pair != "" {
			return nil, &textError{pair, "NAME=VALUE"}
		}
		if ok {
			out[k] = v
		}
	}
	return out, nil
}

// wrong returns the error of a value that does not fit its setting. It quotes the value of a flag only: in a file or a variable
// may be anything, such as a password in the wrong line.
func (c *Config) wrong(name string, value any, want string) error {
	if strings.HasPrefix(c.Origins[name], "--") {
		return fmt.Errorf("%s: %v is not %s", c.where(name), value, want)
	}
	return fmt.Errorf("%s: want %s", c.where(name), want)
}

// where returns the name of a setting and the place that it comes from.
func (c *Config) where(name string) string {
	switch from := c.Origins[name]; {
	case from == "":
		return name
	case strings.HasPrefix(from, "--") || strings.HasPrefix(from, envPrefix):
		return from
	default:
		return from + ": " + name
	}
}

// valueFaults returns the errors of values that do not fit their settings, with the place of each.
func (c *Config) valueFaults(err error) (faults []error) {
	wanted := map[reflect.Kind]string{reflect.Bool: "true or false", reflect.Int: "a whole number", reflect.Float64: "a number", reflect.String: "a text"}
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range all.Unwrap() {
			faults = append(faults, c.valueFaults(one)...)
		}
		return faults
	}
	var of *mapstructure.DecodeError
	var parse *mapstructure.ParseError
	var kind *mapstructure.UnconvertibleTypeError
	var text *textError
	if !errors.As(err, &of) {
		return []error{err}
	}
	name, _, _ := strings.Cut(of.Name(), "[") // labels[a]
	switch fault := of.Unwrap(); {
	case errors.As(fault, &parse):
		return []error{c.wrong(name, parse.Value, wanted[parse.Expected.Kind()])}
	case errors.As(fault, &kind):
		return []error{fmt.Errorf("%s: want %s", c.where(name), wanted[kind.Expected.Kind()])}
	case errors.As(fault, &text):
		return []error{c.wrong(name, text.value, text.want)}
	default:
		return []error{fmt.Errorf("%s: the value is not one of this setting", c.where(name))}
	}
}
