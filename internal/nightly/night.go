// Package nightly passes over runs that an earlier ingest has stored. Of each it remembers where it was, the names, sizes,
// times and inodes of its files as one hash, its version in the history, and the warnings about what was left out, which it
// repeats; of a whole ingest, the same of all files. So a night without changes opens no file, and other nights read only
// the runs that changed. Runs are passed over only if the history has all documents of their versions, and of no others:
// see Whole of [history.Store]. What is remembered has no numbers of runs: without it, the next ingest reads all files.
package nightly

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/layout"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Memory keeps what is remembered, by place. The embedded history has a table for it.
type Memory interface {
	Recall(ctx context.Context, places []string) (map[string]history.Seen, error)
	Remember(ctx context.Context, seen map[string]history.Seen) error
}

// Night is one ingest.
type Night struct {
	Settings string        // what runs depend on besides their files: options, and the build of the program
	Call     string        // paths, and which runs under them are ingested
	Restore  bool          // also store runs that people removed
	Verify   bool          // read all files
	Memory   Memory        // nil: all files are read
	Store    history.Store // the history; nil if Memory is
	Say      func(string)  // warns that something is left out; called once for each text

	listed  []listed
	settled int64                        // in nanoseconds since 1970: files that were changed since then may change again without a trace
	files   map[string]string            // the states of listed, by name; nil: not needed yet
	all     string                       // hash of all files; "": the paths must be read
	now     map[*assign.Run]history.Seen // for the next ingest
	before  map[*assign.Run][]string     // warnings of earlier readings
	left    map[*assign.Run][]string     // warnings of this one; nil is the files of no run
	passing map[*assign.Run]bool         // the reason of one of them may have passed when the files are read again
	said    map[string]bool
}

// listed is a file and its state: see [Night.stateOf].
type listed struct{ name, state string }

// Begin lists the files, before they are read. It fails if they can be read only once.
func (n *Night) Begin(ctx context.Context, paths []string, now time.Time) error {
	// Clocks of file systems are coarse, that of FAT has steps of two seconds. A file that was changed less than that before it
	// was listed could change again without a trace.
	n.settled = now.Add(-2 * time.Second).UnixNano()
	isSettled, all := true, newDigest(n.Settings)
	problems, err := source.List(ctx, paths, layout.Options(), func(name string, info fs.FileInfo) {
		f := listed{name, n.stateOf(info)}
		isSettled = isSettled && f.state != ""
		all.add(f.name, f.state)
		n.listed = append(n.listed, f)
	})
	if err != nil {
		return err
	}
	if isSettled && len(problems) == 0 {
		n.all = all.text()
	}
	return nil
}

// stateOf returns size, times and inode of a file, or "" if it was changed lately.
func (n *Night) stateOf(info fs.FileInfo) string {
	written := info.ModTime().UnixNano()
	changed, number := inode(info)
	if max(written, changed) >= n.settled {
		return ""
	}
	var b [80]byte
	text := strconv.AppendInt(append(strconv.AppendInt(b[:0], info.Size(), 10), ' '), written, 10)
	text = strconv.AppendInt(append(text, ' '), changed, 10)
	return string(strconv.AppendUint(append(text, ' '), number, 10))
}

// digest is a hash of texts.
type digest struct {
	hash.Hash
	next []byte
}

func newDigest(texts ...string) *digest {
	d := &digest{Hash: sha256.New()}
	d.add(texts...)
	return d
}

func (d *digest) add(texts ...string) {
	for _, text := range texts {
		d.next = append(strconv.AppendInt(d.next[:0], int64(len(text)), 10), ' ')
		d.next = append(d.next, text...)
		d.Write(d.next)
	}
}

func (d *digest) text() string { return hex.EncodeToString(d.Sum(nil)[:16]) }

