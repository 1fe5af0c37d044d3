package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/internal/alert"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/assign"
)

// Options says what is followed, and how.
type Options struct {
	Ingest ingest.Options
	Paths  []string
	Host   string                          // host of files that do not name one
	Wanted func(archive, path string) bool // reports whether a run is followed
	Rules  []slo.Rule                      // rules for live runs and for runs that are over
	Alerts *alert.Sender                   // where alerts about live runs go, besides the log; it may be nil
	Shared *Shared                         // the run that all fios are parts of; nil: each is a run of its own

	Every time.Duration // time between two looks, and between two updates of a live run's document
	Quiet time.Duration // a run is over when its files have not changed for this time
	Idle  time.Duration // Follow ends when nothing has changed for this time; 0: it does not end

	EndsFio bool // when ctx ends, fio has ended, so that alerts are resolved

	// Window is called with each window of the highest level of live runs; calls do not overlap. Each window comes
	// once, even if a file is renamed or emptied and then read again from its start.
	Window func(*window.Window) error

	// Stored is called after runs that are over were stored. It returns whether something was left out. It may be
	// nil.
	Stored func(ctx context.Context) (leftOut bool)
}

// Result says what happened to the runs.
type Result struct {
	Broken  bool // a run that is over broke a rule; a message says which
	LeftOut bool // something was skipped; a message says what
}

// Follow stores what is under the paths and what is added to them, until nothing has changed for Options.Idle or ctx
// ends. The end of ctx is no error: what was read of live runs is stored.
func Follow(ctx context.Context, to ingest.Target, opt Options) (Result, error) {
	log := opt.Ingest.Log
	f := &follower{
		Options: opt, to: to, watched: map[string]*watched{},
		problems: problems{log: log, quiet: opt.Quiet, reported: map[string]bool{}},
	}
	f.windows = newWindows(log, func(w *window.Window) error { return opt.Window(f.shown(w)) })
	err := f.watch(ctx)
	f.LeftOut = f.LeftOut || f.problems.reportRest()
	return f.Result, err
}

type follower struct {
	Options
	Result
	to       ingest.Target
	watched  map[string]*watched // by place
	live     int                 // number of runs with a session
	problems problems
	windows  *windows
	changed  time.Time      // time of the last change
	looked   time.Duration  // how long finding all files took
	reading  sync.WaitGroup // sessions, and the archives that they read
}

// placeOf returns the archive and path of a run. Which run of the history it is depends on its contents.
func (f *follower) placeOf(run *assign.Run) string {
	return f.Ingest.Pipeline.ArchiveOf(run) + ":" + run.Path
}

// watch looks until there is a reason to end. When ctx ends, it waits for the sessions, which store what they have
// read.
func (f *follower) watch(ctx context.Context) error {
	sessions, stop := context.WithCancel(ctx)
	defer f.reading.Wait()
	defer stop()
	f.changed = time.Now()
	for ctx.Err() == nil {
		if err := f.look(ctx, sessions); err != nil && ctx.Err() == nil {
			return err
		}
		if f.Idle > 0 && f.live == 0 && time.Since(f.changed) >= f.Idle {
			return nil
		}
		const rest = 10 // a look through a large archive takes long, so pause ten times as long
		select {
		case <-time.After(max(f.Every, rest*f.looked)):
		case <-ctx.Done():
		}
	}
	f.reading.Wait()
	var all error
	for _, w := range f.watched {
		all = errors.Join(all, f.collect(w))
	}
	return all
}

