package follow

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
)

// TestWatch: Watch returns each window of a live run once, until the run is over.
func TestWatch(t *testing.T) {
	inPlace(t, func(t *testing.T, p *place) {
		const seconds = 40
		p.options.Ingest.Pipeline.Weighting = align.Completion
		file, start := filepath.Join(p.dir, "out.json"), time.Now()
		var watched []*window.Window
		var delays []time.Duration
		waitFio := later(0, func() {
			for n := 1; n <= seconds; n++ {
				time.Sleep(time.Second)
				write(t, file, report(start, n))
			}
		})
		waitWatch := later(10*time.Second, func() {
			run, err := Watch(t.Context(), p.store, p.only().Run.ID, time.Second, slog.New(slog.DiscardHandler), func(_ *mapping.Run, w *window.Window) error {
				watched = append(watched, w)
				delays = append(delays, time.Since(w.End))
				return nil
			})
			if err != nil || run.Run.Live() {
				t.Errorf("%v, %v", run, err)
			}
		})
		p.follow(t.Context())
		waitFio()
		waitWatch()
		if diff := cmp.Diff(starts(p.windows), starts(watched)); diff != "" || len(watched) != seconds {
			t.Errorf("%d windows\n%s", len(watched), diff)
		}
		// Without in-flight weights, a window is complete with the report after its own. It is stored within a second,
		// and seen when the history is read next.
		if slow := slices.Max(delays[12 : seconds-5]); slow > 5*time.Second {
			t.Errorf("windows come %v late", slow)
		}
	})
}

// TestWatchEnds: Watch ends with its context.
func TestWatchEnds(t *testing.T) {
	inPlace(t, func(t *testing.T, p *place) {
		write(t, filepath.Join(p.dir, "out.json"), reports(t)[:6]...)
		ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
		defer stop()
		p.options.Quiet = time.Minute
		p.follow(ctx)
		ctx, stop = context.WithTimeout(t.Context(), time.Second)
		defer stop()
		n := 0
		_, err := Watch(ctx, p.store, p.only().Run.ID, 100*time.Millisecond, slog.New(slog.DiscardHandler), func(*mapping.Run, *window.Window) error { n++; return nil })
		// the windows of the last second wait for the next one
		if !errors.Is(err, context.DeadlineExceeded) || n != len(p.windows)-2 {
			t.Errorf("%d windows, want %d: %v", n, len(p.windows), err)
		}
		if _, err := Watch(t.Context(), p.store, "none", time.Second, nil, nil); err == nil {
			t.Error("there is no such run")
		}
	})
}

// starts returns the starts and directions of windows.
func starts(all []*window.Window) (list []string) {
	for _, w := range all {
		list = append(list, strings.Join([]string{w.Start.Format(time.StampMilli), w.Direction}, " "))
	}
	return list
}
