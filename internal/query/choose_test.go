package query

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	_ "github.com/fio2es/fio2es/internal/testcost" // fixed seeds
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/mapping"
)

var day = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)

// fiveNights is a history of five nights with the ids a0000000 to e0000000. The second and the fourth have another
// mode.
func fiveNights(t *testing.T) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"))
	check(t, err)
	t.Cleanup(func() { store.Close() })
	for i := range 5 {
		run := &mapping.Run{IntervalMS: 1000}
		run.Run = mapping.RunInfo{
			ID: strings.Repeat(string(rune('a'+i)), 8) + "00000000", Ingest: "1", Name: fmt.Sprintf("night%d", i), Archive: "lab",
			Start: day.AddDate(0, 0, i), End: day.AddDate(0, 0, i).Add(time.Minute), Complete: true,
		}
		run.CBT = mapping.CBT{Benchmark: "librbdfio", Mode: []string{"randread", "randwrite"}[i%2]}
		check(t, store.Finish(t.Context(), run))
	}
	return store
}

func selectors(t *testing.T, texts ...string) (list []*Selector) {
	t.Helper()
	for _, text := range texts {
		s, err := ParseSelector(text, day)
		check(t, err)
		list = append(list, s)
	}
	return list
}

// TestChoose: selectors choose runs in their order, each run once, among those that meet --where.
func TestChoose(t *testing.T) {
	store := fiveNights(t)
	for _, c := range []struct {
		selectors, where string
		want             string // first letters of the ids, or a part of the error
	}{
		{"latest", "", "e"},
		{"latest~0", "", "e"},
		{"latest~3", "", "b"},
		{"latest~4 latest", "", "ae"},
		{"last:2", "", "ed"},
		{"last:9", "", "edcba"},
		{"latest~1 last:3", "", "dec"},
		{"bbbb latest bb", "", "be"},
		{"same-as:bbbb", "", "db"},
		{"same-as:latest~4", "", "eca"},
		{"mode=randwrite", "", "db"},
		{"start<2026-10-03 latest", "", "b"},
		{"mode=randread start<2026-10-04", "", "ca"},
		{"start<2026-10-04 last:2 mode=randread", "", "ca"},
		{"same-as:bbbb start<2026-10-03", "", "b"},
		{"", "mode=randwrite", "db"},
		{"latest", "mode=randwrite", "d"},
		{"latest~1", "mode=randwrite", "b"},
		{"last:5", "mode=randread", "eca"},
		{"last:2", "mode=randread", "ec"},
		{"same-as:bbbb", "start < 2026-10-03", "b"},
		{"same-as:latest", "start < 2026-10-03", "a"},
		{"mode=randread", "start < 2026-10-03", "a"},
		{"bbbb", "mode=randwrite", "b"},

		{"bbbb", "mode=randread", "bbbb: run bbbbbbbb (lab:night1 randwrite, 2026-10-02 00:00:00 UTC) does not match --where 'mode=randread'"},
		{"latest~5", "", "latest~5: the history has only 5 runs, and the oldest is latest~4"},
		{"latest~1", "name=night0", "latest~1: the history has only 1 run --where 'name=night0', and the oldest is latest"},
		{"latest", "mode=trim", "latest: no run matches --where 'mode=trim'; the history has 5 runs"},
		{"same-as:bbbb", "mode=randread", "same-as:bbbb: no run matches --where 'mode=randread'; the history has 5 runs"},
		{"mode=trim", "name=night1", "no run matches --where 'name=night1 and mode=trim'; the history has 5 runs: started 2026-10-01 00:00:00 to 2026-10-05 00:00:00 UTC; " +
			"mode=trim: no run"},
		{"", "mode=randread and start >= 2026-10-06 and bs", "UTC; start >= 2026-10-06: no run; bs: no run"},
		{"", "mode=trim or live", "the history has 5 runs: started 2026-10-01 00:00:00 to 2026-10-05 00:00:00 UTC; (mode=trim or live): no run"},
		{"same-as:bbbb", "not mode=randwrite", "same-as:bbbb: no run matches --where 'not mode=randwrite'; the history has 5 runs: started"},
		{"same-as:ffff", "", "ffff: no such run: the history has 5 runs"},
		{"bbbc", "", "bbbc: no such run: the history has 5 runs: started 2026-10-01 00:00:00 to 2026-10-05 00:00:00 UTC; nearest: bbbbbbbb (lab:night1 randwrite)"},
		{"night3", "", "nearest: dddddddd (lab:night3 randwrite)"},
		{"lastest", "", "lastest: no such run: did you mean latest?"},
	} {
		f := history.RunFilter{}
		if c.where != "" {
			condition, err := where.Parse(c.where, day)
			check(t, err)
			f.Where = condition
		}
		chosen, err := Choose(t.Context(), store, f, selectors(t, strings.Fields(c.selectors)...)...)
		f.Light = true
		if brief, failed := Choose(t.Context(), store, f, selectors(t, strings.Fields(c.selectors)...)...); idsOf(brief) != idsOf(chosen) ||
			fmt.Sprint(failed) != fmt.Sprint(err) {
			t.Errorf("%s --where %q: brief %v, %v", c.selectors, c.where, idsOf(brief), failed)
		}
		if err != nil {
			if !strings.Contains(err.Error(), c.want) || !errors.Is(err, history.ErrNotFound) {
				t.Errorf("%s --where %q: %v, want %s", c.selectors, c.where, err, c.want)
			}
			continue
		}
		if got := idsOf(chosen); got != c.want {
			t.Errorf("%s --where %q: %s, want %s", c.selectors, c.where, got, c.want)
		}
		if c.selectors == "last:9" && (len(chosen.Notes) != 1 || chosen.Notes[0] != "last:9: the history has only 5 runs") {
			t.Errorf("%s: notes %q", c.selectors, chosen.Notes)
		}
	}
}

