package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Result is the result of reading one run.
type Result struct {
	Run *mapping.Run
	// Skipped is what is missing in it, Notes what else the user should know.
	Skipped, Notes []error
	// Unchanged means that Run is what the store has, and nothing was stored.
	Unchanged bool
	// Why explains for each job what it was read from, when it ran, and by which evidence.
	Why []string
}

// Log logs what there is to say of the run: as warnings what was skipped.
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

// Read makes the interval documents of one run in order of time, passes each to put, and
// returns the run's document. Nothing is stored, the run has no id, and it need not have an
// absolute start. Problems with the run's files are in the result. An error is put's or ctx's.
func Read(ctx context.Context, run *cbt.Run, opt Options, put func(*mapping.Interval) error) (*Result, error) {
	return read(ctx, run, opt, false, nil, put)
}

// batch is how many documents are stored at once: a few megabytes. The embedded history waits
// for the disk once a batch.
const batch = 1000

// windowsAhead is how many windows may wait for their documents while rows are read. Each
// takes some 20 KB.
const windowsAhead = 64

// Ingest puts the interval documents of one run into a sink. The caller finishes the run there with
// the result's document, if there is one and it is not unchanged: then the new documents replace what
// the sink has of the run. known may be nil. Errors are as for [Read], or known's or the sink's.
func Ingest(ctx context.Context, run *cbt.Run, opt Options, to Sink, known Known) (*Result, error) {
	b := &batches{to: to}
	result, err := read(ctx, run, opt, true, known, func(d *mapping.Interval) error { return b.put(ctx, d) })
	if err == nil {
		err = b.flush(ctx)
	}
	return result, err
}

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

// finish stores what is left, and the run's document.
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
	p, err := makePlan(ctx, run, opt, absolute, nil, problems)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		problems.skip(fmt.Errorf("%s:%s: %w", run.Archive, run.Name(), err))
		return &Result{Skipped: problems.Skipped(), Notes: problems.Notes()}, nil
	}
	defer p.close()
	e := &Execution{Run: p.reference("")}
	if absolute {
		var done *Result
		if e, done, err = p.identify(ctx, known); err != nil || done != nil {
			return done, err
		}
	}
	t := newTallies(p, problems)
	end := problems.unordered()
	if err := p.intervals(ctx, t, e.Run, put); err != nil {
		return nil, err
	}
	end()
	p.conclude(t)
	doc := p.summary(e.Run, t)
	doc.Source = e.Source
	return &Result{Run: doc, Skipped: problems.Skipped(), Notes: problems.Notes(), Why: p.describe().why()}, nil
}

// intervals makes the documents of all windows and counts them.
func (p *plan) intervals(ctx context.Context, t *tallies, ref mapping.RunRef, put func(*mapping.Interval) error) error {
	rates, err := p.readBandwidth(ctx, t)
	if err != nil {
		return err
	}
	count := func(d *mapping.Interval) error {
		t.made.Add(d.Level, 1)
		return put(d)
	}
	version := p.version()
	windows := p.windows(ctx, t)
	if !t.live { // put may read the tallies
		windows = readAhead(windowsAhead, windows)
	}
	for w, err := range windows {
		if err != nil {
			return err
		}
		if err := count(p.document(w, ref, version, rates)); err != nil {
			return err
		}
	}
	if len(p.averages) == 0 {
		return nil
	}
	a, err := p.readAverages(ctx, p.averages, t)
	if err != nil {
		return err
	}
	return a.documents(ref, version, count)
}

// conclude adds warnings and notes about the whole run.
func (p *plan) conclude(t *tallies) {
	skip, note := t.problems.skip, t.problems.note
	for _, doubt := range p.run.Doubts {
		note("%s: %s", p.title, doubt)
	}
	if missing := p.run.MissingHosts(); len(missing) > 0 {
		note("%s: no files of %s, which the configuration names; add them if these hosts took part",
			p.title, strings.Join(missing, ", "))
	}
	if unread := p.unreadHosts(); len(unread) > 0 {
		note("%s: neither a log nor a report that can be used of %s; copy its files again",
			p.title, strings.Join(unread, ", "))
	}
	p.concludeLogs(t)
	p.concludeReports(t)
	for d := range fiolog.Direction(fiolog.Directions) {
		if n := t.missing[d].Load(); n > 0 {
			note("%s: %d %s requests are in fio's total and in no window", p.title, n, d)
		}
	}
	if p.placed != "" {
		note("%s: %s", p.title, p.placed)
	}
	if text := mixedGroups(p.layouts()); text != "" {
		note("%s: %s", p.title, text)
	}
	if t.stats.Late >= 0.5 {
		skip(fmt.Errorf("%s: %.0f requests are in rows so late, or took so long, that they count in a later window",
			p.title, t.stats.Late))
	}
}

