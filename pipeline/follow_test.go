package pipeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/assign"
)

// liveFio writes periodic reports of jobs, one a second, as fio does.
type liveFio struct {
	start time.Time
	jobs  []liveJob
}

// liveJob serves some requests a second of each latency, in nanoseconds, from one second
// of the run to another.
type liveJob struct {
	from, to  int
	direction string
	latencies []int
	waits     bool // behind a stonewall, or in its ramp_time: its run time counts from 0 and again from from
	late      int  // milliseconds after from, if it waits
	group     int
}

// report is the n-th, one a second from 1 on.
func (f *liveFio) report(n int) []byte {
	type clat map[string]map[string]int
	layout := hist.Fio3(0)
	var jobs []map[string]any
	for i, j := range f.jobs {
		ran := 1000 * min(max(n-j.from, 0), j.to-j.from)
		if j.waits && n <= j.from {
			ran = 1000 * n
		} else if j.waits {
			ran -= j.late
		}
		bins, total := map[string]int{}, 0
		for second := j.from; second < min(n, j.to); second++ {
			for k, ns := range j.latencies {
				bins[fmt.Sprint(layout.Representative(layout.Index(int64(ns))))] += second + k + 1
				total += second + k + 1
			}
		}
		jobs = append(jobs, map[string]any{
			"jobname": fmt.Sprintf("job%d", i), "groupid": j.group, "job_runtime": ran,
			j.direction: map[string]any{"total_ios": total, "io_bytes": 4096 * total, "runtime": ran, "clat_ns": clat{"bins": bins}},
		})
	}
	text, err := json.MarshalIndent(map[string]any{
		"fio version": "fio-3.33", "timestamp_ms": f.start.Add(time.Duration(n) * time.Second).UnixMilli(), "jobs": jobs,
	}, "", strings.Repeat(" ", 60)) // as long as those of fio, which the budget of the input knows
	if err != nil {
		panic(err)
	}
	return append(text, '\n')
}

// appendReport writes a report behind a file in two parts, as a reader may find it.
func appendReport(t *testing.T, file string, report []byte) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	half := len(report) / 2
	if _, err := f.Write(report[:half]); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	if _, err := f.Write(report[half:]); err != nil {
		t.Fatal(err)
	}
}

// onlyRun is the run under a path. The archive is closed with the test.
func onlyRun(t *testing.T, path string) *assign.Run {
	t.Helper()
	a, err := pipeline.Open(t.Context(), []string{path}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	if len(a.Runs) != 1 {
		t.Fatalf("%d runs", len(a.Runs))
	}
	return a.Runs[0]
}

// given is a document that came while a run was followed.
type given struct {
	*mapping.Interval
	at  time.Time
	run *mapping.RunInfo
}

// followed is what came of following a run that is written meanwhile, and of reading it
// when it was over.
type followed struct {
	docs   []given
	stored []*mapping.Interval // the same in documents
	batch  []*mapping.Interval
	res    *pipeline.Result // of the last stage, with what was missing in any
}

// live follows an execution.
func live(ctx context.Context, run *assign.Run, opt pipeline.Options, quiet time.Duration) (out *followed, err error) {
	out, opt.Workers = &followed{}, 1 // time in a bubble stands still while a worker waits for another
	var skipped []error
	id := ""
	for stage, err := range pipeline.Live(context.WithoutCancel(ctx), ctx, run, opt, quiet) {
		if err != nil {
			return nil, err
		}
		e, err := stage.Execution(ctx)
		if err != nil {
			return nil, err
		}
		e.SetID(id)
		id, e.Run.Ingest = e.Run.Execution, mapping.LiveIngest(time.Now())
		out.res, err = stage.Documents(context.WithoutCancel(ctx), e.Run, func(w *window.Window, docs []*mapping.Interval) error {
			out.docs = append(out.docs, given{docOf(w), time.Now(), w.Run})
			out.stored = append(out.stored, docs...)
			return stage.SoFar().Check()
		})
		if err != nil {
			return nil, err
		}
		skipped = append(skipped, out.res.Skipped...)
	}
	out.res.Skipped = skipped
	return out, out.res.Run.Check()
}

// follow lets fio write its reports into files, from the third of each on one a second,
// for as many seconds, and follows them.
func follow(t *testing.T, opt pipeline.Options, fios map[string]*liveFio, seconds map[string]int) *followed {
	t.Helper()
	var out *followed
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		names := map[string]string{}
		for name, fio := range fios {
			fio.start = began.Add(-3 * time.Second)
			names[name] = filepath.Join(dir, name)
			for n := 1; n <= 3; n++ {
				appendReport(t, names[name], fio.report(n))
			}
		}
		run := onlyRun(t, dir)
		var writing sync.WaitGroup
		defer writing.Wait()
		for name, fio := range fios {
			writing.Go(func() {
				for n := 4; n <= seconds[name]; n++ {
					time.Sleep(time.Until(fio.start.Add(time.Duration(n) * time.Second)))
					appendReport(t, names[name], fio.report(n))
				}
			})
		}
		var err error
		out, err = live(t.Context(), run, opt, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
	})
	stages, _ := readStages(t, dir, "", opt)
	out.batch = slices.Concat(stages...)
	return out
}

