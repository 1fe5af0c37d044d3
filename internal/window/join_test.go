package window

import (
	"errors"
	"iter"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
)

// storedWindow returns an interval document of a run that began at start. from and to are in milliseconds.
func storedWindow(direction string, elapsed, from, to int64, h *hist.Histogram) *mapping.Interval {
	at := func(ms int64) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	lat := mapping.NewLatency(h, nil)
	n := lat.Bins.Total()
	return &mapping.Interval{
		Time: at(from), Level: mapping.Cluster, Window: mapping.Window{End: at(to), MS: to - from, ElapsedMS: elapsed},
		Run: mapping.RunRef{ID: "aa", Name: "run aa", Start: start, Ingest: "1"}, Fio: mapping.FioRef{Direction: direction},
		Latency: lat, Requests: mapping.Requests{Completed: n, Weight: h.Total()}, DocCount: n,
		IOPS: float64(n) * 1000 / float64(to-from), Bandwidth: float64(n) * 4096 * 1000 / float64(to-from),
	}
}

// joinOf joins the windows of documents.
func joinOf(t interface{ Fatal(...any) }, docs []*mapping.Interval, end, step, length int64) []*Window {
	run := &mapping.Run{Run: mapping.RunInfo{Name: "run aa", Start: start, End: start.Add(time.Duration(end) * time.Millisecond)}, IntervalMS: step}
	var out []*Window
	for w, err := range Join(windowsOf(docs...), run, length) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

// windowsOf returns the windows of documents.
func windowsOf(docs ...*mapping.Interval) iter.Seq2[*Window, error] {
	return func(yield func(*Window, error) bool) {
		for _, w := range RejoinAll(docs) {
			if !yield(w, nil) {
				return
			}
		}
	}
}

// TestJoin joins windows as runs have them: with gaps, edges that follow rows, and a first and a last one that are
// cut. No request is lost, and rates are over the true time.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const step = 1000
		times := rapid.Int64Range(2, 12).Draw(t, "times")
		cut := rapid.SampledFrom([]int64{0, 0, 300, 999}).Draw(t, "cut") // of the first window, in milliseconds
		n := rapid.Int64Range(1, 40).Draw(t, "windows")
		end := n*step - cut - rapid.Int64Range(0, 600).Draw(t, "short")
		var windows []*mapping.Interval
		sums, counts := map[string]*hist.Histogram{}, map[[2]any]int64{}
		late := rapid.Int64Range(0, 20).Draw(t, "late")
		for i := range n {
			for _, direction := range []string{"read", "write"} {
				elapsed := max(i*step-cut, 0)
				from, to := elapsed, min((i+1)*step-cut+late, end)
				if i > 0 {
					from += late
				}
				if to-from < 1 || rapid.IntRange(0, 3).Draw(t, "gap") == 0 {
					continue
				}
				h := hist.New(hist.Fio3(rapid.IntRange(0, 2).Draw(t, "coarseness")))
				for range rapid.IntRange(1, 3).Draw(t, "bins") {
					h.AddAt(rapid.IntRange(0, h.Layout().Len()-1).Draw(t, "bin"), float64(rapid.IntRange(1, 50).Draw(t, "count")))
				}
				if sums[direction] == nil {
					sums[direction] = &hist.Histogram{}
				}
				sums[direction].Merge(h)
				counts[[2]any{direction, i / times}] += int64(h.Total())
				windows = append(windows, storedWindow(direction, elapsed, from, to, h))
			}
		}
		got := map[string]*hist.Histogram{}
		last := int64(-1)
		for _, w := range joinOf(t, windows, end, step, times*step) {
			if w.ElapsedMS < last || w.ElapsedMS > 0 && (w.ElapsedMS+cut)%(times*step) != 0 {
				t.Fatalf("a window at %d after one at %d", w.ElapsedMS, last)
			}
			last = w.ElapsedMS
			key := [2]any{w.Direction, (w.ElapsedMS + cut) / (times * step)}
			if w.Completed != counts[key] || w.Document(&mapping.Interval{}).DocCount != counts[key] {
				t.Fatalf("%v: %d requests, want %d", key, w.Completed, counts[key])
			}
			delete(counts, key)
			ms := w.Length().Milliseconds()
			nominal := min((w.ElapsedMS+cut)/(times*step)*times*step+times*step-cut, end) - w.ElapsedMS
			if max(ms-nominal, nominal-ms) > 2*late || w.End.After(start.Add(time.Duration(end)*time.Millisecond)) {
				t.Fatalf("%v: from %v for %d ms, to %v, nominal %d ms", key, w.Start, ms, w.End, nominal)
			}
			if want := float64(w.Completed) * 1000 / float64(ms); math.Abs(w.IOPS-want) > 0.001 || math.Abs(w.Bandwidth-want*4096) > 1 {
				t.Fatalf("%v: iops %v, bandwidth %v, want %v", key, w.IOPS, w.Bandwidth, want)
			}
			h, err := w.Histogram()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := w.Document(&mapping.Interval{}).Latency, mapping.NewLatency(h, nil); !cmp.Equal(want, got) {
				t.Fatalf("%v: %+v, want %+v", key, got, want)
			}
			if got[w.Direction] == nil {
				got[w.Direction] = &hist.Histogram{}
			}
			got[w.Direction].Merge(h)
		}
		if len(counts) > 0 {
			t.Fatalf("no windows of %v", counts)
		}
		for direction, want := range sums {
			if !slices.Equal(got[direction].Weights(), want.Weights()) {
				t.Fatalf("%s: %v, want %v", direction, got[direction].Weights(), want.Weights())
			}
		}
	})
}

