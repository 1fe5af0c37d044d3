package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/source"
)

// following is one call of follow.
type following struct {
	*ingesting
	how     followFlags
	paths   []string
	wanted  func(archive, path string) bool
	out     *followWriter
	rules   []slo.Rule           // that runs are held against
	broken  bool                 // one of them is, by a run that is over
	watched map[string]*watched  // by where it is
	told    map[string]bool      // what was said of files already
	doubts  map[string]time.Time // what is wrong with files, and since when
	changed time.Time            // when something was last seen to
	looked  time.Duration        // how long it took to find all files
	under   sync.WaitGroup       // of sessions, and of archives that they read from
}

// watched is what is known of a run between two looks.
type watched struct {
	looks   uint64    // hash of what its files are like
	since   time.Time // for how long
	stored  uint64    // what they were like when it was stored
	tried   uint64    // when it could not be followed
	session *session  // that follows it; nil without
	live    bool      // the history may have what a session left
	id      string    // in the history; "" before it was stored
	files   []string  // their names
}

// session follows one run while it goes on.
type session struct {
	stop  context.CancelFunc
	done  chan error // one, when it is over
	files []string   // names of those that the run had
	id    string     // of the run in the history; to be read when the session is over
}

// placeOf is where a run is. Which run of the history it is, only its contents say.
func (f *following) placeOf(run *cbt.Run) string { return archiveName(f.opt, run) + ":" + run.Path }

// watch goes on until ctx ends, which is no error, or nothing has changed for too long.
func (f *following) watch(ctx context.Context) error {
	sessions, stop := context.WithCancel(ctx)
	defer f.under.Wait()
	defer f.tellRest()
	defer stop()
	f.changed = time.Now()
	for {
		err := f.look(ctx, sessions)
		if ctx.Err() != nil {
			return f.interrupted()
		}
		if err != nil {
			return err
		}
		if f.how.idle > 0 && f.sessions() == 0 && time.Since(f.changed) >= f.how.idle {
			return nil
		}
		// To look through a large archive takes its time: it shall not take most of it.
		const rest = 10
		select {
		case <-time.After(max(f.how.every, rest*f.looked)):
		case <-ctx.Done():
			return f.interrupted()
		}
	}
}

// interrupted waits for the sessions, which store what they have.
func (f *following) interrupted() error {
	f.under.Wait()
	var all error
	for _, w := range f.watched {
		if w.session != nil {
			all = errors.Join(all, f.ended(w, <-w.session.done))
		}
	}
	return all
}

// mostSessions is how many runs are followed at the same time. Each holds the windows of
// some 20 seconds in memory.
const mostSessions = 64

// sessions are how many runs are followed.
func (f *following) sessions() (n int) {
	for _, w := range f.watched {
		if w.session != nil {
			n++
		}
	}
	return n
}

// mayBeLive tells by the names of its files whether a run may go on: reports grow
// meanwhile, histogram logs come when it is over.
func mayBeLive(run *cbt.Run) bool { return len(run.Reports) > 0 && len(run.Logs) == 0 }

// look sees what has changed, stores what is over, and follows what goes on.
func (f *following) look(ctx, sessions context.Context) error {
	began := time.Now()
	archive, err := pipeline.Open(ctx, f.paths, f.stdin, nil)
	if err != nil {
		return err
	}
	f.looked = time.Since(began)
	var readers sync.WaitGroup // of the archive
	defer f.under.Go(func() {
		readers.Wait()
		archive.Close()
	})
	now := time.Now()
	f.tellNew(archive.Problems, now)
	found := make(map[string]*cbt.Run)
	var over []*cbt.Run
	for _, run := range archive.Runs {
		if !f.wanted(archiveName(f.opt, run), run.Path) {
			continue
		}
		at := f.placeOf(run)
		found[at] = run
		w := f.see(at, run, now)
		if w.session != nil {
			if err := f.attend(w); err != nil {
				return err
			}
		}
		switch {
		case w.session != nil || w.stored == w.looks:
		case now.Sub(w.since) >= f.how.quiet:
			over = append(over, run)
		case w.tried != w.looks && mayBeLive(run) && f.sessions() < mostSessions:
			readers.Add(1)
			f.begin(sessions, w, run, readers.Done)
		}
	}
	if err := f.settle(ctx, over); err != nil {
		return err
	}
	return f.clear(ctx, found)
}

