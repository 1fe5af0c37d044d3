package historytest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// newShared returns the document of a shared run, and a part of it with its first n windows.
func newShared(name, host string, n int) (*mapping.Run, *mapping.Part, []*mapping.Interval) {
	ingest := mapping.SharedIngest(1)
	run := NewRun(name, ingest)
	run.Run.Complete, run.Documents, run.Levels = false, mapping.Documents{}, []mapping.Level{mapping.Host}
	part := &mapping.Part{Run: run.Run.ID, Ingest: ingest, Host: host, Unit: "job", OffsetMS: -250, Seen: Start.Add(time.Duration(n) * time.Second), Document: NewRun(name, ingest),
		Files: []string{"report of " + host}}
	docs := Intervals(name, ingest, n)
	for _, d := range docs {
		d.Level, d.Host.Name, d.Fio.Job = mapping.Host, host, "job"
	}
	return run, part, docs
}

// testShared: several hosts send one run. The first one makes its document, all their windows are visible, and a host that begins
// again replaces its own.
func testShared(t *testing.T, s history.Store) {
	first, a, windowsA := newShared("x", "a", 3)
	second, b, windowsB := newShared("x", "b", 2)
	second.Run.Archive = "of b"
	for _, run := range []*mapping.Run{first, second} {
		got, err := s.Join(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, first, got, "joined run")
	}
	isStored(t, s, first)
	if now, err := s.Now(t.Context()); err != nil || time.Since(now).Abs() > time.Minute {
		t.Errorf("now is %v: %v", now, err)
	}
	send := func(p *mapping.Part, docs ...*mapping.Interval) {
		t.Helper()
		put(t, s, docs...)
		if err := s.PutPart(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	send(a, windowsA[:2]...)
	send(b, windowsB...)
	a.Seen, a.Last, a.Windows = a.Seen.Add(time.Second), Start.Add(time.Second), 7
	send(a.Sign(), windowsA[2])
	signs(t, s, a, b)
	got, err := s.Parts(t.Context(), first.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, []*mapping.Part{a, b}, got, "parts with signs of life")
	a.Ended, a.Exit = Start.Add(time.Hour), 3
	send(a, windowsA...) // all of them again
	signs(t, s, a, b)
	if got, err = s.Parts(t.Context(), first.Run.ID); err != nil {
		t.Fatal(err)
	}
	equal(t, []*mapping.Part{a, b}, got, "parts")
	var all []*mapping.Interval
	for i := range windowsA {
		all = append(all, windowsA[i])
		if i < len(windowsB) {
			all = append(all, windowsB[i])
		}
	}
	expect(t, s, history.Selection{Runs: []string{first.Run.ID}, Level: mapping.Host}, all)
	if got, err := s.Parts(t.Context(), ID("y")); len(got) > 0 || err != nil {
		t.Errorf("parts of a run that is not there: %v, %v", got, err)
	}
	holding(t, s, []string{"x"}, "report of b")
	if runs := collect(t, s.Runs(t.Context(), history.RunFilter{})); len(runs) != 1 {
		t.Errorf("parts are listed as runs: %q", names(runs))
	}
}

// signs fails unless the signs of life of a run are those of these parts, together and one by one.
func signs(t *testing.T, s history.Store, parts ...*mapping.Part) {
	t.Helper()
	got, err := s.Signs(t.Context(), parts[0].Run, true)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got, func(a, b *mapping.Part) int { return strings.Compare(a.Host, b.Host) })
	var want []*mapping.Part
	for _, p := range parts {
		want = append(want, p.Sign())
		one, err := s.Sign(t.Context(), &mapping.Part{Run: p.Run, Host: p.Host, Unit: p.Unit})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, p.Sign(), one, "sign of life")
	}
	equal(t, want, got, "signs of life")
	if none, err := s.Sign(t.Context(), &mapping.Part{Run: parts[0].Run, Host: "c"}); none != nil || err != nil {
		t.Errorf("sign of life of a host that sends nothing: %+v, %v", none, err)
	}
}

// testSharedReplaced: when a shared run is replaced or removed, its parts go with it, and a host that still sends learns of it and
// leaves nothing behind.
func testSharedReplaced(t *testing.T, s history.Store) {
	for name, end := range map[string]func(name string) error{
		"replaced": func(name string) error {
			put(t, s, Intervals(name, "whole", 4)...)
			return s.Finish(t.Context(), NewRun(name, "whole"))
		},
		"removed": func(name string) error { return s.Delete(t.Context(), ID(name)) },
	} {
		run, part, docs := newShared(name, "a", 3)
		if _, err := s.Join(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		put(t, s, docs[:2]...)
		if err := errors.Join(s.PutPart(t.Context(), part), end(name)); err != nil {
			t.Fatal(err)
		}
		left := func(when string) {
			t.Helper()
			parts, err := s.Parts(t.Context(), run.Run.ID)
			counts, err2 := s.Count(t.Context(), []string{run.Run.ID})
			holding(t, s, nil, "report of a")
			if n := counts[run.Run.ID][run.Run.Ingest].All(); len(parts)+n > 0 || err != nil || err2 != nil {
				t.Errorf("%s, %s: %d parts and %d windows are left: %v, %v", name, when, len(parts), n, err, err2)
			}
		}
		left("at once")
		for _, p := range []*mapping.Part{part.Sign(), part} {
			if err := errors.Join(s.Put(t.Context(), docs[2:]), s.PutPart(t.Context(), p)); !errors.Is(err, history.ErrReplaced) {
				t.Errorf("%s: %v", name, err)
			}
			left("after its host has sent more")
		}
		if counts, _ := s.Count(t.Context(), []string{run.Run.ID}); name == "replaced" && counts[run.Run.ID]["whole"].All() != 4 {
			t.Errorf("windows of the other version went, too: %v", counts)
		}
	}
}
