package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// execution returns a run with one report, whose contents are given by a number.
func execution(content int) *pipeline.Execution {
	hash := fmt.Sprintf("%016x", content)
	src := mapping.Source{List: []mapping.SourceFile{{Path: "out.json", Role: mapping.RoleReport, Bytes: 5000, Hash: hash}}}
	return &pipeline.Execution{Source: src, Run: mapping.RunRef{ID: mapping.RunID(&src), Name: hash}}
}

// TestClaims: runs are looked up in their order, even if a later one is read faster. Equal runs are looked up one
// after the other. All end, even those that are not looked up.
func TestClaims(t *testing.T) {
	const runs, contents = 20, 4
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			all := newClaims(nil, &Options{Log: slog.New(slog.DiscardHandler)})
			var mu sync.Mutex
			active, stored := map[int]bool{}, map[int]bool{}
			var working sync.WaitGroup
			for i := range runs {
				content, unread := rng.IntN(contents), rng.IntN(5) == 0
				reads, stores := time.Duration(rng.IntN(1000))*time.Millisecond, time.Duration(rng.IntN(1000))*time.Millisecond
				working.Go(func() {
					claim, e := &claim{claims: all, n: i}, execution(content)
					time.Sleep(reads)
					if unread {
						_ = claim.end(t.Context(), &pipeline.Result{}, nil)
						return
					}
					id, have, err := claim.known(t.Context(), e)
					mu.Lock()
					if err != nil || id != e.Run.ID || (have != nil) != stored[content] || active[content] {
						t.Errorf("seed %d, run %d: %s, found %v, %v; stored %v, active %v", seed, i, id, have != nil, err, stored[content], active[content])
					}
					active[content] = true
					mu.Unlock()
					if order := all.order(); !slices.IsSorted(order) {
						t.Errorf("seed %d: claimed in the order %v", seed, order)
					}
					time.Sleep(stores)
					mu.Lock()
					active[content], stored[content] = false, true
					mu.Unlock()
					res := &pipeline.Result{Run: &mapping.Run{Run: mapping.RunInfo{ID: id}, Source: e.Source}, Unchanged: have != nil}
					if err := claim.end(t.Context(), res, nil); err != nil {
						t.Error(err)
					}
				})
			}
			working.Wait()
			if left := all.order(); len(left) > 0 {
				t.Errorf("seed %d: %v are active after all ended", seed, left)
			}
		})
	}
}

// order returns the numbers of the active runs, in the order in which they were claimed.
func (c *claims) order() (numbers []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, claim := range c.active {
		numbers = append(numbers, claim.n)
	}
	return numbers
}

// TestClaimInterrupted: if a run waits for an equal run, the end of its context ends the wait.
func TestClaimInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newClaims(nil, &Options{Log: slog.New(slog.DiscardHandler)})
		if _, _, err := (&claim{claims: all, n: 0}).known(t.Context(), execution(1)); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, _, err := (&claim{claims: all, n: 1}).known(ctx, execution(1)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting: %v", err)
		}
		if _, _, err := (&claim{claims: all, n: 2}).known(t.Context(), execution(2)); err != nil {
			t.Errorf("the next one: %v", err)
		}
	})
}

