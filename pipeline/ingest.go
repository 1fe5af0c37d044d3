package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"

	"github.com/fio2es/fio2es/internal/ahead"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/source"
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
	// Why has a line for each job with its source of rows, its time, and the evidence.
	Why []string
}

// Log logs what was skipped as warnings, and the notes.
func (r *Result) Log(log *slog.Logger) {
	for _, err := range r.Skipped {
		log.Warn(err.Error())
	}
	for _, err := range r.Notes {
		log.Info("note: " + err.Error())
	}
	for _, text := range r.Why {
		log.Debug(text)
	}
}

// Read makes the interval documents of one run in order of time and passes each to put. It returns the document of the
// run. Nothing is stored, the run has no id, and it may have no absolute start. Problems with the files are in the
// result. The error is that of put or of ctx.
func Read(ctx context.Context, run *cbt.Run, opt Options, put func(*mapping.Interval) error) (*Result, error) {
	return read(ctx, run, opt, false, nil, put)
}

// batch is the number of documents that are stored at once: a few megabytes. The embedded history waits for the disk
// once for each batch.
const batch = 1000

// windowsAhead is how many windows may wait for their documents while rows are read. Each takes about 20 KB. With two
// processors this saves a fifth of the time.
const windowsAhead = 64

// Ingest puts the interval documents of one run into a sink. If the result has a run document and is not Unchanged, the
// caller must finish the run with it. Then the new documents replace those that the sink has of the run. known may be
// nil. Errors are those of [Read], of known, or of the sink.
func Ingest(ctx context.Context, run *cbt.Run, opt Options, to Sink, known Known) (*Result, error) {
	var result *Result // set when all documents were made
	batches := func(ctx context.Context) iter.Seq2[[]*mapping.Interval, error] {
		return func(yield func([]*mapping.Interval, error) bool) {
			var docs []*mapping.Interval
			done, err := read(ctx, run, opt, true, known, func(d *mapping.Interval) error {
				if docs = append(docs, d.Split()...); len(docs) < batch {
					return nil
				}
				full := docs
				docs = nil
				if !yield(full, nil) {
					return errEnded
				}
				return nil
			})
			result = done
			if !errors.Is(err, errEnded) {
				yield(docs, err)
			}
		}
	}
	for docs, err := range ahead.Read(ctx, 1, batches) {
		if err == nil && len(docs) > 0 {
			err = to.Put(ctx, docs)
		}
		if err != nil {
			return nil, err
		}
	}
	return result, nil
}

// errEnded ends the reading of a run because storing its documents has failed.
var errEnded = errors.New("storing has failed")

// batches stores documents many at a time.
type batches struct {
	to   Sink
	docs []*mapping.Interval // not stored yet
}

func (b *batches) put(ctx context.Context, d *mapping.Interval) error {
	if b.docs = append(b.docs, d.Split()...); len(b.docs) < batch {
		return nil
	}
	return b.flush(ctx)
}

func (b *batches) flush(ctx context.Context) error {
	if len(b.docs) == 0 {
		return nil
	}
	err := b.to.Put(ctx, b.docs)
	b.docs = b.docs[:0]
	return err
}

// finish stores the remaining documents, and then the run document.
func (b *batches) finish(ctx context.Context, run *mapping.Run) error {
	if err := b.flush(ctx); err != nil {
		return err
	}
	return b.to.Finish(ctx, run)
}

// read does the work of Read and Ingest: a plan, then windows, documents and the summary.
func read(
	ctx context.Context, run *cbt.Run, opt Options, absolute bool, known Known, put func(*mapping.Interval) error,
) (*Result, error) {
	problems := &Problems{}
	files := run.Files()
	before := statesOf(files)
	p, err := makePlan(ctx, run, opt, absolute, nil, problems)
	if err != nil {
		if err := cmp.Or(ctx.Err(), run.Budget().Err()); err != nil {
			return nil, err
		}
		problems.skip(fmt.Errorf("%s:%s: %w", run.Archive, run.Name(), err))
		return &Result{Skipped: problems.Skipped(), Notes: problems.Notes()}, nil
	}
	r := newReading(p, problems)
	defer r.close()
	if err := run.Budget().Err(); err != nil {
		return nil, err
	}
	e := &Execution{Run: p.reference()}
	if absolute {
		var done *Result
		if e, done, err = identify(ctx, p, known); err != nil || done != nil {
			return done, err
		}
	}
	end := problems.unordered()
	if err := r.intervals(ctx, e.Run, put); err != nil {
		return nil, err
	}
	if err := r.budget().Err(); err != nil {
		return nil, err
	}
	end()
	if absolute {
		e.skipChanged(files, before, problems)
	}
	r.conclude()
	doc := r.summary(e.Run)
	e.complete(doc)
	return &Result{Run: doc, Skipped: problems.Skipped(), Notes: problems.Notes(), Why: p.describe().why()}, nil
}

// Prices of what is made from rows, for [source.Budget]: a document, which takes as long as parsing that many bytes, and a
// bin in a window.
const (
	priceOfDocument = 1 << 10
	priceOfBin      = 8
)

// budget returns what the work on the run is charged to: nothing while fio writes, because the files that the scan found grow.
func (r *reading) budget() *source.Budget {
	if r.live {
		return nil
	}
	return r.Run.Budget()
}

// intervals makes the documents of all windows and counts them.
func (r *reading) intervals(ctx context.Context, ref mapping.RunRef, put func(*mapping.Interval) error) error {
	docs := r.documents(ref)
	if err := r.setBandwidth(ctx, docs); err != nil {
		return err
	}
	budget := r.budget()
	give := func(d *mapping.Interval) error {
		if err := budget.Spend(priceOfDocument * (1 + d.Requests.Completed/mapping.MaxCount)); err != nil {
			return err
		}
		r.made.Add(d.Level, 1)
		return put(d)
	}
	n := windowsAhead
	if r.live { // put may use the tallies
		n = 0
	}
	for w, err := range ahead.Read(ctx, n, r.windows) {
		if err != nil {
			return err
		}
		if err := give(docs.ofWindow(w)); err != nil {
			return err
		}
	}
	if len(r.Averages) == 0 {
		return nil
	}
	averages, err := r.readAverages(ctx, r.Averages)
	if err != nil {
		return err
	}
	for _, k := range slices.SortedFunc(maps.Keys(averages), averageKey.compare) {
		doc := docs.ofAverage(k, averages[k], r.end())
		if doc == nil {
			continue
		}
		if err := give(doc); err != nil {
			return err
		}
	}
	return nil
}