// check compares what was followed with what the complete files contain.
func (f *followed) check(t *testing.T) {
	t.Helper()
	byTime := func(a, b *mapping.Interval) int {
		return strings.Compare(fmt.Sprintf("%020d %s", a.Time.UnixMilli(), a.ID()), fmt.Sprintf("%020d %s", b.Time.UnixMilli(), b.ID()))
	}
	var live []*mapping.Interval
	for _, d := range f.docs {
		one := *d.Interval
		one.Run, one.Window.FromMS, one.Window.ToMS = mapping.RunRef{}, 0, 0
		live = append(live, &one)
	}
	for _, d := range f.batch {
		d.Run, d.Window.FromMS, d.Window.ToMS = mapping.RunRef{}, 0, 0 // when jobs end is not known while fio writes
	}
	slices.SortFunc(live, byTime)
	slices.SortFunc(f.batch, byTime)
	if diff := cmp.Diff(f.batch, live, cmpopts.EquateEmpty(), cmp.AllowUnexported(mapping.Interval{}, mapping.Latency{})); diff != "" {
		t.Errorf("followed (+) and read when it was over (-):\n%s", diff)
	}
	if len(f.stored) != len(f.docs) || len(f.res.Skipped) > 0 {
		t.Errorf("%d documents of %d windows; lost %v", len(f.stored), len(f.docs), f.res.Skipped)
	}
	if run := f.res.Run; run.Run.Complete || !run.Run.Live() || run.Documents.Cluster == 0 {
		t.Errorf("run document: %+v, %+v", run.Run, run.Documents)
	}
}

// TestFollow: what is followed is to the last digit what is read when the run is over, and
// comes some twenty seconds after it was.
func TestFollow(t *testing.T) {
	fio := &liveFio{jobs: []liveJob{
		{to: 60, direction: "read", latencies: []int{1000, 250_000, 9_000_000_000}},
		{to: 60, direction: "write", latencies: []int{20_000, 40_000}},
		{to: 20, direction: "read", latencies: []int{70_000}},                            // ends early
		{from: 25, to: 60, direction: "write", latencies: []int{5_000_000}, waits: true}, // begins late
	}}
	f := follow(t, pipeline.Options{Levels: []mapping.Level{mapping.Cluster, mapping.Host, mapping.Job}}, map[string]*liveFio{"out.json": fio}, map[string]int{"out.json": 60})
	f.check(t)
	over := fio.start.Add(60 * time.Second)
	for _, d := range f.docs {
		due := d.Window.End.Add(20500 * time.Millisecond)
		if over.Sub(d.Window.End) < 20*time.Second {
			due = over.Add(10500 * time.Millisecond) // by then nothing has come for ten seconds
		}
		if d.at.After(due) {
			t.Errorf("the window that ended at %v came after %v", d.Window.End, d.at.Sub(d.Window.End))
		}
	}
}