// look finds what has changed, stores runs that are over, and begins to follow live ones.
func (f *follower) look(ctx, sessions context.Context) error {
	began := time.Now()
	archive, err := pipeline.Open(ctx, f.Paths, nil, nil)
	if err != nil {
		return err
	}
	f.looked = time.Since(began)
	archive.SetHost(f.Host)
	var readers sync.WaitGroup // sessions that read the archive
	defer f.reading.Go(func() {
		readers.Wait()
		archive.Close()
	})
	now := time.Now()
	if f.problems.report(archive.Problems, now) {
		f.LeftOut = true
	}
	found := map[string]*assign.Run{}
	var over []*assign.Run
	for _, run := range archive.Runs {
		if !f.Wanted(f.Ingest.Pipeline.ArchiveOf(run), run.Path) {
			continue
		}
		place := f.placeOf(run)
		found[place] = run
		w := f.see(place, run, now)
		if w.session != nil && !slices.Equal(w.session.reports, reportsOf(run)) { // those of another host were added
			w.session.stop()
		}
		if err := f.collect(w); err != nil {
			return err
		}
		// Reports grow while fio runs. A histogram log is written when its job ends, and other stages may follow.
		mayBeLive := len(run.Reports) > 0 && (len(run.Logs) == 0 || w.grows)
		switch {
		case w.session != nil || w.stored == w.listing:
		case now.Sub(w.since) >= f.Quiet:
			over = append(over, run)
		case w.tried != w.listing && mayBeLive && f.live < mostSessions:
			readers.Add(1)
			f.begin(sessions, w, run, readers.Done)
		}
	}
	if err := f.store(ctx, over); err != nil {
		return err
	}
	return f.clear(ctx, found)
}

// store stores runs that are over.
func (f *follower) store(ctx context.Context, over []*assign.Run) error {
	if f.Shared != nil {
		return f.end(ctx, over)
	}
	if len(over) == 0 {
		return nil
	}
	result, err := ingest.Runs(ctx, f.to, over, f.Ingest)
	f.LeftOut = f.LeftOut || result.LeftOut
	if err != nil {
		return err
	}
	for _, run := range over {
		w := f.watched[f.placeOf(run)]
		w.stored, w.ids = w.listing, nil
	}
	for _, s := range result.Stored {
		w := f.watched[f.placeOf(s.Files)]
		w.ids = append(w.ids, s.Run.Run.ID)
		if s.Unchanged {
			f.Ingest.Log.Debug("unchanged: " + facts.Title(s.Run))
			continue
		}
		all := cmp.Or(s.Run.All, &mapping.Totals{})
		text := "stored " + facts.Title(s.Run) + ": " + unit.Count(all.Requests) + " requests"
		if a := facts.LatenciesOfTotals(all); !math.IsNaN(a.Value("p99")) {
			text += ", p99 " + a.Text("p99")
		}
		f.Ingest.Log.Info(text)
	}
	for _, run := range result.Runs() {
		broken, unknown, _, err := Check(ctx, f.to.Store, run.Run.ID, f.Rules, f.Ingest.Log, f.Ingest.Log)
		if err != nil {
			return err
		}
		f.Broken, f.LeftOut = f.Broken || broken, f.LeftOut || unknown
	}
	if f.Stored != nil && f.Stored(ctx) {
		f.LeftOut = true
	}
	f.changed = time.Now()
	return nil
}

// end sends the rest of fios that are over, as parts of a run, and finishes the run when all of its parts are over.
func (f *follower) end(ctx context.Context, over []*assign.Run) error {
	for _, run := range over {
		w := f.watched[f.placeOf(run)]
		isSent, err := f.Shared.isSent(ctx, run)
		if err == nil && !isSent {
			_, err = f.Shared.End(ctx, run, 0)
			f.changed = time.Now()
		}
		if err != nil && !isReplaced(err) {
			return err
		}
		w.stored = w.listing
	}
	if f.live > 0 { // so the run is not over, and the history, which may be away, is not asked
		return nil
	}
	finished, err := shared.FinishDue(ctx, f.to.Store, f.to.Sink, f.Shared.Member.Name)
	for _, run := range finished {
		f.Ingest.Log.Info("stored " + facts.Title(run) + ": all its hosts have ended")
		f.changed = time.Now()
	}
	return err
}

// watched is what is known of a run between two looks.
type watched struct {
	listing uint64    // hash of the names, sizes and times of its files
	since   time.Time // since when listing is the same
	grows   bool      // listing has changed since it was first seen
	stored  uint64    // listing when the run was stored
	tried   uint64    // listing when following the run failed
	session *session  // nil if the run is not followed
	ids     []string  // of its stages in the history; none before they are stored
	files   []string  // names of its logs and reports
}

