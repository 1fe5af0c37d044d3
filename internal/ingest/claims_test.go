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
	"github.com/fio2es/fio2es/pipeline/assign"
)

// ofReport returns a run with one report, whose contents are given by a number.
func ofReport(content int) *pipeline.Execution {
	hash := fmt.Sprintf("%016x", content)
	src := mapping.Source{List: []mapping.SourceFile{{Path: "out.json", Role: mapping.RoleReport, Bytes: 5000, Hash: hash}}}
	return &pipeline.Execution{Source: src, Run: mapping.RunInfo{ID: mapping.RunID(&src), Name: hash}}
}

var quiet = Options{Log: slog.New(slog.DiscardHandler)}

// TestClaims: runs are looked up in their order, even if a later one is read faster. Equal runs are looked up one
// after the other. All end, even those that are not looked up.
func TestClaims(t *testing.T) {
	const runs, contents = 20, 4
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			all := newClaims(nil, &quiet, runs)
			var mu sync.Mutex
			claimed := make([]time.Time, runs) // of the fake clock, which stands while a goroutine can run
			active, stored := map[int]bool{}, map[int]bool{}
			var working sync.WaitGroup
			for i := range runs {
				content, unread := rng.IntN(contents), rng.IntN(5) == 0
				reads, stores := time.Duration(rng.IntN(1000))*time.Millisecond, time.Duration(rng.IntN(1000))*time.Millisecond
				working.Go(func() {
					defer all.pass(i)
					e := ofReport(content)
					if time.Sleep(reads); unread {
						return
					}
					claim, err := all.take(t.Context(), i, e)
					mu.Lock()
					if claimed[i] = time.Now(); err != nil || claim.ID != e.Run.ID || (claim.Have != nil) != stored[content] || active[content] {
						t.Errorf("seed %d, run %d: %+v, %v; stored %v, active %v", seed, i, claim, err, stored[content], active[content])
					}
					active[content] = true
					mu.Unlock()
					time.Sleep(stores)
					mu.Lock()
					active[content], stored[content] = false, true
					mu.Unlock()
					if claim.Have == nil {
						all.wrote(&mapping.Run{Run: mapping.RunInfo{ID: claim.ID}, Source: e.Source})
					}
					all.end(claim)
				})
			}
			working.Wait()
			claimed = slices.DeleteFunc(claimed, time.Time.IsZero)
			if len(all.active) > 0 || !slices.IsSortedFunc(claimed, time.Time.Compare) {
				t.Errorf("seed %d: %d are active after all ended; claimed at %v", seed, len(all.active), claimed)
			}
		})
	}
}

// TestClaimInterrupted: if a run waits for an equal run, the end of its context ends the wait.
func TestClaimInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newClaims(nil, &quiet, 3)
		if _, err := all.take(t.Context(), 0, ofReport(1)); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := all.take(ctx, 1, ofReport(1)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting: %v", err)
		}
		if _, err := all.take(t.Context(), 2, ofReport(2)); err != nil {
			t.Errorf("the next one: %v", err)
		}
	})
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
	e := ofReport(1)
	h := &holder{finish: func() {}, stored: &mapping.Run{Run: mapping.RunInfo{ID: e.Run.ID}, Source: e.Source}}
	all := newClaims(h, &quiet, 2)
	first, err := all.take(t.Context(), 0, e)
	if err != nil || first.Have != nil {
		t.Fatal(first, err)
	}
	var ending sync.WaitGroup
	defer ending.Wait()
	h.asked, h.finish = 0, func() { ending.Go(func() { all.end(first) }) }
	if second, err := all.take(t.Context(), 1, ofReport(1)); err != nil || second.Have != h.stored || h.asked != 2 {
		t.Errorf("found %+v, %v, after the history was read %d times", second, err, h.asked)
	}
}

// finish stores a run without interval documents as an ingest does, if it is to be stored.
func finish(t *testing.T, store history.Store, opt Options, claims *claims, n int, e *pipeline.Execution, run *mapping.Run) error {
	claim, err := claims.take(t.Context(), n, e)
	if err != nil {
		return err
	}
	d := Decide(e, &claim.Found, &opt)
	o := &outcome{Result: &pipeline.Result{Run: run}, act: d.Act, claim: claim}
	if d.Act == Keep {
		o.Run = claim.Have
	}
	all := &call{Target: Target{Sink: store, Store: store}, Options: opt, claims: claims, stop: func(error) {}}
	(&execution{call: all, n: n, files: &assign.Run{}}).finish(t.Context(), o)
	return o.err
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
			run.Source.Hash = strings.Join(files, " ")
			run.Run.Ingest = (&pipeline.Execution{Source: run.Source}).Version(run.Run.Labels)
			if store != nil {
				docs := historytest.Intervals(name, run.Run.Ingest, 10)
				if err := errors.Join(store.Put(t.Context(), docs), store.Finish(t.Context(), run)); err != nil {
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
			again := divide(nil, c.again, strings.Fields(c.withFiles)...)
			if isPush {
				from := openAt(t, filepath.Join(t.TempDir(), "from.db"))
				divide(from, c.again, strings.Fields(c.withFiles)...)
				if _, err := Push(t.Context(), from, Target{Sink: store, Store: store}, PushOptions{Log: quiet.Log, Progress: func(int, string) {}}); err != nil {
					t.Fatal(name, err)
				}
				from.Close()
			} else {
				opt := quiet
				opt.Pipeline.Force = c.isForced
				all := newClaims(store, &opt, 1)
				for _, run := range again {
					e := &pipeline.Execution{Source: run.Source, Run: run.Run}
					if err := finish(t, store, opt, all, 0, e, run); err != nil {
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
		e := ofReport(1)
		run := historytest.NewRun("a", "1")
		run.Run.ID, run.Source = e.Run.ID, e.Source
		gone := *run
		gone.Run.Annotate(mapping.Annotation{Labels: map[string]string{"disk": "nvme", "release": "reef"}})
		if err := store.MarkRemoved(t.Context(), mapping.NewRemoved(&gone, "a", historytest.Start)); err != nil {
			t.Fatal(err)
		}
		to := &ending{Store: store, left: calls}
		opt := quiet
		opt.Restore = true
		one := func() error { return finish(t, to, opt, newClaims(to, &opt, 1), 0, e, run) }
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
