package query

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/mapping"
)

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

// TestNothing: if no run matches, one line says what is nearest: runs with the same beginning, values, and labels with
// nearly the same name.
func TestNothing(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"))
	check(t, err)
	defer store.Close()
	check(t, store.Finish(t.Context(), &mapping.Run{
		Run: mapping.RunInfo{ID: "4f1d2c", Ingest: "1", Name: "out", Archive: "nightly.tar.gz", Labels: map[string]string{"release": "reef", "my rack": "7"}, Start: day, End: day},
		CBT: mapping.CBT{Mode: "randwrite", OpSize: 4096, IODepth: 16},
	}))
	condition := func(text string) history.Condition {
		c, err := where.Parse(text, time.Now())
		check(t, err)
		return c
	}
	const title = "4f1d2c (nightly.tar.gz:out randwrite 4K qd16)"
	for _, c := range []struct {
		filter history.RunFilter
		want   string
	}{
		{history.RunFilter{Text: "4K qd4"}, "; nearest: " + title},
		{history.RunFilter{Text: "randwrte"}, "; nearest: " + title},
		{history.RunFilter{Text: "release=squid"}, "; nearest: " + title},
		{history.RunFilter{Text: "zz"}, ""},
		{history.RunFilter{Where: condition("label.relase=reef")}, "; label.relase=reef: no run (none has label.relase: did you mean label.release?)"},
		{history.RunFilter{Where: condition("'label.my rak'=7 and bs=4k")}, "; 'label.my rak'=7: no run (none has label.my rak: did you mean label.my rack?); bs=4k: 1 run"},
		{history.RunFilter{Where: condition("label.site=x")}, "; label.site=x: no run (none has label.site)"},
		{history.RunFilter{From: day.AddDate(0, 0, 1)}, "; started at or after 2026-10-02 00:00:00 UTC: no run"},
	} {
		got, err := Nothing(t.Context(), store, c.filter)
		if want := "the history has 1 run: started 2026-10-01 00:00:00 to 2026-10-01 00:00:00 UTC" + c.want; err != nil || got != want {
			t.Errorf("%+v: %v\n%s, want\n%s", c.filter, err, got, want)
		}
	}
}
