package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/safeyaml"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// shimPath is where clients of CBT have the script of fio2es shim.
const shimPath = "/usr/local/bin/fio2es-fio"

// class is a benchmark of CBT that runs fio: the settings that decide what fio writes.
type class struct {
	command   string   // setting with the command of fio
	format    string   // of its report; empty means fio's default, which is text
	setFormat bool     // the setting fio_out_format replaces format
	logs      []string // settings for logs that are on by default
	averages  bool     // log_avg_msec is passed to fio
}

var logSettings = []string{"log_lat", "log_bw", "log_iops"}

var classes = map[string]class{
	"librbdfio": {command: "cmd_path", format: "json,normal", setFormat: true, logs: logSettings, averages: true},
	"fio":       {command: "cmd_path", format: "json,normal", logs: []string{"logging", "logging", "logging"}, averages: true},
	"rbdfio":    {command: "cmd_path", logs: logSettings, averages: true},
	"rawfio":    {command: "fio_cmd", format: "json", logs: logSettings},
	"kvmrbdfio": {command: "fio_cmd", logs: logSettings},
}

// ErrNotCBT means that a YAML file is not a configuration of CBT.
var ErrNotCBT = errors.New("no configuration of CBT: want benchmarks: with one or more of them")

// PredictCBT finds what fio2es will be able to say about the benchmarks in a YAML file of CBT. name is the name of
// the file.
func PredictCBT(name string, text []byte) ([]Answers, error) {
	node, _, err := safeyaml.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var config struct {
		Benchmarks map[string]map[string]any
		Cluster    map[string]any // benchmark_config.yaml has this instead, with one benchmark
	}
	if node != nil {
		err = node.Decode(&config)
	}
	if one, ok := config.Cluster["benchmark"].(string); ok && config.Benchmarks == nil {
		config.Benchmarks = map[string]map[string]any{one: config.Cluster}
	}
	if err != nil || len(config.Benchmarks) == 0 {
		return nil, fmt.Errorf("%s: %w", name, errors.Join(ErrNotCBT, err))
	}
	var all []Answers
	for _, benchmark := range slices.Sorted(maps.Keys(config.Benchmarks)) {
		of, ok := classes[benchmark]
		if !ok {
			a := Answers{Of: benchmark, Kind: "benchmark", From: plan.FromNothing, Whole: Unknown}
			a.lose("all of it: this benchmark does not run fio")
			all = append(all, a)
			continue
		}
		config := settings(config.Benchmarks[benchmark])
		call, err := of.call(config)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, benchmark, err)
		}
		a, err := of.predict(benchmark, config, call)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, benchmark, err)
		}
		for i := range a.Lost {
			a.Lost[i].Changes = of.changes(name+", "+benchmark, config, call)
		}
		all = append(all, a)
	}
	return all, nil
}

// call is how CBT calls fio.
type call struct {
	line   string   // the setting, if there is one
	before []string // words before fio, such as sudo
	fio    string
	after  []string // options after fio
}

func (of class) call(config settings) (c call, err error) {
	command := config.text(of.command)
	if command != "" {
		c.line = of.command + ": " + command
	}
	words := strings.Fields(cmp.Or(command, "/usr/bin/fio"))
	i := slices.IndexFunc(words, func(w string) bool { return !strings.Contains(w, "=") && strings.Contains(path.Base(w), "fio") })
	if i < 0 {
		return c, fmt.Errorf("%s: %s: %w", of.command, command, fioargs.ErrNoFio)
	}
	c.before, c.fio, c.after = words[:i], words[i], words[i+1:]
	return c, nil
}

// isShim reports whether CBT calls the script of fio2es shim. The script may be called fio, in its own folder.
func (c *call) isShim() bool { return strings.Contains(c.fio, "fio2es") }

// remedy returns the setting with which fio writes everything that fio2es can use. isText reports that CBT does not
// ask fio for JSON.
func (c *call) remedy(isText bool) string {
	words, fio := slices.Clone(c.before), c.fio
	if !c.isShim() {
		if fio != "fio" && fio != "/usr/bin/fio" {
			words = append(words, "env", "FIO2ES_SHIM_FIO="+fio)
		}
		fio = shimPath
	}
	words = append(append(words, fio), c.after...)
	if isText {
		words = append(words, "--output-format=json+,normal")
	}
	return strings.Join(words, " ")
}

// changes returns the changes after which a benchmark loses nothing.
func (of class) changes(where string, config settings, call call) (list []Change) {
	if line := of.command + ": " + call.remedy(of.format == ""); line != call.line {
		list = append(list, Change{Where: where, Old: call.line, Line: line})
	}
	if format := of.reportFormat(config); format != "" && !strings.Contains(format, "json") {
		list = append(list, Change{Where: where, Old: "fio_out_format: " + format, Line: "fio_out_format: json+," + format})
	}
	return list
}

// reportFormat returns the value of --output-format, or "" if CBT does not pass the option.
func (of class) reportFormat(config settings) string {
	if of.setFormat {
		return cmp.Or(config.text("fio_out_format"), of.format)
	}
	return of.format
}

// predict finds what fio2es can say about fio as the benchmark calls it.
func (of class) predict(name string, config settings, call call) (Answers, error) {
	line := []string{"fio"}
	if format := of.reportFormat(config); format != "" {
		line = append(line, "--output-format="+format)
	}
	line = append(line, call.after...)
	if call.isShim() {
		line = shimmed(line)
	}
	for i, log := range []string{"lat", "bw", "iops"} {
		if config.isOn(of.logs[i]) {
			line = append(line, "--write_"+log+"_log=output.0")
		}
	}
	if average := config.text("log_avg_msec"); of.averages && average != "" {
		line = append(line, "--log_avg_msec="+average)
	}
	if runtime := config.text("time"); runtime != "" {
		line = append(line, "--runtime="+runtime)
	}
	line = append(line, "--numjobs=2", "--name="+name) // two jobs, because there are several clients and volumes
	c, err := fioargs.Parse(line, os.ReadFile)
	if err != nil {
		return Answers{}, err
	}
	a := Predict(c, fioargs.Version{}, nil)[0] // the version of fio on the clients is not known
	a.Kind, a.Jobs = "benchmark", 0
	return a, nil
}

// shimmed returns a command line as fio2es-fio changes it.
func shimmed(line []string) []string {
	for i, word := range line {
		if formats, ok := strings.CutPrefix(word, "--output-format="); ok {
			list := strings.Split(formats, ",")
			if j := slices.Index(list, "json"); j >= 0 {
				list[j] = "json+"
			}
			line[i] = "--output-format=" + strings.Join(list, ",")
		}
	}
	return append(line, "--write_hist_log=output.0", "--log_hist_msec=1000")
}

type settings map[string]any

// text returns a setting as CBT writes it on a command line. For a list, CBT runs fio once for each item; text
// returns the first.
func (s settings) text(name string) string {
	v := s[name]
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	switch v := v.(type) {
	case string, int, float64:
		return fmt.Sprint(v)
	}
	return ""
}

// isOn reports whether a setting is on, which is the default.
func (s settings) isOn(name string) bool {
	on, isSet := s[name].(bool)
	return on || !isSet
}
