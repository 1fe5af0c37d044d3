package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
)

// addReadingFlags adds the settings of how logs become documents.
func addReadingFlags(f *pflag.FlagSet) {
	d := config.Default()
	f.String("source", d.Source, "where a run has both: hist, histogram logs or periodic reports; raw, logs of all completions")
	f.String("interval", "", "length of the windows, such as 10s (default: a multiple of the logs' own, at least 1s; of a run in the history a multiple of its own); auto: longer in quiet times")
	f.String("precision", d.Precision, "with --interval auto: how well to know which percentile in each window")
	f.String("weighting", d.Weighting, "how requests count in windows: inflight, by the share of their life spent there; completion, where they completed")
	f.String("inflight", d.InFlight, "which requests inflight weighting spreads: long, those longer than a window; all")
	f.Float64("tolerance", d.Tolerance, "share of a row's length by which it may leave its window and still stay whole")
	f.String("align", d.Align, "run: wall-clock time; job: each job counts from its own start")
	f.String("archive", "", "name of the archive, in place of its own")
	f.StringToString("labels", nil, "labels for the runs, such as osd=bluestore,disk=nvme; NAME= removes one")
	f.String("start", "", "when the run started (RFC 3339), where its files do not tell")
	f.StringToString("offset", nil, "corrections of the hosts' clocks in milliseconds, such as client01=-250")
	f.Int("groups", 0, "groups of bins (17 to 64) of a fio that was rebuilt with more, where neither the logs' columns nor fio's report say")
	f.String("unit", "", "what such bins count: ns (fio 3) or us (fio 2)")
	f.Int("jobs", 0, "logs to parse at a time (default: one for each CPU)")
}

// addLevelsFlag adds the setting of which levels windows are made of.
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
