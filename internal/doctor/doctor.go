// Package doctor finds what fio2es can say about a run: from its files, or, before the run, from the options of fio.
// Both give [Answers], and a test compares the two.
package doctor

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// Answers says what fio2es can say about a run, and what it cannot.
type Answers struct {
	Of    string // name of a section of fio, a benchmark of CBT, or a run
	Hosts int    // 0 if only the files will show it
	Jobs  int
	From  plan.Source   // of latencies over time, or Averages
	Every time.Duration // length of windows; 0 without latencies over time
	End   End
	Whole Whole
	Start string  // evidence for the start, as in clock.source of documents
	Error float64 // relative error of percentiles over time, as a share; 0 without them
	Lost  []Loss
}

// Averages of latencies over time have no percentiles, so they are no source of rows.
const Averages plan.Source = "averages"

// hasPercentiles reports whether there are percentiles over time.
func (a *Answers) hasPercentiles() bool { return a.From != Averages && a.From != plan.FromNothing }

// End says whether the last interval of each job, which fio does not log, is known.
type End string

// The values of End. Without percentiles over time it is empty.
const (
	Complete End = "complete"
	Cut      End = "lost"
	NoEnd    End = ""
)

// Whole says what is known about the latencies of the whole run.
type Whole string

// The values of Whole. FioOwn means fio's own percentiles; they are known only if there is a single job, because
// they cannot be merged.
const (
	Percentiles Whole = "percentiles"
	FioOwn      Whole = "fio's own"
	Rates       Whole = "rates, mean"
	Unknown     Whole = "nothing"
)

// Loss is something that fio2es cannot say, and the changes that would mend it.
type Loss struct {
	What    string // what is missing, and why
	Changes []Change
}

// Change is a line to add, to remove or to replace.
type Change struct {
	Where string // such as "job.fio, [global]", or "command line"
	Old   string // empty: Line is added
	Line  string // empty: Old is removed
}

// lose adds a loss.
func (a *Answers) lose(what string, changes ...Change) { a.Lost = append(a.Lost, Loss{what, changes}) }

// Changes returns the changes for all losses, without repetitions.
func Changes(all []Answers) (list []Change) {
	for _, a := range all {
		for _, l := range a.Lost {
			for _, c := range l.Changes {
				if !slices.Contains(list, c) {
					list = append(list, c)
				}
			}
		}
	}
	return list
}

// IsLossy reports whether there is any loss.
func IsLossy(all []Answers) bool {
	return slices.ContainsFunc(all, func(a Answers) bool { return len(a.Lost) > 0 })
}

var columns = []table.Column[*Answers]{
	{Name: "of", Heading: "OF", Value: func(a *Answers) any { return a.Of }},
	{Name: "hosts", Heading: ">HOSTS", Value: func(a *Answers) any { return a.Hosts }, Text: func(a *Answers) string { return unit.OrNothing(a.Hosts) }},
	{Name: "jobs", Heading: ">JOBS", Value: func(a *Answers) any { return a.Jobs }, Text: func(a *Answers) string { return unit.OrNothing(a.Jobs) }},
	{Name: "over_time", Heading: "OVER TIME", Value: func(a *Answers) any { return string(a.From) }},
	{Name: "every", Unit: "ms", Heading: ">EVERY", Value: func(a *Answers) any { return a.Every.Milliseconds() }, Text: func(a *Answers) string {
		if a.Every == 0 {
			return ""
		}
		return unit.Elapsed(a.Every)
	}},
	{Name: "end", Heading: "END", Value: func(a *Answers) any { return string(a.End) }},
	{Name: "whole", Heading: "WHOLE RUN", Value: func(a *Answers) any { return string(a.Whole) }},
	{Name: "start", Heading: "START", Value: func(a *Answers) any { return a.Start }},
	{Name: "error", Heading: ">ERROR", Value: func(a *Answers) any { return a.Error }, Text: func(a *Answers) string {
		if a.Error == 0 {
			return ""
		}
		return fmt.Sprintf("±%.1f %%", 100*a.Error)
	}},
	{Name: "lost", Value: func(a *Answers) any {
		var lost []string
		for _, l := range a.Lost {
			lost = append(lost, l.What)
		}
		return lost
	}},
	{Name: "changes", Value: func(a *Answers) any {
		var lines []string
		for _, c := range Changes([]Answers{*a}) {
			lines = append(lines, c.String())
		}
		return lines
	}},
}

// String returns the change for people.
func (c Change) String() string {
	switch {
	case c.Old == "":
		return c.Where + ": add " + c.Line
	case c.Line == "":
		return c.Where + ": remove " + c.Old
	}
	return c.Where + ": change " + c.Old + " to " + c.Line
}

// Write writes answers as a table in one of the [table.Formats]. For people it also writes what is lost and what to do.
func Write(w io.Writer, found []Answers, format string) error {
	t := table.NewNarrow(w, format, columns, []string{"OF"}, []string{"HOSTS", "JOBS", "EVERY", "ERROR"})
	for i := range found {
		if err := t.Write(&found[i]); err != nil {
			return err
		}
	}
	if err := t.End(); err != nil || format != table.Text {
		return err
	}
	if !IsLossy(found) {
		return nil
	}
	fmt.Fprintln(w)
	for _, a := range found {
		for _, l := range a.Lost {
			fmt.Fprintln(w, term.FillFor(w, term.Clean(fmt.Sprintf("%s: lost: %s", a.Of, l.What))))
		}
	}
	changes := Changes(found)
	if len(changes) > 0 {
		fmt.Fprintln(w, "\nTo keep all of it:")
	}
	for _, c := range changes {
		term.Line(w, "  %s", c)
	}
	return nil
}