// idsOf returns the first letters of the ids of runs.
func idsOf(chosen *Chosen) (letters string) {
	if chosen == nil {
		return ""
	}
	for _, run := range chosen.Runs {
		letters += run.Run.ID[:1]
	}
	return letters
}

// TestChooseFailed: a run in which fio failed is none of the newest runs, unless there are no others. Its id still names it.
func TestChooseFailed(t *testing.T) {
	store := fiveNights(t)
	fail := func(ids ...string) {
		for _, id := range ids {
			run, err := Find(t.Context(), store, id)
			check(t, err)
			run.NoWindows = "no percentiles over time: " + mapping.NoRequests
			check(t, store.Finish(t.Context(), run))
		}
	}
	fail("d", "e")
	for _, c := range []struct{ selectors, want, notes string }{
		{"latest", "c", "[latest: left out eeeeeeee, dddddddd, in which fio served no requests]"},
		{"latest~1", "b", "[latest~1: left out eeeeeeee, dddddddd, in which fio served no requests]"},
		{"last:3", "cba", "[last:3: left out eeeeeeee, dddddddd, in which fio served no requests]"},
		{"eeee", "e", "[]"},
	} {
		chosen, err := Choose(t.Context(), store, history.RunFilter{}, selectors(t, c.selectors)...)
		if check(t, err); idsOf(chosen) != c.want || fmt.Sprint(chosen.Notes) != c.notes {
			t.Errorf("%s: %s %q", c.selectors, idsOf(chosen), chosen.Notes)
		}
	}
	literal := selectors(t, "latest")
	literal[0].AnyState = true
	newest, err := Choose(t.Context(), store, history.RunFilter{}, literal...)
	if check(t, err); idsOf(newest) != "e" || len(newest.Notes) > 0 {
		t.Errorf("for a change: %s %q", idsOf(newest), newest.Notes)
	}
	fail("a", "b", "c")
	chosen, err := Choose(t.Context(), store, history.RunFilter{}, selectors(t, "latest")...)
	if check(t, err); idsOf(chosen) != "e" || len(chosen.Notes) > 0 {
		t.Errorf("%s %q", idsOf(chosen), chosen.Notes)
	}
}

