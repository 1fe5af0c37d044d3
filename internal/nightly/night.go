package nightly

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"syscall"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
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

const (
	keepDays  = 90 // days after which a memo is forgotten that no ingest has met
	touchDays = 7  // days after which memos are stored again even if nothing changed
)

// memo is the result of ingesting a run, or what a version of a run in the history lacks.
type memo struct {
	Run     string            `json:",omitempty"` // id in the history; empty if the run is not there
	Version string            `json:",omitempty"` // its version in the history
	Removed map[string]string `json:",omitempty"` // ids of removed runs that are the same run, each with the hash of one of its files
	Damage  []string          `json:",omitempty"` // messages about what was left out; not what the version lacks
	Known   bool              `json:",omitempty"` // people acknowledged the damage, so it is not reported again
}

// lackKey returns the key of the memo of what the version lacks.
func (m *memo) lackKey() string {
	k := newKey("lack")
	k.text(m.Run, m.Version)
	return k.sum()
}

// callMemo is the result of an ingest that stored everything that it found.
type callMemo struct {
	Listing string            // key of all files
	Runs    []string          // keys of the runs
	Left    map[string]string // by key, messages about files of no run that cannot be read
	Day     int
}

// Night is one ingest, with what earlier ingests remembered.
type Night struct {
	Options
	Wrong []string // names of runs whose contents changed although their keys did not

	today   int      // days since 1970-01-01
	files   *listing // nil: nothing is remembered
	keys    map[*cbt.Run]string
	memos   map[string]*memo     // by key: memos of earlier ingests whose runs the history still has
	now     map[string]*memo     // by key: results of this ingest; nil: the run must be read next time
	skipped map[*cbt.Run][]error // what was skipped of the runs that were read
	left    map[string]string    // as in callMemo
	passing bool                 // something of no run was left out that the next ingest may be able to read
	call    *callMemo            // of the earlier ingest, if nothing changed
	others  map[string]string    // by key: other texts to remember
	said    map[string]bool      // by message about damage: whether people acknowledged it
	removed int                  // runs that were not read, because people removed them
}

// Begin lists the files under the paths. now is the present time. Call it before the files are read.
func Begin(ctx context.Context, opt Options, now time.Time) (*Night, error) {
	n := &Night{
		Options: opt, today: int(now.Unix() / (24 * 3600)), keys: map[*cbt.Run]string{}, memos: map[string]*memo{}, now: map[string]*memo{},
		skipped: map[*cbt.Run][]error{}, left: map[string]string{}, others: map[string]string{}, said: map[string]bool{},
	}
	if !opt.Remember {
		return n, nil
	}
	files, err := pipeline.List(ctx, opt.Paths)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil: // the ingest itself will report the error
		opt.Log.Debug("nothing is remembered: " + err.Error())
	default:
		n.files = &listing{Listing: files, at: now}
	}
	return n, nil
}

// Remembers reports whether the next ingest can know of this one.
func (n *Night) Remembers() bool { return n.files != nil }