// TestFollowHosts: a host that falls silent delays the others no longer than Quiet.
func TestFollowHosts(t *testing.T) {
	of := func(latency int) *liveFio { // the same contents would be a copy
		return &liveFio{jobs: []liveJob{{to: 90, direction: "read", latencies: []int{1000, latency}}}}
	}
	f := follow(t, pipeline.Options{}, map[string]*liveFio{"json_output.0.a": of(2000), "json_output.0.b": of(3000)}, map[string]int{"json_output.0.a": 90, "json_output.0.b": 30})
	f.check(t)
	for _, d := range f.docs {
		if late := d.at.Sub(d.Window.End); late > 33*time.Second {
			t.Errorf("the window that ended at %v came after %v", d.Window.End, late)
		}
	}
}

// TestFollowStages: each stage is a run of its own, whose windows are those of the complete files, and come when the next
// stage begins. Hosts do not begin it at the same moment.
func TestFollowStages(t *testing.T) {
	of := func(first, second, latency int) *liveFio {
		return &liveFio{jobs: []liveJob{
			{to: first, direction: "write", latencies: []int{20_000, latency}},
			{from: first, to: second, direction: "read", latencies: []int{70_000, latency}, waits: true, group: 1},
			{from: second, to: 31, direction: "read", latencies: []int{250_000, latency}, waits: true, group: 2},
		}}
	}
	f := follow(t, pipeline.Options{}, map[string]*liveFio{"json_output.0.a": of(10, 25, 2000), "json_output.0.b": of(11, 26, 3000)},
		map[string]int{"json_output.0.a": 31, "json_output.0.b": 31})
	f.check(t)
	starts, ids := map[string]time.Time{}, map[string]bool{}
	for _, d := range f.docs {
		name := filepath.Base(d.run.Name)
		starts[name], ids[d.run.ID] = d.run.Start, true
	}
	if len(starts) != 3 || len(ids) != 3 || starts["job1"].Sub(starts["job0"]) != 10*time.Second || starts["job2"].Sub(starts["job0"]) != 25*time.Second {
		t.Errorf("stages began at %v", starts)
	}
	for _, d := range f.docs {
		if next, ok := map[string]time.Time{"job0": starts["job1"], "job1": starts["job2"]}[filepath.Base(d.run.Name)]; ok && d.at.Sub(next) > 4*time.Second {
			t.Errorf("a window of %s until %v came %v after the next stage began", d.run.Name, d.Window.End, d.at.Sub(next))
		}
	}
	if run := f.res.Run; run.Run.Stage != 3 || run.Run.Stages != 3 || run.All.IOPS != run.Read.IOPS {
		t.Errorf("the last document: %+v", run.Run)
	}
}

// TestFollowBeside: jobs of a group that begins late may run beside the others. Then the execution has one stage, and its
// windows have the requests of both groups.
func TestFollowBeside(t *testing.T) {
	fio := &liveFio{jobs: []liveJob{
		{to: 30, direction: "write", latencies: []int{20_000}},
		{from: 8, to: 30, direction: "read", latencies: []int{70_000}, waits: true, group: 1},
	}}
	f := follow(t, pipeline.Options{}, map[string]*liveFio{"out.json": fio}, map[string]int{"out.json": 30})
	id := f.res.Run.Run.ID
	f.docs = slices.DeleteFunc(f.docs, func(d given) bool { return d.run.ID != id })
	f.stored = slices.DeleteFunc(f.stored, func(d *mapping.Interval) bool { return d.Run.ID != id })
	f.check(t)
}

// TestFollowRamp: following begins with the first report after the ramp_time, and its window has no time of the ramp.
func TestFollowRamp(t *testing.T) {
	fio := &liveFio{jobs: []liveJob{{from: 2, to: 30, direction: "read", latencies: []int{70_000}, waits: true, late: 600}}}
	f := follow(t, pipeline.Options{}, map[string]*liveFio{"out.json": fio}, map[string]int{"out.json": 30})
	f.check(t)
}

