package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Read makes the interval documents of one run, in order of time, gives each to put,
// and returns what there is to say of the run. Nothing is stored, and the run need not
// have an absolute start. Damage to the run's files is in the result; an error is put's,
// or ctx's.
func Read(ctx context.Context, run *cbt.Run, opt Options, put func(*mapping.Interval) error) (*Result, error) {
	r := &reader{opt: &opt, run: run}
	defer r.close()
	return r.read(ctx, put)
}

// batch is how many documents are stored at once: some megabytes. The embedded history
// waits for the disk once for each.
const batch = 1000

// windowsAhead is how many windows may wait to be made into documents: rows are read
// meanwhile. Each takes some 20 KB.
const windowsAhead = 64

// Known looks up what a store has of a run, before anything is stored. With a run it
// says that the store has this very version, and nothing is to be done. An error stops
// the ingest of this run.
type Known func(ctx context.Context, run mapping.RunRef) (*mapping.Run, error)

// Ingest stores one run's documents. What the sink has of the run already is replaced
// when all new documents are stored. known may be nil. Errors are as for [Read], or
// known's or the sink's.
func Ingest(ctx context.Context, run *cbt.Run, opt Options, to Sink, known Known) (*Result, error) {
	r := &reader{opt: &opt, run: run, absolute: true, known: known}
	defer r.close()
	var docs []*mapping.Interval
	result, err := r.read(ctx, func(d *mapping.Interval) error {
		docs = append(docs, d.Split()...)
		if len(docs) < batch {
			return nil
		}
		err := to.Put(ctx, docs)
		docs = docs[:0]
		return err
	})
	if err != nil || result.Run == nil || result.Unchanged {
		return result, err
	}
	if len(docs) > 0 {
		if err := to.Put(ctx, docs); err != nil {
			return result, err
		}
	}
	return result, to.Finish(ctx, result.Run)
}

// read is what Read and Ingest share.
func (r *reader) read(ctx context.Context, put func(*mapping.Interval) error) (*Result, error) {
	if err := r.prepare(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r.problems.lose(fmt.Errorf("%s: %w", r.title(), err))
		return &Result{Lost: r.problems.Lost(), Notes: r.problems.Notes()}, nil
	}
	var src mapping.Source
	ingest := ""
	if r.absolute {
		var err error
		if src, ingest, err = r.fingerprint(ctx); err != nil {
			return nil, err
		}
	}
	ref, version := r.reference(ingest), r.version()
	if r.known != nil {
		have, err := r.known(ctx, ref)
		if err != nil {
			return nil, err
		}
		if have != nil {
			return &Result{Run: have, Unchanged: true}, nil
		}
	}
	var made mapping.Documents
	if err := r.readBandwidth(ctx); err != nil {
		return nil, err
	}
	first := align.Level(r.opt.levels()[0] - mapping.Cluster)
	for w, err := range readAhead(windowsAhead, r.windows(ctx)) {
		if err != nil {
			return nil, err
		}
		if w.Key.Level == first {
			r.windowed[w.Key.Direction].Merge(w.Latencies)
		}
		d := r.document(w, ref, version)
		made.Add(d.Level, 1)
		if err := put(d); err != nil {
			return nil, err
		}
	}
	if len(r.averages) > 0 {
		a, err := r.readAverages(ctx, r.averages)
		if err != nil {
			return nil, err
		}
		err = a.documents(ref, version, func(d *mapping.Interval) error {
			made.Add(d.Level, 1)
			return put(d)
		})
		if err != nil {
			return nil, err
		}
	}
	r.conclude()
	run := r.summary(ref, made)
	run.Source = src
	return &Result{Run: run, Lost: r.problems.Lost(), Notes: r.problems.Notes()}, nil
}

// conclude says what the numbers do not.
func (r *reader) conclude() {
	switch {
	case len(r.averages) > 0:
		r.problems.note("%s: its logs are averages (log_avg_msec): rate, bandwidth and mean latency over time, but no percentiles", r.title())
	case !r.logged:
		r.problems.note("%s: no histogram logs and no logs of single completions: nothing over time, only totals", r.title())
	}
	for _, doubt := range r.run.Doubts {
		r.problems.note("%s: %s", r.title(), doubt)
	}
	if missing := r.run.MissingHosts(); len(missing) > 0 {
		r.problems.note("%s: no files of %s, which the configuration names", r.title(), strings.Join(missing, ", "))
	}
	if unread := r.unreadHosts(); len(unread) > 0 {
		r.problems.note("%s: neither a log nor a report that can be used of %s", r.title(), strings.Join(unread, ", "))
	}
	without := 0
	for _, j := range r.jobs {
		if j.entry == nil && len(r.averages) == 0 {
			without++
		}
	}
	if without > 0 {
		text := fmt.Sprintf("%s: no JSON output of fio for %d of %d logs: what they do not have of their ends stays unknown", r.title(), without, len(r.jobs))
		if r.run.Iteration >= 0 || len(r.outputs) > 0 { // CBT writes one always, and others were there
			r.problems.lose(errors.New(text))
		} else {
			r.problems.note("%s", text)
		}
	}
	if r.binless.Load() {
		r.problems.note("%s: fio's JSON has no bins, so the ends that fio does not log are lost: use --output-format=json+", r.title())
	}
	for d := range fiolog.Direction(fiolog.Directions) {
		if n := r.missing[d].Load(); n > 0 {
			r.problems.note("%s: %d %s requests are in fio's total but in no row of a log that can be used", r.title(), n, d)
		}
	}
	if r.stats.Late >= 0.5 {
		r.problems.note("%s: %.0f requests are in rows so late, or took so long, that they count in a later window", r.title(), r.stats.Late)
	}
	if text := mixedGroups(r.layouts()); text != "" {
		r.problems.note("%s: %s", r.title(), text)
	}
}

// unreadHosts are those that have files of which none could be read.
func (r *reader) unreadHosts() []string {
	read := map[string]bool{}
	for _, j := range r.jobs {
		read[j.log.Host] = true
	}
	for _, e := range r.entries {
		read[e.out.Host] = true
	}
	return slices.DeleteFunc(r.run.HostNames(), func(host string) bool { return read[host] })
}
