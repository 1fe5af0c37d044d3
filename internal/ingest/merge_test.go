package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/mapping"
)

// merging is two histories with some runs in common.
type merging struct {
	t       *testing.T
	a, b    *sqlite.Store
	restore bool // also push removed runs
}

func openAt(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// store stores a version of a run, made of these files, with a start at this hour.
func (m *merging) store(s *sqlite.Store, name, ingest string, hour int, files ...string) *mapping.Run {
	m.t.Helper()
	run := historytest.NewRun(name, ingest)
	run.Ingested, run.Source.List = historytest.Start.Add(time.Duration(hour)*time.Hour), nil
	for _, f := range files {
		run.Source.List = append(run.Source.List, mapping.SourceFile{Path: f, Role: mapping.RoleLog, Bytes: 4096, Hash: f})
	}
	if err := errors.Join(s.Put(m.t.Context(), historytest.Intervals(name, ingest, 10)), s.Finish(m.t.Context(), run)); err != nil {
		m.t.Fatal(err)
	}
	return run
}

func (m *merging) label(s *sqlite.Store, name string, a mapping.Annotation) {
	m.t.Helper()
	if _, err := s.Annotate(m.t.Context(), historytest.ID(name), a); err != nil {
		m.t.Fatal(err)
	}
}

// push copies from one history to another, and returns the messages.
func (m *merging) push(from, to history.Store) (Pushed, string) {
	m.t.Helper()
	pushed, said, err := m.try(from, to)
	if err != nil {
		m.t.Fatal(err)
	}
	if _, err := history.Check(m.t.Context(), to, false, func(f history.Finding) { m.t.Errorf("check: %+v", f) }); err != nil {
		m.t.Error(err)
	}
	return pushed, said
}

func (m *merging) try(from, to history.Store) (Pushed, string, error) {
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelInfo}))
	pushed, err := Push(m.t.Context(), from, Target{Sink: to, Store: to}, PushOptions{Log: log, Restore: m.restore, Progress: func(int, string) {}})
	return pushed, said.String(), err
}

// dump returns the contents of a history, except the records of removed runs.
func dump(t *testing.T, s history.Store) string {
	t.Helper()
	var text []byte
	for run, err := range s.Runs(t.Context(), history.RunFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		text = append(run.AppendJSON(text), '\n')
		for d, err := range s.Intervals(t.Context(), history.Selection{Runs: []string{run.Run.ID}}) {
			if err != nil {
				t.Fatal(err)
			}
			text = append(d.AppendJSON(text), '\n')
		}
	}
	return string(text)
}

// newMerging fills two histories with all kinds of runs.
func newMerging(t *testing.T, a, b string) *merging {
	t.Helper()
	m := &merging{t: t, a: openAt(t, a), b: openAt(t, b)}
	m.store(m.a, "only-a", "1", 1, "f1")
	m.store(m.b, "only-b", "1", 1, "f2")
	for _, s := range []*sqlite.Store{m.a, m.b} {
		m.store(s, "same", "1", 1, "f3")
		m.store(s, "labelled", "1", 1, "f4")
	}
	m.label(m.a, "labelled", mapping.Annotation{Labels: map[string]string{"disk": "nvme", "release": "reef"}, Note: new("from a")})
	m.label(m.b, "labelled", mapping.Annotation{Labels: map[string]string{"by": "b", "release": "quincy"}})
	m.store(m.a, "later-in-a", "2", 9, "f5")
	m.store(m.b, "later-in-a", "1", 1, "f5")
	m.label(m.b, "later-in-a", mapping.Annotation{Labels: map[string]string{"by": "b"}, Note: new("from b")})
	m.store(m.a, "later-in-b", "1", 1, "f6")
	m.label(m.a, "later-in-b", mapping.Annotation{Labels: map[string]string{"by": "a"}})
	m.store(m.b, "later-in-b", "2", 9, "f6")
	m.store(m.a, "more-files-in-b", "2", 9, "f7")
	m.store(m.b, "more-files-in-b", "1", 1, "f7", "f8")
	gone := m.store(m.b, "removed-from-b", "1", 1, "f9")
	m.label(m.b, "removed-from-b", mapping.Annotation{Labels: map[string]string{"by": "b"}, Note: new("was bad")})
	if gone, err := m.b.Run(t.Context(), gone.Run.ID); err != nil || history.Remove(t.Context(), m.b, gone, "gone", historytest.Start) != nil {
		t.Fatal(err)
	}
	m.store(m.a, "removed-from-b", "1", 1, "f9")
	m.store(m.a, "part-in-a", "1", 9, "f10")
	m.label(m.a, "part-in-a", mapping.Annotation{Labels: map[string]string{"by": "a"}})
	m.store(m.b, "whole-in-b", "1", 1, "f10", "f11")
	return m
}