// Unchanged reports whether no file has changed since an ingest with the same paths and settings, and the history
// still has all runs of that ingest. If so, it returns the number of runs and repeats the warnings of damage.
func (n *Night) Unchanged(ctx context.Context) (runs int, ok bool, err error) {
	if n.files == nil {
		return 0, false, nil
	}
	key, c := n.callKey(), &callMemo{}
	if text := n.recall(ctx, key)[key]; text == "" || json.Unmarshal([]byte(text), c) != nil || c.Listing != n.files.key() {
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
	for k, text := range c.Left {
		n.leave(ctx, k, text)
	}
	for _, k := range c.Runs {
		n.repeat(k)
	}
	n.call = c
	return n.known(len(c.Runs)), true, nil
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
			kept[m.Run] = true
			n.repeat(n.key(r))
		}
	}
	result, err = read(changed)
	n.took(ctx, &result)
	if err != nil {
		return result, 0, err
	}
	known = len(runs) - len(changed)
	// If a run was stored under the id of one that was not read, they are copies, one of them damaged, or parts of one run.
	// Which of them the history gets depends on their order, so all are read.
	if slices.ContainsFunc(result.Stored, func(s ingest.Stored) bool { return !s.Unchanged && kept[s.Run.Run.ID] }) {
		clear(n.skipped)
		known, n.removed = 0, 0
		news := map[*cbt.Run]bool{} // also if the second reading finds them unchanged
		for _, s := range result.Stored {
			news[s.Files] = !s.Unchanged
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
		if m.Run != "" {
			ids = append(ids, m.Run)
		}
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
	var lacks []string
	for key, m := range found {
		run := versions[m.Run]
		isThere := m.Run == "" || run != nil && run.Run.Ingest == m.Version && counts.IsWhole(run) && counts.IsCurrent(run)
		for id := range m.Removed {
			isThere = isThere && isRemoved[id]
		}
		if isThere {
			n.memos[key] = m
			lacks = append(lacks, m.lackKey())
		}
	}
	n.lookUp(ctx, lacks...)
	return nil
}

// lookUp looks up what versions lack, by their keys.
func (n *Night) lookUp(ctx context.Context, keys ...string) {
	for key, text := range n.recall(ctx, keys...) {
		if m := new(memo); json.Unmarshal([]byte(text), m) == nil {
			n.memos[key] = m
		}
	}
}

// took notes the results of the runs that were read.
func (n *Night) took(ctx context.Context, result *ingest.Result) {
	for _, s := range result.Stored {
		m := &memo{Run: s.Run.Run.ID, Version: s.Run.Run.Ingest}
		n.lookUp(ctx, m.lackKey())
		if s.Unchanged { // its files were not parsed again
			n.lacks(s.Run)
			n.remember(s.Files, m, s.Lacking)
			continue
		}
		lack, before := &memo{Damage: n.damage(s.Files)}, n.memos[m.lackKey()]
		if len(lack.Damage) > 0 || before != nil {
			lack.Known = before != nil && before.Known && slices.Equal(before.Damage, lack.Damage)
			n.now[m.lackKey()] = lack
		}
		mayChange := slices.ContainsFunc(n.skipped[s.Files], isPassing)
		delete(n.skipped, s.Files) // the memo of the version has it
		n.remember(s.Files, m, mayChange)
	}
	for _, s := range result.NotStored {
		m := &memo{}
		if s.Because != nil {
			m.Run, m.Version = s.Because.Run.ID, s.Because.Run.Ingest
			n.lookUp(ctx, m.lackKey())
			n.lacks(s.Because)
		}
		for _, r := range s.Removed {
			if m.Removed == nil {
				m.Removed = map[string]string{}
			}
			if hashes := r.Source.Hashes(); len(hashes) > 0 {
				m.Removed[r.ID] = hashes[0]
			}
		}
		n.remember(s.Files, m, false)
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
	key := n.key(run)
	if key == "" {
		return
	}
	before := n.memos[key]
	m.Damage = n.damage(run)
	m.Known = len(m.Damage) > 0 && before != nil && before.Known && slices.Equal(before.Damage, m.Damage)
	if n.now[key] = m; mayChange || slices.ContainsFunc(n.skipped[run], isPassing) {
		n.now[key] = nil
	}
}

// lacks warns about what the stored version of a run lacks. The ingest that stored it left a memo; otherwise the first
// warning of its document must do.
func (n *Night) lacks(run *mapping.Run) {
	m := &memo{Run: run.Run.ID, Version: run.Run.Ingest}
	lack, key := n.memos[m.lackKey()], m.lackKey()
	// requests that fio did not log are missing too, but they were not left out
	if lack == nil && !run.Run.Complete && !run.Run.Live() && run.Missing.Requests == 0 && len(run.Warnings) > 0 {
		lack = &memo{Damage: []string{fmt.Sprintf("%s:%s: not all of it is in the history: %s", run.Run.Archive, run.Run.Name, run.Warnings[0])}}
		n.memos[key] = lack
	}
	n.repeat(key)
}

// repeat takes over a memo, with its warnings.
func (n *Night) repeat(key string) {
	m := n.memos[key]
	if m == nil || n.now[key] != nil {
		return
	}
	n.now[key] = m
	if len(m.Removed) > 0 {
		n.removed++
	}
	for _, text := range m.Damage {
		n.say(text, m.Known)
	}
	if m.Run != "" {
		n.repeat(m.lackKey())
	}
}

// known returns how many of the runs that are not read the history has. A message says how many people removed.
func (n *Night) known(runs int) int {
	ingest.LogRemoved(n.Log, n.removed)
	return runs - n.removed
}

// Skipped warns about a skipped part of a run unless people acknowledged it. It reports whether they did not.
func (n *Night) Skipped(run *cbt.Run, _ *mapping.Run, err error) (leftOut bool) {
	n.skipped[run] = append(n.skipped[run], err)
	m := n.memos[n.key(run)]
	return n.say(err.Error(), m != nil && m.Known && slices.Contains(m.Damage, err.Error()))
}

// Problem warns about an unreadable file unless people acknowledged it.
func (n *Night) Problem(ctx context.Context, p *source.Problem) {
	key := ""
	if n.files != nil && !isPassing(p) {
		key = n.files.problemKey(p)
	}
	n.leave(ctx, key, p.Error())
}

func (n *Night) leave(ctx context.Context, key, text string) {
	if key == "" {
		n.passing = true
		n.say(text, false)
		return
	}
	n.left[key] = text
	_, isKnown := n.recall(ctx, key)[key]
	if isKnown {
		n.others[key] = text
	}
	n.say(text, isKnown)
}

// say warns about damage, once, unless people acknowledged it. It reports whether they did not.
func (n *Night) say(text string, isKnown bool) (leftOut bool) {
	if before, again := n.said[text]; again {
		return !before
	}
	n.said[text] = isKnown
	if isKnown {
		n.Log.Debug("acknowledged: " + text)
	} else {
		n.Log.Warn(text)
	}
	return !isKnown
}

// Count returns how many messages about damage people acknowledged, and how many they did not.
func (n *Night) Count() (acknowledged, other int) {
	for _, isKnown := range n.said {
		if isKnown {
			acknowledged++
		} else {
			other++
		}
	}
	return acknowledged, other
}

// Acknowledge records that people know all damage that this ingest met, except that of files that were changed in the
// last two seconds.
func (n *Night) Acknowledge() {
	for _, m := range n.now {
		if m != nil && len(m.Damage) > 0 {
			m.Known = true
			for _, text := range m.Damage {
				n.said[text] = true
			}
		}
	}
	for key, text := range n.left {
		n.others[key], n.said[text] = text, true
	}
}

// isPassing reports whether the reason of a damage may pass without a change of the file: an error of the system, or
// a limit of all files together.
func isPassing(err error) bool {
	return errors.As(err, new(syscall.Errno)) || errors.Is(err, source.ErrChanged) || errors.Is(err, source.ErrTooMuch)
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

// callKey returns the key of ingests with these settings, paths and choice of runs.
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

// MustSave reports whether memos must be saved although nothing changed, because they would soon be forgotten.
func (n *Night) MustSave() bool { return n.call != nil && n.call.Day <= n.today-touchDays }

// Save stores the memos of this ingest. all are the runs that were found, if files were read.
func (n *Night) Save(ctx context.Context, to *sqlite.Store, all []*cbt.Run) error {
	texts := maps.Clone(n.others)
	put := func(key string, value any) error {
		text, err := json.Marshal(value)
		texts[key] = string(text)
		return err
	}
	for key, m := range n.now {
		if m != nil {
			if err := put(key, m); err != nil {
				return err
			}
		}
	}
	c := n.call
	if listing := n.files.key(); c == nil && listing != "" && !n.passing && len(all) > 0 {
		c = &callMemo{Listing: listing, Left: n.left}
		for _, r := range all {
			k := n.key(r)
			if c.Runs = append(c.Runs, k); n.now[k] == nil {
				c = nil // something may change without a trace
				break
			}
		}
	}
	if c != nil {
		c.Day = n.today
		if err := put(n.callKey(), c); err != nil {
			return err
		}
	}
	return to.Remember(ctx, texts, n.today, n.today-keepDays)
}
