// Package nightly remembers the results of an ingest, so that the next one reads only what changed. What it remembers
// are memos: texts by key in a table of the embedded history, or of a file of the user if the history is in a cluster.
// There are memos of runs and of whole calls. They contain no numbers of runs. If they are lost, or another build of
// fio2es wrote them, the next ingest reads all files again.
//
// The key of a run is a hash of what the archive says about the run, of the settings that its documents depend on, of
// the program, and of its files on disk: their names, sizes, modification times, change times and inodes. If there is a
// memo with this key, and the history still has all documents of the version that the memo names and of no other, the
// run has not changed. The clocks of file systems are coarse: a file that was changed less than two seconds before it
// was listed could change again without a trace. So its runs are not remembered.
package nightly

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"syscall"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Options says what is ingested.
type Options struct {
	Remember bool   // false: all files are read, and nothing is remembered
	Settings string // what memos depend on besides the files: the history, options, and the build of the program
	Paths    []string
	Choice   string // which runs under the paths are ingested
	Restore  bool   // also store runs that people removed
	Log      *slog.Logger

	Memory *sqlite.Store // has the memos of earlier ingests; nil: there are none
	// Store returns the history for reading, or nil if there is none yet. It is called only when needed.
	Store func(context.Context) (history.Store, error)
}

// keepDays is after how many days a memo is forgotten, counted from the last ingest that met it and found a change.
const keepDays = 365

// memo is the result of ingesting an execution, whose stages are runs.
type memo struct {
	Runs    map[string]string `json:",omitempty"` // versions of its runs in the history, by id; none if none is there
	Removed map[string]string `json:",omitempty"` // ids of removed runs that are the same run, each with the hash of one of its files
	Damage  []string          `json:",omitempty"` // messages about what was left out
}

// runs returns how many runs the memo is of, those that people removed included.
func (m *memo) runs() int { return max(len(m.Runs)+min(len(m.Removed), 1), 1) }

// versionKey returns the key of what a version of a run lacks.
func versionKey(run, version string) string { return keyOf("version", run, version) }

// callMemo is the result of an ingest that stored everything that it found.
type callMemo struct {
	Listing string   // key of all files
	Runs    []string // keys of the runs
	Left    []string // messages about files of no run that cannot be read
}

// Night is one ingest, with what earlier ingests remembered.
type Night struct {
	Options
	Wrong []string // names of runs whose contents changed although their keys did not

	today   int               // days since 1970-01-01
	files   map[string]string // by name, states of the files on disk, "" of one that was changed lately; nil: nothing is remembered
	listing string            // hash of all files; "": a file was changed lately
	keys    map[*cbt.Run]string
	memos   map[string]*memo     // by key: memos of earlier ingests whose runs the history still has
	now     map[string]*memo     // by key: results of this ingest; nil: the run must be read next time
	skipped map[*cbt.Run][]error // what was skipped of the runs that were read
	lacks   map[string][]string  // by the version's key: messages about what it lacks
	left    []string             // as in callMemo
	passing bool                 // something of no run was left out that the next ingest may be able to read
	said    map[string]bool      // messages about damage
	removed int                  // runs that were not read, because people removed them
}

// Begin lists the files under the paths. now is the present time. Call it before the files are read.
func Begin(ctx context.Context, opt Options, now time.Time) *Night {
	n := &Night{
		Options: opt, today: int(now.Unix() / (24 * 3600)), keys: map[*cbt.Run]string{}, memos: map[string]*memo{},
		now: map[string]*memo{}, skipped: map[*cbt.Run][]error{}, lacks: map[string][]string{}, said: map[string]bool{},
	}
	if !opt.Remember {
		return n
	}
	if files, err := source.List(ctx, opt.Paths, cbt.Options()); err != nil { // the ingest itself will report the error
		opt.Log.Debug("nothing is remembered: " + err.Error())
	} else {
		n.list(files, now)
	}
	return n
}

// Remembers reports whether the next ingest can know of this one.
func (n *Night) Remembers() bool { return n.files != nil }

// Unchanged reports whether no file has changed since an ingest with the same paths and settings, and the history
// still has all runs of that ingest. If so, it returns the number of runs and repeats the warnings of damage.
func (n *Night) Unchanged(ctx context.Context) (runs int, ok bool, err error) {
	if n.listing == "" {
		return 0, false, nil
	}
	key, c := n.callKey(), &callMemo{}
	if text := n.recall(ctx, key)[key]; text == "" || json.Unmarshal([]byte(text), c) != nil || c.Listing != n.listing {
		return 0, false, nil
	}
	if err := n.check(ctx, c.Runs); err != nil {
		return 0, false, err
	}
	for _, k := range c.Runs {
		if n.memos[k] == nil {
			return 0, false, nil
		}
	}
	for _, text := range c.Left {
		n.say(text)
	}
	for _, k := range c.Runs {
		n.repeat(k)
		runs += n.memos[k].runs()
	}
	return n.known(runs), true, nil
}