// see notes what a run's files are like. Those that have not been changed for some time
// when they are seen first need not be waited for.
func (f *following) see(at string, run *cbt.Run, now time.Time) *watched {
	looks, changed := xxhash.New(), time.Time{}
	for _, file := range run.Files() {
		fmt.Fprintf(looks, "%q %d %d\n", file.Path, file.Size, file.ModTime.UnixNano())
		if file.ModTime.After(changed) {
			changed = file.ModTime
		}
	}
	w := f.watched[at]
	if w == nil {
		w = &watched{looks: looks.Sum64(), since: now}
		if age := now.Sub(changed); !changed.IsZero() && age > f.how.quiet {
			w.since = changed
		}
		f.watched[at] = w
		f.changed = now
	}
	w.files = fileNames(run)
	if sum := looks.Sum64(); w.looks != sum {
		w.looks, w.since = sum, now
		f.changed = now
	}
	return w
}

// fileNames are those of a run's files.
func fileNames(run *cbt.Run) []string {
	var names []string
	for _, file := range run.Files() {
		names = append(names, file.Name())
	}
	return names
}

// begin follows a run from now on. What it is read from is released with done.
func (f *following) begin(ctx context.Context, w *watched, run *cbt.Run, done func()) {
	ctx, stop := context.WithCancel(ctx)
	s := &session{stop: stop, done: make(chan error, 1), files: w.files}
	w.session = s
	how := pipeline.Following{Quiet: f.how.quiet, Every: f.how.every}
	first := slices.Min(f.opt.Levels)
	alerts := newAlerts(f.log, f.rules)
	f.under.Go(func() {
		defer done()
		defer stop()
		res, err := pipeline.Follow(ctx, run, f.opt, how, f.to, s.known(f), func(d *mapping.Interval) error {
			if d.Level != first {
				return nil
			}
			if isNew, err := f.out.window(d); err != nil || !isNew || len(f.rules) == 0 {
				return err
			}
			return alerts.window(d)
		})
		if err == nil {
			alerts.end()
			f.tellResult(res)
		}
		s.done <- err
	})
}

// known is known for a run that is followed. It claims nothing: a session may be long.
func (s *session) known(f *following) pipeline.Known {
	return func(ctx context.Context, e *pipeline.Execution) (string, *mapping.Run, error) {
		id, have, _, err := f.ids.find(ctx, e)
		if err == nil {
			s.id = id
			f.log.Info("following " + e.Run.Archive + ":" + e.Run.Name)
		}
		return id, have, err
	}
}

// attend looks whether a session is over. It is ended where the run has other files now:
// another host's, or the logs that fio writes at the end.
func (f *following) attend(w *watched) error {
	if !slices.Equal(w.session.files, w.files) {
		w.session.stop()
	}
	return f.collect(w)
}

// collect looks whether a session is over.
func (f *following) collect(w *watched) error {
	select {
	case err := <-w.session.done:
		return f.ended(w, err)
	default:
		return nil
	}
}

// ended takes note of how a session ended. Only what concerns all runs is an error.
func (f *following) ended(w *watched, err error) error {
	id := w.session.id
	w.session, w.tried = nil, w.looks
	switch {
	case err == nil:
		w.live, w.id = true, id
		return nil
	case errors.Is(err, pipeline.ErrNotLive):
		f.log.Debug(err.Error())
	case errors.Is(err, context.Canceled):
	default:
		return err
	}
	return nil
}

