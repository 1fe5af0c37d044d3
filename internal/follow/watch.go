package follow

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Watch calls take once with each window of the highest level of a live run that starts at from or later, as Follow
// stores them. It reads the history once per interval (every) until the run is no longer live, and returns the last
// run document. Errors are those of the store, of take and of ctx.
func Watch(
	ctx context.Context, store history.Store, id string, from time.Time, every time.Duration, take func(*window.Window) error,
) (*mapping.Run, error) {
	given := map[series]time.Time{} // start of the last window by series
	for last := new(mapping.Run); ; {
		run, err := store.Run(ctx, id)
		if err != nil {
			return nil, err
		}
		var windows []*window.Window
		// otherwise there are no new windows
		if run.Run.Ingest != last.Run.Ingest || run.Documents != last.Documents {
			if windows, err = newest(ctx, store, run, from); err != nil {
				return nil, err
			}
		}
		last = run
		for _, w := range windows {
			series := series{run.Run.ID, w.Direction, w.Host, w.Job}
			if last, ok := given[series]; ok && !w.Start.After(last) {
				continue
			}
			given[series] = w.Start
			if err := take(w); err != nil {
				return nil, err
			}
		}
		if !run.Run.Live() {
			return run, nil
		}
		// Windows may be new from the series that is last on, but a direction, host or job without windows for a minute
		// is not waited for.
		if times := slices.SortedFunc(maps.Values(given), time.Time.Compare); len(times) > 0 {
			oldest, late := times[0], times[len(times)-1].Add(-time.Minute)
			from = slices.MaxFunc([]time.Time{from, oldest, late}, time.Time.Compare)
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return run, ctx.Err()
		}
	}
}

// newest returns the windows of a run from a time on. For a live run it leaves out the windows of the last interval,
// because other directions of that interval may be stored later.
func newest(ctx context.Context, store history.Store, run *mapping.Run, from time.Time) (list []*window.Window, err error) {
	wanted := history.Selection{Runs: []string{run.Run.ID}, Level: slices.Min(run.Levels), From: from}
	last := int64(0)
	for w, err := range window.Rejoin(store.Intervals(ctx, wanted)) {
		if err != nil {
			return nil, err
		}
		list, last = append(list, w), max(last, w.ElapsedMS)
	}
	if run.Run.Live() {
		list = slices.DeleteFunc(list, func(w *window.Window) bool { return w.ElapsedMS == last })
	}
	return list, nil
}