// state returns a hash of the files of a run, or "" if they must be read.
func (n *Night) state(run *assign.Run) string {
	if n.files == nil {
		n.files = map[string]string{}
		for _, f := range n.listed {
			n.files[f.name] = f.state
		}
	}
	of := newDigest(n.Settings)
	for _, f := range run.Files() {
		if n.files[f.Disk] == "" {
			return ""
		}
		of.add(f.Name(), n.files[f.Disk])
	}
	return of.text()
}

func place(run *assign.Run) string { return run.Files()[0].Disk + ": " + run.Name() }

// look returns what is remembered of places, without states unless the history has all of their runs, or that people removed
// them.
func (n *Night) look(ctx context.Context, places ...string) (seen map[string]history.Seen, err error) {
	if n.Memory == nil {
		return nil, nil
	}
	seen, _ = n.Memory.Recall(ctx, places) // what cannot be recalled is read
	if len(seen) == 0 {
		return nil, nil
	}
	known := together(slices.Collect(maps.Values(seen)))
	var whole map[string]string
	var removed []*mapping.Removed
	var err2 error
	var asking sync.WaitGroup
	asking.Go(func() { whole, err = n.Store.Whole(ctx, slices.Collect(maps.Keys(known.Runs))) })
	removed, err2 = n.Store.Removed(ctx, slices.Collect(maps.Values(known.Removed)))
	asking.Wait()
	if err = errors.Join(err, err2); errors.Is(err, history.ErrDamaged) { // reading finds the damage, and may repair it
		return nil, nil
	}
	for place, s := range seen {
		for id, version := range s.Runs {
			if whole[id] != version {
				s.State = ""
			}
		}
		for id := range s.Removed {
			if n.Restore || !slices.ContainsFunc(removed, func(r *mapping.Removed) bool { return r.ID == id }) {
				s.State = ""
			}
		}
		seen[place] = s
	}
	return seen, err
}

func together(all []history.Seen) history.Seen {
	one := history.Seen{Runs: map[string]string{}, Removed: map[string]string{}}
	for _, s := range all {
		maps.Copy(one.Runs, s.Runs)
		maps.Copy(one.Removed, s.Removed)
		one.Said = append(one.Said, s.Said...)
	}
	return one
}

// Unchanged reports whether neither files nor history have changed since the same ingest. If so, it repeats the warnings,
// and returns the runs.
func (n *Night) Unchanged(ctx context.Context) (known history.Seen, ok bool, err error) {
	if n.Verify || n.all == "" {
		return known, false, nil
	}
	seen, err := n.look(ctx, n.Call)
	if known = seen[n.Call]; known.State != n.all || err != nil {
		return known, false, err
	}
	n.say(nil, known.Said...)
	return known, true, nil
}

// Ingest calls read with the runs that may have changed. It returns the result, and what the history has of the others,
// whose warnings it repeats.
func (n *Night) Ingest(
	ctx context.Context, runs []*assign.Run, read func([]*assign.Run) (ingest.Result, error),
) (result ingest.Result, known history.Seen, err error) {
	var places []string
	for _, r := range runs {
		places = append(places, place(r))
	}
	seen, err := n.look(ctx, places...)
	if err != nil {
		return result, known, err
	}
	n.now, n.before = map[*assign.Run]history.Seen{}, map[*assign.Run][]string{}
	var changed []*assign.Run
	var passed []history.Seen
	for i, r := range runs {
		s := seen[places[i]]
		if n.before[r] = s.Said; n.Verify || s.State == "" || s.State != n.state(r) {
			changed = append(changed, r)
		} else {
			n.now[r], passed = s, append(passed, s)
			n.say(r, s.Said...)
		}
	}
	known = together(passed)
	if result, err = n.read(changed, read); err != nil {
		return result, known, err
	}
	// If a run was stored under the id of one that was passed over, they are copies, one of them damaged, or parts of one
	// run. Which of them the history gets depends on their order, so all are read.
	if slices.ContainsFunc(result.Stored, func(s ingest.Stored) bool { return !s.Unchanged && known.Runs[s.Run.Run.ID] != "" }) {
		news := slices.DeleteFunc(result.Stored, func(s ingest.Stored) bool { return s.Unchanged })
		if result, err = n.read(runs, read); err != nil {
			return result, known, err
		}
		known, result.Stored = history.Seen{}, append(news, result.Stored...)
	}
	return result, known, nil
}

