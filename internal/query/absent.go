package query

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

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
	w.Filter.Undecided = func(run *mapping.Run) { w.undecided[run.Run.ID] = true }
	return w
}

// Reader returns the runs with some ids, or all of a filter without ids.
type Reader func(ids ...string) iter.Seq2[*mapping.Run, error]

// Reader returns a function that reads runs of a store. It calls skip with the errors of those that cannot be read.
func (w *Watched) Reader(ctx context.Context, store history.Store, skip func(error)) Reader {
	return func(ids ...string) iter.Seq2[*mapping.Run, error] {
		f := history.RunFilter{IDs: ids, Light: true}
		if len(ids) == 0 {
			f = w.Filter
		}
		return history.Readable(store.Runs(ctx, f), skip)
	}
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

// Nothing says in one line why a filter selects no run: how many runs the history has, which parts of the condition no
// run meets, and the label or the run that is nearest to what was asked for.
func Nothing(ctx context.Context, store history.Store, f history.RunFilter) (string, error) {
	var parts []*where.Condition
	if c, ok := f.Where.(*where.Condition); ok {
		parts = slices.Clone(c.Parts())
	}
	var first, last *mapping.Run
	watched, labels, totals := Watch(f), map[string]bool{}, map[string]int{}
	runs, same, nearest := 0, 2, "" // fewer characters in common mean nothing
	for run, err := range history.Readable(store.Runs(ctx, history.RunFilter{Light: true}), nil) {
		if err != nil {
			return "", err
		}
		if runs++; runs == 1 { // the newest
			last = run
		}
		first = run
		watched.Filter.Matches(run)
		parts = slices.DeleteFunc(parts, func(part *where.Condition) bool { return part.Matches(run) })
		if total := run.CBT.TotalIODepth; total > 0 {
			byTotal := *run
			byTotal.CBT.IODepth = total
			for _, part := range parts {
				if part.Matches(&byTotal) {
					totals[part.String()]++
				}
			}
		}
		for name := range run.Run.Labels {
			labels["label."+name] = true
		}
		if n := alike(f.Text, run); n > same {
			same, nearest = n, fmt.Sprintf("; nearest: %s (%s)", facts.ShortID(run.Run.ID), facts.Title(run))
		}
	}
	if runs == 0 {
		return "no runs in the history yet: store some with fio2es ingest PATH", nil
	}
	text := fmt.Sprintf("the history has %s: started %s to %s", unit.Plural(runs, "run"), facts.Started(first), facts.StartedInZone(last))
	for _, part := range parts {
		text += "; " + part.String() + ": no run"
		if n := totals[part.String()]; n > 0 {
			byTotal := strings.NewReplacer("iodepth", "total_iodepth", "qd", "total_iodepth").Replace(part.String())
			text += fmt.Sprintf(" (but %s with %s, which CBT divides over volumes)", unit.Plural(n, "run"), byTotal)
		}
		for _, field := range part.Fields() {
			if near := expr.Near(field.Name, slices.Sorted(maps.Keys(labels))); len(near) > 0 && !labels[field.Name] {
				text += " (did you mean " + near[0] + "?)"
			}
		}
	}
	if note := watched.Undecided(); note != "" {
		text += "; " + note
	}
	return text + nearest, nil
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
