package main

import (
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/fio2es/fio2es/internal/follow"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/record"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/pipeline/align"
)

// lines writes a line for each window to stderr. It ignores errors, because the run does not depend on the reader.
func (r *running) lines() func(*window.Window) error {
	to := newFollowWriter(r.stderr, table.Text)
	return func(w *window.Window) error {
		_ = to.window(w)
		return nil
	}
}

// follow stores the live run of a fio until the returned function is called. Requests count in the window in which
// they complete. So a window is final at once, and does not wait for requests that were in flight in it.
func (r *running) follow(ctx context.Context, entry *record.Entry, log *slog.Logger, each func(*window.Window) error) (stop func()) {
	opt := follow.Options{
		Ingest: ingest.Options{Pipeline: r.options(), Log: log},
		Paths:  []string{entry.Folder}, Host: entry.Host, Wanted: func(string, string) bool { return true }, Rules: r.rules,
		Every: 2 * time.Second, Quiet: math.MaxInt64, // never, because the caller knows when fio ends
		Window: each,
	}
	opt.Ingest.Pipeline.Weighting = align.Completion
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		_, err := follow.Follow(ctx, r.to, opt)
		done <- err
	}()
	return func() {
		cancel()
		if err := <-done; err != nil {
			log.Warn("the run was not followed to its end: " + err.Error())
		}
	}
}
