package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/mapping"
)

// prepare applies the flags of reading to a run in the history.
func (r *reading) prepare(run *query.Run) (_ *query.Run, err error) {
	if err := r.refuseStored(run.Stored); err != nil {
		return nil, err
	}
	if f := r.flags.Lookup("interval"); f != nil && f.Changed && r.cfg.Interval != 0 {
		run.JoinMS, err = query.JoinMS(run.Stored, time.Duration(r.cfg.Interval), f.Value.String())
	}
	return run, err
}

// refuseStored fails if the user gave a flag about reading logs, because the windows of a run in the history were
// made when it was ingested. If there are also paths, the flag applies to them, and there is only a note. Settings
// in a file or in the environment are no error.
func (r *reading) refuseStored(run *mapping.Run) (err error) {
	ofLogs := pflag.NewFlagSet("", pflag.ContinueOnError)
	addReadingFlags(ofLogs)
	r.flags.Visit(func(f *pflag.Flag) {
		switch {
		// stored windows can be changed in these ways
		case ofLogs.Lookup(f.Name) == nil || f.Name == "interval" || f.Name == "jobs":
		case f.Name == "weighting" && f.Value.String() == run.Weighting:
		case slices.ContainsFunc(r.flags.Args(), hasPath):
			r.log.Info(fmt.Sprintf("note: --%s has no effect on %s, which is in the history: its windows were made when it was ingested",
				f.Name, run.Run.Name))
		case err == nil:
			err = usagef("--%s: run %s is in the history, and its windows were made when it was ingested: "+
				"leave the option out, or ingest its files again with --%s %s", f.Name, run.Run.Name, f.Name, strings.Trim(f.Value.String(), "[]"))
		}
	})
	return err
}

// hasPath reports whether an argument is a path, or a list with commas that contains one.
func hasPath(arg string) bool {
	return query.IsPath(arg) || slices.ContainsFunc(strings.Split(arg, ","), query.IsPath)
}
