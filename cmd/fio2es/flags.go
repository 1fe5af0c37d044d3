package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/pipeline/assign"
)

// addSettings adds flags of settings. "reading" is how logs and windows are read, "cluster" the connection to the
// cluster. Secrets come from the environment or from files.
func addSettings(f *pflag.FlagSet, groups ...string) {
	for _, group := range groups {
		switch group {
		case "reading":
			f.String("interval", "", "`length` of windows, such as 10s, or auto: longer in quiet times (default: a multiple of the logs' interval, at least 1s, and 5 intervals where hosts of a run of a minute began apart; for a stored run, a multiple of its interval)")
			f.String("weighting", config.Default().Weighting, "`how` requests count in windows: inflight, by the share of their time in it; completion, where they completed")
			f.Int("threads", 0, "`number` of logs to parse at a time (default: one for each CPU)")
		case "labels":
			f.StringToString("labels", nil, "label the runs with `NAME=VALUE`, such as osd=bluestore,disk=nvme; NAME= removes one")
		case "archive":
			f.String("archive", "", "archive `name`, in place of the folder's or file's name")
		case "levels":
			f.StringSlice("levels", config.Default().Levels, "`levels` to aggregate: cluster, host, section, job")
		case "coarsen":
			f.String("coarsen", "", "join bins of latency, for less room: to a `coarseness` as fio's (3), the largest error (5%), or '2 digits'")
		case "confidence":
			f.Float64("confidence", 0, "documents of windows also have the intervals of percentiles with this `confidence`, 0.5 to 0.99")
		case "rule":
			f.StringArray("rule", nil, "check a `rule`, such as 'p99 <= 10ms' (repeatable)")
		case "cluster":
			f.StringSlice("elasticsearch", nil, "`URL` of the cluster with the history, in place of the embedded history (repeatable)")
			f.String("ca", "", "PEM `file` of certificate authorities to trust for https")
			f.String("prefix", "fio", "index name `prefix`")
		case "kibana":
			f.String("kibana", "", "`URL` of the Kibana to import the dashboards into, with its base path if it has one")
			f.String("kibana-space", "", "`space` in Kibana, by its identifier (default the default one)")
			f.String("kibana-ca", "", "PEM `file` of the authorities to trust for Kibana's https")
		default:
			panic("no settings " + group)
		}
	}
}

// addAnswerFlags adds the flags of a command whose arguments choose runs, and which answers from their windows.
func addAnswerFlags(f *pflag.FlagSet, q *query.Query) {
	addReportFlags(f, q)
	addHostFlags(f, q)
}

// addReportFlags adds the flags of such a command that shows all there is of runs. It has none that choose hosts, whose totals
// are not known.
func addReportFlags(f *pflag.FlagSet, q *query.Query) {
	addSettings(f, "reading", "cluster")
	addOneRunFlag(f)
	addWhereFlag(f)
	addQueryFlags(f, q)
	addChoice(f, new(string), "by", "section: an answer for each `section` of a run whose jobs did not all do the same", []string{bySection})
}

// bySection is the value of --by for an answer for each section.
const bySection = "section"

// addQueryFlags adds the flags that choose windows.
func addQueryFlags(f *pflag.FlagSet, q *query.Query) {
	f.Var(&once{to: &q.From}, "from", "from this `time` on: 09:12, 2026-01-31T09:12:00Z or +90s")
	f.Var(&once{to: &q.To}, "to", "up to this `time`, which is not included")
	f.StringSliceVar(&q.Directions, "direction", nil, "only these `directions`: read, write, trim or sync")
	f.StringSlice("section", nil, "only these `sections` of a run, each by itself, by the names that fio2es runs lists below it")
	addChoice(f, new(string), "values-in", "`unit` of latencies in a file of histograms that does not say it, such as of YCSB (us): ns, us, ms or s", []string{"ns", "us", "ms", "s"})
}

// addHostFlags adds the flags that choose windows of hosts and jobs.
func addHostFlags(f *pflag.FlagSet, q *query.Query) {
	f.StringSliceVar(&q.Hosts, "host", nil, "only these `hosts`")
	f.StringSliceVar(&q.Jobs, "job", nil, "only these `jobs`, by number, or by name in runs with sections: documents of jobs must be there (--levels job at ingest)")
}

func addPickFlags(f *pflag.FlagSet, pick *query.Pick) {
	f.StringSliceVar(&pick.Include, "include", nil, "only runs with this `text` in archive:path; * matches anything")
	f.StringSliceVar(&pick.Exclude, "exclude", nil, "no runs with this `text` in archive:path")
}

// addOneRunFlag adds the flag that makes one run of what several paths have, see [env.oneRun].
func addOneRunFlag(f *pflag.FlagSet) {
	f.Bool("one-run", false, "the arguments are HOST=PATH: the paths have the files of one run, each those of one host")
}

