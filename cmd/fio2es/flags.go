package main

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/query"
)

// addReadingFlags adds the settings that say how logs become documents. Help lists those in own with the flags of
// the command.
func addReadingFlags(f *pflag.FlagSet, own ...string) {
	d := config.Default()
	shared(f, setsReading, func(f *pflag.FlagSet) {
		f.String("source", d.Source, "which `logs` to use if a run has both: hist, histogram logs or periodic reports; raw, completion logs")
		f.String("interval", "", "`length` of windows, such as 10s, or auto: longer in quiet times (default: a multiple of the logs' interval, at least 1s; for a stored run, a multiple of its interval)")
		f.String("precision", d.Precision, "with --interval auto: target `accuracy` per window, such as p99 within ±10%")
		f.String("weighting", d.Weighting, "`how` requests count in windows: inflight, by the share of their time in it; completion, where they completed")
		f.String("inflight", d.InFlight, "`which` requests inflight weighting spreads: long, those longer than a window; all")
		f.Float64("tolerance", d.Tolerance, "`share` of its length by which a row may reach beyond a window without being cut")
		f.String("align", d.Align, "`how` jobs are put side by side: run, by wall-clock time; job, each from its own start")
		f.String("archive", "", "archive `name`, in place of the folder's or file's name")
		f.StringToString("labels", nil, "label the runs with `NAME=VALUE`, such as osd=bluestore,disk=nvme; NAME= removes one")
		f.String("start", "", "start of the run, a `time` (RFC 3339), if its files do not say")
		f.StringToString("offset", nil, "corrections of hosts' clocks in milliseconds, `HOST=MS`, such as client01=-250")
		f.Int("groups", 0, "`groups` of bins (17 to 64) of a rebuilt fio, if neither the logs' columns nor fio's report say")
		f.String("unit", "", "`unit` of the latencies, if neither the logs' columns nor fio's report say: ns (fio 3) or us (fio 2)")
		f.Int("jobs", 0, "`number` of logs to parse at a time (default: one for each CPU)")
	}, own...)
}

// addPickFlags adds the flags that choose runs of an archive.
func addPickFlags(f *pflag.FlagSet, pick *query.Pick) {
	f.StringSliceVar(&pick.Include, "include", nil, "only runs with this `text` in archive:path; * matches anything")
	f.StringSliceVar(&pick.Exclude, "exclude", nil, "no runs with this `text` in archive:path")
}

func addLevelsFlag(f *pflag.FlagSet) {
	f.StringSlice("levels", config.Default().Levels, "`levels` to aggregate: cluster, host, job")
}

// addAnswerFlags adds the flags of a command whose arguments choose runs, and which answers from their windows.
func addAnswerFlags(f *pflag.FlagSet, q *query.Query, own ...string) {
	addReadingFlags(f, own...)
	addClusterFlags(f)
	addWhereToChoose(f)
	addQueryFlags(f, q)
}

func addRuleFlag(f *pflag.FlagSet) {
	f.StringArray("rule", nil, "check a `rule`, such as 'p99 <= 10ms' (repeatable)")
}

// addQueryFlags adds the flags that choose windows.
func addQueryFlags(f *pflag.FlagSet, q *query.Query) {
	addOnce(f, &q.From, "from", "from this `time` on: 09:12 (UTC), 2026-01-31T09:12:00Z or +90s")
	addOnce(f, &q.To, "to", "up to this `time`, which is not included")
	f.StringSliceVar(&q.Directions, "direction", nil, "only these `directions`: read, write or trim")
	f.StringSliceVar(&q.Hosts, "host", nil, "only these `hosts`")
	f.StringSliceVar(&q.Jobs, "job", nil, "only these `jobs`: documents of jobs must be there (--levels job at ingest)")
}

// addOnce adds a flag with a text that limits what is chosen. It can be given only once: of two conditions people
// expect that both apply.
func addOnce(f *pflag.FlagSet, to *string, name, usage string) {
	f.Var(&once{to: to}, name, usage)
}

const onlyOnce = "the flag only once (and joins conditions)"

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

// addDuration adds a flag with a time, such as 90s or 2 days. Its default is the value of to.
func addDuration(f *pflag.FlagSet, to *time.Duration, name, usage string) {
	f.Var((*expr.DurationFlag)(to), name, usage)
}

// addClusterFlags adds the settings of the connection to the cluster. Secrets come from the environment or from
// files.
func addClusterFlags(f *pflag.FlagSet) {
	es := config.Default().Elasticsearch
	shared(f, setsCluster, func(f *pflag.FlagSet) {
		f.StringSlice("elasticsearch", nil, "`URL` of the cluster with the history, in place of the embedded history (repeatable)")
		f.String("ca", "", "PEM `file` of certificate authorities to trust for https")
		f.String("fingerprint", "", "SHA-256 `fingerprint` of a certificate to trust for https")
		f.String("prefix", "fio", "index name `prefix`")
		addDuration(f, &es.RequestTimeout, "request-timeout", "longest `time` to wait for the answer to one request, of Kibana too")
		addDuration(f, &es.GiveUpAfter, "give-up-after", "longest `time` to wait while nothing succeeds, because the server is away, too busy, or its disks are full; 0s: fail at once")
	})
}

func addKibanaFlags(f *pflag.FlagSet) {
	shared(f, setsKibana, func(f *pflag.FlagSet) {
		f.String("kibana", "", "`URL` of the Kibana to import the dashboards into, with its base path if it has one")
		f.String("kibana-space", "", "`space` in Kibana, by its identifier (default the default one)")
		f.String("kibana-ca", "", "PEM `file` of the authorities to trust for Kibana's https")
	})
}

// tableUsage is the help of --format for commands whose tables have all formats.
const tableUsage = "table, markdown, csv, csv-exact (without the apostrophes that protect spreadsheets), or json (an object a line)"

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