// TestMerge: two histories that are pushed to each other get the same versions, and both keep their labels and
// notes. A second push changes nothing.
func TestMerge(t *testing.T) {
	dir := t.TempDir()
	m := newMerging(t, filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db"))
	defer m.a.Close()
	defer m.b.Close()
	for i, c := range []struct {
		from, to        *sqlite.Store
		runs, unchanged int
		said            []string
	}{
		{m.a, m.b, 2, 5, []string{
			"2 runs kept there in another version, which is better or was compacted", "1 run replaced there, because the version from here is better",
			"1 run with other labels or another note there, which stay: " + facts.ShortID(historytest.ID("labelled")),
			"left out 1 run, removed from the history before", "is already there as",
		}},
		{m.b, m.a, 4, 4, []string{"2 runs replaced there", "1 run with other labels or another note there, which stay: ", "it is the same run as"}},
	} {
		pushed, said := m.push(c.from, c.to)
		if pushed.Runs != c.runs || pushed.Unchanged != c.unchanged || pushed.LeftOut {
			t.Errorf("%d: %+v", i, pushed)
		}
		for _, want := range c.said {
			if !strings.Contains(said, want) {
				t.Errorf("%d: not said: %q in\n%s", i, want, said)
			}
		}
	}
	a, b := dump(t, m.a), dump(t, m.b)
	for range 2 {
		for _, c := range [][2]*sqlite.Store{{m.a, m.b}, {m.b, m.a}} {
			if pushed, said := m.push(c[0], c[1]); pushed.Runs != 0 {
				t.Errorf("again: %+v\n%s", pushed, said)
			}
		}
	}
	if a != dump(t, m.a) || b != dump(t, m.b) {
		t.Error("pushing again changed something")
	}
	for name, want := range map[string]struct {
		inA, inB string // version, labels, note
	}{
		"only-a": {"1", "1"}, "only-b": {"1", "1"}, "same": {"1", "1"},
		"labelled":        {"1 by=b disk=nvme release=reef from a", "1 by=b disk=nvme release=quincy from a"},
		"later-in-a":      {"2 by=b from b", "2 by=b from b"},
		"later-in-b":      {"2 by=a", "2 by=a"},
		"more-files-in-b": {"1", "1"},
		"removed-from-b":  {"1", "-"},
		"part-in-a":       {"-", "-"},
		"whole-in-b":      {"1 by=a", "1 by=a"},
	} {
		if got := described(t, m.a, name); got != want.inA {
			t.Errorf("%s in a: %s, want %s", name, got, want.inA)
		}
		if got := described(t, m.b, name); got != want.inB {
			t.Errorf("%s in b: %s, want %s", name, got, want.inB)
		}
	}
}

func described(t *testing.T, s history.Store, name string) string {
	t.Helper()
	run, err := s.Run(t.Context(), historytest.ID(name))
	if errors.Is(err, history.ErrNotFound) {
		return "-"
	}
	if err != nil {
		t.Fatal(err)
	}
	text := run.Run.Ingest
	for _, label := range slices.Sorted(maps.Keys(run.Run.Edited)) {
		text += " " + label + "=" + run.Run.Labels[label]
	}
	return strings.TrimSpace(text + " " + run.Run.Note)
}

// TestMergeInterrupted: a push is interrupted at any call that writes, and repeated. The result is that of one push.
func TestMergeInterrupted(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")
	m := newMerging(t, a, b)
	m.restore = true
	if err := m.b.Close(); err != nil {
		t.Fatal(err)
	}
	defer m.a.Close()
	before, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for calls := -1; ; calls++ {
		path := filepath.Join(dir, fmt.Sprintf("b%d.db", calls))
		if err := os.WriteFile(path, before, 0o600); err != nil {
			t.Fatal(err)
		}
		to := openAt(t, path)
		if calls < 0 {
			m.push(m.a, to)
			want = dump(t, to)
			if got := described(t, to, "removed-from-b"); got != "1 by=b was bad" {
				t.Errorf("what is taken back: %s", got)
			}
			_ = to.Close()
			continue
		}
		ending := &ending{Store: to, left: calls}
		_, _, err := m.try(m.a, ending)
		if err == nil {
			_ = to.Close()
			if calls < 6 {
				t.Errorf("%d calls write", calls)
			}
			return
		}
		if !errors.Is(err, errEnding) {
			t.Fatal(err)
		}
		m.push(m.a, to)
		if got := dump(t, to); got != want {
			t.Errorf("interrupted at call %d: other runs or documents", calls)
		}
		if left, err := to.Removed(t.Context(), []string{"f9"}); err != nil || len(left) > 0 {
			t.Errorf("interrupted at call %d: %d runs are removed, %v", calls, len(left), err)
		}
		_ = to.Close()
	}
}

// ending is a history whose process ends after some calls that write.
type ending struct {
	history.Store
	left int
}

var errEnding = errors.New("the process ends")

func (e *ending) call(do func() error) error {
	if e.left--; e.left < 0 {
		return errEnding
	}
	return do()
}

func (e *ending) Put(ctx context.Context, docs []*mapping.Interval) error {
	return e.call(func() error { return e.Store.Put(ctx, docs) })
}

func (e *ending) Finish(ctx context.Context, run *mapping.Run) error {
	return e.call(func() error { return e.Store.Finish(ctx, run) })
}

func (e *ending) Annotate(ctx context.Context, id string, a mapping.Annotation) (run *mapping.Run, err error) {
	err = e.call(func() (err error) {
		run, err = e.Store.Annotate(ctx, id, a)
		return err
	})
	return run, err
}

func (e *ending) Restore(ctx context.Context, ids ...string) error {
	return e.call(func() error { return e.Store.Restore(ctx, ids...) })
}

func (e *ending) Delete(ctx context.Context, id string) error {
	return e.call(func() error { return e.Store.Delete(ctx, id) })
}

// TestMergeLacking: a better version that lacks documents is not replaced by a worse one that is complete.
func TestMergeLacking(t *testing.T) {
	dir := t.TempDir()
	m := &merging{t: t, a: openAt(t, filepath.Join(dir, "a.db")), b: openAt(t, filepath.Join(dir, "b.db"))}
	defer m.a.Close()
	defer m.b.Close()
	m.store(m.a, "other-id", "1", 9, "f1")
	m.store(m.a, "same-id", "2", 9, "f3")
	for name, files := range map[string][]string{"whole": {"f1", "f2"}, "same-id": {"f3", "f4"}} {
		run := m.store(m.b, name, "1", 1, files...)
		run.Documents.Cluster += 5
		if err := m.b.Finish(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	before := dump(t, m.b)
	pushed, said, err := m.try(m.a, m.b)
	if err != nil {
		t.Fatal(err)
	}
	if pushed.Runs != 0 || !pushed.LeftOut || strings.Count(said, "the other history has a better version of it, which lacks 5 of 15 documents of level cluster") != 2 {
		t.Errorf("%+v\n%s", pushed, said)
	}
	if after := dump(t, m.b); after != before {
		t.Error("the other history changed")
	}
}
