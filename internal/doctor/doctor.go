// Package doctor finds what fio2es can say about a run: from its files, as ingest does ([Examine]), or, before the run, from the
// options of fio ([Check], [CheckCBT]), by one list of rules. These also say what spoils the measurement ([Notes]).
package doctor

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
)

// Answers says what was found about a run, and what is known of it. Before a run nothing is known yet.
type Answers struct {
	Of       string // name of a section of fio, a benchmark of CBT, or a run
	IsRun    bool
	Hosts    int
	Jobs     int
	OverTime string        // what latencies over time come from
	Every    time.Duration // length of windows; 0 without percentiles over time
	End      string        // whether the last interval of each job, which fio does not log, is known
	Whole    string        // what is known about the latencies of the whole run
	Start    string        // evidence for the start, as in clock.source of documents
	Error    float64       // relative error of percentiles over time, as a share; 0 without them
	Found    []Finding
}

// Finding is a cause: what it means, and the changes that would mend it.
type Finding struct {
	Kind    Kind
	Option  string // of fio, that is the cause; empty for results
	What    string
	Changes []string // lines, such as "job.fio, [global]: add direct=1"
	rank    int      // the worst have the least
}

// Kind says what follows from a cause.
type Kind int

const (
	lost   Kind = iota // something cannot be known
	add                // something would be better known
	spoils             // the numbers mean something else than their reader thinks
)

// change returns a line to add, to remove or to replace, for people. There is none if nothing changes.
func change(where, old, line string) []string {
	switch {
	case old == line:
		return nil
	case old == "":
		return []string{where + ": add " + line}
	case line == "":
		return []string{where + ": remove " + old}
	}
	return []string{where + ": change " + old + " to " + line}
}

func (a *Answers) lose(what string, changes ...string) {
	a.Found = append(a.Found, Finding{Kind: lost, What: what, Changes: changes, rank: len(a.Found)})
}

// texts returns what was found, of what is lost or of all else.
func (a *Answers) texts(isLost bool) []string {
	list := []string{}
	for _, f := range a.Found {
		if (f.Kind == lost) == isLost {
			list = append(list, f.What)
		}
	}
	return list
}

// Causes returns the options that are the causes of losses. There are none if nothing is lost.
func Causes(all []Answers) (options []string) {
	for _, a := range all {
		for _, f := range a.Found {
			if f.Kind == lost && !slices.Contains(options, f.Option) {
				options = append(options, f.Option)
			}
		}
	}
	return options
}

// together returns findings about several answers, the worst first. An equal sentence about several is one. It begins with their
// names, if it is not about all.
func together(all []Answers) (list []*Finding) {
	names := map[*Finding][]string{}
	for _, a := range all {
		for _, f := range a.Found {
			at := slices.IndexFunc(list, func(m *Finding) bool { return m.Kind == f.Kind && m.What == f.What })
			if at < 0 {
				at, list = len(list), append(list, new(f))
			} else {
				list[at].Changes = append(list[at].Changes, f.Changes...)
			}
			names[list[at]] = append(names[list[at]], a.Of)
		}
	}
	slices.SortStableFunc(list, func(a, b *Finding) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.rank, b.rank)) })
	for _, f := range list {
		if len(names[f]) < len(all) {
			f.What = unit.List(names[f], 3, ", ") + ": " + f.What
		}
	}
	return list
}

var columns = []table.Column[*Answers]{
	{Name: "of", Heading: "OF", Value: func(a *Answers) any { return a.Of }},
	{Name: "hosts", Heading: ">HOSTS", Value: func(a *Answers) any { return a.Hosts }},
	{Name: "jobs", Heading: ">JOBS", Value: func(a *Answers) any { return a.Jobs }},
	{Name: "over_time", Heading: "OVER TIME", Value: func(a *Answers) any { return a.OverTime }},
	{Name: "every", Unit: "ms", Heading: ">EVERY", Value: func(a *Answers) any { return a.Every.Milliseconds() }, Text: func(a *Answers) string {
		return ifKnown(a.Every > 0, unit.Elapsed(a.Every))
	}},
	{Name: "end", Heading: "END", Value: func(a *Answers) any { return a.End }},
	{Name: "whole", Heading: "WHOLE RUN", Value: func(a *Answers) any { return a.Whole }},
	{Name: "start", Heading: "START", Value: func(a *Answers) any { return a.Start }},
	{Name: "error", Heading: ">ERROR", Value: func(a *Answers) any { return a.Error }, Text: func(a *Answers) string {
		return ifKnown(a.Error > 0, fmt.Sprintf("±%.1f %%", 100*a.Error))
	}},
	{Name: "lost", Value: func(a *Answers) any { return a.texts(true) }},
	{Name: "changes", Value: func(a *Answers) any {
		lines := []string{}
		for _, f := range a.Found {
			lines = append(lines, slices.DeleteFunc(slices.Clone(f.Changes), func(line string) bool { return slices.Contains(lines, line) })...)
		}
		return lines
	}},
	{Name: "notes", Value: func(a *Answers) any { return a.texts(false) }},
}

func ifKnown(isKnown bool, text string) string { return map[bool]string{true: text}[isKnown] }

// Write writes answers as a table in one of the [table.Formats]. For people the table has only runs, and what was found is below
// it: each cause, and then the changes, each after the last cause that it mends.
func Write(w io.Writer, found []Answers, format string) error {
	rows := slices.DeleteFunc(slices.Clone(found), func(a Answers) bool { return !a.IsRun && format == table.Text })
	if len(rows) > 0 {
		t := table.NewNarrow(w, format, columns, []string{"OF"}, []string{"HOSTS", "JOBS", "EVERY", "ERROR"})
		for i := range rows {
			if err := t.Write(&rows[i]); err != nil {
				return err
			}
		}
		if err := t.End(); err != nil || format != table.Text {
			return err
		}
		fmt.Fprintln(w)
	}
	if len(Causes(found)) == 0 {
		fmt.Fprintln(w, "Nothing is lost.")
	}
	list := together(found)
	for i, f := range list {
		kind := "note: "
		if f.Kind == lost {
			kind = "lost: "
		}
		fmt.Fprintln(w, term.FillFor(w, term.Clean(kind+f.What)))
		for j, c := range f.Changes {
			mends := func(f *Finding) bool { return slices.Contains(f.Changes, c) }
			if !slices.ContainsFunc(list[i+1:], mends) && !slices.Contains(f.Changes[:j], c) {
				term.Line(w, "  %s", c)
			}
		}
	}
	return nil
}
