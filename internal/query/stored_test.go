package query

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// flipping is a store whose runs are replaced by another version and back while their documents are counted.
type flipping struct {
	history.Store
	empty int           // number of counts that find no documents
	later time.Duration // how much later the version is stored than the one that was listed
}

func (f *flipping) Count(ctx context.Context, runs []string, levels ...mapping.Level) (history.Counts, error) {
	if f.empty--; f.empty >= 0 {
		return history.Counts{}, nil
	}
	return f.Store.Count(ctx, runs, levels...)
}

func (f *flipping) Run(ctx context.Context, id string) (*mapping.Run, error) {
	run, err := f.Store.Run(ctx, id)
	if err == nil {
		run.Ingested = run.Ingested.Add(f.later)
	}
	return run, err
}

// TestReplacedMeanwhile: documents are missing only if a run that was not replaced lacks them. One that was replaced while
// it was counted has a complete answer.
func TestReplacedMeanwhile(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"))
	check(t, err)
	defer store.Close()
	for _, name := range []string{"a", "b"} {
		run := historytest.NewRun(name, "1")
		run.Documents = mapping.Documents{Cluster: 10}
		check(t, store.Put(t.Context(), historytest.Intervals(name, "1", 10)))
		check(t, store.Finish(t.Context(), run))
	}
	for name, c := range map[string]struct {
		flipping
		warnings int
	}{
		"counted between two versions": {flipping{empty: 1}, 0}, "replaced since": {flipping{empty: 10, later: time.Second}, 0},
		"documents are missing": {flipping{empty: 10}, 2},
	} {
		f := c.flipping
		f.Store = store
		got, windows := 0, 0
		for doc, err := range store.Runs(t.Context(), history.RunFilter{}) {
			check(t, err)
			run := Stored(&f, doc)
			_, err := run.Read(t.Context(), &Query{}, func(*window.Window) error { windows++; return nil })
			check(t, err)
			got += len(run.Warnings)
		}
		if got != c.warnings || windows != 20 {
			t.Errorf("%s: %d warnings, %d windows", name, got, windows)
		}
	}
}