// concludeLogs reports jobs without a log or report.
func (p *plan) concludeLogs(t *tallies) {
	rows, without := 0, 0
	for _, j := range p.jobs {
		if j.hasRows {
			rows++
		}
		if j.entry == nil && len(p.averages) == 0 {
			without++
		}
	}
	if rows == 0 && t.recovered.total() == 0 {
		t.problems.note("%s: only totals: %s", p.title, p.whyNoWindows())
	}
	for _, e := range p.entries {
		if len(p.averages) == 0 {
			p.concludeEntry(e, t, rows > 0)
		}
	}
	if without == 0 {
		return
	}
	text := fmt.Sprintf("%s: no JSON report for %d of %d logs, so the last part of an interval of each job is "+
		"missing: pass the folder, or run fio with --output-format=json+", p.title, without, len(p.jobs))
	if p.run.Iteration >= 0 || len(p.outputs) > 0 { // CBT writes one always, and others were there
		t.problems.skip(fmt.Errorf("%s", text))
	} else {
		t.problems.note("%s", text)
	}
}

// concludeEntry reports missing logs of an entry if its options ask for them or other jobs
// have them.
func (p *plan) concludeEntry(e *entry, t *tallies, others bool) {
	served := requestsOf(t.report(e))
	logs := 0
	for _, j := range e.jobs {
		if j.source != fromNothing {
			logs++
		}
	}
	wanted := e.hasOption("write_hist_log")
	switch {
	case served == 0 || e.jobs[0].source == fromReports:
	case logs == 0 && wanted && !((p.opt.Alone || p.run.IsLoose()) && len(p.run.Logs) == 0): // a report named by itself
		t.problems.skip(fmt.Errorf("%s served %d requests, but its log is not there or cannot be read: they count "+
			"in the run's totals, and in no window; add the log, or copy it again", e.describe(), served))
	case logs == 0 && others:
		t.problems.note("%s has no histogram log: its %d requests count in the run's totals, and in no window; "+
			"give its section --write_hist_log, too", e.describe(), served)
	case logs > 0 && logs < e.size:
		t.problems.skip(fmt.Errorf("%s stands for %d jobs, and only %d logs of them are there; add the others",
			e.describe(), e.size, logs))
	}
}

// concludeReports reports requests without a latency.
func (p *plan) concludeReports(t *tallies) {
	binless := false
	for _, e := range p.entries {
		for _, s := range t.report(e).All() {
			if n, err := e.failed(s); err == nil && n > 0 {
				t.problems.note("%s: %d requests failed, or fio did not measure them: they have no latency",
					e.describe(), n)
			}
			switch {
			case s.TotalIOs == 0 || len(s.Clat.Bins) > 0:
			case s.Clat.Mean == 0:
				t.problems.note("%s: completion latencies are disabled (disable_clat, disable_lat or "+
					"gtod_reduce): only requests and rates are known", e.describe())
			case e.option("clat_percentiles") == "0":
				t.problems.note("%s: clat_percentiles=0 leaves the bins out of the report and the rows out of the "+
					"logs: run fio without it", e.describe())
			default:
				binless = true
			}
		}
	}
	if binless && p.hasLogs() {
		t.problems.note("%s: fio's JSON has no bins, so the last part of an interval of each job is missing: run "+
			"fio with --output-format=json+", p.title)
	}
}

func (p *plan) hasLogs() bool {
	for _, j := range p.jobs {
		if j.source == fromHist {
			return true
		}
	}
	return false
}

// unreadHosts are the hosts none of whose files could be read.
func (p *plan) unreadHosts() (unread []string) {
	read := map[string]bool{}
	for _, j := range p.jobs {
		read[j.host] = true
	}
	for _, out := range p.outputs {
		read[out.Host] = true
	}
	for _, host := range p.run.HostNames() {
		if !read[host] {
			unread = append(unread, host)
		}
	}
	return unread
}
