package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/query"
)

// addReadingFlags adds the settings of how logs become documents.
func addReadingFlags(f *pflag.FlagSet) {
	d := config.Default()
	f.String("source", d.Source, "which logs to use if a run has both: hist, histogram logs or periodic reports; raw, completion logs")
	f.String("interval", "", "length of windows, such as 10s, or auto: longer in quiet times (default: a multiple of the logs' interval, at least 1s; for a stored run, a multiple of its interval)")
	f.String("precision", d.Precision, "with --interval auto: target accuracy per window, such as p99 within ±10%")
	f.String("weighting", d.Weighting, "how requests count in windows: inflight, by the share of their life spent there; completion, where they completed")
	f.String("inflight", d.InFlight, "which requests inflight weighting spreads: long, those longer than a window; all")
	f.Float64("tolerance", d.Tolerance, "share of its length by which a row may leave a window and not be cut")
	f.String("align", d.Align, "run: wall-clock time; job: each job counts from its own start")
	f.String("archive", "", "archive name, in place of the folder's or file's name")
	f.StringToString("labels", nil, "labels for the runs, such as osd=bluestore,disk=nvme; NAME= removes one")
	f.String("start", "", "start of the run (RFC 3339), if its files do not say")
	f.StringToString("offset", nil, "corrections of hosts' clocks in milliseconds, such as client01=-250")
	f.Int("groups", 0, "groups of bins (17 to 64) of a rebuilt fio, if neither the logs' columns nor fio's report say")
	f.String("unit", "", "unit of such bins: ns (fio 3) or us (fio 2)")
	f.Int("jobs", 0, "logs to parse at a time (default: one for each CPU)")
}

// addPickFlags adds the flags that choose runs of an archive.
func addPickFlags(f *pflag.FlagSet, pick *query.Pick) {
	f.StringSliceVar(&pick.Include, "include", nil, "only runs with this in archive:path; * matches anything")
	f.StringSliceVar(&pick.Exclude, "exclude", nil, "no runs with this in archive:path")
}

// addLevelsFlag adds --levels: the levels of the windows.
func addLevelsFlag(f *pflag.FlagSet) {
	f.StringSlice("levels", config.Default().Levels, "aggregate per cluster, host or job")
}

// format is a command's --format: one of several.
type format struct {
	string
	among []string
}

func (f *format) String() string { return f.string }
func (f *format) Type() string   { return strings.Join(f.among, "|") }
func (f *format) Set(s string) error {
	if !slices.Contains(f.among, s) {
		last := len(f.among) - 1
		return usagef("%q is not %s or %s", s, strings.Join(f.among[:last], ", "), f.among[last])
	}
	f.string = s
	return nil
}
