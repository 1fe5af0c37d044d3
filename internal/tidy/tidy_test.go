package tidy_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/tidy"
	"github.com/fio2es/fio2es/mapping"
)

// now is when runs are changed, a day after the last run was stored.
var now = historytest.Start.AddDate(0, 0, 1)

// open returns a history of the runs a (the oldest), b and c, and of a live run that was last updated at the time
// live.
func open(t *testing.T, live time.Time) history.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	for i, name := range []string{"a", "b", "c", "live"} {
		run := historytest.NewRun(name, "1")
		run.Run.Start = historytest.Start.Add(time.Duration(i) * time.Hour)
		if name == "live" {
			run.Run.Ingest, run.Ingested = mapping.LiveIngest(run.Run.Start), live
		}
		if err := store.Finish(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

func names(runs []*mapping.Run) (list []string) {
	for _, r := range runs {
		list = append(list, r.Run.Name)
	}
	return list
}

func TestFind(t *testing.T) {
	store := open(t, now.Add(-time.Minute))
	id := historytest.ID
	for _, c := range []struct {
		name    string
		choice  tidy.Choice
		want    string // names, separated by spaces
		skipped int
		err     string
	}{
		{name: "names", choice: tidy.Choice{Names: []string{id("a"), id("c")[:8], id("a")[:9]}}, want: "c a"},
		{name: "all", want: "c b a", skipped: 1},
		{name: "filter", choice: tidy.Choice{Filter: history.RunFilter{To: historytest.Start.Add(90 * time.Minute)}}, want: "b a"},
		{name: "none", choice: tidy.Choice{Filter: history.RunFilter{Text: "nothing"}}},
		{name: "followed", choice: tidy.Choice{Names: []string{"latest"}}, err: tidy.ErrFollowed.Error()},
		{name: "unknown", choice: tidy.Choice{Names: []string{id("a"), "x"}}, err: "x: no such run: the history has 4 runs"},
	} {
		found, err := c.choice.Find(t.Context(), store, now)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := strings.Join(names(found.Runs), " "); got != c.want || len(found.Skipped) != c.skipped {
			t.Errorf("%s: %q, want %q; skipped %v", c.name, got, c.want, found.Skipped)
		}
	}
}

// TestLeftLive: a live run that has not been updated for long does not count as being followed.
func TestLeftLive(t *testing.T) {
	choice := tidy.Choice{Names: []string{"latest"}}
	if found, err := choice.Find(t.Context(), open(t, now.Add(-tidy.FollowedFor)), now); err != nil || names(found.Runs)[0] != "live" {
		t.Errorf("%v, %v", found, err)
	}
}

// TestRemoveInterrupted: an interruption ends the removal after the present run, and the same choice finds the
// others.
func TestRemoveInterrupted(t *testing.T) {
	store := open(t, now)
	all := tidy.Choice{}
	left := []string{"c", "b", "a"}
	for len(left) > 0 {
		found, err := all.Find(t.Context(), store, now)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(left, names(found.Runs)); diff != "" {
			t.Fatalf("runs (-want +got):\n%s", diff)
		}
		ctx, interrupt := context.WithCancel(t.Context())
		n, err := tidy.Remove(ctx, store, found.Runs, now, func(*mapping.Run) { interrupt() })
		left = left[1:]
		if want := len(left) > 0; n != 1 || errors.Is(err, context.Canceled) != want || err != nil && !want {
			t.Errorf("%d removed, %v", n, err)
		}
	}
	removed, err := store.Removed(t.Context(), []string{"ab"}) // hash of the files of all runs
	if err != nil || len(removed) != 3 || !strings.HasPrefix(removed[0].Title, "suite:") || !removed[0].At.Equal(now) {
		t.Errorf("%+v, %v", removed, err)
	}
}

// TestRemovedMeanwhile: a run that another process has removed in the meantime is no error.
func TestRemovedMeanwhile(t *testing.T) {
	store := open(t, now)
	choice := tidy.Choice{Names: []string{historytest.ID("a"), historytest.ID("b")}}
	found, err := choice.Find(t.Context(), store, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Delete(t.Context(), historytest.ID("b")); err != nil {
		t.Fatal(err)
	}
	if n, err := tidy.Remove(t.Context(), store, found.Runs, now, func(*mapping.Run) {}); n != 1 || err != nil {
		t.Errorf("%d removed, %v", n, err)
	}
	note := "x"
	err = tidy.Annotate(t.Context(), store, found.Runs, mapping.Annotation{Note: &note}, func(*mapping.Run) { t.Error("a removed run has a note") })
	if !errors.Is(err, history.ErrNotFound) {
		t.Errorf("annotate: %v", err)
	}
}