// Ingest calls read with the runs that may have changed. known is how many of the other runs the history has; for
// these, Ingest repeats the warnings of damage. With verify, all runs are read.
func (n *Night) Ingest(
	ctx context.Context, runs []*cbt.Run, verify bool, read func(runs []*cbt.Run) (ingest.Result, error),
) (result ingest.Result, known int, err error) {
	var keys []string
	for _, r := range runs {
		keys = append(keys, n.key(r))
	}
	if err := n.check(ctx, keys); err != nil {
		return result, 0, err
	}
	var changed []*cbt.Run
	kept := map[string]bool{} // ids of runs that are not read
	for _, r := range runs {
		if m := n.memos[n.key(r)]; verify || m == nil {
			changed = append(changed, r)
		} else {
			for id := range m.Runs {
				kept[id] = true
			}
			n.repeat(n.key(r))
			known += m.runs()
		}
	}
	result, err = read(changed)
	n.took(ctx, &result)
	if err != nil {
		return result, 0, err
	}
	// If a run was stored under the id of one that was not read, they are copies, one of them damaged, or parts of one run.
	// Which of them the history gets depends on their order, so all are read.
	if slices.ContainsFunc(result.Stored, func(s ingest.Stored) bool { return !s.Unchanged && kept[s.Run.Run.ID] }) {
		clear(n.skipped)
		known, n.removed = 0, 0
		news := map[*cbt.Run]bool{} // also if the second reading finds them unchanged
		for _, s := range result.Stored {
			news[s.Files] = news[s.Files] || !s.Unchanged
		}
		result, err = read(runs)
		for i, s := range result.Stored {
			result.Stored[i].Unchanged = s.Unchanged && !news[s.Files]
		}
		n.took(ctx, &result)
	}
	for _, r := range runs {
		if k := n.key(r); err == nil && verify && n.memos[k] != nil && n.now[k] != nil && !reflect.DeepEqual(n.memos[k], n.now[k]) {
			n.Wrong = append(n.Wrong, r.Archive+":"+r.Name())
		}
	}
	return result, n.known(known), err
}

// check looks up the memos under some keys. It drops a memo unless the history still has its removed runs, or all documents
// of its version and of no other.
func (n *Night) check(ctx context.Context, keys []string) error {
	found, ids, hashes := map[string]*memo{}, []string(nil), []string(nil)
	for key, text := range n.recall(ctx, keys...) {
		m := &memo{}
		if json.Unmarshal([]byte(text), m) != nil || len(m.Removed) > 0 && n.Restore {
			continue
		}
		found[key] = m
		hashes = append(hashes, slices.Collect(maps.Values(m.Removed))...)
		ids = slices.AppendSeq(ids, maps.Keys(m.Runs))
	}
	if len(found) == 0 {
		return nil
	}
	store, err := n.Store(ctx)
	if err != nil || store == nil {
		return err
	}
	versions, err := store.Versions(ctx, ids)
	var removed []*mapping.Removed
	if err == nil {
		removed, err = store.Removed(ctx, hashes)
	}
	counts := history.Counts{}
	if err == nil && len(ids) > 0 { // without ids it would count all runs
		counts, err = store.Count(ctx, ids)
	}
	if errors.Is(err, history.ErrDamaged) { // the ingest then finds the damage, and may repair it
		return nil
	}
	if err != nil {
		return err
	}
	isRemoved := map[string]bool{}
	for _, r := range removed {
		isRemoved[r.ID] = true
	}
	for key, m := range found {
		isThere := true
		for id, version := range m.Runs {
			run := versions[id]
			isThere = isThere && run != nil && run.Run.Ingest == version && counts.IsWhole(run) && counts.IsCurrent(run)
		}
		for id := range m.Removed {
			isThere = isThere && isRemoved[id]
		}
		if isThere {
			n.memos[key] = m
		}
	}
	return nil
}

// took notes the results of the runs that were read.
func (n *Night) took(ctx context.Context, result *ingest.Result) {
	memos, mayChange := map[*cbt.Run]*memo{}, map[*cbt.Run]bool{}
	of := func(files *cbt.Run) *memo {
		if memos[files] == nil {
			memos[files] = &memo{Runs: map[string]string{}}
		}
		return memos[files]
	}
	for _, s := range result.Stored {
		if s.Unchanged { // its files were not parsed again
			n.lacking(ctx, s.Files, s.Run)
		} else {
			key := versionKey(s.Run.Run.ID, s.Run.Run.Ingest)
			n.lacks[key] = n.damage(s.Files)
			for _, text := range n.lacks[key] {
				n.say(text)
			}
		}
		of(s.Files).Runs[s.Run.Run.ID], mayChange[s.Files] = s.Run.Run.Ingest, mayChange[s.Files] || s.Lacking
	}
	for _, s := range result.NotStored {
		m := of(s.Files)
		if s.Because != nil {
			m.Runs[s.Because.Run.ID] = s.Because.Run.Ingest
			n.lacking(ctx, s.Files, s.Because)
		}
		for _, r := range s.Removed {
			if m.Removed == nil {
				m.Removed = map[string]string{}
			}
			if hashes := r.Source.Hashes(); len(hashes) > 0 {
				m.Removed[r.ID] = hashes[0]
			}
		}
	}
	for files, m := range memos {
		n.remember(files, m, mayChange[files])
	}
}

