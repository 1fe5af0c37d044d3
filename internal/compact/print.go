package compact

import (
	"io"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
)

// mostPlanned is how many runs a plan lists.
const mostPlanned = 20

// Print prints what the compaction will do, in lines for people.
func (p *Plan) Print(out io.Writer, to time.Duration) {
	if n := len(p.Runs); n > 0 {
		term.Line(out, "%s with %s become about %s documents, in windows of %s:",
			unit.Plural(n, "run"), unit.Plural(p.Before, "document"), unit.Count(int64(p.After)), unit.Short(to))
	} else {
		term.Line(out, "no run has windows that can be joined to %s", unit.Short(to))
	}
	for _, r := range p.Runs[:min(len(p.Runs), mostPlanned)] {
		term.Line(out, "  %s  %s  %s, windows of %s", facts.ShortID(r.Run.ID), facts.Started(r), facts.Title(r), facts.Length(r.IntervalMS))
	}
	if n := len(p.Runs) - mostPlanned; n > 0 {
		term.Line(out, "  and %s more", unit.Count(int64(n)))
	}
	if p.Already > 0 {
		term.Line(out, "windows of %s or longer already: %s", unit.Short(to), unit.Plural(p.Already, "run"))
	}
	for _, l := range ByReason(p.LeftOut) {
		term.Line(out, "left out: %s", l)
	}
	if len(p.Runs) > 0 {
		term.Line(out, "The shorter windows will be gone. While the files of a run are there, fio2es ingest --force PATH stores them again.")
	}
}

// ByReason lists the runs that are left out, with one line for each reason.
func ByReason(all []LeftOut) (lines []string) {
	var reasons []string
	ids := map[string][]string{}
	for _, l := range all {
		if !slices.Contains(reasons, l.Reason) {
			reasons = append(reasons, l.Reason)
		}
		ids[l.Reason] = append(ids[l.Reason], facts.ShortID(l.Run.Run.ID))
	}
	for _, reason := range reasons {
		lines = append(lines, reason+": "+unit.List(ids[reason], mostPlanned, " "))
	}
	return lines
}
