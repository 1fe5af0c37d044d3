package elastic_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/mapping"
)

// Words in made settings, labels, notes and conditions.
var made = []string{
	"", "reef", "Reef", "4k", "4096", "4KiB", "0", "007", "1e3", "-1", "+5", "a b", "a'b", `a\b`, "é", "19.2.0", "randread", "*", "yes",
	strings.Repeat("long", 50), strings.Repeat("long", 50) + "er", strings.Repeat("é", 300),
}

var labelNames = []string{"a", "A", "a.b", "a-b", "é", "a b", "x_1"}

// TestStores: for a condition, a store selects the same runs as the condition does among all complete run documents.
// Light and brief documents agree with the complete ones, after any change of the runs.
func TestStores(t *testing.T) {
	for name, open := range map[string]func(*testing.T) history.Store{
		"sqlite": openSQLite, "elastic": func(t *testing.T) history.Store { e, _ := openElastic(t); return flushed{e} },
		"server": func(t *testing.T) history.Store {
			server, prefix := realServer(t, 1)
			return flushed{server.store(prefix)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, rng := open(t), rand.New(rand.NewPCG(1, 2))
			for i := range 25 {
				finish(t, s, madeRun(rng, i, "1"))
			}
			checkStore(t, s, rng, 100)
			for i := range 25 {
				id := historytest.ID(fmt.Sprint(i))
				ctx := t.Context()
				switch i % 5 {
				case 0:
					note := pick(rng, made)
					_, err := s.Annotate(ctx, id, mapping.Annotation{Labels: map[string]string{"a": pick(rng, made), "x_1": ""}, Note: &note})
					must(t, err)
				case 1:
					if m, ok := s.(history.Marker); ok {
						must(t, m.Mark(ctx, map[string][]mapping.Change{id: {{Direction: "read", Metric: "p99", Verdict: "worse", Text: pick(rng, made)}}}))
					}
				case 2:
					finish(t, s, madeRun(rng, i, "2"))
				case 3:
					must(t, s.Delete(ctx, id))
				}
			}
			checkStore(t, s, rng, 100)
		})
	}
}

// TestSectionsAreFound: a run whose sections differ in a setting has none itself, and is found by what a section has.
func TestSectionsAreFound(t *testing.T) {
	e, _ := openElastic(t)
	s := flushed{e}
	run := historytest.NewRun("a", "1")
	run.CBT.OpSize = 0
	run.Sections = []mapping.RunSection{{Name: "small", CBT: mapping.CBT{OpSize: 4096}}, {Name: "large", CBT: mapping.CBT{OpSize: 65536}}}
	finish(t, s, run)
	for text, want := range map[string]int{"bs=4k": 1, "bs=64k": 1, "bs=8k": 0} {
		c, err := where.Parse(text, historytest.Start)
		must(t, err)
		if got := len(list(t, s, history.RunFilter{Where: c})); got != want {
			t.Errorf("%s: %d runs, want %d", text, got, want)
		}
	}
}

func checkStore(t *testing.T, s history.Store, rng *rand.Rand, conditions int) {
	t.Helper()
	whole, light := list(t, s, history.RunFilter{}), list(t, s, history.RunFilter{Light: true})
	for _, run := range slices.Concat(whole, light) { // after a script the order of its members is another one
		run.Config = mapping.ConfigOf(run.Configuration())
	}
	if diff := cmp.Diff(each(whole, (*mapping.Run).Light), light); diff != "" {
		t.Errorf("light runs (-whole +got):\n%s", diff)
	}
	met := 0
	for range conditions {
		text := madeCondition(rng, 2)
		c, err := where.Parse(text, historytest.Start.Add(26*time.Hour))
		if err != nil {
			continue
		}
		var want []string
		for _, run := range whole {
			if c.Matches(run) {
				want = append(want, run.Run.Name)
			}
		}
		if len(want) > 0 {
			met++
		}
		for _, f := range []history.RunFilter{{}, {Light: true}} {
			f.Where = c
			var got []string
			for _, run := range list(t, s, f) {
				got = append(got, run.Run.Name)
			}
			if !slices.Equal(want, got) {
				t.Errorf("%s, light %v: %q, want %q", text, f.Light, got, want)
			}
		}
	}
	if met < conditions/10 {
		t.Errorf("%d of %d conditions are met by a run", met, conditions)
	}
}

func each(runs []*mapping.Run, of func(*mapping.Run) *mapping.Run) (all []*mapping.Run) {
	for _, run := range runs {
		all = append(all, of(run))
	}
	return all
}

