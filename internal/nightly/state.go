package nightly

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// state is what is remembered for one history. Days count from 1970-01-01.
type state struct {
	Format  int               `json:"format"`
	History string            `json:"history"` // name of the history, for people
	Runs    map[string]*entry `json:"runs"`    // by key of the run
	Calls   map[string]*call  `json:"calls"`   // by key of the call
	// versions of runs that lack something, with only ID, Version and Damage; by version
	Damaged map[string]*entry `json:"damaged"`
	// Acknowledged has the day of the last ingest that met a damage which people acknowledged, by key of the damage.
	// Noted is the same for other messages.
	Acknowledged map[string]int `json:"acknowledged"`
	Noted        map[string]int `json:"noted"`
}

// entry is the result of ingesting a run.
type entry struct {
	ID      string   `json:"id,omitempty"`      // id in the history; empty if the run is not there
	Version string   `json:"version,omitempty"` // its version in the history
	Removed []string `json:"removed,omitempty"` // ids of removed runs that are the same run
	Hashes  []string `json:"hashes,omitempty"`  // hashes of the contents of these
	Damage  []string `json:"damage,omitempty"`  // what was skipped of the run, except what its stored version lacks
	Seen    int      `json:"seen"`              // day of the last ingest that met the entry
}

// version returns a text that identifies the version of the run.
func (e *entry) version() string { return e.ID + " " + e.Version }

// call is an ingest that stored everything that it found.
type call struct {
	Listing string   `json:"listing"`
	Runs    []string `json:"runs"`           // keys of the runs
	Left    []damage `json:"left,omitempty"` // damages of no run
	Seen    int      `json:"seen"`
}

const (
	format    = 1
	keepDays  = 90 // days after which an entry is forgotten that no ingest has met
	mostCalls = 30 // limit, because a shell that expands * may give other arguments each night
	touchDays = 7  // days after which a state is written again even if nothing changed
)

func newState(history string) *state {
	return &state{
		Format: format, History: history, Runs: map[string]*entry{}, Damaged: map[string]*entry{}, Calls: map[string]*call{},
		Acknowledged: map[string]int{}, Noted: map[string]int{},
	}
}

// load reads a state. If the file is missing, damaged or of another format, the state is empty, and all files are
// read again.
func load(path, history string) (*state, error) {
	s := newState(history)
	text, err := os.ReadFile(path)
	if err == nil {
		err = s.decode(text)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return newState(history), nil
	case err != nil:
		return newState(history), fmt.Errorf("read %s: %w", path, err)
	case s.Format != format || !s.isComplete():
		return newState(history), nil
	}
	return s, nil
}

// decode refuses unknown members. Otherwise a member whose name was damaged would be lost silently.
func (s *state) decode(text []byte) error {
	if !json.Valid(text) {
		return errors.New("it is no JSON")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(s)
}

func (s *state) isComplete() bool {
	isNil := func(e *entry) bool { return e == nil }
	return s.Runs != nil && s.Damaged != nil && s.Calls != nil && s.Acknowledged != nil && s.Noted != nil &&
		!slices.ContainsFunc(slices.Collect(maps.Values(s.Runs)), isNil) && !slices.ContainsFunc(slices.Collect(maps.Values(s.Damaged)), isNil) &&
		!slices.ContainsFunc(slices.Collect(maps.Values(s.Calls)), func(c *call) bool { return c == nil })
}

// sweep removes states that no ingest has used for a long time, and files left by killed ingests.
func sweep(folder string, now time.Time) {
	files, _ := os.ReadDir(folder)
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		age, keep := now.Sub(info.ModTime()), keepDays*24*time.Hour
		if filepath.Ext(f.Name()) == part {
			keep = 24 * time.Hour
		}
		if age > keep {
			os.Remove(filepath.Join(folder, f.Name()))
		}
	}
}

// part is the suffix of files that are being written.
const part = ".part"

// add takes over entries that another ingest has added since, unless this ingest has newer ones.
func (s *state) add(other *state) {
	addNew(s.Runs, other.Runs)
	addNew(s.Damaged, other.Damaged)
	addNew(s.Calls, other.Calls)
	addNew(s.Acknowledged, other.Acknowledged)
	addNew(s.Noted, other.Noted)
}

func addNew[V any](to, from map[string]V) {
	for k, v := range from {
		if _, ok := to[k]; !ok {
			to[k] = v
		}
	}
}

// forget drops entries that no ingest has met for a long time, and the oldest calls.
func (s *state) forget(today int) {
	old := func(seen int) bool { return seen < today-keepDays }
	maps.DeleteFunc(s.Runs, func(_ string, e *entry) bool { return old(e.Seen) })
	maps.DeleteFunc(s.Damaged, func(_ string, e *entry) bool { return old(e.Seen) })
	maps.DeleteFunc(s.Calls, func(_ string, c *call) bool { return old(c.Seen) })
	for _, texts := range []map[string]int{s.Acknowledged, s.Noted} {
		maps.DeleteFunc(texts, func(_ string, seen int) bool { return old(seen) })
	}
	newest := slices.SortedFunc(maps.Keys(s.Calls), func(a, b string) int {
		return cmp.Or(s.Calls[b].Seen-s.Calls[a].Seen, cmp.Compare(a, b))
	})
	for _, k := range newest[min(len(newest), mostCalls):] {
		delete(s.Calls, k)
	}
}

// save replaces the state file in one step, so that a reader sees the old one or the new one. If two ingests end at
// the same moment, one of them may have to read its files again next time.
func (s *state) save(path string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+part)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

func dayOf(t time.Time) int { return int(t.Unix() / (24 * 3600)) }
