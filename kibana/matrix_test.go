package kibana_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/kibana/kibanatest"
)

// fields are those of one run in an answer to the search of the history.
type fields map[string]any

// swept returns a run with a p99 of reads, in microseconds. Runs start a minute after another.
func swept(number, size, depth int, p99 float64, more fields) fields {
	f := fields{
		"run.id": fmt.Sprintf("%020x", number), "run.name": fmt.Sprintf("sweep/%d", number), "run.start": fmt.Sprint(1_780_000_000_000 + 60_000*number),
		"run.complete": true, "cbt.mode": "randread", "cbt.op_size": size, "cbt.iodepth": depth, "cbt.numjobs": 1,
		"all.iops": 1e6 / p99, "read.iops": 1e6 / p99, "all.latency.p99": p99, "read.latency.p99": p99, "read.bandwidth": 1e6 / p99 * float64(size),
	}
	for name, value := range more {
		if f[name] = value; value == nil {
			delete(f, name)
		}
	}
	return f
}

// answerOf returns an answer with these runs, the latest first.
func answerOf(t *testing.T, runs ...fields) json.RawMessage {
	t.Helper()
	hits := []any{}
	for _, run := range slices.Backward(runs) {
		lists := map[string][]any{}
		for name, value := range run {
			lists[name] = []any{value}
		}
		hits = append(hits, map[string]any{"fields": lists})
	}
	text, err := json.Marshal(map[string]any{"timed_out": false, "hits": map[string]any{"hits": hits}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// sweep returns runs of all combinations of sizes and depths.
func sweep(sizes, depths []int, more fields) (runs []fields) {
	for i, size := range sizes {
		for k, depth := range depths {
			runs = append(runs, swept(len(runs), size, depth, float64(60+size/100+40*depth*(i+1)*(k+1)), more))
		}
	}
	return runs
}

// matrixJob returns a drawing of these runs.
func matrixJob(t *testing.T, signals map[string]any, runs ...fields) Job {
	j := job(t, bundle(t, kibana.Options{}), "matrix", kibanatest.Full)
	j.Answers = map[string]json.RawMessage{"answer": answerOf(t, runs...)}
	j.Width, j.Signals = 1200, signals
	j.Ask = map[string]string{
		"rows": "view.scale('y').domain()", "columns": "view.scale('x').domain()", "rects": MarksOf("rect"), "texts": MarksOf("text"),
		"cells": "view.data('shown').map(d => d.rowText + ' ' + d.columnText + ': ' + d.text + d.mark).sort()",
	}
	return j
}

// withOthers returns a sweep, and runs of another engine and of a fixed rate that have sizes and depths of it.
func withOthers() (runs []fields) {
	work := func(size, depth int, rest string) fields {
		name := fmt.Sprintf("randread %dK qd%d %s", size/1024, depth, rest)
		return fields{"workload.name": fmt.Sprintf("%s #%04x", name, len(name)*depth), "workload.id": "1-" + name}
	}
	for i, size := range []int{4096, 65536} {
		for _, depth := range []int{1, 4, 16} {
			runs = append(runs, swept(len(runs), size, depth, float64(60+40*depth+600*i), work(size, depth, "libaio direct")))
		}
	}
	return append(runs,
		swept(6, 4096, 4, 3, work(4096, 4, "mmap")),
		swept(7, 4096, 1, 120, work(4096, 1, "libaio direct rate_iops=400")), swept(8, 4096, 4, 130, work(4096, 4, "libaio direct rate_iops=400")))
}

// TestDrawMatrix: the cells, their order, and which runs they show.
func TestDrawMatrix(t *testing.T) {
	browser := browser(t)
	twice := []fields{
		swept(0, 4096, 1, 100, nil), swept(1, 4096, 1, 400, nil), swept(2, 4096, 1, 200, fields{"run.complete": false}),
		swept(3, 4096, 1, 900, fields{"cbt.mode": "randwrite", "read.iops": nil, "write.iops": 10.0, "write.latency.p99": 900.0}),
		swept(4, 65536, 1, 300, fields{"all.latency.p99": nil, "read.latency.p99": nil}),
		swept(5, 65536, 1, 300, fields{"cbt.op_size": nil}),
	}
	type signals = map[string]any
	cases := map[string]struct {
		signals signals
		runs    []fields
		want    string // rows; columns; cells
		texts   []string
	}{
		"natural order": {
			nil, sweep([]int{131072, 4096, 16384, 1 << 20, 512}, []int{16, 4, 1, 128}, nil)[:19], "512 B, 4 KiB, 16 KiB, 128 KiB, 1 MiB; 1, 4, 16, 128; 19 cells",
			[]string{"randread", "block size", "I/O depth"},
		},
		"latest":            {nil, twice, "4 KiB, 64 KiB; 1; 4 KiB 1: 200 µs ✕, 64 KiB 1: -", []string{"workload 1 of 2: click its name for the next", "1 of 6 runs left out: block size or I/O depth not known, or different in their sections"}},
		"median":            {signals{"choice": "median"}, twice, "4 KiB, 64 KiB; 1; 4 KiB 1: 200 µs, 64 KiB 1: -", nil},
		"the next workload": {signals{"turn": 1}, twice, "4 KiB; 1; 4 KiB 1: 900 µs", []string{"randwrite"}},
		"and the first":     {signals{"turn": 2}, twice, "4 KiB, 64 KiB; 1; 4 KiB 1: 200 µs ✕, 64 KiB 1: -", []string{"randread"}},
		"a direction":       {signals{"direction": "write"}, twice, "4 KiB; 1; 4 KiB 1: 900 µs", nil},
		"IOPS":              {signals{"figure": "IOPS", "direction": "read"}, twice[:1], "4 KiB; 1; 4 KiB 1: 10k", nil},
		"bandwidth":         {signals{"figure": "bandwidth", "direction": "read"}, twice[:1], "4 KiB; 1; 4 KiB 1: 39.1 MiB/s", nil},
		"nanoseconds":       {nil, []fields{swept(0, 4096, 1, 0.75, nil)}, "4 KiB; 1; 4 KiB 1: 750 ns", nil},
		"mode and jobs": {
			signals{"down": "mode", "across": "jobs"}, []fields{swept(0, 4096, 1, 10, nil), swept(1, 4096, 1, 20, fields{"cbt.numjobs": 16}), swept(2, 4096, 1, 30, fields{"cbt.numjobs": 4, "cbt.mode": "read"})},
			"randread, read; 1, 4, 16; randread 16: 20 µs, randread 1: 10 µs, read 4: 30 µs", []string{"4 KiB, I/O depth 1"},
		},
		"the same twice":   {signals{"across": "block size"}, twice, "; ; ", []string{"choose two different settings"}},
		"settings unknown": {signals{"across": "archive"}, twice[:1], "; ; ", []string{"no runs with both settings for this time, query and filters"}},
		"two workloads in a cell": {
			nil, []fields{
				swept(0, 4096, 1, 10, fields{"workload.id": "1-a"}), swept(1, 4096, 1, 20, fields{"workload.id": "1-b"}), swept(2, 4096, 4, 30, fields{"workload.id": "1-c"}),
				swept(3, 4096, 4, 40, fields{"workload.id": "1-c"}), swept(4, 4096, 4, 50, nil),
			}, "4 KiB; 1, 4; 4 KiB 1: mixed, 4 KiB 4: 50 µs", nil,
		},
		"a sweep beside others of its sizes": {
			nil, withOthers(), "4 KiB, 64 KiB; 1, 4, 16; 4 KiB 16: 700 µs, 4 KiB 1: 100 µs, 4 KiB 4: 220 µs, 64 KiB 16: 1.3 ms, 64 KiB 1: 700 µs, 64 KiB 4: 820 µs",
			[]string{"randread libaio direct", "workload 1 of 3: click its name for the next"},
		},
		"the other engine beside it": {signals{"turn": 2}, withOthers(), "4 KiB; 4; 4 KiB 4: 3 µs", []string{"randread mmap"}},
		"depth of all volumes": {
			nil, []fields{swept(0, 4096, 16, 10, nil), swept(1, 4096, 16, 20, fields{"cbt.total_iodepth": 16})}, "4 KiB; 16, 16 in total; 4 KiB 16 in total: 20 µs, 4 KiB 16: 10 µs", nil,
		},
	}
	names := slices.Sorted(maps.Keys(cases))
	var jobs []Job
	for _, name := range names {
		jobs = append(jobs, matrixJob(t, cases[name].signals, cases[name].runs...))
	}
	pictures := browser.draw(t, jobs...)
	for i, p := range pictures {
		name, c := names[i], cases[names[i]]
		savePicture(t, "matrix-"+strings.ReplaceAll(name, " ", "-"), p)
		if len(p.Messages) > 0 {
			t.Error(name, p.Messages)
		}
		var rows, columns, cells []string
		asked(t, p, "rows", &rows)
		asked(t, p, "columns", &columns)
		asked(t, p, "cells", &cells)
		list := strings.Join(cells, ", ")
		if len(cells) > 6 {
			list = fmt.Sprintf("%d cells", len(cells))
		}
		if got := strings.Join(rows, ", ") + "; " + strings.Join(columns, ", ") + "; " + list; got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
		checkTexts(t, name, p.Texts())
		for _, want := range c.texts {
			if !slices.Contains(p.Texts(), want) {
				t.Errorf("%s: %q is not in %q", name, want, p.Texts())
			}
		}
	}
}

// TestDrawMatrixClicks: a click on the name of the workload shows the next one, and one on a cell chooses its latest run.
func TestDrawMatrixClicks(t *testing.T) {
	browser := browser(t)
	var jobs []Job
	for _, mark := range []string{"workload", "cell"} {
		j := matrixJob(t, nil, swept(0, 4096, 1, 900, fields{"cbt.mode": "randwrite"}), swept(1, 4096, 1, 100, nil), swept(2, 4096, 1, 200, nil))
		j.Ask["shown"] = fmt.Sprintf(`(() => {
			document.body.lastElementChild.querySelector('.%s > *').dispatchEvent(new MouseEvent('click', {bubbles: true}));
			view.run();
			return view.data('shown').map(d => d.workload);
		})()`, mark)
		jobs = append(jobs, j)
	}
	pictures := browser.draw(t, jobs...)
	for i, want := range []string{"randwrite", "randread"} {
		var shown []string
		if asked(t, pictures[i], "shown", &shown); !slices.Equal(shown, []string{want}) {
			t.Errorf("%q, want %s", shown, want)
		}
	}
	want := [][]any{{"kibanaAddFilter", map[string]any{"match_phrase": map[string]any{"run.id": fmt.Sprintf("%020x", 2)}}, "fio-runs"}}
	if diff := cmp.Diff(want, pictures[1].Calls); diff != "" || len(pictures[0].Calls) > 0 {
		t.Errorf("%s%v", diff, pictures[0].Calls)
	}
}

// TestDrawCurveOrder: the legend of the curves of a sweep is in the order of sizes. A curve is a workload without its depth, and a line
// of History one with it.
func TestDrawCurveOrder(t *testing.T) {
	browser := browser(t)
	j := job(t, bundle(t, kibana.Options{}), "response-curve", kibanatest.Full)
	j.Answers["answer"] = answerOf(t, sweep([]int{1 << 20, 4096, 131072, 16384}, []int{1, 4}, nil)...)
	j.Ask = map[string]string{"order": "view.scale('colour').domain()"}
	others, hidden := job(t, bundle(t, kibana.Options{}), "response-curve", kibanatest.Full), withOthers()
	// a workload of the sweep's name with an option that no name says
	hidden = append(hidden, swept(9, 4096, 4, 500, fields{"workload.name": "randread 4K qd4 libaio direct #ffff", "workload.id": "1-hidden"}))
	j.Width, others.Width, others.Ask = 900, 900, map[string]string{"order": j.Ask["order"]}
	divided, total := others, others
	others.Answers, divided.Answers = map[string]json.RawMessage{"answer": answerOf(t, withOthers()...)}, map[string]json.RawMessage{"answer": answerOf(t, hidden...)}
	var ofCBT []fields
	for i, depth := range []int{1, 4, 16} {
		ofCBT = append(ofCBT, swept(i, 4096, 1, float64(100*depth), fields{"cbt.iodepth": nil, "cbt.total_iodepth": depth,
			"workload.id": fmt.Sprint("1-", depth), "workload.name": fmt.Sprintf("randread 4K total-qd%d librbdfio #%04x", depth, depth)}))
	}
	total.Answers = map[string]json.RawMessage{"answer": answerOf(t, ofCBT...)}
	history := job(t, bundle(t, kibana.Options{}), "history-runs", kibanatest.Full)
	history.Answers["answer"], history.Width, history.Height = answerOf(t, withOthers()...), 1370, 900
	history.Ask = map[string]string{"order": "view.data('texts').map(d => d.text).filter(d => d.startsWith('4K qd4')).sort()"}
	pictures := browser.draw(t, j, others, divided, total, history)
	for i, want := range []string{
		"randread 4 KiB, randread 16 KiB, randread 128 KiB, randread 1 MiB",
		"randread 4K libaio direct, randread 4K libaio direct rate_iops=400, randread 4K mmap, randread 64K libaio direct",
		"randread 4K libaio direct rate_iops=400, randread 4K mmap, randread 4K qd1 libaio direct #001d, randread 4K qd16 libaio direct #01e0, " +
			"randread 4K qd4 libaio direct #0074, randread 4K qd4 libaio direct #ffff, randread 64K libaio direct",
		"randread 4K total-qd librbdfio",
		"4K qd4 libaio direct, 4K qd4 libaio direct rate_iops=400, 4K qd4 mmap", // lines of History
	} {
		var order []string
		if asked(t, pictures[i], "order", &order); strings.Join(order, ", ") != want {
			t.Errorf("%q, want %q", order, want)
		}
		savePicture(t, fmt.Sprintf("curves-%d", i), pictures[i])
	}
}

// TestDrawMatrixSizes: cells lie inside of the panel, and a number inside of its cell. If there is no room for numbers,
// there are none.
func TestDrawMatrixSizes(t *testing.T) {
	browser := browser(t)
	sizes := []int{512, 4096, 8192, 16384, 65536, 131072, 1 << 20, 4 << 20}
	long := fields{"run.archive": "an-archive-with-a-name-that-is-far-too-long-for-the-panel-2026-11-24", "run.name": strings.Repeat("name/", 40), "cbt.benchmark": "librbdfio", "cbt.clients": 4, "cbt.numjobs": 16}
	var archives []fields
	for i := range 6 {
		archives = append(archives, swept(i, 4096, 1<<i, float64(100+i), fields{"run.archive": fmt.Sprint(long["run.archive"], i%2)}))
	}
	cases := map[string]struct {
		runs      []fields
		signals   map[string]any
		noNumbers bool // at a width of 400
	}{
		"one":      {sweep(sizes[1:2], []int{1}, nil), nil, false},
		"two":      {sweep(sizes[1:2], []int{1, 4}, nil), nil, false},
		"forty":    {sweep(sizes, []int{1, 4, 16, 64, 128}, long), nil, false},
		"wide":     {sweep(sizes[:3], []int{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64, 96, 128}, nil), nil, true},
		"archives": {archives, map[string]any{"down": "archive"}, false},
		"across":   {archives, map[string]any{"down": "I/O depth", "across": "archive"}, false},
	}
	var names []string
	var jobs []Job
	for name, c := range cases {
		for _, width := range []int{1400, 400} {
			for _, dark := range []bool{false, true} {
				j := matrixJob(t, c.signals, c.runs...)
				j.Width, j.Dark = width, dark
				names, jobs = append(names, name), append(jobs, j)
			}
		}
	}
	pictures := browser.draw(t, jobs...)
	for i, p := range pictures {
		c := cases[names[i]]
		of := fmt.Sprintf("matrix-%s-%d-%v", names[i], jobs[i].Width, jobs[i].Dark)
		savePicture(t, of, p)
		checkTexts(t, of, p.Texts())
		if len(p.Messages) > 0 {
			t.Error(of, p.Messages)
		}
		cells, numbers := itemsOf(t, p, "rects", "cell"), itemsOf(t, p, "texts", "number")
		if len(cells) != len(c.runs) || len(numbers) != len(c.runs) {
			t.Fatalf("%s: %d cells and %d numbers of %d runs", of, len(cells), len(numbers), len(c.runs))
		}
		shown := 0
		for k, cell := range cells {
			n := numbers[k]
			if cell.X < 0 || cell.X+cell.Width > float64(jobs[i].Width) || cell.Y < 0 || cell.Y+cell.Height > float64(jobs[i].Height) {
				t.Errorf("%s: a cell at %.0f %.0f", of, cell.X, cell.Y)
			}
			if n.Text == "" {
				continue
			}
			if shown++; n.X < cell.X || n.X+n.Width > cell.X+cell.Width || n.Y < cell.Y-2 || n.Y+n.Height > cell.Y+cell.Height+2 {
				t.Errorf("%s: %q at %.0f+%.0f is not in its cell at %.0f+%.0f", of, n.Text, n.X, n.Width, cell.X, cell.Width)
			}
		}
		if shown != len(numbers) && !(c.noNumbers && jobs[i].Width == 400 && shown == 0) {
			t.Errorf("%s: %d of %d numbers are shown", of, shown, len(numbers))
		}
	}
}
