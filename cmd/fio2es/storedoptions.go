package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/mapping"
)

// ingestOptions are flags of how logs become windows. The windows of a run in the history
// have been made; no flag changes them.
var ingestOptions = []string{
	"source", "precision", "weighting", "inflight", "tolerance", "align", "archive", "labels", "start", "offset", "groups", "unit",
}

// refuseStored is an error where the user gave a flag that cannot change a run in the history.
// Beside paths, for which the flag counts, it is only a note. Settings of a file or of the
// environment are for logs, and pass.
func (a *app) refuseStored(run *mapping.Run) error {
	fl := a.flags
	for _, name := range ingestOptions {
		f := fl.Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		switch {
		case name == "weighting" && f.Value.String() == run.Weighting:
			continue
		case slices.ContainsFunc(fl.Args(), namesPath):
			a.log.Info(fmt.Sprintf("note: --%s does not count for %s, which is in the history: its windows were made when it was ingested", name, run.Run.Name))
			continue
		}
		return usagef("--%s: run %s is in the history, and its windows were made when it was ingested: leave the option out, or ingest its files again with --%s %s",
			name, run.Run.Name, name, strings.Trim(f.Value.String(), "[]"))
	}
	return nil
}

// namesPath reports whether an argument is a path, or several things joined by commas one of
// which is.
func namesPath(arg string) bool {
	return isPath(arg) || slices.ContainsFunc(strings.Split(arg, ","), isPath)
}

// storedInterval is the length of the windows that the user wants of a run in the history, in
// milliseconds; 0 is that of its own.
func storedInterval(fl *pflag.FlagSet, wanted config.Interval, run *mapping.Run) (int64, error) {
	f := fl.Lookup("interval")
	if f == nil || !f.Changed || wanted == 0 {
		return 0, nil
	}
	again := "ingest its files again with --interval " + f.Value.String()
	if wanted == config.Auto {
		return 0, usagef("--interval auto: run %s is in the history, whose windows can be joined evenly only: use a length such as %s, or %s",
			run.Run.Name, lengths(run.IntervalMS), again)
	}
	ms := time.Duration(wanted).Milliseconds()
	switch {
	case run.IntervalMS <= 0:
		return 0, usagef("--interval %s: run %s has no windows of an even length: leave the option out, or %s", f.Value, run.Run.Name, again)
	case time.Duration(wanted)%time.Millisecond != 0 || ms < run.IntervalMS || ms%run.IntervalMS != 0:
		return 0, usagef("--interval %s: run %s is stored in windows of %s, which can only be joined: use a multiple, such as %s, or %s",
			f.Value, run.Run.Name, lengthText(run.IntervalMS), lengths(run.IntervalMS), again)
	case ms == run.IntervalMS:
		return 0, nil
	}
	return ms, nil
}

// lengths are windows that can be made of stored ones.
func lengths(ms int64) string {
	ms = max(ms, 1)
	return fmt.Sprintf("%s, %s or %s", lengthText(2*ms), lengthText(5*ms), lengthText(10*ms))
}

// lengthText is a length as flags have it: "1s", "1m30s".
func lengthText(ms int64) string {
	text := (time.Duration(ms) * time.Millisecond).String()
	if cut, ok := strings.CutSuffix(text, "m0s"); ok {
		text = cut + "m"
	}
	if cut, ok := strings.CutSuffix(text, "h0m"); ok {
		text = cut + "h"
	}
	return text
}
