package query

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/mapping"
)

// parts are the conditions of a filter that selects no run.
type parts struct {
	list    []*part
	nearest *mapping.Run // run that meets most of them; the newest if there are several
	met     int          // how many it meets
}

type part struct {
	*where.Condition
	field *where.Field // the field that it names; nil if there are several or none

	runs   int            // how many runs meet it
	unsure int            // runs for which it is undecided
	values map[string]any // values of the field by their texts, at most mostValues
	near   []string       // names of fields that runs have and that are similar to its name
}

// mostValues limits the values of a field that are compared.
const mostValues = 1000

// partsOf splits a filter into its text, its times, and the conditions that "and" joins.
func partsOf(f history.RunFilter) *parts {
	p := &parts{met: -1}
	add := func(c *where.Condition) {
		one := &part{Condition: c, values: map[string]any{}}
		if fields := c.Fields(); len(fields) == 1 {
			one.field = fields[0]
		}
		p.list = append(p.list, one)
	}
	for _, word := range strings.Fields(f.Text) {
		has := history.RunFilter{Text: word}
		add(where.That("'"+word+"'", has.Matches))
	}
	if !f.From.IsZero() || !f.To.IsZero() {
		in := history.RunFilter{From: f.From, To: f.To}
		add(where.That("started"+span(f.From, f.To), in.Matches))
	}
	switch c := f.Where.(type) {
	case nil:
	case *where.Condition:
		for _, one := range c.Parts() {
			add(one)
		}
	default:
		add(where.That("those that are named", c.Matches))
	}
	if len(p.list) == 1 && f.Text != "" {
		return &parts{} // names and labels are more helpful
	}
	return p
}

// span describes a range of times.
func span(from, to time.Time) (text string) {
	if !from.IsZero() {
		text += " at or after " + from.UTC().Format(time.DateTime) + " UTC"
	}
	if !to.IsZero() {
		text += " before " + to.UTC().Format(time.DateTime) + " UTC"
	}
	return text
}

func (p *parts) add(run *mapping.Run) {
	met := 0
	for _, one := range p.list {
		switch {
		case one.Matches(run):
			one.runs++
			met++
		case one.Undecided(run):
			one.unsure++
		}
		if one.field == nil || one.runs > 0 { // values matter only if no run meets the part
			continue
		}
		for _, v := range one.field.Values(run) {
			if len(one.values) < mostValues {
				one.values[one.field.Kind.Text(v)] = v
			}
		}
		for _, name := range one.field.Near(run) {
			if !slices.Contains(one.near, name) {
				one.near = append(one.near, name)
			}
		}
	}
	if met > p.met {
		p.nearest, p.met = run, met
	}
}

// rows says how many runs meet each part, which values runs have instead if none does, and which run is nearest.
func (p *parts) rows() (list []row) {
	var lacks []string
	for _, one := range p.list {
		text := unit.Plural(one.runs, "run")
		if one.runs == 0 {
			text = "no run"
			if one.field != nil {
				text += " (" + one.valuesText() + ")"
			}
		}
		if one.unsure > 0 {
			text += ", and unknown of " + unit.Plural(one.unsure, "run") + ": the latency lies in fio's last bin, which has no upper end"
		}
		list = append(list, row{one.String(), text})
		if p.nearest != nil && !one.Matches(p.nearest) {
			lacks = append(lacks, one.lackText(p.nearest))
		}
	}
	if len(p.list) > 1 && p.met > 0 {
		list = append(list, row{"nearest", RunText(p.nearest) + ": " + strings.Join(lacks, ", ")})
	}
	return list
}

// valuesText says which values the field has in the history.
func (p *part) valuesText() string {
	texts := slices.SortedFunc(maps.Keys(p.values), func(a, b string) int { return where.CompareValues(p.values[a], p.values[b]) })
	few := 8
	if p.field.Kind == where.Time {
		few = 1
	}
	switch {
	case len(texts) == 0 && len(p.near) > 0:
		return "none has " + p.field.Name + ": did you mean " + List(p.near) + "?"
	case len(texts) == 0:
		return "none has " + p.field.Name
	case len(texts) > few && p.field.Kind != where.Text:
		return fmt.Sprintf("%s is from %s to %s", p.field.Name, texts[0], texts[len(texts)-1])
	}
	return p.field.Name + " is " + List(texts)
}

// lackText says what a run has instead of a part that it does not meet.
func (p *part) lackText(run *mapping.Run) string {
	if p.field == nil {
		return "not " + p.String()
	}
	var texts []string
	for _, v := range p.field.Values(run) {
		texts = append(texts, p.field.Kind.Text(v))
	}
	if len(texts) == 0 {
		return "it has no " + p.field.Name
	}
	return p.field.Name + " is " + List(texts)
}
