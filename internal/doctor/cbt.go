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
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/safeyaml"
)

// shimPath is where clients of CBT have the script of fio2es shim.
const shimPath = "/usr/local/bin/fio2es-fio"

// class is a benchmark of CBT that runs fio: the settings that decide what fio writes.
type class struct {
	command   string // setting with the command of fio; with cmd_path CBT passes log_avg_msec, too
	format    string // of its report; empty means fio's default, which is text
	setFormat bool   // the setting fio_out_format replaces format
	logs      string // setting for logs, which are on by default; empty: one for each kind
}

var classes = map[string]class{
	"librbdfio": {command: "cmd_path", format: "json,normal", setFormat: true},
	"fio":       {command: "cmd_path", format: "json,normal", logs: "logging"},
	"rbdfio":    {command: "cmd_path"},
	"rawfio":    {command: "fio_cmd", format: "json"},
	"kvmrbdfio": {command: "fio_cmd"},
}

// ErrNotCBT means that a YAML file is not a configuration of CBT.
var ErrNotCBT = errors.New("no configuration of CBT: want benchmarks: with one or more of them")

// CheckCBT finds what will be lost of the benchmarks in a YAML file of CBT. name is the name of the file.
func CheckCBT(name string, text []byte) (all []Answers, err error) {
	node, _, err := safeyaml.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var config struct {
		Benchmarks map[string]settings
		Cluster    settings // benchmark_config.yaml has this instead, with one benchmark
	}
	if node != nil {
		safeyaml.Hide(node)
		err = node.Decode(&config)
	}
	if one, ok := config.Cluster["benchmark"].(string); ok && config.Benchmarks == nil {
		config.Benchmarks = map[string]settings{one: config.Cluster}
	}
	if err != nil || len(config.Benchmarks) == 0 {
		return nil, fmt.Errorf("%s: %w", name, errors.Join(ErrNotCBT, err))
	}
	for _, benchmark := range slices.Sorted(maps.Keys(config.Benchmarks)) {
		a := Answers{Of: benchmark}
		if of, ok := classes[benchmark]; !ok {
			a.lose("all of it: this benchmark does not run fio")
		} else if a.Found, err = of.check(name+", "+benchmark, config.Benchmarks[benchmark]); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, benchmark, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// check finds what will be lost of fio as CBT calls it. The script of fio2es shim, which CBT then runs in place of fio, mends it.
func (of class) check(where string, set settings) ([]Finding, error) {
	old := ""
	command := set.text(of.command)
	if command != "" {
		old = of.command + ": " + command
	}
	words := strings.Fields(cmp.Or(command, "/usr/bin/fio"))
	at := slices.IndexFunc(words, func(w string) bool { return !strings.Contains(w, "=") && strings.Contains(path.Base(w), "fio") })
	if at < 0 {
		return nil, fmt.Errorf("%s: %s: %w", of.command, command, fioargs.ErrNoFio)
	}
	isShim := strings.Contains(words[at], "fio2es") // which may be called fio, in its own folder
	format := of.format
	if of.setFormat {
		format = cmp.Or(set.text("fio_out_format"), format)
	}

	line := ifKnown(format != "", "--output-format="+format) + " " + strings.Join(words[at+1:], " ") + " "
	if isShim {
		line = strings.NewReplacer("json,", "json+,", "json ", "json+ ").Replace(line) + "--write_hist_log=output.0 "
	}
	for _, log := range []string{"lat", "bw", "iops"} {
		on, isSet := set[cmp.Or(of.logs, "log_"+log)].(bool)
		line += ifKnown(on || !isSet, "--write_"+log+"_log=output.0 ")
	}
	average, runtime := set.text("log_avg_msec"), set.text("time")
	line += ifKnown(of.command == "cmd_path" && average != "", "--log_avg_msec="+average+" ") + ifKnown(runtime != "", "--runtime="+runtime+" ")
	line += ifKnown(set.text("mode") != "", "--rw="+set.text("mode")+" ")
	c, err := fioargs.Parse(strings.Fields("fio "+line+"--name=x --numjobs="+cmp.Or(set.text("numjobs"), "1")), os.ReadFile)
	if err != nil {
		return nil, err
	}
	rows := fioargs.RowsOf(c.Jobs)
	if isShim {
		line += "--" + strings.Join(rows.Options(), " --") + " "
	}
	line += "--numjobs=2 --name=x" // two jobs, because there are several clients and volumes
	if c, err = fioargs.Parse(strings.Fields("fio "+line), os.ReadFile); err != nil {
		return nil, err
	}
	found := Check(c, fioargs.Version{}, nil)[0].Found // the version of fio on the clients is not known
	if s := newSection(c, c.Jobs[0], fioargs.Version{}, nil); s.hasRows() && s.rows >= time.Second && rows.Every < s.rows {
		found = append(found, Finding{Kind: add, Option: "log_hist_msec", What: shorterRows(s.rows, rows)})
	}

	with := slices.Clone(words)
	if !isShim {
		with[at] = shimPath
		if fio := words[at]; fio != "fio" && fio != "/usr/bin/fio" {
			with = slices.Insert(with, at, "env", "FIO2ES_SHIM_FIO="+fio)
		}
	}
	if of.format == "" {
		with = append(with, "--output-format=json+,normal")
	}
	changes := change(where, old, of.command+": "+strings.Join(with, " "))
	if format != "" && !strings.Contains(format, "json") {
		changes = append(changes, change(where, "fio_out_format: "+format, "fio_out_format: json+,"+format)...)
	}
	for i := range found {
		found[i].Changes = changes
	}
	return found, nil
}

// shorterRows says why runs of several hosts should have other rows than they have.
func shorterRows(is time.Duration, better fioargs.Rows) string {
	return fmt.Sprintf("hosts or volumes begin apart, so windows cut rows, and p99 of each second is known better with rows of %v than of %v (%s)",
		better.Every, is, strings.Join(better.Options(), ", "))
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
