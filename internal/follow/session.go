package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// mostSessions is how many runs are followed at the same time. A session has the windows of about 20 seconds in
// memory.
const mostSessions = 64

// session follows one live run.
type session struct {
	stop  context.CancelFunc
	done  chan error // gets one error when the session ends
	files []string   // names of the run's files at the start
	id    string     // id of the run in the history; read it only after the session has ended
}

// begin starts to follow a run. It calls done when the archive of the run is no longer needed.
func (f *follower) begin(ctx context.Context, w *watched, run *cbt.Run, done func()) {
	ctx, stop := context.WithCancel(ctx)
	s := &session{stop: stop, done: make(chan error, 1), files: w.files}
	w.session = s
	f.live++
	how := pipeline.FollowOptions{Quiet: f.Quiet, Every: f.Every}
	highest := slices.Min(f.Ingest.Pipeline.Levels)
	alerts := newAlerts(f.Ingest.Log, f.Rules)
	alerts.even = f.Ingest.Pipeline.Precision.Quantile == 0
	known := func(ctx context.Context, e *pipeline.Execution) (string, *mapping.Run, error) {
		found, err := ingest.Find(ctx, f.to.Store, e)
		if len(found.Removed) > 0 { // the run was removed from the history: this is decided when it is over
			return "", nil, fmt.Errorf("%w: %w", pipeline.ErrNotLive, ingest.ErrRemoved)
		}
		if err == nil {
			s.id = found.ID
			f.Ingest.Log.Info("following " + e.Run.Archive + ":" + e.Run.Name)
		}
		return found.ID, found.Have, err
	}
	f.reading.Go(func() {
		defer done()
		defer stop()
		res, err := pipeline.Follow(ctx, run, f.Ingest.Pipeline, how, f.to.Sink, known, func(w *window.Window) error {
			if w.Level != highest {
				return nil
			}
			if isNew, err := f.windows.take(w); err != nil || !isNew {
				return err
			}
			return alerts.window(w)
		})
		if err == nil {
			alerts.end()
			res.Log(f.Ingest.Log)
		}
		s.done <- err
	})
}

// collect records the result of a run's session if the session has ended. It returns an error only if the error
// concerns all runs.
func (f *follower) collect(w *watched) error {
	if w.session == nil {
		return nil
	}
	select {
	case err := <-w.session.done:
		id := w.session.id
		w.session, w.tried = nil, w.listing
		f.live--
		switch {
		case err == nil:
			w.id = id
		case errors.Is(err, pipeline.ErrNotLive):
			f.Ingest.Log.Debug(err.Error())
		case !errors.Is(err, context.Canceled):
			return err
		}
	default:
	}
	return nil
}
