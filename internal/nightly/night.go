// Package nightly remembers the results of an ingest, so that the next one reads only what changed. What it remembers
// are memos: texts by key in a table of the embedded history, or of a file of the user if the history is in a cluster.
// There are memos of the files of a run, which name its version in the history, and of a version, with the messages
// about what it lacks. They contain no numbers of runs. If they are lost, or another build of fio2es wrote them, the next
// ingest reads all files again.
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
	Log      *slog.Logger

	Memory *sqlite.Store // has the memos of earlier ingests; nil: there are none
	// Store returns the history for reading, or nil if there is none yet. It is called only when needed.
	Store func(context.Context) (history.Store, error)
}

// keepDays is after how many days a memo is forgotten, counted from the last ingest that met it.
const keepDays = 365

// memo has the versions of the runs in the history that are the stages of an execution, by id.
type memo map[string]string

// versionKey returns the key of what a version of a run lacks.
func versionKey(run, version string) string { return keyOf("version", run, version) }

// Night is one ingest, with what earlier ingests remembered.
type Night struct {
	Options
	Wrong []string // names of runs whose contents changed although their keys did not

	today   int               // days since 1970-01-01
	files   map[string]string // by name, states of the files on disk, "" of one that was changed lately; nil: nothing is remembered
	keys    map[*cbt.Run]string
	memos   map[string]memo         // by key: memos of earlier ingests whose runs the history still has
	now     map[string]memo         // by key: results of this ingest
	skipped map[*cbt.Run][]error    // what was skipped of the runs that were read
	lacks   map[string][]string     // by the version's key: messages about what it lacks
	runs    map[string]*mapping.Run // by id: what the history has of these runs
	said    map[string]bool         // messages about damage
}

// Begin lists the files under the paths. now is the present time. Call it before the files are read.
func Begin(ctx context.Context, opt Options, now time.Time) (*Night, error) {
	n := &Night{
		Options: opt, today: int(now.Unix() / (24 * 3600)), keys: map[*cbt.Run]string{}, memos: map[string]memo{},
		now: map[string]memo{}, skipped: map[*cbt.Run][]error{}, lacks: map[string][]string{}, said: map[string]bool{},
	}
	if !opt.Remember {
		return n, nil
	}
	files, err := source.List(ctx, opt.Paths, cbt.Options())
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil: // the ingest itself will report the error
		opt.Log.Debug("nothing is remembered: " + err.Error())
	default:
		n.list(files, now)
	}
	return n, nil
}

// Ingest calls read with the runs that may have changed. known is how many of the other runs the history has; for
// these, Ingest repeats the warnings of damage. With verify, all runs are read.
func (n *Night) Ingest(
	ctx context.Context, runs []*cbt.Run, verify bool, read func(runs []*cbt.Run) (ingest.Result, error),
) (result ingest.Result, known int, err error) {
	if err := n.check(ctx, runs); err != nil {
		return result, 0, err
	}
	var changed []*cbt.Run
	kept := map[string]bool{} // ids of runs that are not read
	for _, r := range runs {
		m := n.memos[n.key(r)]
		if verify || m == nil {
			changed = append(changed, r)
			continue
		}
		for id := range m {
			kept[id] = true
			n.lacking(ctx, n.runs[id])
		}
		n.now[n.key(r)] = m
		known += len(m)
	}
	result, err = read(changed)
	// If a run was stored under the id of one that was not read, they are copies, one of them damaged, or parts of one run.
	// Which of them the history gets depends on their order, so all are read.
	if err == nil && slices.ContainsFunc(result.Stored, func(s ingest.Stored) bool { return !s.Unchanged && kept[s.Run.Run.ID] }) {
		clear(n.skipped)
		clear(n.now)
		known = 0
		news := map[*cbt.Run]bool{} // also if the second reading finds them unchanged
		for _, s := range result.Stored {
			news[s.Files] = news[s.Files] || !s.Unchanged
		}
		result, err = read(runs)
		for i, s := range result.Stored {
			result.Stored[i].Unchanged = s.Unchanged && !news[s.Files]
		}
	}
	if err != nil {
		return result, 0, err
	}
	n.took(ctx, &result)
	for _, r := range runs {
		before, now := n.memos[n.key(r)], n.now[n.key(r)]
		if verify && before != nil && now != nil && !maps.Equal(before, now) {
			n.Wrong = append(n.Wrong, r.Archive+":"+r.Name())
		}
	}
	return result, known, nil
}