// TestChooseUndecided: runs whose p99 is in fio's last bin are left out of p99 < 30s, and counted.
func TestChooseUndecided(t *testing.T) {
	store := fiveNights(t)
	for id, us := range map[string]float64{"a": 20e6, "b": 20e6, "c": 5} {
		run, err := Find(t.Context(), store, id)
		check(t, err)
		h := hist.New(hist.Fio3(0))
		h.AddLatency(int64(us*1000), 100)
		run.All = &mapping.Totals{Requests: 100, Latency: mapping.NewLatency(h, nil)}
		check(t, store.Finish(t.Context(), run))
	}
	const why = ": a latency in the condition lies in fio's last bin, which has no upper end, so whether the condition is met is unknown"
	for _, c := range []struct{ selectors, where, want, note string }{
		{"", "p99 < 30s", "c", "left out 2 runs" + why},
		{"", "p99 > 1s", "ba", ""},
		{"p99<30s", "mode=randread", "c", "left out 1 run" + why},
		{"p99<30s p99<40s", "mode=randread", "c", "left out 1 run" + why},
	} {
		condition, err := where.Parse(c.where, day)
		check(t, err)
		chosen, err := Choose(t.Context(), store, history.RunFilter{Where: condition}, selectors(t, strings.Fields(c.selectors)...)...)
		check(t, err)
		if got := idsOf(chosen); got != c.want || strings.Join(chosen.Notes, "|") != c.note {
			t.Errorf("%+v: %s, %q", c, got, chosen.Notes)
		}
	}
	const none = "; p99>30s: no run; left out 2 runs" + why
	if _, err := Choose(t.Context(), store, history.RunFilter{}, selectors(t, "p99>30s")...); err == nil || !strings.Contains(err.Error(), none) {
		t.Error(err)
	}
}

// TestChooseNone: for an empty history, the error says how to fill it.
func TestChooseNone(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"))
	check(t, err)
	defer store.Close()
	for _, text := range []string{"latest", "last:5", "abc", "mode=randread", "same-as:latest"} {
		_, err := Choose(t.Context(), store, history.RunFilter{}, selectors(t, text)...)
		if !errors.Is(err, history.ErrNotFound) || !strings.Contains(err.Error(), "store some with fio2es ingest PATH") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestParseSelector: which texts are wrong, and which name one run.
func TestParseSelector(t *testing.T) {
	for text, want := range map[string]string{
		"latest": "one", "latest~2": "one", "4f1d": "one", "nosuchrun": "one",
		"last:1": "several", "same-as:latest": "several", "same-as:4f1d": "several", "bs=4k and iodepth in (1, 2)": "several",
		"latest~": "want latest~N", "latest~-1": "want latest~N", "latest~x": "want latest~N", "latest~9999999": "want latest~N",
		"last:": "want last:N", "last:0": "want last:N", "last:+1": "want last:N", "last:x": "want last:N",
		"same-as:": "want same-as:RUN", "same-as:last:5": "want same-as:RUN", "same-as:same-as:latest": "want same-as:RUN",
		"same-as:bs=4k": "want same-as:RUN",
		"iodpth=4":      "iodpth=4: column 1: no field is called \"iodpth\": did you mean iodepth?",
		"":              "an empty text names no run", " ": "an empty text names no run", "same-as: ": "want same-as:RUN",
	} {
		s, err := ParseSelector(text, day)
		switch {
		case err != nil:
			if !strings.Contains(err.Error(), want) || !errors.As(err, new(UsageError)) {
				t.Errorf("%q: %v, want %s", text, err, want)
			}
		case want != map[bool]string{true: "one", false: "several"}[s.IsOne()] || s.String() != text:
			t.Errorf("%q: %+v, want %s", text, s, want)
		}
	}
}

// TestIsPath: words such as latest are selectors even if a file has that name. Other arguments are paths if they
// exist.
func TestIsPath(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"latest", "last:5", "abc", "bs=4k"} {
		check(t, os.WriteFile(name, nil, 0o600))
	}
	for arg, want := range map[string]bool{
		"latest": false, "./latest": true, "last:5": false, "./last:5": true, "latest~1": false, "same-as:4f/1": false,
		"abc": true, "abd": false, "bs=4k": true, "bs=8k": false, "write.p99 > 5ms": false, "label.release=reef": false,
		"-": true, "a/b": true, "x.log": true, "x*": true, "results=1/x.log": true, "old.log~": true,
	} {
		if got := IsPath(arg); got != want {
			t.Errorf("%s: path %v, want %v", arg, got, want)
		}
	}
}

// TestAgeAgrees: latest, latest~1 … latest~N are the runs of last:N+1.
func TestAgeAgrees(t *testing.T) {
	store := fiveNights(t)
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(rt, "n")
		f := history.RunFilter{}
		if rapid.Bool().Draw(rt, "bounded") {
			f.To = day.AddDate(0, 0, 5)
		}
		all, err := Choose(t.Context(), store, f, selectors(t, fmt.Sprintf("last:%d", n))...)
		check(t, err)
		for i := range n {
			one, err := Choose(t.Context(), store, f, selectors(t, fmt.Sprintf("latest~%d", i))...)
			check(t, err)
			if len(all.Runs) != n || one.Runs[0].Run.ID != all.Runs[i].Run.ID {
				rt.Fatalf("latest~%d is %s", i, one.Runs[0].Run.ID)
			}
		}
	})
}

