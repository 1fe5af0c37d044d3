package nightly

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Options says what is ingested, and where the state is.
type Options struct {
	Folder   string // folder of the states; empty: nothing is remembered
	History  string // a unique name of the history
	Settings string // what documents depend on besides the files: options, and the build of the program
	Paths    []string
	Choice   string // which runs under the paths are ingested
	Restore  bool   // also store runs that people removed
	Log      *slog.Logger

	// Store returns the history for reading, or nil if there is none yet. It is called only when needed.
	Store func(context.Context) (history.Store, error)
}

// Night is one ingest, with the state that earlier ingests left.
type Night struct {
	Options
	damages
	file  string // path of the state; empty: nothing is remembered
	now   time.Time
	files *listing // nil: nothing is remembered

	keys  map[*cbt.Run]string
	there map[string]bool // by key: whether the history still has what the state says

	runs    map[string]*entry    // by key; nil for runs that must not be remembered
	skipped map[*cbt.Run][]error // errors of runs that were read
	removed int                  // number of runs that were not read because people removed them
	left    []damage             // damages that belong to no run
	passing bool                 // the cause of one of them may pass, for example a full disk

	// Wrong are the runs that seemed unchanged, but had another result when they were read.
	Wrong []string
}

// texts returns the errors of a run as texts.
func (n *Night) texts(run *cbt.Run) (texts []string) {
	for _, err := range n.skipped[run] {
		texts = append(texts, err.Error())
	}
	return texts
}

// Begin lists the files under the paths and reads the state. now is the present time. Call it before the files are
// read.
func Begin(ctx context.Context, opt Options, now time.Time) (*Night, error) {
	n := &Night{
		Options: opt, damages: damages{log: opt.Log, state: newState(opt.History), today: dayOf(now)}, now: now,
		keys: map[*cbt.Run]string{}, there: map[string]bool{}, runs: map[string]*entry{}, skipped: map[*cbt.Run][]error{},
	}
	if opt.Folder != "" {
		files, err := pipeline.List(ctx, opt.Paths)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil: // the ingest itself will report the error
			opt.Log.Debug("nothing is remembered: " + err.Error())
		default:
			n.files = &listing{Listing: files, at: now}
			k := newKey("history")
			k.text(opt.History)
			n.file = filepath.Join(opt.Folder, k.sum()+".json")
			if n.state, err = load(n.file, opt.History); err != nil {
				opt.Log.Info("note: " + err.Error() + ": all files are read again")
			}
		}
	}
	return n, nil
}

// Remembers reports whether this ingest has a state file.
func (n *Night) Remembers() bool { return n.file != "" }

// callKey returns a key of the settings, the choice of runs and the paths.
func (n *Night) callKey() string {
	k := newKey("call")
	k.text(n.Settings, n.Choice)
	for _, p := range n.Paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			abs = p
		}
		k.text(p, abs)
	}
	return k.sum()
}

// key returns the key of a run, or "" if the run cannot be remembered.
func (n *Night) key(run *cbt.Run) string {
	k, ok := n.keys[run]
	if !ok && n.files != nil {
		k = n.files.runKey(run, n.Settings)
		n.keys[run] = k
	}
	return k
}

// Unchanged reports whether no file has changed since an ingest with the same paths and settings, and the history
// still has all runs of that ingest. If so, it returns the number of runs and repeats the warnings of damage.
func (n *Night) Unchanged(ctx context.Context) (runs int, ok bool, err error) {
	c := n.state.Calls[n.callKey()]
	if n.files == nil || c == nil {
		return 0, false, nil
	}
	if now := n.files.key(); now == "" || now != c.Listing {
		return 0, false, nil
	}
	if err := n.check(ctx, c.Runs); err != nil {
		return 0, false, err
	}
	for _, k := range c.Runs {
		if !n.there[k] {
			return 0, false, nil
		}
	}
	for _, d := range c.Left {
		n.add(d)
	}
	for _, k := range c.Runs {
		n.repeat(k)
	}
	return n.known(len(c.Runs)), true, nil
}

// known returns how many of the runs that are not read the history has. A message says how many people removed.
func (n *Night) known(runs int) int {
	ingest.LogRemoved(n.Log, n.removed)
	return runs - n.removed
}

func (n *Night) repeat(key string) {
	e := n.state.Runs[key]
	if n.runs[key] != nil {
		return
	}
	n.runs[key] = e
	if len(e.Removed) > 0 {
		n.removed++
	}
	for _, text := range e.Damage {
		n.add(damageOf(key, e, text))
	}
	n.repeatLack(e)
}

// check finds out whether the history still has what the state says about the runs with these keys.
func (n *Night) check(ctx context.Context, keys []string) error {
	var ids, hashes []string
	entries := map[string]*entry{}
	for _, k := range keys {
		if e := n.state.Runs[k]; e != nil {
			entries[k] = e
			hashes = append(hashes, e.Hashes...)
			if e.ID != "" {
				ids = append(ids, e.ID)
			}
		}
	}
	if len(entries) == 0 {
		return nil
	}
	store, err := n.Store(ctx)
	if err != nil || store == nil {
		return err
	}
	versions, err := store.Versions(ctx, ids)
	if err != nil {
		return mendable(err)
	}
	removed, err := store.Removed(ctx, hashes)
	if err != nil {
		return mendable(err)
	}
	counts := history.Counts{}
	if len(ids) > 0 { // without ids it would count all runs
		if counts, err = store.Count(ctx, ids); err != nil {
			return mendable(err)
		}
	}
	for k, e := range entries {
		n.there[k] = e.isThere(versions, counts, removed) && (len(e.Removed) == 0 || !n.Restore)
	}
	return nil
}

