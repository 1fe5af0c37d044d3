package query

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
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

// selectors parses selectors.
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
		{"", "mode=trim", "no run matches --where 'mode=trim'; the history has 5 runs: started 2026-10-01"},
		{"latest", "mode=trim", "latest: no run matches --where 'mode=trim'; the history has 5 runs"},
		{"mode=trim", "", "no run matches --where 'mode=trim'; the history has 5 runs"},
		{"same-as:bbbb", "mode=randread", "same-as:bbbb: no run matches --where 'mode=randread'; the history has 5 runs"},
		{"mode=trim", "name=night1", "no run matches --where 'name=night1 and mode=trim'; the history has 5 runs: started 2026-10-01 00:00:00 to 2026-10-05 00:00:00 UTC; " +
			"name=night1: 1 run; mode=trim: no run (mode is randread, randwrite)"},
		{"", "mode=randread and start >= 2026-10-06 and bs", "mode=randread: 3 runs; start >= 2026-10-06: no run (start is from " +
			"2026-10-01 00:00:00 to 2026-10-05 00:00:00); bs: no run (none has op_size)"},
		{"", "mode=trim or live", "the history has 5 runs: started 2026-10-01 00:00:00 to 2026-10-05 00:00:00 UTC; (mode=trim or live): no run"},
		{"same-as:bbbb", "not mode=randwrite", "not mode=randwrite: 3 runs; the same settings: 2 runs"},
		{"same-as:ffff", "", "ffff: no such run: the history has 5 runs"},
		{"bbbc", "", "bbbc: no such run: the history has 5 runs: started 2026-10-01 00:00:00 to 2026-10-05 00:00:00 UTC; nearest: bbbbbbbb (lab:night1 randwrite)"},
		{"night3", "", "nearest: dddddddd (lab:night3 randwrite)"},
		{"lastest", "", "a run is an id or its beginning, latest"},
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
	const none = "no run (p99 is 5.05µs, ≥17.0s), and unknown of 2 runs: the latency lies in fio's last bin, which has no upper end"
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