// settle stores runs that are over.
func (f *following) settle(ctx context.Context, over []*cbt.Run) error {
	if len(over) == 0 {
		return nil
	}
	if err := f.all(ctx, over); err != nil {
		return err
	}
	for _, run := range over {
		w := f.watched[f.placeOf(run)]
		w.stored, w.live, w.id = w.looks, false, f.idOf[run]
	}
	for _, run := range f.runs {
		if run.Ingested.Before(f.began.Truncate(time.Millisecond)) {
			f.log.Debug("unchanged: " + query.Title(run))
		} else {
			text := fmt.Sprintf("stored %s: %s requests", query.Title(run), unit.Count(all(run).Requests))
			if a, err := answersOfTotal(all(run), ""); err == nil && !math.IsNaN(a.of("p99")) {
				text += ", p99 " + a.text("p99")
			}
			f.log.Info(text)
		}
		if err := f.judge(ctx, run.Run.ID); err != nil {
			return err
		}
	}
	f.runs = nil
	f.changed = time.Now()
	return nil
}

// judge holds a run that is over against the rules.
func (f *following) judge(ctx context.Context, id string) error {
	if len(f.rules) == 0 {
		return nil
	}
	run, err := query.Lookup(ctx, f.store, id)
	if err != nil {
		return err
	}
	j := &judge{reading: &reading{app: f.app}, query: &query.Query{}, rules: f.rules, writer: newSLAWriter(io.Discard, "csv")}
	err = j.judge(ctx, run)
	f.broken, f.leftOut = f.broken || j.isBroken, f.leftOut || j.leftOut
	return err
}

// clear looks after runs that are not found any more. Where their files are part of others
// now, since the logs that came at the end have another name, what was stored of them goes
// once these are stored, unless it became one of them: requests would count twice. Where
// the files are gone it stays.
func (f *following) clear(ctx context.Context, found map[string]*cbt.Run) error {
	for at, w := range f.watched {
		if found[at] != nil {
			continue
		}
		if w.session != nil {
			w.session.stop()
			if err := f.collect(w); err != nil || w.session != nil {
				return err
			}
		}
		heir := heirOf(w.files, found)
		if heir != nil && !f.isStored(heir) {
			continue
		}
		delete(f.watched, at)
		if heir == nil || w.id == "" {
			continue
		}
		if id := f.watched[f.placeOf(heir)].id; id == "" || id == w.id {
			continue
		}
		run, err := inStore(ctx, f.store, w.id)
		if err != nil {
			return err
		}
		if run == nil {
			continue
		}
		if err := f.store.Delete(ctx, w.id); err != nil {
			return err
		}
		f.log.Info("note: " + query.Title(run) + " is part of " + archiveName(f.opt, heir) + ":" + heir.Name() + " now: removed")
	}
	return nil
}

// isStored reports whether a run is in the history as it is.
func (f *following) isStored(run *cbt.Run) bool {
	w := f.watched[f.placeOf(run)]
	return w != nil && w.stored == w.looks
}

// heirOf is the run that has one of some files.
func heirOf(files []string, found map[string]*cbt.Run) *cbt.Run {
	for _, run := range found {
		if slices.ContainsFunc(fileNames(run), func(name string) bool { return slices.Contains(files, name) }) {
			return run
		}
	}
	return nil
}

// tellNew says what could not be looked into, once. A file that is being written may be
// half of itself: what is wrong with it is said when it has been wrong for --quiet.
func (f *following) tellNew(problems []*source.Problem, now time.Time) {
	seen := make(map[string]time.Time, len(problems))
	for _, p := range problems {
		if errors.Is(p, fs.ErrNotExist) { // renamed or removed since its folder was listed
			continue
		}
		text := p.Error()
		since, known := f.doubts[text]
		if !known {
			since = now
		}
		seen[text] = since
		if now.Sub(since) >= f.how.quiet {
			f.tellOnce(text)
			f.leftOut = true
		}
	}
	f.doubts = seen
}

// tellRest says what is still wrong at the end.
func (f *following) tellRest() {
	for _, text := range slices.Sorted(maps.Keys(f.doubts)) {
		f.tellOnce(text)
		f.leftOut = true
	}
}

func (f *following) tellOnce(text string) {
	if !f.told[text] {
		f.told[text] = true
		f.log.Warn(text)
	}
}
