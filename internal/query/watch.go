package query

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Watched has notes on the runs that a store reads to list those of a filter.
type Watched struct {
	Filter    history.RunFilter // for the store
	undecided map[string]bool   // ids of runs that are left out because what is known of them does not decide the condition
	contents  *contents         // nil if they are not all runs of the history, or one of them is selected
}

// Watch notes the runs that a store reads to list those that f selects.
func Watch(f history.RunFilter) *Watched {
	w := &Watched{Filter: f, undecided: map[string]bool{}}
	if isOfAll(&f) {
		w.contents = newContents(f)
	}
	w.Filter.Watch = w.see
	return w
}

// isOfAll reports whether a store reads all runs to find those that f selects.
func isOfAll(f *history.RunFilter) bool {
	for range f.Equals() {
		return false
	}
	from, to := f.Started()
	return from.IsZero() && to.IsZero()
}

func (w *Watched) see(run *mapping.Run, isSelected bool) {
	if isSelected {
		w.contents = nil
		return
	}
	if w.contents != nil {
		w.contents.add(run)
	}
	if history.IsUndecided(w.Filter.Where, run) {
		rest := w.Filter
		if rest.Where = nil; rest.Matches(run) {
			w.undecided[run.Run.ID] = true
		}
	}
}

// Undecided says how many runs the list leaves out because what is known of them does not decide its condition, and
// why; it is empty if there are none.
func (w *Watched) Undecided() string {
	if len(w.undecided) == 0 {
		return ""
	}
	return fmt.Sprintf("left out %s: a latency in the condition lies in fio's last bin, which has no upper end, "+
		"so whether the condition is met is unknown", unit.Plural(len(w.undecided), "run"))
}

// Contents counts the runs of the history that can be read, and lists what they can be found by: when they started,
// and then their names, labels, benchmarks and modes; or, of a filter that selects no run, how many runs each of its
// parts selects, and which run meets most of them.
func (w *Watched) Contents(ctx context.Context, store history.Store) (runs int, lines []string, err error) {
	c, err := w.read(ctx, store)
	if err != nil {
		return 0, nil, err
	}
	rows, width := c.rows(), 10
	for _, r := range rows {
		width = max(width, min(utf8.RuneCountInString(r.name), 30))
	}
	for _, r := range rows {
		lines = append(lines, fmt.Sprintf("%-*s  %s", width, r.name, r.text))
	}
	return c.runs, lines, nil
}

// read reads the contents of the history, unless the list has done so.
func (w *Watched) read(ctx context.Context, store history.Store) (*contents, error) {
	c := w.contents
	if c == nil || c.runs == 0 { // all runs were not read, or not yet
		c = newContents(w.Filter)
		all := history.RunFilter{Light: true, Brief: true, Where: anyRun{w.Filter}}
		for run, err := range history.Readable(store.Runs(ctx, all), nil) {
			if err != nil {
				return nil, err
			}
			c.add(run)
		}
	}
	return c, nil
}

// anyRun is the condition that a run is one, in as far as the condition of a filter needs it.
type anyRun struct{ history.RunFilter }

// Matches implements [history.Condition].
func (anyRun) Matches(*mapping.Run) bool { return true }

// Beyond are the fields that the condition needs beyond [mapping.Run.Brief].
func (a anyRun) Beyond() ([]string, bool) { a.Brief = true; return a.RunFilter.Beyond() }
