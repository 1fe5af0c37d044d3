package follow

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Watch calls take once with each window of the highest level of a live run, as Follow stores them, and with the document
// of the run. When the next stage of its execution begins, it turns to that. It reads the history once per interval (every)
// until the run is no longer live, and returns the last run document. Of a run that several hosts send, log says which hosts are silent. Errors are those of the store, of take and of ctx.
func Watch(
	ctx context.Context, store history.Store, id string, every time.Duration, log *slog.Logger, take func(*mapping.Run, *window.Window) error,
) (*mapping.Run, error) {
	const lateAfter = 30 * time.Second // the first window of a host after a hang comes at most so late
	var silence shared.Silence
	var lacked time.Time                                        // when windows of a host were lacking last
	given, from := map[window.Series]window.Span{}, time.Time{} // the last window by series, and where new ones may begin
	for last := new(mapping.Run); ; {
		next, err := nextStage(ctx, store, last) // before the run is read, which is stored to its end if there is one
		if err != nil {
			return nil, err
		}
		run, err := store.Run(ctx, id)
		if err != nil {
			return nil, err
		}
		if run.Run.IsShared() {
			parts, now, err := shared.Parts(ctx, store, run.Run.ID)
			if err != nil {
				return nil, err
			}
			for _, text := range silence.News(parts, now) {
				log.Warn(text)
			}
			if silence.Lacks() {
				lacked = time.Now()
			}
		}
		var windows []*window.Window
		// otherwise there are no new windows
		if run.Run.Ingest != last.Run.Ingest || run.Documents != last.Documents || next != "" {
			if windows, err = newest(ctx, store, run, from, next != "" || !run.Run.Live()); err != nil {
				return nil, err
			}
		}
		last = run
		for _, w := range windows {
			series := w.Series()
			if last, ok := given[series]; ok && !w.End.After(last.End) { // one that is longer has what a host sends after a hang
				continue
			}
			given[series] = window.Span{Start: w.Start, End: w.End}
			if err := take(run, w); err != nil {
				return nil, err
			}
		}
		if next != "" {
			id, from, last = next, time.Time{}, new(mapping.Run)
			clear(given)
			continue
		}
		if !run.Run.Live() {
			return run, nil
		}
		// Windows may be new from the series that is last on, but a direction, host or job without windows for a minute
		// is not waited for.
		if spans := slices.SortedFunc(maps.Values(given), func(a, b window.Span) int { return a.Start.Compare(b.Start) }); len(spans) > 0 {
			oldest, late := spans[0].Start, spans[len(spans)-1].Start.Add(-time.Minute)
			if time.Since(lacked) < lateAfter { // a long window of a host begins earlier than the last ones of others
				oldest = late
			}
			from = slices.MaxFunc([]time.Time{from, oldest, late}, time.Time.Compare)
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return run, ctx.Err()
		}
	}
}

// nextStage returns the id of the first later stage of the execution of a run that has begun, or "" if none has.
func nextStage(ctx context.Context, store history.Store, run *mapping.Run) (string, error) {
	for stage := run.Run.Stage + 1; stage <= run.Run.Stages; stage++ {
		id := mapping.StageID(run.Run.Execution, stage, run.Run.Stages)
		if _, err := store.Run(ctx, id); !errors.Is(err, history.ErrNotFound) {
			return id, err
		}
	}
	return "", nil
}

// newest returns the windows of a run from a time on. If it is not over, newest leaves out the windows of the last
// interval, because other directions of that interval may be stored later.
func newest(ctx context.Context, store history.Store, run *mapping.Run, from time.Time, isOver bool) (list []*window.Window, err error) {
	wanted := history.Selection{Runs: []string{run.Run.ID}, Level: slices.Min(run.Levels), From: from}
	last := int64(0)
	for w, err := range window.Rejoin(store.Intervals(ctx, wanted)) {
		if err != nil {
			return nil, err
		}
		list, last = append(list, w), max(last, w.ElapsedMS)
	}
	if !isOver {
		list = slices.DeleteFunc(list, func(w *window.Window) bool { return w.ElapsedMS == last })
	}
	return list, nil
}
