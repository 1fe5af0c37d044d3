package query

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
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
	return &contents{parts: partsOf(f), names: newNames(f.Text)}
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
type names struct {
	wanted                           string
	names, labels, benchmarks, modes map[string]bool
}

func newNames(wanted string) names {
	return names{strings.ToLower(wanted), map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

func (n names) add(run *mapping.Run) {
	n.names[run.Run.Archive+":"+run.ShortName()] = true
	for name, value := range run.Run.Labels {
		n.labels[name+"="+value] = true
	}
	n.benchmarks[run.CBT.Benchmark], n.modes[run.CBT.Mode] = true, true
}

func (n names) rows() (list []row) {
	const least = 3 // characters of a text that is near
	near := map[int][]string{0: nil}
	for _, of := range []struct {
		name  string
		texts map[string]bool
	}{{"names", n.names}, {"labels", n.labels}, {"benchmarks", n.benchmarks}, {"modes", n.modes}} {
		delete(of.texts, "")
		if len(of.texts) > 0 {
			list = append(list, row{of.name, List(slices.Sorted(maps.Keys(of.texts)))})
			n.addNear(near, maps.Keys(of.texts))
		}
	}
	if most := slices.Max(slices.Collect(maps.Keys(near))); most >= least {
		list = append(list, row{"nearest", List(slices.Sorted(slices.Values(near[most])))})
	}
	return list
}

// addNear adds texts under the number of characters with which what was wanted begins, and that they contain.
func (n names) addNear(near map[int][]string, texts iter.Seq[string]) {
	for text := range texts {
		same := len(n.wanted)
		for ; same > 0 && !strings.Contains(strings.ToLower(text), n.wanted[:same]); same-- {
		}
		near[same] = append(near[same], text)
	}
}