// oneRun returns the paths among the arguments and, with --one-run, of which hosts they are. The host of a folder is its
// name, if the user names none.
func (e *env) oneRun(args []string) (paths []string, hosts []assign.HostPath, err error) {
	if f := e.flags.Lookup("one-run"); f == nil || f.Value.String() != "true" {
		return args, nil, nil
	}
	for _, arg := range args {
		host, path, ok := strings.Cut(arg, "=")
		if info, err := os.Stat(arg); err == nil && info.IsDir() {
			abs, err := filepath.Abs(arg)
			host, path, ok = filepath.Base(abs), arg, err == nil
		}
		if !ok || host == "" || path == "" || strings.ContainsAny(host, `/\`) {
			return nil, nil, usagef("--one-run %s: want HOST=PATH, such as node01=results/node01, or a folder with the name of its host", arg)
		}
		paths, hosts = append(paths, path), append(hosts, assign.HostPath{Host: host, Path: path})
	}
	return paths, hosts, nil
}

const onlyOnce = "the flag only once (and joins conditions)"

// once is the value of a flag with a text that limits what is chosen. It can be given only once: of two conditions
// people expect that both apply.
type once struct {
	to    *string
	isSet bool
}

func (o *once) String() string { return *o.to }
func (o *once) Type() string   { return "string" }
func (o *once) Set(text string) error {
	if o.isSet {
		return errors.New("want " + onlyOnce)
	}
	*o.to, o.isSet = text, true
	return nil
}

// tableUsage is the help of --format for commands whose tables have all formats.
const tableUsage = "table, markdown, csv, or json (an object a line)"

// addChoice adds a flag whose value is one of several words. Its default is the value of to.
func addChoice(f *pflag.FlagSet, to *string, name, usage string, among []string) {
	f.Var(&choice{to, name, among}, name, usage)
}

// choice is the value of a flag that is one of several words.
type choice struct {
	value *string
	name  string // name of the flag
	among []string
}

func (c *choice) String() string { return *c.value }
func (c *choice) Type() string   { return c.name }
func (c *choice) Set(s string) error {
	if !slices.Contains(c.among, s) {
		return errors.New("want " + c.wanted())
	}
	*c.value = s
	return nil
}

// wanted returns the words as in a sentence.
func (c *choice) wanted() string {
	last := len(c.among) - 1
	return strings.Join(c.among[:last], ", ") + " or " + c.among[last]
}

func addWhereFlag(fl *pflag.FlagSet) {
	fl.Var(&once{to: new(string)}, "where", "only runs that meet a `condition`: 'bs=4k and write.p99 > 5ms' (fio2es help fields)")
}

// limit returns the filter of --where, from whose runs the arguments choose.
func (e *env) limit() (among history.RunFilter, err error) {
	if f := e.flags.Lookup("where"); f != nil && f.Changed {
		if among.Where, err = where.Parse(f.Value.String(), time.Now()); err != nil {
			err = usagef("--where %s: %w", f.Value, err)
		}
	}
	return among, err
}

// many means no upper limit in [arguments].
const many = math.MaxInt

func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("want %s %s, but got %s", cmd.Root().Name(), cmd.Use, unit.Plural(len(args), "argument"))
		}
		return nil
	}
}

// unknownFlag returns an error of parsing flags, and adds what was expected.
func unknownFlag(cmd *cobra.Command, err error) error {
	see := fmt.Sprintf("; see %s --help", cmd.CommandPath())
	if none, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usagef("--%s: want a value%s", none.GetFlag().Name, see)
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		value := wrong.GetValue()
		switch {
		case strings.TrimSpace(value) == "":
			value = strconv.Quote(value)
		case strings.Contains(value, "@"): // perhaps an address with a password
			value = es.Secret(value).String()
		}
		return usagef("--%s %s: want %s%s", wrong.GetFlag().Name, value, wantedValue(wrong.GetFlag()), see)
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return usagef("%w%s", err, see)
	}
	word := unknown.GetSpecifiedName()
	setting := strings.ReplaceAll(word, "-", "_")
	isFlag := slices.Contains([]string{"history", "prefix", "interval", "weighting", "threads", "archive", "labels", "levels", "ca", "host"}, setting)
	for _, name := range config.Names() {
		if !isFlag && (name == setting || name == "elasticsearch."+setting) {
			return usagef("--%s is no flag of %s but a setting: set %s, or %s in fio2es.yaml (fio2es help settings)", word, cmd.Name(), config.Variable(name), name)
		}
	}
	var names, near []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		names = append(names, f.Name)
		if c, isChoice := f.Value.(*choice); isChoice && slices.Contains(c.among, word) {
			near = append(near, f.Name+" "+word)
		}
	})
	if near = append(near, expr.Near(word, names)...); len(near) > 0 {
		return usagef("%w: did you mean --%s?", err, strings.Join(near, " or --"))
	}
	if cmd.Name() == "run" || cmd.Name() == "doctor" {
		return usagef("%w; options of fio follow --: fio2es %s -- fio --%s ...%s", err, cmd.Name(), word, see)
	}
	return usagef("%w%s", err, see)
}

func wantedValue(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "int":
		return "a whole number"
	case "float64":
		return "a number"
	case "percent":
		return "a number of percent such as 10 or 10%"
	case "duration":
		return "a time such as 90s or 5m"
	case "stringSlice":
		return "a list joined by commas"
	case "stringToString":
		return "NAME=VALUE"
	}
	switch v := f.Value.(type) {
	case *choice:
		return v.wanted()
	case *once:
		return onlyOnce
	}
	return "another value"
}