// lacking warns about what the stored version of a run lacks, because its files were not parsed again. The ingest that
// stored it left a memo; otherwise the first warning of its document must do.
func (n *Night) lacking(ctx context.Context, files *cbt.Run, run *mapping.Run) {
	key := versionKey(run.Run.ID, run.Run.Ingest)
	texts, isKnown := n.lacks[key]
	if text := n.recall(ctx, key)[key]; !isKnown && text != "" {
		isKnown = json.Unmarshal([]byte(text), &texts) == nil
	}
	// requests that fio did not log are missing too, but they were not left out
	if !isKnown && !run.Run.Complete && !run.Run.Live() && run.Missing.Requests == 0 && len(run.Warnings) > 0 {
		texts = []string{fmt.Sprintf("%s:%s: not all of it is in the history: %s", run.Run.Archive, run.Run.Name, run.Warnings[0])}
	}
	n.lacks[key] = texts
	for _, text := range texts {
		n.skipped[files] = append(n.skipped[files], errors.New(text))
		n.say(text)
	}
}

// damage returns the messages about what was skipped of a run.
func (n *Night) damage(run *cbt.Run) (texts []string) {
	for _, err := range n.skipped[run] {
		texts = append(texts, err.Error())
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// remember notes the result of a run. The run is read next time if the result may change without a change of the files.
func (n *Night) remember(run *cbt.Run, m *memo, mayChange bool) {
	if key := n.key(run); key != "" {
		m.Damage = n.damage(run)
		if n.now[key] = m; mayChange || slices.ContainsFunc(n.skipped[run], isPassing) {
			n.now[key] = nil
		}
	}
}

// repeat takes over the memo of a run, with its warnings.
func (n *Night) repeat(key string) {
	m := n.memos[key]
	n.now[key] = m
	n.removed += min(len(m.Removed), 1)
	for _, text := range m.Damage {
		n.say(text)
	}
}

// known returns how many of the runs that are not read the history has. A message says how many people removed.
func (n *Night) known(runs int) int {
	ingest.LogRemoved(n.Log, n.removed)
	return runs - n.removed
}

// Skipped warns about a skipped part of a run.
func (n *Night) Skipped(run *cbt.Run, err error) {
	n.skipped[run] = append(n.skipped[run], err)
	n.say(err.Error())
}

// Problem warns about an unreadable file.
func (n *Night) Problem(p *source.Problem) {
	n.left = append(n.left, p.Error())
	n.passing = n.passing || isPassing(p)
	n.say(p.Error())
}

// say warns about damage, once.
func (n *Night) say(text string) {
	if !n.said[text] {
		n.said[text] = true
		n.Log.Warn(text)
	}
}

// Damage returns how many messages about damage there were.
func (n *Night) Damage() int { return len(n.said) }

// isPassing reports whether the reason of a damage may pass without a change of the file: an error of the system, a limit
// of all files together, or a document that the cluster rejected.
func isPassing(err error) bool {
	return errors.As(err, new(syscall.Errno)) || errors.Is(err, source.ErrChanged) || errors.Is(err, source.ErrTooMuch) || errors.Is(err, history.ErrRejected)
}

// recall returns the texts that earlier ingests left under some keys.
func (n *Night) recall(ctx context.Context, keys ...string) map[string]string {
	if n.Memory == nil || n.files == nil {
		return nil
	}
	texts, err := n.Memory.Recall(ctx, keys)
	if err != nil {
		n.Log.Debug("nothing is remembered: " + err.Error())
	}
	return texts
}

// Save stores the memos of this ingest. all are the runs that were found.
func (n *Night) Save(ctx context.Context, to *sqlite.Store, all []*cbt.Run) error {
	texts := map[string]string{}
	put := func(key string, value any) {
		text, _ := json.Marshal(value) // cannot fail: it has only texts
		texts[key] = string(text)
	}
	for key, lacks := range n.lacks {
		put(key, lacks)
	}
	for key, m := range n.now {
		if m != nil {
			put(key, m)
		}
	}
	c := callMemo{Listing: n.listing, Left: n.left}
	mayChange := n.listing == "" || n.passing // without a trace
	for _, r := range all {
		k := n.key(r)
		c.Runs = append(c.Runs, k)
		mayChange = mayChange || n.now[k] == nil
	}
	if len(all) > 0 && !mayChange {
		put(n.callKey(), c)
	}
	return to.Remember(ctx, texts, n.today, n.today-keepDays)
}
