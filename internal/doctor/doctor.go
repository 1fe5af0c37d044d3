// Package doctor finds what fio2es can say about a run: from its files, or, before the run, from the options of fio.
// Both give [Answers], and a test compares the two. Before the run it also finds what spoils the measurement ([Notes]).
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
	Kind  string // "section", "benchmark" or "run"
	Hosts int    // 0 if only the files will show it
	Jobs  int
	From  plan.Source   // of latencies over time, or Averages
	Every time.Duration // length of windows; 0 without latencies over time
	End   End
	Whole Whole
	Start string  // evidence for the start, as in clock.source of documents
	Error float64 // relative error of percentiles over time, as a share; 0 without them
	Lost  []Loss
	Notes [len(spoils)]string // what spoils the measurement of a section, "" for what does not
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

// lost returns what is lost.
func (a *Answers) lost() (list []string) {
	for _, l := range a.Lost {
		list = append(list, l.What)
	}
	return list
}

func (a *Answers) notes() []string { return a.Notes[:] }

// Lost returns what is lost in sentences, each with what it is about. An equal sentence about several is one.
func Lost(all []Answers) []string { return together(all, (*Answers).lost) }

// together returns sentences about answers, each with the names of these answers: first the first sentence about any of them.
func together(all []Answers, sentences func(*Answers) []string) (lines []string) {
	const most = 3 // names
	var order []string
	about := map[string][]int{} // by sentence, the answers
	for rank, more := 0, true; more; rank++ {
		more = false
		for i := range all {
			list := sentences(&all[i])
			if rank >= len(list) {
				continue
			}
			if more = true; list[rank] == "" || slices.Contains(list[:rank], list[rank]) {
				continue
			}
			if about[list[rank]] == nil {
				order = append(order, list[rank])
			}
			about[list[rank]] = append(about[list[rank]], i)
		}
	}
	isOther := func(a Answers) bool { return a.Kind != all[0].Kind }
	for _, sentence := range order {
		var names []string
		for _, i := range about[sentence] {
			names = append(names, all[i].Of)
		}
		who := unit.List(names, most, ", ")
		switch isAll := len(names) == len(all) && !slices.ContainsFunc(all, isOther); {
		case isAll && len(all) == 2:
			who = "both " + all[0].Kind + "s"
		case isAll && len(all) > 2:
			who = "all " + unit.Plural(len(all), all[0].Kind)
		}
		lines = append(lines, who+": "+sentence)
	}
	return lines
}

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
	{Name: "lost", Value: func(a *Answers) any { return a.lost() }},
	{Name: "changes", Value: func(a *Answers) any {
		var lines []string
		for _, c := range Changes([]Answers{*a}) {
			lines = append(lines, c.String())
		}
		return lines
	}},
	{Name: "notes", Value: func(a *Answers) any {
		return slices.DeleteFunc(slices.Clone(a.notes()), func(note string) bool { return note == "" })
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

// Write writes answers as a table in one of the [table.Formats]. For people it also writes what is lost, what to do, and notes.
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
	write := func(title, kind string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintln(w, title)
		}
		for _, line := range lines {
			fmt.Fprintln(w, term.FillFor(w, term.Clean(kind+line)))
		}
	}
	write("", "lost: ", Lost(found))
	if changes := Changes(found); len(changes) > 0 {
		fmt.Fprintln(w, "\nTo keep all of it:")
		for _, c := range changes {
			term.Line(w, "  %s", c)
		}
	}
	write("", "note: ", together(found, (*Answers).notes))
	return nil
}
