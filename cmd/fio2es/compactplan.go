package main

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/compact"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
)

// mostPlanned is how many runs a plan lists.
const mostPlanned = 20

// printCompactPlan prints what a compaction will do.
func printCompactPlan(out io.Writer, p *compact.Plan, to time.Duration) error {
	var lines []string
	add := func(parts ...string) { lines = append(lines, strings.Join(parts, "")) }
	if n := len(p.Runs); n > 0 {
		add(unit.Plural(n, "run"), " with ", unit.Plural(p.Before, "document"), " become about ", unit.Count(int64(p.After)), " documents, in windows of ", unit.Short(to), ":")
	} else {
		add("no run has windows that can be joined to ", unit.Short(to))
	}
	for _, r := range p.Runs[:min(len(p.Runs), mostPlanned)] {
		add("  ", facts.ShortID(r.Run.ID), "  ", facts.Started(r), "  ", facts.Title(r), ", windows of ", unit.Short(time.Duration(r.IntervalMS)*time.Millisecond))
	}
	if n := len(p.Runs) - mostPlanned; n > 0 {
		add("  and ", unit.Count(int64(n)), " more")
	}
	if p.Already > 0 {
		add("windows of ", unit.Short(to), " or longer already: ", unit.Plural(p.Already, "run"))
	}
	for _, l := range leftOutByReason(p.LeftOut) {
		add("left out: ", l)
	}
	if len(p.Runs) > 0 {
		add("The shorter windows will be gone. While the files of a run are there, fio2es ingest --force PATH stores them again.")
	}
	for _, line := range lines {
		if err := term.Line(out, "%s", line); err != nil {
			return err
		}
	}
	return nil
}

// leftOutByReason are the runs that are left out, a line for each reason.
func leftOutByReason(all []compact.LeftOut) (lines []string) {
	var reasons []string
	ids := map[string][]string{}
	for _, l := range all {
		if !slices.Contains(reasons, l.Reason) {
			reasons = append(reasons, l.Reason)
		}
		ids[l.Reason] = append(ids[l.Reason], facts.ShortID(l.Run.Run.ID))
	}
	for _, reason := range reasons {
		some, n := ids[reason], len(ids[reason])
		text := strings.Join(some[:min(n, mostPlanned)], " ")
		if n > mostPlanned {
			text += " and " + unit.Count(int64(n-mostPlanned)) + " more"
		}
		lines = append(lines, reason+": "+text)
	}
	return lines
}