// madeRun returns a run with random settings and labels.
func madeRun(rng *rand.Rand, i int, ingest string) *mapping.Run {
	run := historytest.NewRun(fmt.Sprint(i), ingest)
	run.Run.Start = historytest.Start.Add(time.Duration(rng.IntN(3*86400))*time.Second - time.Duration(rng.IntN(5)*300)*time.Microsecond)
	if rng.IntN(10) == 0 {
		run.Run.Start = time.Time{}
	}
	run.Run.End = run.Run.Start.Add(time.Minute)
	run.Run.Labels = map[string]string{}
	for _, name := range labelNames {
		if word := pick(rng, made); rng.IntN(2) == 0 && word != "" {
			run.Run.Labels[name] = word
		}
	}
	if rng.IntN(4) == 0 {
		run.Run.Ingest = mapping.LiveIngest(run.Run.Start)
	}
	run.CBT = mapping.CBT{
		Mode: pick(rng, made), Workload: pick(rng, made), CephVersion: pick(rng, made), OpSize: pick(rng, []int64{0, 512, 4096, 4 << 20, 1 << 41}),
		IODepth: pick(rng, []int64{0, 1, 16}), OSDReadAhead: pick(rng, []int64{0, 128, 4096}), RunSeconds: pick(rng, []int64{0, 60, 300}),
		Iteration: pick(rng, []*int{nil, new(0), new(2)}),
	}
	if rng.IntN(2) == 0 {
		run.Warnings, run.Fio.Options = []string{pick(rng, made)}, map[string]string{"bs": pick(rng, made)}
	}
	for range rng.IntN(3) {
		run.Hosts = append(run.Hosts, mapping.RunHost{Name: pick(rng, made)})
		run.Sections = append(run.Sections, mapping.RunSection{CBT: mapping.CBT{Mode: pick(rng, made), OpSize: pick(rng, []int64{512, 4096}), IODepth: pick(rng, []int64{1, 16})}})
	}
	if run.Ingested = run.Run.End.Add(time.Hour); rng.IntN(3) == 0 {
		run.Ingested = time.Time{}
	}
	run.Run.Partial, run.Missing.Requests = rng.IntN(2) == 0, pick(rng, []int64{0, 1, 300})
	return run
}

func madeCondition(rng *rand.Rand, depth int) string {
	if depth > 0 && rng.IntN(2) == 0 {
		a, b := madeCondition(rng, depth-1), madeCondition(rng, depth-1)
		return pick(rng, []string{a + " and " + b, a + " or " + b, "not (" + a + ")", "(" + a + ") and " + b})
	}
	op := pick(rng, []string{"=", "=", "=", "!=", "<", "<=", ">", ">=", "~"})
	switch rng.IntN(5) {
	case 3:
		return pick(rng, []string{"live", "live=yes", "live!=no", "live=no", "partial", "partial=no", "complete=yes", "qd in (1, 16)", "bs in (512, 4k, 64k)", "host in (reef, 4k, é)"})
	case 0:
		names := []string{"mode", "workload", "ceph", "option.bs", "warning", "note", "cbt.mode", "MODE", "host", "fio", "id"}
		for _, name := range labelNames {
			names = append(names, "label."+name, "run.labels."+name)
		}
		return pick(rng, names) + op + `"` + pick(rng, made) + `"`
	case 1:
		return pick(rng, []string{"start", "start", "end", "ingested"}) + op + pick(rng, []string{"2026-11-21", "2026-11-22T10:00:00Z", "2026-11-22T12:00:00+02:00", "2026-11", "2026", "1d", "12h", "90000s", "0000", "9999", "1900", "500000y", "today", "now"})
	case 2:
		return pick(rng, []string{"bs", "osd_ra", "op_size"}) + op + pick(rng, []string{"4k", "4096", "512", "0.5k", "0", "4M", "128", "128k", "2T", "1000000T", "-1"})
	}
	return pick(rng, []string{"qd", "iteration", "time", "jobs", "missing"}) + op + pick(rng, []string{"0", "1", "16", "60", "1e10", "99999999999", "5m", "1.0", "300", "0.5"})
}

func pick[V any](rng *rand.Rand, of []V) V { return of[rng.IntN(len(of))] }

func list(t *testing.T, s history.Store, f history.RunFilter) (all []*mapping.Run) {
	t.Helper()
	for run, err := range s.Runs(t.Context(), f) {
		must(t, err)
		all = append(all, run)
	}
	return all
}

func finish(t *testing.T, s history.Store, run *mapping.Run) {
	t.Helper()
	must(t, s.Finish(t.Context(), run))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openSQLite(t *testing.T) history.Store {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"))
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}
