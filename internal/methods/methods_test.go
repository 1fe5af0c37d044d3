package methods

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	_ "github.com/fio2es/fio2es/internal/testcost" // fixed seeds
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// named returns percentiles by their names.
func named(names ...string) (list []mapping.Percentile) {
	for _, p := range mapping.Percentiles {
		if slices.Contains(names, p.Name) {
			list = append(list, p)
		}
	}
	return list
}

// TestSketches: the answers of each method for a few requests, computed by hand.
func TestSketches(t *testing.T) {
	t.Parallel()
	four := []part{{4000, 1, 0}, {1000, 1, 0}, {3000, 1, 1}, {2000, 1, 0}}
	wide := []part{{1500, 1, 0}, {20_000, 1, 0}, {20_000, 1, 0}, {300_000, 1, 0}}
	decade := LogBins{1, time.Microsecond, time.Millisecond}
	for name, c := range map[string]struct {
		new   func() sketch
		parts []part
		q     float64
		want  float64
		off   float64 // as a share
		size  int64
	}{
		"between two":        {newExact, four, 0.5, 2500, 0, 32},
		"p25 of four":        {newExact, four, 0.25, 1750, 0, 32},
		"only one":           {newExact, four[:1], 0.99, 4000, 0, 8},
		"nearest rank":       {newNearest, four, 0.5, 2000, 0, 32},
		"nearest of ranks":   {newNearest, four, 0.51, 3000, 0, 32},
		"mean of jobs":       {newPerJob, four, 0.5, (3*2000 + 3000) / 4.0, 0, 2 * 16}, // medians 2000 of three, 3000 of one
		"equal weights":      {newExact, []part{{1000, 0.5, 0}, {2000, 0.5, 0}, {3000, 0.5, 0}, {4000, 0.5, 0}}, 0.25, 1750, 1e-12, 64},
		"a heavy one":        {newExact, []part{{1000, 1, 0}, {2000, 0.5, 0}, {3000, 1, 0}}, 0.25, 1500, 1e-12, 48}, // at 0.5, 1.25, 2
		"log-spaced":         {decade.new, wide, 0.5, 10_000 * math.Sqrt(10), 1e-12, 9},
		"log-spaced, halves": {decade.new, []part{{1500, 0.5, 0}, {20_000, 1, 0}}, 0.5, 10_000 * math.Pow(10, 0.25), 1e-12, 13},
		"below and above":    {decade.new, []part{{1, 1, 0}, {1e9, 1, 0}}, 1, 1e6, 1e-12, 6},
		"fio's bins":         {newFioBins, []part{{7, 1, 0}, {9, 200, 0}}, 0.5, 9, 0, 7},
		"HdrHistogram":       {newHDR, four, 0.5, 2000, 0, -1},
		"DDSketch":           {newDDSketch, four, 0.34, 2000, 0.01, -1},
		"t-digest":           {newTDigest, four, 1, 4000, 0, -1},
	} {
		s := c.new()
		for _, p := range c.parts {
			s.add(p)
		}
		if got := s.percentiles([]float64{c.q})[0]; !(math.Abs(got-c.want) <= c.off*c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if got := s.size(); got != c.size && c.size >= 0 || got <= 0 {
			t.Errorf("%s: %d bytes, want %d", name, got, c.size)
		}
	}
}

// bruteForce is the exact percentile of a window (start, end] in milliseconds, from all requests one by one.
func bruteForce(c *Comparison, all []request, start, end int64, inFlight bool, q float64) float64 {
	type weighed struct{ ns, weight float64 }
	var list []weighed
	for _, r := range all {
		weight, took, at := 0.0, float64(r.ns)/1e6, float64(r.at())
		switch {
		case inFlight && (c.SpreadAll && r.ns > 0 || r.ns/1e6 >= c.Window):
			weight = (min(at, float64(end)) - max(at-took, float64(start))) / took
		case r.at() > start && r.at() <= end || start <= 0 && r.at() <= end:
			weight = 1
		}
		if weight > 0 {
			list = append(list, weighed{float64(r.ns), weight})
		}
	}
	if len(list) == 0 {
		return math.NaN()
	}
	slices.SortFunc(list, func(a, b weighed) int { return cmp.Or(cmp.Compare(a.ns, b.ns), cmp.Compare(a.weight, b.weight)) })
	// The line through the middles of the weights, from 0 at the first to 1 at the last.
	places, sum := make([]float64, len(list)), 0.0
	for i, w := range list {
		places[i], sum = sum+w.weight/2, sum+w.weight
	}
	first, last := places[0], places[len(list)-1]
	place := first + q*(last-first)
	for i := 1; i < len(list); i++ {
		if place < places[i] || i == len(list)-1 && place <= places[i] {
			return list[i-1].ns + (place-places[i-1])/(places[i]-places[i-1])*(list[i].ns-list[i-1].ns)
		}
	}
	return list[len(list)-1].ns
}

// TestExact: the exact percentiles of each window, and of the run, are those that brute force finds, from any jobs.
func TestExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := &Comparison{Options: Options{Percentiles: named("p50", "p99"), Window: rapid.SampledFrom([]int64{1, 100, 1000}).Draw(t, "window")}}
		c.Shift = rapid.Int64Range(0, c.Window-1).Draw(t, "shift")
		c.SpreadAll = rapid.Bool().Draw(t, "all")
		var all []request
		for job := range rapid.IntRange(1, 4).Draw(t, "jobs") {
			for range rapid.IntRange(0, 12).Draw(t, "requests") {
				at := rapid.Int64Range(0, 12*c.Window).Draw(t, "at")
				ns := rapid.SampledFrom([]int64{0, 5, 1e3, 12e6, 150e6, 2e9}).Draw(t, "ns") * rapid.Int64Range(1, 3).Draw(t, "times")
				c.Add(1, job, at, ns)
				all = append(all, request{ns, at << jobBits})
			}
		}
		if err := c.sort(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, inFlight := range []bool{false, true} {
			a, err := c.answer(t.Context(), method{"exact", inFlight, newExact}, &edges{length: c.Window, shift: c.Shift}, true)
			if err != nil {
				t.Fatal(err)
			}
			for w := range int64(15) {
				got := a.windows[place{1, w}]
				for i, p := range c.Percentiles {
					want := bruteForce(c, all, w*c.Window-c.Shift, (w+1)*c.Window-c.Shift, inFlight, p.Quantile)
					if math.IsNaN(want) != (got == nil) || got != nil && math.Abs(got[i]-want) > 1e-6*want+1e-6 {
						t.Fatalf("window %d, in flight %v: %s is %v, want %v", w, inFlight, p.Name, got, want)
					}
				}
			}
			if want := bruteForce(c, all, -1, math.MaxInt64>>jobBits, false, 0.99); len(all) > 0 && math.Abs(a.whole[1][1]-want) > 1e-6*want+1e-6 {
				t.Fatalf("whole run, in flight %v: %v, want %v", inFlight, a.whole[1], want)
			}
		}
	})
}