// check looks up the memos of some runs. It drops a memo unless the history still has all documents of its versions and of no
// others.
func (n *Night) check(ctx context.Context, runs []*cbt.Run) error {
	var keys []string
	for _, r := range runs {
		keys = append(keys, n.key(r))
	}
	found, ids := map[string]memo{}, []string(nil)
	for key, text := range n.recall(ctx, keys...) {
		if m := (memo{}); json.Unmarshal([]byte(text), &m) == nil && len(m) > 0 {
			found[key], ids = m, slices.AppendSeq(ids, maps.Keys(m))
		}
	}
	if len(found) == 0 {
		return nil
	}
	store, err := n.Store(ctx)
	if err != nil || store == nil {
		return err
	}
	n.runs, err = store.Versions(ctx, ids)
	counts := history.Counts{}
	if err == nil {
		counts, err = store.Count(ctx, ids)
	}
	if errors.Is(err, history.ErrDamaged) { // the ingest then finds the damage, and may repair it
		return nil
	}
	if err != nil {
		return err
	}
	for key, m := range found {
		isThere := true
		for id, version := range m {
			run := n.runs[id]
			isThere = isThere && run != nil && run.Run.Ingest == version && counts.IsWhole(run) && counts.IsCurrent(run)
		}
		if isThere {
			n.memos[key] = m
		}
	}
	return nil
}

// took notes the results of the runs that were read. A run is not remembered if its result may change without a change of its
// files, or if one of its stages is not stored.
func (n *Night) took(ctx context.Context, result *ingest.Result) {
	memos, mayChange := map[*cbt.Run]memo{}, map[*cbt.Run]bool{}
	for _, s := range result.Stored {
		if memos[s.Files] == nil {
			memos[s.Files] = memo{}
		}
		memos[s.Files][s.Run.Run.ID] = s.Run.Run.Ingest
		mayChange[s.Files] = mayChange[s.Files] || s.Lacking || slices.ContainsFunc(n.skipped[s.Files], isPassing)
		if s.Unchanged { // its files were not parsed again
			n.lacking(ctx, s.Run)
			continue
		}
		texts := []string{}
		for _, err := range n.skipped[s.Files] {
			texts = append(texts, err.Error())
		}
		n.lacks[versionKey(s.Run.Run.ID, s.Run.Run.Ingest)] = texts
	}
	for _, s := range result.NotStored {
		mayChange[s.Files] = true
		if s.Because != nil {
			n.lacking(ctx, s.Because)
		}
	}
	for files, m := range memos {
		if key := n.key(files); key != "" && !mayChange[files] {
			n.now[key] = m
		}
	}
}

// lacking warns about what the stored version of a run lacks. The ingest that stored it left a memo; otherwise the first
// warning of its document must do.
func (n *Night) lacking(ctx context.Context, run *mapping.Run) {
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
		n.say(text)
	}
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

// Skipped warns about a skipped part of a run.
func (n *Night) Skipped(run *cbt.Run, err error) {
	n.skipped[run] = append(n.skipped[run], err)
	n.say(err.Error())
}

// Problem warns about an unreadable file.
func (n *Night) Problem(p *source.Problem) { n.say(p.Error()) }

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

// Save stores the memos of this ingest.
func (n *Night) Save(ctx context.Context, to *sqlite.Store) error {
	texts := map[string]string{}
	for key, m := range n.now {
		text, _ := json.Marshal(m) // cannot fail, and neither can a list of texts
		texts[key] = string(text)
	}
	for key, lacks := range n.lacks {
		text, _ := json.Marshal(lacks)
		texts[key] = string(text)
	}
	return to.Remember(ctx, texts, n.today, n.today-keepDays)
}

// Remembers reports whether the next ingest can know of this one.
func (n *Night) Remembers() bool { return n.files != nil }