// TestJoinRough: a joined window is rough if requests were divided, and one more or less moves a percentile.
func TestJoinRough(t *testing.T) {
	for _, c := range []struct {
		name       string
		fast, slow int
		weight     float64 // of each window beyond its whole counts
		want       bool
	}{
		{"p99 is where few slow ones begin", 74, 1, 0.25, true},
		{"the same of requests that were not divided", 74, 1, 0, false},
		{"no slow ones", 75, 0, 0.25, false},
		{"many slow ones", 3000, 7000, 0.25, false},
	} {
		var docs []*mapping.Interval
		for i := range int64(2) {
			h := hist.New(hist.Fio3(0))
			h.AddAt(h.Layout().Index(100_000), float64(c.fast))
			h.AddAt(h.Layout().Index(9_000_000), float64(c.slow))
			d := storedWindow("read", i*1000, i*1000, (i+1)*1000, h)
			d.Requests.Weight += c.weight
			docs = append(docs, d)
		}
		if got := joinOf(t, docs, 2000, 1000, 2000); len(got) != 1 || got[0].IsRough != c.want {
			t.Errorf("%s: %d windows, rough %v, want %v", c.name, len(got), got[0].IsRough, c.want)
		}
	}
}

// TestJoinAverages: averages have a rate and a mean, weighted by the number of requests.
func TestJoinAverages(t *testing.T) {
	average := func(elapsed int64, iops, mean float64) *mapping.Interval {
		d := storedWindow("read", elapsed, elapsed, elapsed+1000, &hist.Histogram{})
		d.IOPS, d.Bandwidth, d.Latency = iops, 4096*iops, mapping.Latency{Mean: mean}
		return d
	}
	got := joinOf(t, []*mapping.Interval{average(0, 100, 10), average(1000, 300, 30)}, 2000, 1000, 2000)
	if len(got) != 1 || got[0].IOPS != 200 || got[0].Latency.Mean != 25 || got[0].Latency.HasPercentiles() || got[0].Bandwidth != 4096*200 {
		t.Errorf("%+v", got)
	}
	unknown := average(0, 0, 10)
	unknown.Weighting = mapping.Averaged
	got = joinOf(t, []*mapping.Interval{unknown, average(1000, 300, 30)}, 2000, 1000, 2000)
	if len(got) != 1 || !math.IsNaN(got[0].KnownIOPS()) || got[0].Latency.Mean != 20 {
		t.Errorf("a rate is not known: %+v", got)
	}
}

