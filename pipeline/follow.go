package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// Following is how a run is followed while fio runs.
type Following struct {
	Quiet time.Duration // a file that has not grown for so long has ended, or for three reports if that is longer
	Every time.Duration // how often what there is is stored
}

// ErrNotLive is a run that cannot be followed, as its files say nothing before it ends,
// or not enough so far.
var ErrNotLive = errors.New("no periodic reports (fio --status-interval=1 --output-format=json+), or fewer than three so far")

// goodbye is how long storing the last documents may take when following is ended.
const goodbye = 15 * time.Second

// Follow reads the periodic reports of a run while fio writes them, until they have ended
// or ctx does. Interval documents are stored, and given to each, as soon as no request to
// come can have been in flight in their windows: some 20 seconds later. The run's
// document is stored again and again, as one of a version that is not complete (its
// [mapping.RunInfo].Live); [Ingest] is to replace that when the run is over.
//
// What was read when ctx ends is stored before Follow returns, which then is no error. It
// fails with [ErrNotLive], with known's error, which may be nil, with each's or the sink's.
func Follow(
	ctx context.Context, run *cbt.Run, opt Options, how Following, to Sink, known Known, each func(*mapping.Interval) error,
) (*Result, error) {
	problems := &Problems{}
	p, err := makePlan(ctx, run, opt, true, &tailing{ctx, how.Quiet, opt.Offsets}, problems)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s:%s: %w: %w", run.Archive, run.Name(), ErrNotLive, err)
	}
	defer p.close()
	f := &follower{plan: p, tallies: newTallies(p, problems), to: &batches{to: to}, every: how.Every, stored: time.Now()}
	if !f.tallies.live {
		return nil, fmt.Errorf("%s: %w", p.title, ErrNotLive)
	}
	if f.rates, err = p.readBandwidth(ctx, f.tallies); err != nil {
		return nil, err
	}
	if f.identity, err = p.identifyLive(ctx, known, f.stored); err != nil {
		return nil, err
	}
	storing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		select {
		case <-time.After(goodbye):
			stop()
		case <-storing.Done():
		}
	})()
	return f.follow(storing, each)
}

// follower stores what is read of a run that goes on.
type follower struct {
	*plan
	identity
	tallies *tallies
	rates   *bandwidth
	to      *batches
	every   time.Duration
	stored  time.Time // when the run's document was, last
	made    mapping.Documents
}

func (f *follower) follow(ctx context.Context, each func(*mapping.Interval) error) (*Result, error) {
	version := f.version()
	for w, err := range f.windows(ctx, f.tallies) {
		if err != nil {
			return nil, err
		}
		d := f.document(w, f.ref, version, f.rates)
		f.made.Add(d.Level, 1)
		if err := each(d); err != nil {
			return nil, err
		}
		if err := f.to.put(ctx, d); err != nil {
			return nil, err
		}
		if time.Since(f.stored) >= f.every {
			if _, err := f.store(ctx); err != nil {
				return nil, err
			}
		}
	}
	run, err := f.store(ctx)
	if err != nil {
		return nil, err
	}
	return &Result{Run: run, Skipped: f.tallies.problems.Skipped(), Notes: f.tallies.problems.Notes()}, nil
}

// store makes all documents so far visible.
func (f *follower) store(ctx context.Context) (*mapping.Run, error) {
	run := f.summary(f.ref, f.tallies, f.made)
	run.Run.Complete = false
	run.Source = f.src // as it was in the beginning: by that the whole files are recognised
	run.Warnings = append(run.Warnings, "followed while fio ran: not all of it is here")
	f.stored = time.Now()
	return run, f.to.finish(ctx, run)
}
