package align_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"testing/synctest"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// row is n requests of a millisecond that completed in (start, end].
func row(start, end int64, n uint64) align.Row {
	return align.Row{Start: start, End: end, Layout: fine, Bins: bins(bin(1, n)), Total: n}
}

func written(r align.Row) align.Row {
	r.Direction = fiolog.Write
	return r
}

func TestMergeOfNothing(t *testing.T) {
	for name, jobs := range map[string][]jobRows{
		"no jobs":         nil,
		"a job, no rows":  {{host: "a", job: "1"}},
		"only a last one": {{host: "a", job: "1", last: true}},
	} {
		t.Run(name, func(t *testing.T) {
			windows, stats := merge(t, jobs, align.Options{Window: 1000})
			if len(windows) != 0 || stats.Late != 0 {
				t.Errorf("%d windows, %+v", len(windows), stats)
			}
		})
	}
}

func TestMergeNeedsALength(t *testing.T) {
	for _, length := range []int64{0, -1000} {
		n := 0
		for w, err := range align.Merged(t.Context(), nil, align.Options{Window: length}, nil) {
			if n++; w != nil || err == nil || n > 1 {
				t.Errorf("length %d: window %v, error %v", length, w, err)
			}
		}
		if n == 0 {
			t.Errorf("length %d: no error", length)
		}
	}
}

// TestMergeWindows looks at times and counts of single windows.
func TestMergeWindows(t *testing.T) {
	type window struct {
		Elapsed, Start, End, Completed int64
		Counted                        uint64
	}
	slow := func(start, end int64, ms float64, n uint64) align.Row {
		return align.Row{Start: start, End: end, Layout: fine, Bins: bins(bin(ms, n)), Total: n}
	}
	for _, c := range []struct {
		name string
		rows []align.Row
		opt  align.Options
		want []window
	}{
		{
			"rows that are a little late stay whole, and show when they were",
			[]align.Row{row(0, 1010, 5), row(1010, 2020, 7)},
			align.Options{Tolerance: 50},
			[]window{{0, 0, 1010, 5, 5}, {1000, 1010, 2020, 7, 7}},
		},
		{
			"without a tolerance they are cut",
			[]align.Row{row(0, 1250, 5), row(1250, 2000, 6)},
			align.Options{},
			[]window{{0, 0, 1000, 4, 4}, {1000, 1000, 2000, 7, 7}},
		},
		{
			"moments at an edge belong to the window that ends there",
			[]align.Row{row(1000, 1000, 3), row(1001, 1001, 4)},
			align.Options{},
			[]window{{0, 0, 1000, 3, 3}, {1000, 1000, 2000, 4, 4}},
		},
		{
			"a stall weighs where it was waited for, and completes where it ended",
			[]align.Row{row(0, 1000, 5), slow(4000, 4000, 2999, 3)},
			align.Options{},
			[]window{{0, 0, 1000, 5, 5}, {1000, 1000, 2000, 0, 1}, {2000, 2000, 3000, 0, 1}, {3000, 3000, 4000, 3, 1}},
		},
		{
			"weighted by completion it does not",
			[]align.Row{row(0, 1000, 5), slow(4000, 4000, 2999, 3)},
			align.Options{Weighting: align.Completion},
			[]window{{0, 0, 1000, 5, 5}, {3000, 3000, 4000, 3, 3}},
		},
		{
			"requests shorter than a window are spread if all are to be",
			[]align.Row{slow(1200, 1200, 800, 4)},
			align.Options{SpreadAll: true},
			[]window{{0, 0, 1000, 0, 3}, {1000, 1000, 2000, 4, 1}},
		},
		{
			"what began before the run counts in its first window",
			[]align.Row{slow(1000, 1000, 10_000, 4)},
			align.Options{},
			[]window{{0, 0, 1000, 4, 4}},
		},
		{
			"a moment near an edge says nothing of where the window ends",
			[]align.Row{row(0, 1010, 5), row(2020, 2020, 7)},
			align.Options{Tolerance: 50},
			[]window{{0, 0, 1010, 5, 5}, {1000, 1010, 2000, 7, 7}},
		},
		{
			"each direction has its own edges",
			[]align.Row{row(0, 1010, 30), written(row(0, 1040, 5)), row(1010, 2002, 7)},
			align.Options{Tolerance: 50},
			[]window{{0, 0, 1010, 30, 30}, {0, 0, 1040, 5, 5}, {1000, 1010, 2002, 7, 7}},
		},
		{
			"nor has a bit of a request that weighs elsewhere",
			[]align.Row{slow(1, 1001, 17_000, 1), row(3000, 4000, 6)},
			align.Options{},
			[]window{{0, 0, 1000, 1, 1}, {3000, 3000, 4000, 6, 6}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.opt.Window = 1000
			windows, stats := merge(t, []jobRows{{rows: c.rows}}, c.opt)
			var got []window
			for _, w := range windows {
				got = append(got, window{w.Elapsed, w.Start, w.End, w.Completed, total(w.Counts)})
			}
			if d := gocmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if stats.Late != 0 {
				t.Errorf("%v requests were late", stats.Late)
			}
		})
	}
}

