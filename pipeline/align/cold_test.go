package align_test

import (
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
)

// minutes is the layout of a fio that was rebuilt for latencies up to 9 minutes.
var minutes = rebuilt(hist.Nanoseconds, 34, 0)

// slowRun has rows of a second of quick requests, and slow requests: lasted has, by the second in which one completes,
// how many seconds it took.
func slowRun(seconds int, lasted map[int]int) []align.Row {
	var rows []align.Row
	for s := range seconds {
		at := int64(s) * 1000
		b := []hist.Bin{{Index: uint32(minutes.Index(1e6)), Count: 10}}
		if n, ok := lasted[s]; ok {
			b = append(b, hist.Bin{Index: uint32(minutes.Index(int64(n) * 1e9)), Count: 1})
		}
		rows = append(rows, align.Row{Start: at, End: at + 1000, Layout: minutes, Bins: b, Total: total(b)})
	}
	return rows
}

// TestMergeMinutes: requests of minutes count in all windows that they lived through, however
// many workers there are, and whether windows are given at once or not.
func TestMergeMinutes(t *testing.T) {
	lasted := map[int]int{310: 300, 700: 500, 701: 30, 1000: 25}
	jobs := []jobRows{{host: "a", job: "1", rows: slowRun(1100, lasted)}, {host: "a", job: "2", rows: slowRun(1100, nil)}, {host: "b", job: "1", rows: slowRun(900, map[int]int{850: 540})}}
	lasted[850] = 540
	var first []string
	for _, opt := range []align.Options{{Workers: 1}, {Workers: 4}, {Workers: 2, Live: true}} {
		opt.Window = 1000
		windows, stats := merge(t, jobs, opt)
		if stats.Late != 0 || stats.Layout != minutes {
			t.Errorf("%+v: %+v", opt, stats)
		}
		for _, w := range windows {
			want, slow := 0.0, 0.0
			for ended, n := range lasted {
				life := minutes.Middle(minutes.Index(int64(n)*1e9)) / 1e6
				// Completed within a second, uniformly: whole seconds of its life in the middle.
				if from := float64(ended)*1000 - life; float64(w.Start) >= from+1000 && w.End <= int64(ended)*1000 {
					want += 1000 / life
				} else if float64(w.End) > from && w.Start <= int64(ended)*1000 {
					want = math.NaN() // partly
				}
			}
			for i, n := range w.Latencies.All() {
				if i > minutes.Index(1e9) {
					slow += n
				}
			}
			if math.Abs(slow-want) > 1e-5 { // false for NaN
				t.Fatalf("%+v: window at %d has a weight of %v of slow requests, want %v", opt, w.Start, slow, want)
			}
		}
		in, out := amounts(jobs, windows, nil)
		if d := gocmp.Diff(in, out); d != "" {
			t.Error(d)
		}
		if all := look(windows); first == nil {
			first = []string{fmt.Sprint(all)}
		} else if fmt.Sprint(all) != first[0] {
			t.Errorf("%+v: other windows", opt)
		}
	}
}

// TestMergeTooSlow: what took longer than is followed is late by the share that it lived
// before, and nothing of it is lost.
func TestMergeTooSlow(t *testing.T) {
	hours := rebuilt(hist.Nanoseconds, 40, 0)
	rows := slowRun(5000, nil)
	for i := range rows {
		rows[i].Layout = hours
	}
	last := &rows[4500]
	last.Bins = append(slices.Clone(last.Bins), hist.Bin{Index: uint32(hours.Index(4000e9)), Count: 1})
	last.Total++
	opt := align.Options{Window: 1000, Levels: []align.Level{align.Cluster, align.Section}} // it counts as late once
	windows, stats := merge(t, []jobRows{{rows: rows}}, opt)
	if share := 1 - 600.0/4000; math.Abs(stats.Late-share) > 0.01 {
		t.Errorf("%v requests were late, want %v", stats.Late, share)
	}
	in, out := amounts([]jobRows{{rows: rows}}, windows, opt.Levels)
	if d := gocmp.Diff(in, out); d != "" {
		t.Error(d)
	}
}

// TestMergeMinutesMemory: windows that only requests of minutes can reach take little.
func TestMergeMinutesMemory(t *testing.T) {
	const windows, limit = 1500, 40 << 20
	b := []hist.Bin{{Index: 900, Count: 900}, {Index: 1220, Count: 20}, {Index: 1900, Count: 1}}
	var in []*align.Stream
	for i := range 8 {
		n := int64(0)
		in = append(in, &align.Stream{Host: fmt.Sprint(i), Next: func() (align.Row, bool) {
			at := n * 1000
			n++
			return align.Row{Start: at, End: at + 1000, Layout: minutes, Bins: b, Total: 921}, n <= windows
		}})
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as in use: testcost has it run less often
	start, seen := heap(), 0
	for _, err := range align.Merged(t.Context(), in, align.Options{Window: 1000, Levels: []align.Level{align.Host}, Workers: 4}, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen%4000 == 0 {
			if now := heap(); now > start+limit {
				t.Fatalf("after %d windows: %d bytes of heap, %d at the start", seen, now, start)
			}
		}
	}
	if seen != windows*8 {
		t.Errorf("%d windows, want %d", seen, windows*8)
	}
}