// read reads runs, and notes what the next ingest needs to know of them.
func (n *Night) read(runs []*assign.Run, read func([]*assign.Run) (ingest.Result, error)) (ingest.Result, error) {
	for _, r := range runs {
		n.before[r] = slices.Concat(n.before[r], n.left[r])
		delete(n.left, r)
		delete(n.passing, r)
		s := together(nil)
		s.State = n.state(r)
		n.now[r] = s
	}
	result, err := read(runs)
	for _, s := range result.Stored {
		run := s.Run.Run
		n.now[s.Files].Runs[run.ID] = run.Ingest
		if !s.Unchanged || run.Complete || run.Live() {
			continue
		}
		// The files were not parsed again. What was left out is among the warnings of the document.
		lacks := slices.DeleteFunc(slices.Clone(n.before[s.Files]), func(text string) bool { return !slices.Contains(s.Run.Warnings, text) })
		isOfClients := run.Lacks != "" && !strings.Contains(run.Lacks, "volume")                       // which may not have taken part
		if len(lacks) == 0 && s.Run.Missing.Requests == 0 && len(s.Run.Warnings) > 0 && !isOfClients { // what fio did not log was not left out
			lacks = []string{fmt.Sprintf("%s:%s: not all of it is in the history: %s", run.Archive, run.Name, s.Run.Warnings[0])}
		}
		n.say(s.Files, lacks...)
	}
	for _, s := range result.NotStored {
		if s.Because != nil {
			n.now[s.Files].Runs[s.Because.Run.ID] = s.Because.Run.Ingest
		}
		for _, r := range s.Removed {
			n.now[s.Files].Removed[r.ID] = r.Source.Hashes()[0]
		}
	}
	return result, err
}

// Skipped warns of something of a run, or of files of no run (nil), that is left out. The next ingest says it again, or
// reads the files again if it may have passed without a change of them: an error of the system, a limit of all files
// together, or something that the history did not take.
func (n *Night) Skipped(of *assign.Run, err error) {
	n.say(of, err.Error())
	for _, passes := range []error{source.ErrChanged, source.ErrTooMuch, history.ErrRejected, history.ErrReplaced} {
		n.passing[of] = n.passing[of] || errors.Is(err, passes)
	}
	n.passing[of] = n.passing[of] || errors.As(err, new(syscall.Errno))
}

func (n *Night) say(of *assign.Run, texts ...string) {
	if n.left == nil {
		n.left, n.passing, n.said = map[*assign.Run][]string{}, map[*assign.Run]bool{}, map[string]bool{}
	}
	for _, text := range texts {
		if !slices.Contains(n.left[of], text) {
			n.left[of] = append(n.left[of], text)
		}
		if !n.said[text] {
			n.said[text] = true
			n.Say(text)
		}
	}
}

// Save remembers this ingest of some runs.
func (n *Night) Save(ctx context.Context, to Memory, runs []*assign.Run) error {
	places, seen := map[string]history.Seen{}, []history.Seen{{Said: n.left[nil]}}
	isOpen := n.passing[nil]
	for _, r := range runs {
		s := n.now[r]
		if s.Said = n.left[r]; n.passing[r] {
			s.State = ""
		}
		isOpen, seen, places[place(r)] = isOpen || s.State == "", append(seen, s), s
	}
	all := together(seen)
	if !isOpen {
		all.State = n.all
	}
	places[n.Call] = all
	return to.Remember(ctx, places)
}