// TestMergeMeanEdges: of rows that end at different times, the mean of their requests.
func TestMergeMeanEdges(t *testing.T) {
	windows, _ := merge(t, []jobRows{
		{job: "1", rows: []align.Row{row(0, 1010, 30), row(1010, 2010, 30)}},
		{job: "2", rows: []align.Row{row(0, 1040, 10), row(1040, 1996, 10)}},
	}, align.Options{Window: 1000, Tolerance: 50})
	var got [][2]int64
	for _, w := range windows {
		got = append(got, [2]int64{w.Start, w.End})
	}
	// (30·10 + 10·40) / 40 = 17.5, (30·10 - 10·4) / 40 = 6.5
	if d := gocmp.Diff([][2]int64{{0, 1018}, {1018, 2007}}, got); d != "" {
		t.Error(d)
	}
}

// TestMergeHugeTime: a damaged time or a long gap costs neither windows nor memory.
func TestMergeHugeTime(t *testing.T) {
	const huge = 4e12
	ordinary := []align.Row{row(0, 1000, 5), row(1000, 2000, 5), row(2000, 3000, 5)}
	for name, rows := range map[string][]align.Row{
		"row that lasts for ever": append(slices.Clone(ordinary), row(3000, huge, 5)),
		"row after a gap":         append(slices.Clone(ordinary), row(huge-1000, huge, 5)),
		"moment after a gap":      append(slices.Clone(ordinary), row(huge, huge, 5)),
		"a gap in the middle":     append(slices.Clone(ordinary), row(3000, huge-1000, 2), row(huge-1000, huge, 3)),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			windows, stats := merge(t, []jobRows{{job: "1", rows: rows}, {job: "2", rows: ordinary}}, align.Options{Window: 1000})
			runtime.ReadMemStats(&after)
			if len(windows) < 4 || len(windows) > 5 {
				t.Errorf("%d windows", len(windows))
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
				t.Errorf("%d bytes allocated", used)
			}
			if w := windows[len(windows)-1]; w.Elapsed != huge-1000 || total(w.Counts) == 0 || stats.Late != 0 {
				t.Errorf("last window at %d has %d, %v late", w.Elapsed, total(w.Counts), stats.Late)
			}
		})
	}
}

// TestMergeLate: requests whose windows are gone count in the first that is not, and
// are reported.
func TestMergeLate(t *testing.T) {
	var rows []align.Row
	for i := range int64(120) {
		rows = append(rows, row(i*1000, (i+1)*1000, 10))
	}
	rows = slices.Insert(rows, 1, written(row(0, 1000, 10)))
	rows = append(rows, written(row(1000, 120_000, 1190)), row(120_000, 121_000, 10))
	for _, weighting := range []align.Weighting{align.InFlight, align.Completion} {
		t.Run(weighting.String(), func(t *testing.T) {
			jobs := []jobRows{{rows: rows}}
			windows, stats := merge(t, jobs, align.Options{Window: 1000, Weighting: weighting})
			if stats.Late != 1190 {
				t.Errorf("%v were late, want 1190", stats.Late)
			}
			in, out := amounts(jobs, windows, nil)
			if d := gocmp.Diff(in, out); d != "" {
				t.Error(d)
			}
			first := slices.IndexFunc(windows, func(w *align.Window) bool {
				return w.Elapsed > 0 && w.Key.Direction == fiolog.Write
			})
			// 60 s before the row's end, and 17 more, and up to 8 of a slab; it has
			// what the row spread over all windows before, and its own share.
			w := windows[first]
			if want := w.Elapsed / 100; w.Elapsed < 34_000 || w.Elapsed > 43_000 || max(w.Completed-want, want-w.Completed) > 1 {
				t.Errorf("the first window that was open is at %d and has %d, want %d", w.Elapsed, w.Completed, want)
			}
		})
	}
}