func FuzzParseSelector(f *testing.F) {
	for _, text := range []string{"latest", "latest~1", "last:5", "same-as:4f", "bs=4k and not live", "4f1d2c", "a/b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSelector(text, day)
		if err != nil {
			if !errors.As(err, new(UsageError)) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if s.String() != text || s.IsID() && !s.IsOne() {
			t.Fatalf("%q: %+v", text, s)
		}
	})
}

// TestTitleIsFound: the title of a run, as lists show it, finds the run. A size or a depth in it is a separate word.
func TestTitleIsFound(t *testing.T) {
	t.Parallel()
	made := func(name, benchmark, workload string, size int64, depth int64) *mapping.Run {
		return &mapping.Run{
			Run: mapping.RunInfo{ID: "4f1d2c", Archive: "nightly.tar.gz", Name: name},
			CBT: mapping.CBT{Benchmark: benchmark, Workload: workload, Mode: "randwrite", OpSize: size, IODepth: depth},
		}
	}
	for _, run := range []*mapping.Run{
		made("results/00010000/id-00002710/x", "librbdfio", "4krandrw", 65536, 1),
		made("1/id-7c1f03ab/osd_ra-4096/op_size-4096", "radosbench", "", 4096, 16),
		made("0/id-7c/x/y", "pbench-fio", "", 512, 4),
		made("out", "", "", 0, 0),
	} {
		title := facts.Title(run)
		if f := (history.RunFilter{Text: title}); !f.Matches(run) {
			t.Errorf("%q does not find its run", title)
		}
	}
	sixteen := made("out", "", "", 65536, 16)
	for text, want := range map[string]bool{
		"64k qd16": true, "64KiB": true, "64kib randwrite": true, "4k": false, "4K qd16": false, "64K qd1": false, "qd": false,
	} {
		if f := (history.RunFilter{Text: text}); f.Matches(sixteen) != want {
			t.Errorf("%q of %q: %v", text, facts.Title(sixteen), !want)
		}
	}
}

// TestNothing: if no run matches, one line says what is nearest: a run with the same beginning, or a label with nearly
// the same name.
func TestNothing(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"))
	check(t, err)
	defer store.Close()
	check(t, store.Finish(t.Context(), &mapping.Run{
		Run: mapping.RunInfo{ID: "4f1d2c", Ingest: "1", Name: "out", Archive: "nightly.tar.gz", Labels: map[string]string{"release": "reef", "my rack": "7"}, Start: day, End: day},
		CBT: mapping.CBT{Mode: "randwrite", OpSize: 4096, TotalIODepth: 16},
	}))
	condition := func(text string) history.Condition {
		c, err := where.Parse(text, time.Now())
		check(t, err)
		return c
	}
	const title = "4f1d2c (nightly.tar.gz:out randwrite 4K total-qd16)"
	for _, c := range []struct {
		filter history.RunFilter
		want   string
	}{
		{history.RunFilter{Text: "4K qd4"}, "; nearest: " + title},
		{history.RunFilter{Text: "release=squid"}, "; nearest: " + title},
		{history.RunFilter{Text: "zz"}, ""},
		{history.RunFilter{Where: condition("label.relase=reef")}, "; label.relase=reef: no run (did you mean label.release?)"},
		{history.RunFilter{Where: condition("'label.my rak'=7 and bs=4k")}, "; 'label.my rak'=7: no run (did you mean label.my rack?)"},
		{history.RunFilter{Where: condition("qd > 8 and iodepth=8")}, "; qd > 8: no run (but 1 run with total_iodepth > 8, which CBT divides over volumes); iodepth=8: no run"},
	} {
		got, err := Nothing(t.Context(), store, c.filter)
		if want := "the history has 1 run: started 2026-10-01 00:00:00 to 2026-10-01 00:00:00 UTC" + c.want; err != nil || got != want {
			t.Errorf("%+v: %v\n%s, want\n%s", c.filter, err, got, want)
		}
	}
}

