package main

import (
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// runColumns say for programs which run a row is of. Files that are read by their path have no
// id: the history gives it.
func runColumns[R any](of func(R) *mapping.RunInfo) []table.Column[R] {
	return []table.Column[R]{
		{Name: "run", Sparse: true, Value: func(r R) any { return of(r).ID }},
		{Name: "archive", Sparse: true, Value: func(r R) any { return of(r).Archive }},
		{Name: "name", Sparse: true, Value: func(r R) any { return of(r).Name }},
	}
}

// latencyColumns are all latencies for programs, and those that are shown for people, by their
// fields in documents.
func latencyColumns[R any](of func(R) *answers, shown ...string) []table.Column[R] {
	var list []table.Column[R]
	for _, name := range answerNames {
		c := table.Column[R]{Name: name, Unit: "us", Value: func(r R) any { return of(r).of(name) }}
		if slices.Contains(shown, name) {
			c.Heading = ">" + strings.ToUpper(strings.ReplaceAll(name, "_", "."))
			c.Text = func(r R) string { return of(r).text(name) }
		}
		list = append(list, c)
	}
	return append(list,
		table.Column[R]{Name: "open", Sparse: true, Value: func(r R) any { return of(r).bounds() }},
		table.Column[R]{Name: "source", Sparse: true, Value: func(r R) any { return of(r).source() }})
}

// counted is a column of a number of requests.
func counted[R any](name, heading string, of func(R) int64) table.Column[R] {
	return table.Column[R]{
		Name: name, Heading: heading,
		Value: func(r R) any { return of(r) },
		Text:  func(r R) string { return unit.Count(of(r)) },
	}
}

// where makes columns empty in rows for which is reports false.
func where[R any](is func(R) bool, columns []table.Column[R]) []table.Column[R] {
	for i := range columns {
		value, text := columns[i].Value, columns[i].Text
		columns[i].Sparse = true
		columns[i].Value = func(r R) any {
			if !is(r) {
				return nil
			}
			return value(r)
		}
		if text != nil {
			columns[i].Text = func(r R) string {
				if !is(r) {
					return ""
				}
				return text(r)
			}
		}
	}
	return columns
}

// when is a time for programs: nothing where it is not known.
func when(t time.Time) time.Time {
	if t.Year() < 1970 {
		return time.Time{}
	}
	return t
}
