package doctor

import (
	"fmt"
	"io"

	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
)

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