// nights returns the runs of n nights of two workloads, the newest first: a1, b1, a2, b2, and so on.
func nights(n int) (list []*mapping.Run) {
	h := hist.New(hist.Fio3(0))
	h.AddLatency(1000, 10)
	for i := range n {
		for depth, workload := range []string{"a", "b"} {
			run := &mapping.Run{Documents: mapping.Documents{Cluster: 10}}
			run.Run = mapping.RunInfo{
				ID: fmt.Sprint(workload, i+1), Name: "run", Archive: "night", Complete: true,
				Start: time.Date(2026, 1, 31-i, depth, 0, 0, 0, time.UTC),
			}
			run.CBT.IODepth = int64(depth + 1)
			run.Read = &mapping.Totals{Latency: mapping.NewLatency(h, nil)}
			list = append(list, run)
		}
	}
	return list
}

// TestBaseline: a baseline has the runs before a run with its settings, or those that meet a condition, but never
// the run itself.
func TestBaseline(t *testing.T) {
	all := nights(6)
	byID := map[string]*mapping.Run{}
	for _, run := range all {
		byID[run.Run.ID] = run
	}
	byID["a3"].Run.Complete, byID["a3"].Run.Partial = false, true
	byID["a5"].Documents = mapping.Documents{}
	for _, c := range []struct {
		text, of string
		want     string // ids, then the notes or the error
	}{
		{"last:1", "a1", "a2"},
		{"last:1", "b2 b3", "b4"},
		{"last:2", "a1", "a2 a4; 1 run left out: live, or without some of their files"},
		{"last:3", "a1", "a2 a4 a6; 1 run left out: live, or without some of their files; 1 run left out: no percentiles over time"},
		{"last:9", "b4", "b5 b6; last:9: only 2 runs of the settings of night:run qd2 before it"},
		{"last:1", "b6", "error last:1: no run before night:run qd2 has its settings; the nearest, night:run qd1, has iodepth 1, not 2"},
		{"start <= 2026-01-27 and iodepth = 1", "b1", "error start <= 2026-01-27 and iodepth = 1: no run has the same settings as night:run qd2; the nearest, night:run qd1, has iodepth 1, not 2"},
		{"id = a3", "a1", "error id = a3: no run with the settings of night:run qd1 can be compared with it"},
		{"start < 2026-01-28", "b1", "b5 b6"},
		{"start >= 2026-01-28", "b2", "b1 b3 b4"},
	} {
		b, err := ParseBaseline(c.text, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		filter := b.Filter(nil)
		var of, from []*mapping.Run
		for _, run := range all {
			if filter.Matches(run) {
				from = append(from, run)
			}
		}
		for _, id := range strings.Fields(c.of) {
			copied := *byID[id]
			of = append(of, &copied)
		}
		list, notes, err := b.Of(of, from)
		var ids []string
		for _, run := range list {
			ids = append(ids, run.Run.ID)
		}
		got := strings.Join(append([]string{strings.Join(ids, " ")}, notes...), "; ")
		if err != nil {
			got = "error " + err.Error()
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s of %s: %s", c.text, c.of, diff)
		}
		for _, run := range of {
			run.Run.ID = "" // like a run read from files
		}
		if again, _, err := b.Of(of, from); len(again) != len(list) {
			t.Errorf("%s of files: %d runs, %v", c.text, len(again), err)
		}
	}
	for text, want := range map[string]string{
		"last:0": "want last:N", "last:x": "want last:N", "last:": "want last:N", "nosuchfield=1": "column 1: no field",
		"latest": "want last:N, or a condition", "same-as:a": "want last:N, or a condition", "4f1d": "want last:N, or a condition",
	} {
		if _, err := ParseBaseline(text, time.Now()); err == nil || !strings.HasPrefix(err.Error(), text+": "+want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