// TestCompare: errors of windows and of the run, of answers of fio2es that are made up.
func TestCompare(t *testing.T) {
	t.Parallel()
	c := &Comparison{Options: Options{Percentiles: named("p50"), Window: 1000, Shift: 250, Log: LogBins{10, 1, time.Second}}}
	for i, ns := range []int64{1000, 2000, 4000, 8000} { // a window each: the first one ends at 750 ms
		c.Add(0, 0, int64(i)*1000+700, ns)
	}
	run := &mapping.Run{Read: &mapping.Totals{Requests: 4}}
	run.Read.Latency.P50, run.Read.Latency.Layout = 2.7, "fio3/0" // exactly 3
	var windows []*window.Window
	for i, us := range []float64{1.01, 1.8, 4} {
		w := &window.Window{Run: &run.Run, Direction: "read", ElapsedMS: max(int64(i)*1000-250, 0), Counts: []hist.Bin{{Index: 3, Count: 300}}}
		w.Latency.P50, w.Latency.Layout = us, "fio3/0"
		windows = append(windows, w)
	}
	c.AddOurs(false, windows, run, time.Second)
	rows, err := c.Compare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(rows, func(r *Row) bool { return r.Method == ours })
	got := *rows[i]
	for name, of := range map[string]struct{ got, want float64 }{
		"windows": {float64(got.Windows), 3}, "of": {float64(got.Of), 4}, "median": {got.Median, 1}, "95th": {got.P95, 9.1},
		"worst": {got.Worst, 10}, "bias": {got.Bias, -3}, "whole": {got.Whole, -10}, "bytes": {float64(got.Bytes), 12},
		"took": {got.Took.Seconds(), 1}, "counts": {float64(len(got.Counts)), float64(len("completions"))},
	} {
		if math.Abs(of.got-of.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, of.got, of.want)
		}
	}
	for _, r := range rows {
		if r.Windows == 4 && r.Method != ours && r.Worst > 12.3 { // bins of a tenth of a power of ten
			t.Errorf("%s: off by %v %% in a window of one request", r.Method, r.Worst)
		}
	}

	var picture bytes.Buffer
	if err := WriteSVG(&picture, "a < b", rows); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for d, isText := xml.NewDecoder(bytes.NewReader(picture.Bytes())), false; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			isText = token.Name.Local == "text"
		case xml.CharData:
			if isText {
				texts = append(texts, string(token))
			}
		}
	}
	for _, r := range rows[1:] {
		if !slices.Contains(texts, r.name()) {
			t.Errorf("the picture has no %s", r.name())
		}
	}
	if title := "fio2es&#39;s answer, p50: median 1.00 %, 95th 9.10 %, worst 10 %, whole run -10 %"; !strings.Contains(picture.String(), title) {
		t.Errorf("no title %q", title)
	}
}

// TestEdges: a request belongs to the window in which it completed, also where this ends with the rows of logs, late or early.
func TestEdges(t *testing.T) {
	t.Parallel()
	c := &Comparison{Options: Options{Window: 1000}}
	for _, at := range []int64{0, 745, 750, 760, 770, 771, 1750, 1751} {
		c.Add(0, 0, at, 1)
	}
	if err := c.sort(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]struct {
		rows map[place]int64
		want []int // requests of each window
	}{
		"even": {nil, []int{3, 4, 1}}, "late": {map[place]int64{{0, 0}: 770}, []int{5, 2, 1}},
		"early": {map[place]int64{{0, 0}: 740, {0, 1}: 1751}, []int{1, 7}},
	} {
		var got []int
		for _, s := range c.spans(0, &edges{1000, 250, of.rows}) {
			if s.window != int64(len(got)) {
				t.Errorf("%s: window %d after %d others", name, s.window, len(got))
			}
			got = append(got, len(s.list))
		}
		if !slices.Equal(got, of.want) {
			t.Errorf("%s: %v requests, want %v", name, got, of.want)
		}
	}
}

// TestInterrupted: the end of the context ends each step.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	c := &Comparison{Options: Options{Percentiles: named("p50"), Window: 1000}}
	c.Add(0, 0, 1, 1)
	c.Add(0, 1, 1, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	inSort := c.sort(ctx)
	if err := c.sort(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, inSketch := c.answer(ctx, method{"exact", false, newExact}, &edges{length: c.Window}, true)
	_, inAll := c.Compare(ctx)
	for _, err := range []error{inSort, inSketch, inAll} {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
