package historytest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

func testEmpty(t *testing.T, s history.Store) {
	put(t, s)
	expect(t, s, history.Selection{}, nil)
	if runs := collect(t, s.Runs(t.Context(), history.RunFilter{})); len(runs) != 0 {
		t.Errorf("runs: %v", names(runs))
	}
	if _, err := s.Run(t.Context(), "abc"); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("run: %v", err)
	}
}

func testRoundTrip(t *testing.T, s history.Store) {
	docs, run := Intervals("a", "1", 10), NewRun("a", "1")
	// a window without requests
	docs[3].Latency, docs[3].DocCount, docs[3].Requests = mapping.Latency{}, 0, mapping.Requests{}
	put(t, s, docs[:4]...)
	expect(t, s, history.Selection{}, nil)
	if _, err := s.Run(t.Context(), ID("a")); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("a run that is not finished: %v", err)
	}
	put(t, s, docs...) // again from the start, as after an interruption
	finish(t, s, run)
	put(t, s, docs...)
	finish(t, s, run)
	expect(t, s, history.Selection{Runs: []string{run.Run.ID}, Level: mapping.Cluster}, docs)
	isStored(t, s, run)
	if want := string(docs[5].AppendJSON(nil)); want != string(Interval("a", "1", 5).AppendJSON(nil)) {
		t.Error("the store changed a document that it was given")
	}
}

func testReplace(t *testing.T, s history.Store) {
	_, other := store(t, s, "other", "1", 2)
	_, first := store(t, s, "a", "1", 5)
	mine, second := history.Selection{Runs: []string{ID("a")}}, Intervals("a", "22", 3)
	put(t, s, second...)
	expect(t, s, mine, first) // the new documents are not visible before Finish
	finish(t, s, NewRun("a", "22"))
	expect(t, s, mine, second)
	store(t, s, "a", "1", 5) // and the first version again
	expect(t, s, mine, first)
	expect(t, s, history.Selection{Runs: []string{ID("other")}}, other)
	if runs := collect(t, s.Runs(t.Context(), history.RunFilter{})); len(runs) != 2 {
		t.Errorf("runs: %v", names(runs))
	}
}

// testAgain: documents that are there are replaced by those that are put again. Labels may have changed since an
// interruption, and a later fio2es may make other numbers of the same files.
func testAgain(t *testing.T, s history.Store) {
	put(t, s, Intervals("a", "1", 5)...) // and then it was interrupted
	run, docs := NewRun("a", "1"), Intervals("a", "1", 5)
	run.Run.Annotate(mapping.Annotation{Labels: map[string]string{"disk": "nvme"}})
	for _, d := range docs {
		d.Relabel(&run.Run)
	}
	put(t, s, docs...)
	finish(t, s, run)
	expect(t, s, history.Selection{}, docs)
	docs[2].Requests.Weight++
	put(t, s, docs...)
	finish(t, s, run)
	expect(t, s, history.Selection{}, docs)
}

// testGrowing: a followed run is finished again and again.
func testGrowing(t *testing.T, s history.Store) {
	docs := Intervals("a", "1", 6)
	for n := range docs {
		put(t, s, docs[n])
		run := NewRun("a", "1")
		run.Run.Complete, run.Documents.Cluster = n == len(docs)-1, n+1
		finish(t, s, run)
		expect(t, s, history.Selection{}, docs[:n+1])
		got, err := s.Run(t.Context(), run.Run.ID)
		if err != nil || got.Run.Complete != run.Run.Complete || got.Documents.Cluster != n+1 {
			t.Errorf("run after %d: %+v, %v", n, got, err)
		}
	}
}

func testIngested(t *testing.T, s history.Store) {
	run := NewRun("a", "1")
	finish(t, s, run)
	later := NewRun("a", "1")
	later.Ingested = later.Ingested.Add(time.Hour)
	check := func(what string, want time.Time) {
		got, err := s.Run(t.Context(), run.Run.ID)
		if err != nil || !got.Ingested.Equal(want) {
			t.Errorf("%s: ingested %v instead of %v, %v", what, got.Ingested, want, err)
		}
	}
	finish(t, s, later)
	check("the same again", run.Ingested)
	later.Warnings = []string{"new"}
	finish(t, s, later)
	check("another document", later.Ingested)
}

// testConcurrent: while a writer replaces a run, readers see one complete version, the old or the new.
func testConcurrent(t *testing.T, s history.Store) {
	const rounds = 8
	_, old := store(t, s, "a", "1", 30)
	versions := [][]*mapping.Interval{old, Intervals("a", "22", 20)}
	done := make(chan struct{})
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			for open := true; open; {
				select {
				case <-done:
					open = false
				default:
				}
				seen := map[string]int{}
				for d, err := range s.Intervals(t.Context(), history.Selection{}) {
					if err != nil {
						t.Errorf("read: %v", err)
						return
					}
					seen[d.Run.Ingest]++
				}
				if len(seen) != 1 || seen["1"] != 30 && seen["22"] != 20 {
					t.Errorf("a reader saw %v", seen)
					return
				}
			}
		})
	}
	for n := range rounds {
		docs := versions[(n+1)%2]
		put(t, s, docs[:10]...)
		put(t, s, docs[10:]...)
		finish(t, s, NewRun("a", docs[0].Run.Ingest))
	}
	close(done)
	wait.Wait()
}

// testVersions: Versions returns only the runs asked for.
func testVersions(t *testing.T, s history.Store) {
	store(t, s, "a", "1", 10)
	store(t, s, "c", "1", 10)
	put(t, s, Intervals("b", "1", 10)...) // not finished
	note := mapping.Annotation{Labels: map[string]string{"disk": "nvme"}, Note: new("a note")}
	annotate(t, s, "c", note)
	put(t, s, Intervals("c", "22", 5)...) // not finished
	for want, some := range map[string][]string{"": nil, "a": {"a", "b"}, "ac": {"a", "b", "c", "none"}} {
		var list []string
		for _, name := range some {
			list = append(list, ID(name))
		}
		got, err := s.Versions(t.Context(), list)
		if err != nil || len(got) != len(want) {
			t.Errorf("%v: %v, %v", some, got, err)
		}
		for _, name := range want {
			run := NewRun(string(name), "1")
			if name == 'c' {
				run.Run.Annotate(note)
			}
			have := got[run.Run.ID]
			if have == nil || have.Run.Ingest != "1" || have.Documents != run.Documents || !cmp.Equal(run.Run.Annotation(), have.Run.Annotation()) {
				t.Errorf("%c: %+v", name, have)
			}
		}
	}
}
