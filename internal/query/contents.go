package query

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// contents summarizes the readable runs of a history, for a filter that selects none of them.
type contents struct {
	runs        int
	first, last *mapping.Run
	parts       *parts
	names       names // used if the filter has no parts
}

// newContents returns the contents for this filter, without runs.
func newContents(f history.RunFilter) *contents {
	return &contents{parts: partsOf(f), names: names{strings.ToLower(f.Text), map[string]map[string]bool{}}}
}

// add adds a run. Runs come in the order of a list, the newest first.
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

// rows returns when the runs started, and what they can be found by.
func (c *contents) rows() []row {
	if c.runs == 0 {
		return nil
	}
	rows := []row{{"started", facts.Started(c.first) + " to " + facts.StartedUTC(c.last)}}
	return append(append(rows, c.names.rows()...), c.parts.rows()...)
}

// row is a line of the summary.
type row struct{ name, text string }

// names are the names, labels, benchmarks and modes by which runs can be found.
type names struct {
	wanted string
	texts  map[string]map[string]bool // by kind, such as "names"
}

func (n names) add(run *mapping.Run) {
	n.note("names", run.Run.Archive+":"+run.ShortName())
	for name, value := range run.Run.Labels {
		n.note("labels", name+"="+value)
	}
	n.note("benchmarks", run.CBT.Benchmark)
	n.note("modes", run.CBT.Mode)
}

func (n names) note(what, text string) {
	if n.texts[what] == nil {
		n.texts[what] = map[string]bool{}
	}
	if text != "" {
		n.texts[what][text] = true
	}
}

func (n names) rows() (list []row) {
	const least = 3 // fewest characters of a similar text
	near := map[int][]string{0: nil}
	for _, what := range []string{"names", "labels", "benchmarks", "modes"} {
		if len(n.texts[what]) > 0 {
			list = append(list, row{what, List(slices.Sorted(maps.Keys(n.texts[what])))})
			n.addNear(near, maps.Keys(n.texts[what]))
		}
	}
	if most := slices.Max(slices.Collect(maps.Keys(near))); most >= least {
		list = append(list, row{"nearest", List(slices.Sorted(slices.Values(near[most])))})
	}
	return list
}

// addNear adds each text to near. The key is how many first characters of the wanted text it contains.
func (n names) addNear(near map[int][]string, texts iter.Seq[string]) {
	for text := range texts {
		same := len(n.wanted)
		for ; same > 0 && !strings.Contains(strings.ToLower(text), n.wanted[:same]); same-- {
		}
		near[same] = append(near[same], text)
	}
}