// TestMergeLast: what is known only at the end is asked for only then.
func TestMergeLast(t *testing.T) {
	for _, workers := range []int{1, 4} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			left := 0
			count := func(rows ...align.Row) *align.Stream {
				left++
				s := stream("a", "1", rows)
				next := s.Next
				s.Next = func() (align.Row, bool) {
					r, ok := next()
					if !ok {
						left--
					}
					return r, ok
				}
				return s
			}
			var in []*align.Stream
			in = append(in, count(row(0, 1000, 5), row(1000, 2000, 5)))
			tail := stream("a", "", []align.Row{row(2000, 2600, 7)})
			next := tail.Next
			tail.Last = true
			tail.Next = func() (align.Row, bool) {
				if left > 0 {
					t.Errorf("asked while %d other streams have rows", left)
				}
				return next()
			}
			in = append(in, tail)
			got := uint64(0)
			for _, w := range collect(t, align.Merged(t.Context(), in, align.Options{Window: 1000, Workers: workers}, nil)) {
				got += total(w.Counts)
			}
			if got != 17 {
				t.Errorf("%d requests, want 17", got)
			}
		})
	}
}

// TestMergeLastDecidesLayout: nothing was known of the bins when the merge began.
func TestMergeLastDecidesLayout(t *testing.T) {
	for _, c := range []struct {
		name  string
		first []hist.Layout
		last  hist.Layout
		want  hist.Layout
	}{
		{"only rows of the last", nil, hist.Fio2(2), hist.Fio2(2)},
		{"coarser than the others", []hist.Layout{hist.Fio3(0)}, hist.Fio3(6), hist.Fio3(6)},
		{"finer than the others", []hist.Layout{hist.Fio3(3)}, hist.Fio3(0), hist.Fio3(3)},
		{"of another version", []hist.Layout{hist.Fio2(0)}, hist.Fio3(0), hist.Fio3(0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := func(l hist.Layout, from int64) (out []align.Row) {
				for i := range int64(40) {
					b := []hist.Bin{{Index: uint32(l.Len() / 2), Count: 3}, {Index: uint32(l.Len() - 1), Count: 1}}
					out = append(out, align.Row{Start: from + i*700, End: from + (i+1)*700, Layout: l, Bins: b, Total: 4})
				}
				return out
			}
			jobs := []jobRows{{last: true, rows: rows(c.last, 20_000)}}
			for _, l := range c.first {
				jobs = append(jobs, jobRows{rows: rows(l, 0)})
			}
			windows, stats := merge(t, jobs, align.Options{Window: 1000})
			if stats.Layout != c.want || windows[len(windows)-1].Latencies.Layout() != c.want {
				t.Errorf("layout %v, windows end with %v, want %v", stats.Layout, windows[len(windows)-1].Latencies.Layout(), c.want)
			}
			in, out := amounts(jobs, windows, nil)
			if d := gocmp.Diff(in, out); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestMergeLastWorkers: nor does it matter who had which sums when the layout became
// another. There are rows enough for all workers.
func TestMergeLastWorkers(t *testing.T) {
	var jobs []jobRows
	for i := range 12 {
		j := jobRows{host: "a", last: i >= 6}
		l := hist.Fio2(0)
		if i == 6 {
			l = hist.Fio3(1)
		}
		for k := range int64(150) {
			b := []hist.Bin{{Index: uint32(200 + i), Count: 3}, {Index: uint32(l.Len() - 30 - i), Count: 1}}
			j.rows = append(j.rows, align.Row{Start: k * 130, End: (k + 1) * 130, Layout: l, Bins: b, Total: 4})
		}
		jobs = append(jobs, j)
	}
	windows, _ := merge(t, jobs, align.Options{Window: 500, Workers: 1})
	want := look(windows)
	for range 10 {
		windows, _ := merge(t, jobs, align.Options{Window: 500, Workers: 4})
		if d := gocmp.Diff(want, look(windows)); d != "" {
			t.Fatal(d)
		}
	}
}

// TestMergeLayoutChanges: though no stream should, one may change its layout.
func TestMergeLayoutChanges(t *testing.T) {
	var rows []align.Row
	for i := range int64(60) {
		l := []hist.Layout{hist.Fio3(0), hist.Fio3(4), hist.Fio3(2), hist.Fio2(0)}[i/15]
		b := []hist.Bin{{Index: uint32(l.Len() / 2), Count: 3}, {Index: uint32(l.Len() - 1), Count: 1}}
		rows = append(rows, align.Row{Start: i * 700, End: (i + 1) * 700, Layout: l, Bins: b, Total: 4})
	}
	jobs := []jobRows{{rows: rows}, {job: "2", rows: rows[:15]}}
	for _, workers := range []int{1, 2} {
		windows, stats := merge(t, jobs, align.Options{Window: 1000, Workers: workers})
		in, out := amounts(jobs, windows, nil)
		if d := gocmp.Diff(in, out); d != "" {
			t.Error(d)
		}
		if stats.Layout != hist.Fio3(4) {
			t.Errorf("layout %v", stats.Layout)
		}
	}
}

// endless is a job that never ends: rows of a second, or all at one moment.
func endless(step int64, each func(n int64)) *align.Stream {
	n := int64(0)
	b := bins(bin(1, 3))
	return &align.Stream{Next: func() (align.Row, bool) {
		n++
		each(n)
		at := n * step
		return align.Row{Start: at, End: at + step, Layout: fine, Bins: b, Total: 3}, true
	}}
}

// TestMergeCanceled: also while a single window takes in all that there is.
func TestMergeCanceled(t *testing.T) {
	for _, c := range []struct {
		name string
		step int64
	}{{"between windows", 1000}, {"within a window", 0}} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			in := endless(c.step, func(n int64) {
				if n == 5000 {
					cancel()
				}
				if n > 6000 {
					t.Fatal("still reads")
				}
			})
			var failed error
			for w, err := range align.Merged(ctx, []*align.Stream{in}, align.Options{Window: 1000, Workers: 1}, nil) {
				if failed != nil {
					t.Fatalf("window %v and error %v after the end", w, err)
				}
				failed = err
			}
			if !errors.Is(failed, context.Canceled) {
				t.Errorf("ended with %v", failed)
			}
		})
	}
}

// TestMergeStopped: a caller that has seen enough leaves nothing behind: no goroutine that
// waits may be left in the bubble.
func TestMergeStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var in []*align.Stream
		for range 8 {
			in = append(in, endless(1000, func(int64) {}))
		}
		var stats align.Stats
		n := 0
		for _, err := range align.Merged(t.Context(), in, align.Options{Window: 1000, Workers: 4}, &stats) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == 100 {
				break
			}
		}
		if stats.Layout != fine {
			t.Errorf("stats were not set: %+v", stats)
		}
	})
}

// TestMergeMemory: a long run takes no more memory than a short one.
func TestMergeMemory(t *testing.T) {
	const windows, limit = 50_000, 8 << 20
	coarse := hist.Fio3(3)
	b := []hist.Bin{{Index: 80, Count: 900}, {Index: 120, Count: 20}, {Index: 190, Count: 1}}
	n := int64(0)
	in := &align.Stream{Next: func() (align.Row, bool) {
		at := n * 1000
		n++
		return align.Row{Start: at, End: at + 1000, Layout: coarse, Bins: b, Total: 921}, n <= windows
	}}
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as in use: testcost has it run less often
	start, seen, counted := heap(), 0, uint64(0)
	for w, err := range align.Merged(t.Context(), []*align.Stream{in}, align.Options{Window: 1000}, nil) {
		if err != nil {
			t.Fatal(err)
		}
		counted += total(w.Counts)
		if seen++; seen%10_000 == 0 {
			if now := heap(); now > start+limit {
				t.Fatalf("after %d windows: %d bytes of heap, %d at the start", seen, now, start)
			}
		}
	}
	if seen != windows || counted != windows*921 {
		t.Errorf("%d windows of %d requests, want %d of %d", seen, counted, windows, windows*921)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}
