package query

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Watched has a filter, and what was learned from the runs that a store read for it.
type Watched struct {
	Filter history.RunFilter // pass this one to the store
	// ids of runs that are left out because they lack the values that the condition needs
	undecided map[string]bool
	// summary of all runs; nil if the store does not read all runs, or if a run is selected
	contents *contents
}

// Watch returns a filter like f that records the runs that a store reads for it.
func Watch(f history.RunFilter) *Watched {
	w := &Watched{Filter: f, undecided: map[string]bool{}}
	if isOfAll(&f) {
		w.contents = newContents(f)
	}
	w.Filter.Watch = w.see
	return w
}

// isOfAll reports whether a store must read all runs for this filter.
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

// Undecided says how many runs are left out because they lack the values that the condition needs, and why. It is
// empty if there are none.
func (w *Watched) Undecided() string {
	if len(w.undecided) == 0 {
		return ""
	}
	return fmt.Sprintf("left out %s: a latency in the condition lies in fio's last bin, which has no upper end, "+
		"so whether the condition is met is unknown", unit.Plural(len(w.undecided), "run"))
}

// Contents returns the number of readable runs in the history, and lines that say by what they can be found: when
// they started, and their names, labels, benchmarks and modes. If the filter selects no run, the lines say instead
// how many runs meet each of its parts, and which run meets most of them.
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

// read returns the summary of all runs. It reads the history unless a list has done so.
func (w *Watched) read(ctx context.Context, store history.Store) (*contents, error) {
	c := w.contents
	if c == nil || c.runs == 0 { // a list did not read all runs, or there was none yet
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

// anyRun is a condition that every run meets. It makes the store read the fields that the filter needs.
type anyRun struct{ history.RunFilter }

// Matches implements [history.Condition].
func (anyRun) Matches(*mapping.Run) bool { return true }

// Beyond returns the fields that the filter needs beyond [mapping.Run.Brief].
func (a anyRun) Beyond() ([]string, bool) { a.Brief = true; return a.RunFilter.Beyond() }
