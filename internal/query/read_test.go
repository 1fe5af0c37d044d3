package query

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// check fails the test if there is an error.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// both opens a run of the corpus as files, and from a history that has its documents of these levels.
func both(t *testing.T, name string, levels ...mapping.Level) (files *Files, stored *Run) {
	t.Helper()
	files, err := Open(t.Context(), []string{filepath.Join("..", "..", "testdata", "corpus", name)}, FileOptions{})
	check(t, err)
	t.Cleanup(func() { files.Close() })
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"))
	check(t, err)
	t.Cleanup(func() { store.Close() })
	res, err := pipeline.Ingest(t.Context(), files.Archive.Runs[0], pipeline.Options{Levels: levels}, store, nil)
	check(t, errors.Join(err, store.Finish(t.Context(), res.Run)))
	run, err := Find(t.Context(), store, res.Run.Run.ID[:6])
	check(t, err)
	return files, Stored(store, run)
}

// read returns the windows of a run, without the fields that only the history has.
func read(t *testing.T, run *Run, q *Query) (list []*window.Window) {
	t.Helper()
	_, err := run.Read(t.Context(), q, func(w *window.Window) error {
		one := *w
		one.Run = &mapping.RunInfo{Name: w.Run.Name, Start: w.Run.Start}
		one.Latency, one.Counts, one.Layout = w.Document(&mapping.Interval{}).Latency, nil, hist.Layout{} // whether of rows or of a document
		list = append(list, &one)
		return nil
	})
	check(t, err)
	return list
}

// TestSameWindows: files and the history give the same windows for any query.
func TestSameWindows(t *testing.T) {
	files, stored := both(t, "two-jobs-rw", mapping.Cluster, mapping.Host, mapping.Job)
	job := read(t, stored, &Query{Levels: []mapping.Level{mapping.Job}})[0].Job
	start := stored.Stored.Run.Start
	for _, q := range []*Query{
		{}, {Totals: true}, {Directions: []string{"write"}}, {Totals: true, Directions: []string{"write"}},
		{From: "+2s"}, {To: "+2500ms"}, {From: "+3s", To: "+5s"}, {From: start.Add(4 * time.Second).Format(time.RFC3339Nano)},
		{Jobs: []string{job}}, {Levels: []mapping.Level{mapping.Host}}, {Jobs: []string{job}, From: "+1s", Directions: []string{"read"}},
	} {
		got, want := read(t, stored, q), read(t, files.Runs[0], q)
		if diff := cmp.Diff(want, got, cmpopts.EquateComparable(hist.Layout{})); diff != "" || len(want) == 0 {
			t.Errorf("%+v: %d windows of files (-), %d of the history (+):\n%s", q, len(want), len(got), diff)
		}
	}
	var seconds []int64
	for _, w := range read(t, stored, &Query{From: "+2400ms", To: "+4600ms", Directions: []string{"read"}}) {
		seconds = append(seconds, w.ElapsedMS/1000)
	}
	if !slices.Equal(seconds, []int64{2, 3, 4}) {
		t.Errorf("windows of seconds %v, want those whose middle is in the range", seconds)
	}
}

// TestNoMatch: if no window is wanted, the error says what the run has.
func TestNoMatch(t *testing.T) {
	files, stored := both(t, "two-jobs-rw", mapping.Cluster, mapping.Host, mapping.Job)
	for want, q := range map[string]*Query{
		"no requests match --direction trim: the run has reads and writes":             {Directions: []string{"trim"}},
		"no requests match --from +9h: the run lasted from 2026-11-21 03:10:33.196 to": {From: "+9h"},
		"no requests match --job nosuch: its jobs: ":                                   {Jobs: []string{"nosuch"}},
		"no requests match --host nosuch: its ":                                        {Hosts: []string{"nosuch"}},
	} {
		for _, run := range []*Run{files.Runs[0], stored} {
			doc, err := run.Read(t.Context(), q, func(w *window.Window) error { return errors.New("a window") })
			check(t, err)
			if got := run.NoMatch(doc).Error(); !strings.HasPrefix(got, "out: "+want) {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
}

// TestNamelessJob: the tail of a group of jobs is not among the jobs that a message names.
func TestNamelessJob(t *testing.T) {
	c := &choice{query: &Query{Jobs: []string{"nosuch"}}}
	for _, job := range []string{"", "1", "2"} {
		c.see(&window.Window{Level: mapping.Job, Job: job})
	}
	if got := c.has(&mapping.Run{}); !slices.Equal(got, []string{"its jobs: 1, 2"}) {
		t.Errorf("%q", got)
	}
}

// TestMissing: a level that was not stored is an error. Missing documents are a warning, also in the run document.
func TestMissing(t *testing.T) {
	_, stored := both(t, "two-jobs-rw", mapping.Cluster)
	var level LevelError
	if _, err := stored.Read(t.Context(), &Query{Hosts: []string{"h"}}, func(*window.Window) error { return nil }); !errors.As(err, &level) || level.Level != mapping.Host {
		t.Errorf("%v", err)
	}
	doc := *stored.Stored
	doc.Documents.Cluster += 3
	run := Stored(stored.store, &doc)
	read := func(take func(*window.Window) error) *mapping.Run {
		got, err := run.Read(context.Background(), &Query{}, take)
		check(t, err)
		return got
	}
	if got := read(nil); len(run.Warnings) > 0 || got != &doc {
		t.Errorf("totals: %q", run.Warnings)
	}
	got := read(func(*window.Window) error { return nil })
	if len(run.Warnings) != 1 || !strings.Contains(run.Warnings[0], "the history lacks 3 of ") || !slices.Contains(got.Warnings, run.Warnings[0]) || len(doc.Warnings) == len(got.Warnings) {
		t.Errorf("%q, document %q", run.Warnings, got.Warnings)
	}
}
