package ingest

import (
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/mapping"
)

// TestClockOffsets: files of a run whose hosts had wrong clocks when they sent it are read with what was measured then, also the next time.
func TestClockOffsets(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), t.TempDir()+"/history.db")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	l := &lab{t, t.TempDir(), store}
	l.put(runOfCBT(t))
	stored := func(isUnchanged bool) *mapping.Run {
		t.Helper()
		result, said := l.ingest()
		if len(result.Stored) != 1 || result.Stored[0].Unchanged != isUnchanged {
			t.Fatalf("%+v %s", result, said)
		}
		run, err := store.Run(t.Context(), result.Stored[0].Run.Run.ID)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	run := stored(false)
	was, offset := run.Hosts[1].Start, 1300*time.Millisecond
	run.Run.Ingest = mapping.SharedIngest(1)
	run.Hosts[1].ClockOffsetMS = offset.Milliseconds()
	if err := store.Finish(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	for _, isUnchanged := range []bool{false, true} {
		run = stored(isUnchanged)
		if h := run.Hosts[1]; !h.Start.Equal(was.Add(offset)) || h.ClockOffsetMS != offset.Milliseconds() {
			t.Errorf("%+v, began at %v by its clock", h, was)
		}
		for d, err := range store.Intervals(t.Context(), history.Selection{Runs: []string{run.Run.ID}, Level: mapping.Host, Hosts: []string{run.Hosts[1].Name}}) {
			if err != nil || d.Time.Before(was.Add(offset)) {
				t.Errorf("a window at %v: %v", d.Time, err)
			}
		}
	}
	if of := offsetsOf(run, run.Hosts, map[string]time.Duration{run.Hosts[1].Name: 0}); len(of) > 0 {
		t.Errorf("%v, though the user has said that the clock was right", of)
	}
}
