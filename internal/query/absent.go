package query

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/mapping"
)

// Watched has a filter, and counts the runs that it leaves out because they lack the values that its condition needs.
type Watched struct {
	Filter    history.RunFilter // pass this one to the store
	undecided map[string]bool   // by id
}

// Watch returns a filter like f that counts such runs.
func Watch(f history.RunFilter) *Watched {
	w := &Watched{f, map[string]bool{}}
	rest := f
	rest.Where = nil
	w.Filter.Watch = func(run *mapping.Run, isSelected bool) {
		if !isSelected && history.IsUndecided(f.Where, run) && rest.Matches(run) {
			w.undecided[run.Run.ID] = true
		}
	}
	return w
}

// Undecided says how many runs are left out because they lack the values that the condition needs, and why. It is
// empty if there are none.
func (w *Watched) Undecided() string {
	if len(w.undecided) == 0 {
		return ""
	}
	return fmt.Sprintf("left out %s: a latency in the condition lies in fio's last bin, which has no upper end, "+
		"so whether the condition is met is unknown", unit.Plural(len(w.undecided), "run"))
}

// absent is a [history.ErrNotFound] with another text.
type absent string

// Error implements error.
func (a absent) Error() string { return string(a) }

// Is makes errors.Is find [history.ErrNotFound].
func (a absent) Is(target error) bool { return target == history.ErrNotFound }

// part is a condition of a filter that selects no run.
type part struct {
	*where.Condition
	runs, unsure int            // how many runs meet it; for how many it is undecided
	values       map[string]any // values of its field by their texts, at most mostValues
	near         string         // a label that runs have and that is similar to its field
}

// mostValues limits the values of a field that are compared.
const mostValues = 1000

// Nothing says in one line why a filter selects no run: how many runs the history has, how many meet each part of the
// condition, which values they have instead, and which runs are nearest to the text.
func Nothing(ctx context.Context, store history.Store, f history.RunFilter) (string, error) {
	var parts []*part
	if !f.From.IsZero() || !f.To.IsZero() {
		in, text := history.RunFilter{From: f.From, To: f.To}, "started"
		if !f.From.IsZero() {
			text += " at or after " + f.From.UTC().Format(time.DateTime) + " UTC"
		}
		if !f.To.IsZero() {
			text += " before " + f.To.UTC().Format(time.DateTime) + " UTC"
		}
		parts = append(parts, &part{Condition: where.That(text, in.Matches)})
	}
	if c, ok := f.Where.(*where.Condition); ok {
		for _, one := range c.Parts() {
			parts = append(parts, &part{Condition: one, values: map[string]any{}})
		}
	}
	var first, last *mapping.Run
	var nearest []string
	runs, most := 0, 3 // fewest characters of a similar text
	for run, err := range history.Readable(store.Runs(ctx, history.RunFilter{Light: true}), nil) {
		if err != nil {
			return "", err
		}
		if runs++; runs == 1 { // the newest
			last = run
		}
		first = run
		for _, one := range parts {
			one.see(run)
		}
		if same := alike(f.Text, run); same >= most {
			if same > most {
				most, nearest = same, nil
			}
			nearest = append(nearest, fmt.Sprintf("%s (%s)", facts.ShortID(run.Run.ID), facts.Title(run)))
		}
	}
	if runs == 0 {
		return "no runs in the history yet: store some with fio2es ingest PATH", nil
	}
	text := fmt.Sprintf("the history has %s: started %s to %s", unit.Plural(runs, "run"), facts.Started(first), facts.StartedUTC(last))
	for _, one := range parts {
		text += "; " + one.text()
	}
	if len(nearest) > 0 {
		text += "; nearest: " + unit.List(nearest, 3, ", ")
	}
	return text, nil
}

// see counts a run.
func (p *part) see(run *mapping.Run) {
	switch {
	case p.Matches(run):
		p.runs++
	case p.Undecided(run):
		p.unsure++
	}
	fields := p.Fields()
	if len(fields) != 1 || p.runs > 0 { // values matter only if no run meets the part
		return
	}
	for name := range run.Run.Labels {
		if near := expr.Near(fields[0].Name, []string{"label." + name}); len(near) > 0 {
			p.near = near[0]
		}
	}
	for _, v := range fields[0].Values(run) {
		if len(p.values) < mostValues {
			p.values[fields[0].Text(v)] = v
		}
	}
}

// text says how many runs meet the part, and which values runs have instead if none does.
func (p *part) text() string {
	text := p.String() + ": " + unit.Plural(p.runs, "run")
	if p.runs == 0 {
		text = p.String() + ": no run"
		if fields := p.Fields(); len(fields) == 1 {
			name, kind := fields[0].Name, fields[0].Kind
			values := slices.SortedFunc(maps.Keys(p.values), func(a, b string) int {
				return cmp.Or(cmp.Compare(size(p.values[a]), size(p.values[b])), cmp.Compare(a, b))
			})
			switch n := len(values); {
			case n == 0 && p.near != "":
				text += " (none has " + name + ": did you mean " + p.near + "?)"
			case n == 0:
				text += " (none has " + name + ")"
			case kind != expr.Text && n > 8 || kind == expr.Time && n > 1:
				text += fmt.Sprintf(" (%s is from %s to %s)", name, values[0], values[n-1])
			default:
				text += " (" + name + " is " + List(values) + ")"
			}
		}
	}
	if p.unsure > 0 {
		text += ", and unknown of " + unit.Plural(p.unsure, "run") + ": the latency lies in fio's last bin, which has no upper end"
	}
	return text
}

// size returns a number by which values of one field are sorted, or 0 for texts.
func size(value any) float64 {
	switch v := value.(type) {
	case float64:
		return v
	case where.AtLeast:
		return float64(v)
	case time.Time:
		return float64(v.UnixMilli())
	}
	return 0
}

// alike returns how many first characters of a text the id of a run begins with, or its name, settings or a label
// contain.
func alike(text string, run *mapping.Run) int {
	text = strings.ToLower(text)
	in := []string{strings.ToLower(run.Run.Archive + ":" + run.ShortName()), strings.ToLower(facts.Title(run)), run.CBT.Benchmark}
	for name, value := range run.Run.Labels {
		in = append(in, strings.ToLower(name+"="+value))
	}
	for n := len(text); n > 0; n-- {
		if strings.HasPrefix(run.Run.ID, text[:n]) || slices.ContainsFunc(in, func(s string) bool { return strings.Contains(s, text[:n]) }) {
			return n
		}
	}
	return 0
}

// List returns the first eight names, and how many more there are.
func List(names []string) string { return unit.List(names, 8, ", ") }