// see records the state of a run's files. If they have been quiet for long enough when they are first seen, the run
// counts as over at once.
func (f *follower) see(place string, run *assign.Run, now time.Time) *watched {
	listing, changed := xxhash.New(), time.Time{}
	for _, file := range run.Files() {
		fmt.Fprintf(listing, "%q %d %d\n", file.Path, file.Size, file.ModTime.UnixNano())
		if file.ModTime.After(changed) {
			changed = file.ModTime
		}
	}
	sum := listing.Sum64()
	w := f.watched[place]
	switch {
	case w == nil:
		w = &watched{listing: sum, since: now}
		if age := now.Sub(changed); !changed.IsZero() && age > f.Quiet {
			w.since = changed
		}
		f.watched[place] = w
		f.changed = now
	case w.listing != sum:
		w.listing, w.since, w.grows = sum, now, true
		f.changed = now
	}
	w.files = namesOf(run)
	return w
}

// namesOf returns the names of a run's logs and reports. The configuration is not among them, because several runs
// share it.
func namesOf(run *assign.Run) (names []string) {
	for _, l := range slices.Concat(run.Logs, run.Others) {
		names = append(names, l.File.Name())
	}
	return append(names, reportsOf(run)...)
}

func reportsOf(run *assign.Run) (names []string) {
	for _, r := range run.Reports {
		names = append(names, r.File.Name())
	}
	return names
}

// clear forgets runs that are no longer found. The files of such a run may now be parts of other runs, because the
// logs at the end had another name. If all are, the run is removed from the history when the others are stored:
// otherwise its requests would count twice. If some of its files are gone, the run stays in the history.
func (f *follower) clear(ctx context.Context, found map[string]*assign.Run) error {
	for place, w := range f.watched {
		if found[place] != nil {
			continue
		}
		if w.session != nil {
			w.session.stop()
			if err := f.collect(w); err != nil {
				return err
			}
			if w.session != nil {
				continue
			}
		}
		others := successors(w.files, found)
		waits := func(place string) bool { return f.watched[place].stored != f.watched[place].listing }
		if slices.ContainsFunc(others, waits) {
			continue
		}
		delete(f.watched, place)
		if len(others) == 0 || slices.ContainsFunc(others, func(place string) bool { return len(f.watched[place].ids) == 0 }) {
			continue
		}
		for _, id := range w.ids {
			if slices.ContainsFunc(others, func(place string) bool { return slices.Contains(f.watched[place].ids, id) }) {
				continue
			}
			run, err := f.to.Store.Run(ctx, id)
			if errors.Is(err, history.ErrNotFound) || errors.Is(err, history.ErrNoIndex) {
				continue
			}
			if err == nil {
				err = f.to.Store.Delete(ctx, id)
			}
			if err != nil {
				return err
			}
			f.Ingest.Log.Info("note: " + facts.Title(run) + " is part of " + others[0] + " now: removed")
		}
	}
	return nil
}

// successors returns the places of the runs that together have all these files. It returns none if a file is
// missing.
func successors(files []string, found map[string]*assign.Run) (places []string) {
	left := slices.Clone(files)
	for _, place := range slices.Sorted(maps.Keys(found)) {
		names := namesOf(found[place])
		if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(files, name) }) {
			places = append(places, place)
			left = slices.DeleteFunc(left, func(name string) bool { return slices.Contains(names, name) })
		}
	}
	if len(left) > 0 {
		return nil
	}
	return places
}

// shown returns a window as people see it.
func (f *follower) shown(w *window.Window) *window.Window {
	if f.Ingest.Pipeline.Align == pipeline.AlignJob {
		return w.WithoutClock()
	}
	return w
}

// Check checks a run that is over against rules. It logs the rules that are broken or cannot be checked to verdicts, and other doubts to
// log. The conclusion is that of [slo.Conclusion].
func Check(ctx context.Context, store history.Store, id string, rules []slo.Rule, log, verdicts *slog.Logger) (broken, unknown bool, conclusion string, err error) {
	if len(rules) == 0 {
		return false, false, "", nil
	}
	run, err := store.Run(ctx, id)
	if err != nil {
		return false, false, "", err
	}
	of := query.Stored(store, run)
	j, err := query.Judge(ctx, of, &query.Query{}, rules)
	if err != nil {
		return false, false, "", fmt.Errorf("check %s against the rules: %w", facts.Title(run), err)
	}
	for _, text := range of.Warnings {
		log.Warn(text)
	}
	broken, unknown = slo.Log(verdicts, &run.Run, j.Verdicts)
	return broken, unknown || len(of.Warnings) > 0, slo.Conclusion(j.Verdicts, run.Run.Start), nil
}