// TestJoinSplit: parts of a split document are added up, and have the percentiles of the whole document.
func TestJoinSplit(t *testing.T) {
	h := hist.New(hist.Fio3(0))
	h.AddAt(500, 1<<31)
	h.AddAt(700, 1<<31)
	d := storedWindow("read", 0, 0, 1000, h)
	got := joinOf(t, append(d.Split(), storedWindow("read", 1000, 1000, 2000, h)), 2000, 1000, 2000)
	if len(got) != 1 || got[0].Completed != 1<<33 || got[0].Latency.P50 != mapping.NewLatency(h, nil).P50 {
		t.Errorf("%+v", got)
	}
}

// TestJoinUneven: windows of --interval auto cannot be joined.
func TestJoinUneven(t *testing.T) {
	h := hist.New(hist.Fio3(0))
	h.AddAt(500, 10)
	run := &mapping.Run{Run: mapping.RunInfo{Name: "run aa", Start: start, End: start.Add(9 * time.Second)}, IntervalMS: 1000}
	windows := windowsOf(storedWindow("read", 0, 0, 1000, h), storedWindow("read", 1000, 1000, 4000, h))
	for _, err := range Join(windows, run, 2000) {
		if err != nil {
			if !errors.Is(err, ErrUneven) {
				t.Error(err)
			}
			return
		}
	}
	t.Error("a window that lies in two longer ones passed")
}

// TestSharedRequest: a request that several windows share may have too little weight for a rank in each of them. The sum
// has it whole, and so is its maximum.
func TestSharedRequest(t *testing.T) {
	run := &mapping.RunInfo{ID: "a", Start: start}
	sum := &Sum{}
	var layout hist.Layout
	for i, share := range []float64{0.34, 0.33, 0.33} {
		h := hist.New(hist.Fio3(0))
		layout = h.Layout()
		h.AddLatency(50_000, 99)
		h.AddAt(layout.Index(3_000_000_000), share)
		w := &Window{
			Run: run, Level: mapping.Cluster, Direction: "read", Start: start.Add(time.Duration(i) * time.Second), End: start.Add(time.Duration(i+1) * time.Second),
			Completed: 99, Latency: mapping.Figures(h), Layout: layout, Counts: []hist.Bin{{Index: uint32(layout.Index(50_000)), Count: 99}},
		}
		if i == 1 {
			w.Counts = append(w.Counts, hist.Bin{Index: uint32(layout.Index(3_000_000_000)), Count: 1})
			w.Completed++
		}
		if err := sum.Add(w); err != nil {
			t.Fatal(err)
		}
	}
	got := sum.Windows()[0].Latency
	if got.Max < 2.9e6 || got.P50 > 51 {
		t.Errorf("max %v, p50 %v", got.Max, got.P50)
	}
}

// TestJoinCut: of a few windows that cut rows, the joined percentiles lie between the widest bounds. Of more, they count as known.
func TestJoinCut(t *testing.T) {
	var docs []*mapping.Interval
	for i := range int64(10) {
		h := hist.New(hist.Fio3(0))
		h.AddLatency(1_000_000*(i+1), 100)
		docs = append(docs, storedWindow("read", i*1000, i*1000, i*1000+1000, h))
		if i != 1 { // which cuts none
			docs[i].Bounds = &mapping.Bounds{Confidence: 1, P99: mapping.Between{Low: float64(900 * (i + 1)), High: float64(1200 * (i + 1))}}
		}
	}
	for length, want := range map[int64]*mapping.Bounds{1000: docs[0].Bounds, 2000: {Confidence: 1, P99: mapping.Between{Low: 900}}, 5000: nil} {
		w := joinOf(t, docs, 10_000, 1000, length)[0]
		if length == 2000 {
			want.P99.High = docs[1].Latency.P99
		}
		if diff := cmp.Diff(want, w.Bounds); diff != "" {
			t.Errorf("windows of %d: %s", length, diff)
		}
	}
}
