package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// Following sets how a run is followed while fio runs.
type Following struct {
	Quiet time.Duration // a file has ended if it has not grown for this time, or for the time of three reports
	Every time.Duration // how often the run document is stored
}

// ErrNotLive means that a run cannot be followed, because its files show nothing, or not enough yet, before it ends.
var ErrNotLive = errors.New("no periodic reports (fio --status-interval=1 --output-format=json+), or fewer than " +
	"three so far")

// lastStore limits the time for storing the last documents after following has ended.
const lastStore = 15 * time.Second

// Follow reads the periodic reports of a run while fio writes them, until the reports or ctx end. It stores an interval
// document, and passes it to each, when no later request can have been in flight in its window. This is about 20
// seconds later. It stores the run document repeatedly as an incomplete version ([mapping.RunInfo].Live). [Ingest]
// replaces that version when the run has ended.
//
// When ctx ends, Follow stores what it has read and returns no error. It fails with [ErrNotLive], or with an error of
// known, each or the sink. known may be nil.
func Follow(
	ctx context.Context, run *cbt.Run, opt Options, how Following, to Sink, known Known,
	each func(*window.Window) error,
) (*Result, error) {
	problems := &Problems{}
	p, err := makePlan(ctx, run, opt, true, &tailing{ctx, how.Quiet}, problems)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s:%s: %w: %w", run.Archive, run.Name(), ErrNotLive, err)
	}
	r, stored := newReading(p, problems), time.Now()
	defer r.close()
	if !r.live {
		return nil, fmt.Errorf("%s: %w", p.Title(), ErrNotLive)
	}
	e, err := identifyLive(ctx, p, known, stored)
	if err != nil {
		return nil, err
	}
	r.execution = e
	storing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		select {
		case <-time.After(lastStore):
			stop()
		case <-storing.Done():
		}
	})()
	var docs []*mapping.Interval // not stored yet
	put := func() error {
		if len(docs) == 0 {
			return nil
		}
		err := to.Put(storing, docs)
		docs = docs[:0]
		return err
	}
	store := func() (*mapping.Run, error) { // and make all documents so far visible
		doc := r.summary(e.Run)
		doc.Run.Complete = false
		e.complete(doc) // its source is as it was at the start: the complete files are recognised by it
		doc.Warnings = append(doc.Warnings, "followed while fio ran: not all of it is here")
		stored = time.Now()
		if err := put(); err != nil {
			return nil, err
		}
		return doc, to.Finish(storing, doc)
	}
	err = r.windows(storing, func(w *window.Window) error {
		if err := each(w); err != nil {
			return err
		}
		if docs = append(docs, r.document(w).Split()...); len(docs) >= batch {
			if err := put(); err != nil {
				return err
			}
		}
		if time.Since(stored) < how.Every {
			return nil
		}
		_, err := store()
		return err
	})
	if err != nil {
		return nil, err
	}
	doc, err := store()
	if err != nil {
		return nil, err
	}
	return &Result{Run: doc, Skipped: problems.Skipped(), Notes: problems.Notes()}, nil
}

// tailing reads files that fio still writes.
type tailing struct {
	ctx   context.Context // when it ends, the files have ended
	quiet time.Duration   // a file that has not grown for so long has ended
}

// tailReader reads a file that grows.
type tailReader struct {
	io.ReadCloser
	ctx   context.Context
	quiet time.Duration
}

// Read implements [io.Reader].
func (t *tailReader) Read(p []byte) (int, error) {
	const look = 200 * time.Millisecond
	for waited := time.Duration(0); ; waited += look {
		n, err := t.ReadCloser.Read(p)
		switch {
		case n > 0:
			return n, nil
		case err != io.EOF || waited >= t.quiet:
			return 0, err
		}
		select {
		case <-time.After(look):
		case <-t.ctx.Done():
			return 0, io.EOF
		}
	}
}