// mendable returns nil if the history is damaged: the ingest then finds the damage, and may repair it.
func mendable(err error) error {
	if errors.Is(err, history.ErrDamaged) {
		return nil
	}
	return err
}

// isThere reports whether the history still has what the entry says, and all documents of this version and of no other.
// versions are the runs in the history, removed the removed ones.
func (e *entry) isThere(versions map[string]*mapping.Run, counts history.Counts, removed []*mapping.Removed) bool {
	isGone := func(id string) bool {
		return slices.ContainsFunc(removed, func(r *mapping.Removed) bool { return r.ID == id })
	}
	for _, id := range e.Removed {
		if !isGone(id) {
			return false
		}
	}
	if e.ID == "" {
		return true
	}
	run := versions[e.ID]
	return run != nil && run.Run.Ingest == e.Version && counts.IsWhole(run) && counts.IsCurrent(run)
}

// Skipped warns about a skipped part of a run unless people acknowledged it. It reports whether they did not.
func (n *Night) Skipped(run *cbt.Run, stored *mapping.Run, err error) (leftOut bool) {
	n.skipped[run] = append(n.skipped[run], err)
	return n.add(damageOf(n.key(run), entryOf(stored), err.Error()))
}

// Problem warns about an unreadable file unless people acknowledged it. It reports whether they did not.
func (n *Night) Problem(p *source.Problem) (leftOut bool) {
	d := damage{Text: p.Error()}
	if n.files != nil {
		d.Key = n.files.problemKey(p)
	}
	n.left = append(n.left, d)
	n.passing = n.passing || isPassing(p)
	return n.add(d)
}

// took records the results of the runs that were read.
func (n *Night) took(result *ingest.Result) {
	for _, s := range result.Stored {
		e := entryOf(s.Run)
		if s.Unchanged {
			n.lacks(s.Run) // its files are not parsed again, so the stored damage is repeated
			e.Damage = n.texts(s.Files)
		} else {
			n.setLacks(e, n.texts(s.Files))
		}
		if s.Lacking {
			e = nil
		}
		n.remember(s.Files, e)
	}
	for _, s := range result.NotStored {
		if s.Because != nil {
			n.lacks(s.Because)
		}
		e := entryOf(s.Because)
		for _, r := range s.Removed {
			e.Removed, e.Hashes = append(e.Removed, r.ID), append(e.Hashes, r.Source.Hashes()...)
		}
		e.Damage = n.texts(s.Files)
		n.remember(s.Files, e)
	}
}

// entryOf returns what to remember of a run of the history. It is empty without a run.
func entryOf(run *mapping.Run) *entry {
	if run == nil {
		return &entry{}
	}
	return &entry{ID: run.Run.ID, Version: run.Run.Ingest}
}

// remember records the result of a run. nil means that the run must be read next time.
func (n *Night) remember(run *cbt.Run, e *entry) {
	key := n.key(run)
	if key == "" {
		return
	}
	if slices.ContainsFunc(n.skipped[run], isPassing) {
		e = nil
	}
	n.runs[key] = e
}

// findWrong finds the runs for which the state was wrong.
func (n *Night) findWrong(runs []*cbt.Run) {
	for _, r := range runs {
		k := n.key(r)
		if n.there[k] && !n.state.Runs[k].isSame(n.runs[k]) {
			n.Wrong = append(n.Wrong, r.Archive+":"+r.Name())
		}
	}
}

// Forget drops the results of this ingest, because the history may not have all of them.
func (n *Night) Forget() {
	for k := range n.runs {
		n.runs[k] = nil
	}
}

// isSame reports whether two entries have the same result of a run.
func (e *entry) isSame(other *entry) bool {
	if other == nil {
		return false
	}
	a, b := *e, *other
	a.Seen, b.Seen = 0, 0
	return reflect.DeepEqual(a, b)
}

// Save writes the state, together with what other ingests have added since it was read. all are the runs that were
// found; it is nil if the ingest was Unchanged or did not finish.
func (n *Night) Save(all []*cbt.Run) error {
	if n.file == "" {
		return nil
	}
	key := n.callKey()
	if c := n.call(all); c != nil {
		n.state.Calls[key] = c
	}
	other, _ := load(n.file, n.History)
	n.state.add(other)
	for k, e := range n.runs {
		if e == nil {
			delete(n.state.Runs, k)
			continue
		}
		e.Seen = n.today
		n.state.Runs[k] = e
	}
	n.touch()
	if c := n.state.Calls[key]; c != nil {
		c.Seen = n.today
	}
	n.state.forget(n.today)
	if err := n.state.save(n.file); err != nil {
		return fmt.Errorf("remember what was read: %w; the next ingest reads all files again", err)
	}
	sweep(n.Folder, n.now)
	return nil
}

// call returns what to remember of the whole ingest, or nil if something may change without a trace.
func (n *Night) call(all []*cbt.Run) *call {
	c := &call{Listing: n.files.key(), Left: n.left}
	for _, r := range all {
		k := n.key(r)
		if k == "" || n.runs[k] == nil {
			return nil
		}
		c.Runs = append(c.Runs, k)
	}
	if len(all) == 0 || c.Listing == "" || n.passing {
		return nil
	}
	return c
}

// MustSave reports whether the state must be saved although the ingest was Unchanged, because its entries would soon
// expire.
func (n *Night) MustSave() bool {
	c := n.state.Calls[n.callKey()]
	return c != nil && c.Seen <= n.today-touchDays
}
