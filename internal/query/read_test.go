package query

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

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
	var res *pipeline.Result
	for stage, err := range pipeline.Stages(t.Context(), files.Archive.Runs[0], pipeline.Options{Levels: levels}, true) {
		check(t, err)
		e, err := stage.Execution(t.Context())
		check(t, err)
		res, err = stage.Documents(t.Context(), e.Run, func(_ *window.Window, docs []*mapping.Interval) error { return store.Put(t.Context(), docs) })
		check(t, err)
	}
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
		got, want := read(t, stored, q), []*window.Window(nil)
		for run, err := range files.Runs(t.Context()) {
			check(t, err)
			want = read(t, run, q)
		}
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
		try := func(run *Run) {
			doc, err := run.Read(t.Context(), q, func(w *window.Window) error { return errors.New("a window") })
			check(t, err)
			if got := run.NoMatch(doc).Error(); !strings.HasPrefix(got, "out: "+want) {
				t.Errorf("%s, want %s", got, want)
			}
		}
		try(stored)
		for run, err := range files.Runs(t.Context()) {
			check(t, err)
			try(run)
		}
	}
}

// TestNamelessJob: the tail of a group of jobs is not among the jobs that a message names.
func TestNamelessJob(t *testing.T) {
	r := &Run{query: &Query{Jobs: []string{"nosuch"}}}
	take := r.wanted(func(w *window.Window) error { return errors.New("it is taken") })
	for _, job := range []string{"", "1", "2"} {
		if err := take(&window.Window{Run: &mapping.RunInfo{}, Level: mapping.Job, Job: job}); err != nil {
			t.Errorf("%q: %v", job, err)
		}
	}
	if got := r.NoMatch(&mapping.Run{Documents: mapping.Documents{Job: 2}}).Error(); !strings.HasSuffix(got, "nosuch: its jobs: 1, 2") {
		t.Errorf("%q", got)
	}
}

// TestMissing: a level that was not stored is an error. Missing documents are a warning, also in the run document.
func TestMissing(t *testing.T) {
	_, stored := both(t, "two-jobs-rw", mapping.Cluster)
	if _, err := stored.Read(t.Context(), &Query{Hosts: []string{"h"}}, func(*window.Window) error { return nil }); !errors.As(err, new(RunError)) ||
		!strings.Contains(err.Error(), "no documents of level host: ingest it with --levels cluster,host") {
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
	if len(run.Warnings) != 1 || !strings.Contains(run.Warnings[0], "the history lacks 3 of ") || !slices.Contains(got.Warnings, run.Warnings[0]) || len(doc.Warnings) == len(got.Warnings) || got.Run.Complete {
		t.Errorf("%q, document %q", run.Warnings, got.Warnings)
	}
}

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

// TestSum: the sum of windows has their requests, bytes and merged histogram, for each direction and for all.
// Windows joined by --interval are such sums.
func TestSum(t *testing.T) {
	_, stored := both(t, "two-jobs-rw", mapping.Cluster)
	q := &Query{From: "+2s", To: "+7s"}
	windows := read(t, stored, q)
	sum, requests, completed := window.Sum{}, map[string]*hist.Histogram{}, map[string]int64{}
	var span window.Span
	for _, w := range windows {
		h, err := w.Histogram()
		check(t, err)
		for _, direction := range []string{w.Direction, "all"} {
			if requests[direction] == nil {
				requests[direction] = &hist.Histogram{}
			}
			requests[direction].Merge(h)
			completed[direction] += w.Completed
		}
		span.Add(w)
		check(t, sum.Add(w))
	}
	list := sum.Windows()
	if len(list) != 3 || len(windows) != 10 {
		t.Fatalf("%d sums of %d windows", len(list), len(windows))
	}
	for i, direction := range []string{"read", "write", "all"} {
		w := list[i]
		if w.Direction != direction || w.Completed != completed[direction] || w.Start != span.Start || w.End != span.End || w.Level != 0 {
			t.Errorf("%s: %+v", direction, w)
		}
		if rate := float64(w.Completed) / span.Length().Seconds(); w.IOPS < rate-0.001 || w.IOPS > rate+0.001 {
			t.Errorf("%s: %v IOPS, want %v", direction, w.IOPS, rate)
		}
		if diff := cmp.Diff(mapping.NewLatency(requests[direction], nil), w.Document(&mapping.Interval{}).Latency); diff != "" {
			t.Errorf("%s (-want +got):\n%s", direction, diff)
		}
	}
	// Windows of five seconds from the start, and the sums of the stored ones.
	stored.JoinMS = 5000
	joined := read(t, stored, &Query{To: "+5s"})
	stored.JoinMS = 0
	first := window.Sum{}
	for _, w := range read(t, stored, &Query{To: "+5s"}) {
		check(t, first.Add(w))
	}
	for i, w := range first.Windows()[:2] {
		if diff := cmp.Diff(joined[i].Latency, w.Document(&mapping.Interval{}).Latency); diff != "" || joined[i].IOPS != w.IOPS || joined[i].Bandwidth != w.Bandwidth {
			t.Errorf("%s: %v and %v IOPS (-joined +sum):\n%s", w.Direction, joined[i].IOPS, w.IOPS, diff)
		}
	}
	if one := new(window.Sum).Windows(); len(one) != 0 {
		t.Errorf("no windows: %v", one)
	}
}

func TestGroup(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for _, c := range []struct {
		args []string
		want [][]string
	}{
		{[]string{a, b}, [][]string{{a, b}}},
		{[]string{a, "0d31", b, "-", "latest", "7c1f"}, [][]string{{a}, {"0d31"}, {b, "-"}, {"latest", "7c1f"}}},
	} {
		if got := Group(c.args, IsPath); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v: %v, want %v", c.args, got, c.want)
		}
	}
}

// TestGroupFiles: neighbouring logs are read together; other arguments alone.
func TestGroupFiles(t *testing.T) {
	dir := t.TempDir()
	log := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b := log("a.log"), log("b.log")
	for _, c := range []struct {
		args []string
		want [][]string
	}{
		{[]string{a, b}, [][]string{{a, b}}},
		{[]string{dir, a, b, dir, "latest", a}, [][]string{{dir}, {a, b}, {dir}, {"latest"}, {a}}},
		{[]string{"0d31", "latest"}, [][]string{{"0d31", "latest"}}},
		{[]string{"-", a}, [][]string{{"-"}, {a}}},
		{[]string{dir + "/*.log", a}, [][]string{{dir + "/*.log", a}}},
	} {
		if got := Group(c.args, IsFile); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v: %v, want %v", c.args, got, c.want)
		}
	}
}

func TestPick(t *testing.T) {
	for _, c := range []struct {
		pick Pick
		name string
		want bool
	}{
		{Pick{}, "a:results/x", true},
		{Pick{Include: []string{"rand*4k"}}, "a:results/randwrite/op_4k", true},
		{Pick{Include: []string{"rand*4k"}}, "a:results/write/op_4k", false},
		{Pick{Include: []string{"x", "y"}, Exclude: []string{"z"}}, "a:y/z", false},
		{Pick{Exclude: []string{"a:*"}}, "a:y", false},
		{Pick{Include: []string{"("}}, "a:(y", true},
	} {
		if got := c.pick.Compile()("a", c.name[2:]); got != c.want {
			t.Errorf("%+v: %s: %v", c.pick, c.name, got)
		}
	}
}
