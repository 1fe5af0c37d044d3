package query

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// contents are the runs of a history that can be read.
type contents struct {
	runs        int
	first, last *mapping.Run
	parts       *parts
	names       names // if there are no parts
}

// newContents are those in which no run meets a filter.
func newContents(f history.RunFilter) *contents {
	return &contents{parts: partsOf(f), names: newNames()}
}

// add adds a run that is older than those of before.
func (c *contents) add(run *mapping.Run) {
	if c.runs++; c.runs == 1 {
		c.last = run
	}
	c.first = run
	if len(c.parts.list) == 0 {
		c.names.add(run)
	} else {
		c.parts.add(run)
	}
}

// lines are the contents for people.
func (c *contents) lines() (lines []string) {
	if c.runs == 0 {
		return nil
	}
	rows := []row{{"started", facts.Started(c.first) + " to " + facts.StartedUTC(c.last)}}
	rows = append(append(rows, c.names.rows()...), c.parts.rows()...)
	width := 10
	for _, r := range rows {
		width = max(width, min(utf8.RuneCountInString(r.name), 30))
	}
	for _, r := range rows {
		lines = append(lines, fmt.Sprintf("%-*s  %s", width, r.name, r.text))
	}
	return lines
}

// row is a line of the contents of a history.
type row struct{ name, text string }

// names are what runs can be found by.
type names struct{ names, labels, benchmarks, modes map[string]bool }

func newNames() names {
	return names{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

func (n names) add(run *mapping.Run) {
	n.names[run.Run.Archive+":"+run.ShortName()] = true
	for name, value := range run.Run.Labels {
		n.labels[name+"="+value] = true
	}
	n.benchmarks[run.CBT.Benchmark], n.modes[run.CBT.Mode] = true, true
}

func (n names) rows() (list []row) {
	for _, of := range []struct {
		name  string
		texts map[string]bool
	}{{"names", n.names}, {"labels", n.labels}, {"benchmarks", n.benchmarks}, {"modes", n.modes}} {
		delete(of.texts, "")
		if len(of.texts) > 0 {
			list = append(list, row{of.name, List(slices.Sorted(maps.Keys(of.texts)))})
		}
	}
	return list
}
