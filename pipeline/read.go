package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"github.com/fio2es/fio2es/internal/ahead"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// Result is the result of reading one run.
type Result struct {
	Run *mapping.Run
	// Skipped is what is missing in the run. Notes are other things to know.
	Skipped, Notes []error
	// Unchanged means that nothing was stored, because the store has this version. Run is the stored document.
	Unchanged bool
	// Because is a stored run that is the reason for storing nothing. Then Run is nil.
	Because *mapping.Run
	// Plan is what was known before rows were read. It is nil if the run cannot be read.
	Plan *plan.Plan
}

// Log logs what was skipped as warnings, and the notes.
func (r *Result) Log(log *slog.Logger) {
	for _, err := range r.Skipped {
		log.Warn(err.Error())
	}
	for _, err := range r.Notes {
		log.Info("note: " + err.Error())
	}
	for _, text := range r.Why() {
		log.Debug(text)
	}
}

// Why returns a line for each job with its source of rows, its time, and the evidence.
func (r *Result) Why() (lines []string) {
	if r.Plan != nil {
		for _, j := range r.Plan.Jobs {
			lines = append(lines, j.String())
		}
	}
	return lines
}

// MakePlan plans a run and reads no rows. It reads the reports and the first rows of logs. It fails only if ctx ends.
func MakePlan(ctx context.Context, run *cbt.Run, opt Options) (*Result, error) {
	problems := &Problems{}
	in, err := makePlan(ctx, run, opt, true, nil, problems)
	if err != nil {
		return unread(ctx, run, problems, err)
	}
	in.close()
	return &Result{Skipped: problems.Skipped(), Notes: problems.Notes(), Plan: in.Plan}, nil
}

// Sink takes the documents of runs. Every store of a history is a Sink, and so is the writer of NDJSON.
type Sink interface {
	// Put takes any number of interval documents. It does not use them after it has returned. They need not be on disk
	// before Finish. Put fails if a document does not pass its Check.
	Put(ctx context.Context, docs []*mapping.Interval) error

	// Finish takes the document of a run after all its interval documents were put. When it returns nil, all of them
	// are stored safely. To finish the run again, put all of its documents again.
	Finish(ctx context.Context, run *mapping.Run) error
}

// Read passes the windows of one run to put, in order of time. It returns the document of the run. Nothing is stored,
// the run has no id, and it may have no absolute start. Problems with the files are in the result. The error is that of
// put or of ctx.
func Read(ctx context.Context, run *cbt.Run, opt Options, put func(*window.Window) error) (*Result, error) {
	r, done, err := begin(ctx, run, opt, false, nil)
	if r == nil {
		return done, err
	}
	defer r.close()
	if err := r.windows(ctx, put); err != nil {
		return nil, err
	}
	return r.result()
}

// batch is the number of documents that are stored at once: a few megabytes. The embedded history waits for the disk
// once for each batch.
const batch = 1000

// Ingest puts the interval documents of one run into a sink. If the result has a run document and is not Unchanged, the
// caller must finish the run with it. Then the new documents replace those that the sink has of the run. known may be
// nil. Errors are those of [Read], of known, or of the sink.
func Ingest(ctx context.Context, run *cbt.Run, opt Options, to Sink, known Known) (*Result, error) {
	r, done, err := begin(ctx, run, opt, true, known)
	if r == nil {
		return done, err
	}
	defer r.close()
	err = ahead.Push(ctx, 1, func(ctx context.Context, give func([]*mapping.Interval) error) error {
		var docs []*mapping.Interval
		err := r.windows(ctx, func(w *window.Window) (err error) {
			if docs = append(docs, r.document(w).Split()...); len(docs) >= batch {
				err, docs = give(docs), nil
			}
			return err
		})
		if err != nil || len(docs) == 0 {
			return err
		}
		return give(docs)
	}, func(docs []*mapping.Interval) error { return to.Put(ctx, docs) })
	if err != nil {
		return nil, err
	}
	return r.result()
}

// begin plans the reading of a run. If absolute is true, the run gets an id, and a start from any evidence. It returns no
// reading, but the result, if nothing of the run can be read or if known has the run.
func begin(ctx context.Context, run *cbt.Run, opt Options, absolute bool, known Known) (*reading, *Result, error) {
	problems, sources := &Problems{}, run.Files()
	before := statesOf(sources)
	p, err := makePlan(ctx, run, opt, absolute, nil, problems)
	if err != nil {
		done, err := unread(ctx, run, problems, err)
		return nil, done, err
	}
	r := newReading(p, problems)
	if absolute {
		e, done, err := identify(ctx, p, known)
		if err != nil || done != nil {
			r.close()
			return nil, done, err
		}
		r.execution, r.sources, r.before = e, sources, before
	}
	r.inOrder = problems.unordered()
	return r, nil, nil
}

// unread returns the result for a run that cannot be planned because of err, or the error of ctx or of the budget.
func unread(ctx context.Context, run *cbt.Run, problems *Problems, err error) (*Result, error) {
	if err := cmp.Or(ctx.Err(), run.Budget().Err()); err != nil {
		return nil, err
	}
	problems.skip(fmt.Errorf("%s:%s: %w", run.Archive, run.Name(), err))
	return &Result{Skipped: problems.Skipped(), Notes: problems.Notes()}, nil
}

// result returns the run's document, and what is to be said, after all windows.
func (r *reading) result() (*Result, error) {
	if err := r.budget.Err(); err != nil {
		return nil, err
	}
	r.inOrder()
	r.execution.skipChanged(r.sources, r.before, r.problems)
	r.conclude()
	doc := r.summary(r.execution.Run)
	r.execution.complete(doc)
	return &Result{Run: doc, Skipped: r.problems.Skipped(), Notes: r.problems.Notes(), Plan: r.Plan}, nil
}

// document returns the document in which a window is stored.
func (r *reading) document(w *window.Window) *mapping.Interval {
	like := &mapping.Interval{
		Run: r.execution.Run, CBT: r.cbt, Fio: mapping.FioRef{Version: r.Version()}, Hosts: r.named, Weighting: r.opt.Weighting.String(),
	}
	if w.Host != "" {
		like.Hosts.Name = []string{w.Host}
	}
	if w.Averaged {
		like.Weighting = mapping.Averaged
	}
	if len(w.Counts) == 0 {
		return w.Document(like)
	}
	have := r.bins[w.Direction]
	if have.of != &w.Counts[0] {
		have = binned{&w.Counts[0], w.Latency}
		have.made.SetBins(w.Layout, w.Counts)
		r.bins[w.Direction] = have
	}
	one := *w
	one.Latency, one.Counts = have.made, nil
	return one.Document(like)
}