// TestWrittenPart: a run is not written to a file that already has a part of it.
func TestWrittenPart(t *testing.T) {
	all := newClaims(nil, &Options{Log: slog.New(slog.DiscardHandler)})
	first, whole := &claim{claims: all, n: 0}, execution(1)
	if _, _, err := first.known(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	if err := first.end(t.Context(), &pipeline.Result{Run: &mapping.Run{Source: whole.Source}}, nil); err != nil {
		t.Fatal(err)
	}
	more := execution(1)
	more.Source.List = append(more.Source.List, mapping.SourceFile{Path: "log", Role: mapping.RoleLog, Bytes: 5000, Hash: "f"})
	if _, _, err := (&claim{claims: all, n: 1}).known(t.Context(), more); !errors.As(err, new(refusedError)) {
		t.Errorf("a run that shares a file with a part of it: %v", err)
	}
}

// holder is a history of one run. The run is stored during the first look-up.
type holder struct {
	history.Store
	stored *mapping.Run
	finish func()
	asked  int
}

func (h *holder) Holding(context.Context, []string, []string) ([]*mapping.Run, error) {
	if h.asked++; h.asked > 1 {
		return []*mapping.Run{h.stored}, nil
	}
	h.finish()
	return nil, nil
}

func (h *holder) Removed(context.Context, []string) ([]*mapping.Removed, error) { return nil, nil }

// TestStoredMeanwhile: a run that is stored after the history was read, and before the run is claimed, is found.
func TestStoredMeanwhile(t *testing.T) {
	e := execution(1)
	h := &holder{finish: func() {}, stored: &mapping.Run{Run: mapping.RunInfo{ID: e.Run.ID}, Source: e.Source}}
	all := newClaims(h, &Options{Log: slog.New(slog.DiscardHandler)})
	first, second := &claim{claims: all, n: 0}, &claim{claims: all, n: 1}
	if _, have, err := first.known(t.Context(), e); err != nil || have != nil {
		t.Fatal(have, err)
	}
	var ending sync.WaitGroup
	defer ending.Wait()
	h.asked, h.finish = 0, func() {
		ending.Go(func() {
			if err := first.end(t.Context(), &pipeline.Result{}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	if _, have, err := second.known(t.Context(), execution(1)); err != nil || have != h.stored || h.asked != 2 {
		t.Errorf("found %v, %v, after the history was read %d times", have, err, h.asked)
	}
}

// TestDivisions: an execution was divided into other stages, because fewer or more of its files were there. The runs of the
// division with more files stay, all of them, and those of the other go. So it is if the other is pushed.
func TestDivisions(t *testing.T) {
	divide := func(store history.Store, stages int, files ...string) (runs []*mapping.Run) {
		for stage := range max(stages, 1) {
			name := fmt.Sprint(stages, ".", stage+1)
			run := historytest.NewRun(name, "1")
			if run.Source.List = nil; stages > 0 {
				run.Run.Stage, run.Run.Stages = stage+1, stages
			}
			for _, f := range files {
				run.Source.List = append(run.Source.List, mapping.SourceFile{Path: f, Role: mapping.RoleLog, Bytes: 4096, Hash: f})
			}
			if store != nil {
				if err := errors.Join(store.Put(t.Context(), historytest.Intervals(name, "1", 10)), store.Finish(t.Context(), run)); err != nil {
					t.Fatal(err)
				}
			}
			runs = append(runs, run)
		}
		return runs
	}
	const logs, all = "a", "a b"
	for name, c := range map[string]struct {
		stored    int
		files     string
		again     int
		withFiles string
		isForced  bool   // ingest only
		want      string // names of runs
	}{
		"fewer files":                     {3, all, 1, logs, false, "3.1 3.2 3.3"},
		"fewer files, more stages":        {1, all, 2, logs, false, "1.1"},
		"more files":                      {1, logs, 3, all, false, "3.1 3.2 3.3"},
		"more files, fewer stages":        {3, logs, 2, all, false, "2.1 2.2"},
		"more files, all in one":          {3, logs, 1, all, false, "1.1"},
		"the same files":                  {3, all, 2, all, false, "3.1 3.2 3.3"},
		"stored before there were stages": {0, logs, 3, all, false, "3.1 3.2 3.3"},
		"fewer files, with --force":       {3, all, 1, logs, true, "1.1"},
	} {
		for _, isPush := range []bool{false, true} {
			if isPush && c.isForced {
				continue
			}
			store := openAt(t, filepath.Join(t.TempDir(), "h.db"))
			divide(store, c.stored, strings.Fields(c.files)...)
			discard := slog.New(slog.DiscardHandler)
			if isPush {
				from := openAt(t, filepath.Join(t.TempDir(), "from.db"))
				divide(from, c.again, strings.Fields(c.withFiles)...)
				if _, err := Push(t.Context(), from, Target{Sink: store, Store: store}, PushOptions{Log: discard, Progress: func(int, string) {}}); err != nil {
					t.Fatal(name, err)
				}
				from.Close()
			} else {
				all := newClaims(store, &Options{Log: discard})
				for i, run := range divide(nil, c.again, strings.Fields(c.withFiles)...) {
					claim := &claim{claims: all, isLookedUp: i > 0}
					e := &pipeline.Execution{Source: run.Source, Stage: run.Run.Stage, Stages: run.Run.Stages, Run: mapping.RunRef{ID: run.Run.ID}}
					_, have, err := claim.known(t.Context(), e)
					if err != nil {
						t.Fatal(name, err)
					}
					res := &pipeline.Result{Run: run}
					if have != nil && have.Source.Contains(&run.Source) && !c.isForced {
						res.Run, res.Unchanged = have, true
					} else if err := store.Finish(t.Context(), run); err != nil {
						t.Fatal(name, err)
					}
					if err := claim.end(t.Context(), res, nil); err != nil {
						t.Fatal(name, err)
					}
				}
			}
			var names []string
			for run, err := range store.Runs(t.Context(), history.RunFilter{}) {
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, run.Run.Name)
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("%s, push %v: %s, want %s", name, isPush, got, c.want)
			}
			store.Close()
		}
	}
}

// TestRestoreInterrupted: an ingest with --restore is interrupted at any call that writes, and repeated. The run
// then has its label and is no longer removed. A label that people set in the meantime stays.
func TestRestoreInterrupted(t *testing.T) {
	for calls := range 3 {
		store := openAt(t, filepath.Join(t.TempDir(), "h.db"))
		defer store.Close()
		e := execution(1)
		run := historytest.NewRun("a", "1")
		run.Run.ID, run.Source = e.Run.ID, e.Source
		gone := *run
		gone.Run.Annotate(mapping.Annotation{Labels: map[string]string{"disk": "nvme", "release": "reef"}})
		if err := store.MarkRemoved(t.Context(), mapping.NewRemoved(&gone, "a", historytest.Start)); err != nil {
			t.Fatal(err)
		}
		to := &ending{Store: store, left: calls}
		one := func() error {
			claim := &claim{claims: newClaims(to, &Options{Log: slog.New(slog.DiscardHandler), Restore: true})}
			_, have, err := claim.known(t.Context(), e)
			if err == nil && have == nil {
				err = to.Finish(t.Context(), run)
			}
			return claim.end(t.Context(), &pipeline.Result{Run: run, Unchanged: have != nil}, err)
		}
		if err := one(); !errors.Is(err, errEnding) {
			t.Fatalf("%d calls: %v", calls, err)
		}
		to.left = 10
		if calls == 1 {
			if _, err := store.Annotate(t.Context(), e.Run.ID, mapping.Annotation{Labels: map[string]string{"release": "quincy"}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := one(); err != nil {
			t.Fatal(err)
		}
		got, err := store.Run(t.Context(), e.Run.ID)
		left, err2 := store.Removed(t.Context(), e.Source.Hashes())
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"run": "a", "disk": "nvme", "release": "reef"}
		if calls == 1 {
			want["release"] = "quincy"
		}
		if !maps.Equal(got.Run.Labels, want) || len(left) > 0 {
			t.Errorf("%d calls: labels %v, %d removed", calls, got.Run.Labels, len(left))
		}
	}
}