// TestFollowReal feeds reports that fio wrote, one a second.
func TestFollowReal(t *testing.T) {
	for _, name := range []string{"status-interval", "stonewall"} {
		t.Run(name, func(t *testing.T) {
			whole := golden.Gunzip(t, filepath.Join("..", "testdata", "corpus", name, "out.json.gz"))
			reports := bytes.SplitAfter(whole, []byte("\n}\n"))
			file := filepath.Join(t.TempDir(), "out.json")
			var f *followed
			synctest.Test(t, func(t *testing.T) {
				appendReport(t, file, bytes.Join(reports[:3], nil))
				run := onlyRun(t, file)
				var writing sync.WaitGroup
				defer writing.Wait()
				writing.Go(func() {
					for _, r := range reports[3:] {
						time.Sleep(time.Second)
						appendReport(t, file, r)
					}
				})
				var err error
				f, err = live(t.Context(), run, pipeline.Options{}, 5*time.Second)
				if err != nil {
					t.Fatal(err)
				}
			})
			stages, _ := readStages(t, file, "", pipeline.Options{})
			f.batch = slices.Concat(stages...)
			var live []*mapping.Interval
			names := map[string]bool{}
			for _, d := range f.docs {
				live, names[d.run.Name] = append(live, d.Interval), true
			}
			if len(names) != len(stages) {
				t.Errorf("stages %v, want %d", names, len(stages))
			}
			if diff := cmp.Diff(binsOf(f.batch), binsOf(live)); diff != "" {
				t.Errorf("followed (+) and read when it was over (-):\n%s", diff)
			}
		})
	}
}

// binsOf are the requests of the cluster's documents, by direction and latency.
func binsOf(docs []*mapping.Interval) map[string]map[float64]int64 {
	sums := map[string]map[float64]int64{}
	for _, d := range docs {
		if d.Level != mapping.Cluster {
			continue
		}
		if sums[d.Fio.Direction] == nil {
			sums[d.Fio.Direction] = map[float64]int64{}
		}
		for i, v := range d.Latency.Bins.Values {
			sums[d.Fio.Direction][v] += d.Latency.Bins.Counts[i]
		}
	}
	return sums
}

// TestFollowEnds: what was read is passed on when following is ended.
func TestFollowEnds(t *testing.T) {
	fio := &liveFio{start: time.Unix(1_700_000_000, 0), jobs: []liveJob{{to: 60, direction: "read", latencies: []int{1000}}}}
	file := filepath.Join(t.TempDir(), "out.json")
	synctest.Test(t, func(t *testing.T) {
		for n := 1; n <= 40; n++ {
			appendReport(t, file, fio.report(n))
		}
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Second, func() { // fio ends with a last report
			appendReport(t, file, fio.report(41))
			stop()
		})
		f, err := live(ctx, onlyRun(t, file), pipeline.Options{}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(41 * 42 / 2); len(f.stored) != 82 || f.res.Run.All.Requests != want {
			t.Errorf("%d documents, %d requests, want 82 and %d", len(f.stored), f.res.Run.All.Requests, want)
		}
	})
}

// TestNotLive: following begins with the third report, and needs reports.
func TestNotLive(t *testing.T) {
	fio := &liveFio{start: time.Unix(1_700_000_000, 0), jobs: []liveJob{{to: 60, direction: "read", latencies: []int{1000}}}}
	two, three, logs := filepath.Join(t.TempDir(), "out.json"), filepath.Join(t.TempDir(), "out.json"), filepath.Join("..", "testdata", "corpus", "stalls")
	synctest.Test(t, func(t *testing.T) {
		for n := 1; n <= 3; n++ {
			if n < 3 {
				appendReport(t, two, fio.report(n))
			}
			appendReport(t, three, fio.report(n))
		}
		for path, want := range map[string]error{two: pipeline.ErrNotLive, logs: pipeline.ErrNotLive, three: nil} {
			if _, err := live(t.Context(), onlyRun(t, path), pipeline.Options{}, time.Second); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", path, err, want)
			}
		}
	})
}
