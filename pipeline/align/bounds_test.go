package align_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
)

// TestBounds: the percentiles of a window that cuts rows lie between those with the fastest and with the slowest requests of these
// rows, on each level and with any number of workers. A window that cuts none has no others.
func TestBounds(t *testing.T) {
	const seconds, step = 20, 1000
	random := rand.New(rand.NewPCG(1, 2))
	var starts []int64
	var completions [][][2]int64 // of each host: time in ms, latency in ns
	for host := range 4 {
		start := int64(host) * 730
		var of [][2]int64
		for ms := 1.0; ms < seconds*1000; ms += random.ExpFloat64() * 5 {
			ns := math.Exp(random.NormFloat64()*0.4) * 500_000
			if random.Float64() < 0.015 {
				ns *= 5 + 25*random.Float64()
			}
			if at := int64(ms) % 3700; host > 1 && at < 150 { // a pause
				ns += float64(150-at) * 1e6
			}
			of = append(of, [2]int64{int64(ms), int64(ns)})
		}
		starts, completions = append(starts, start), append(completions, of)
	}
	streams := func() (list []*align.Stream) {
		for host, of := range completions {
			var rows []align.Row
			for k := range int64(seconds) {
				h := hist.New(hist.Fio3(0))
				for _, c := range of {
					if (c[0]-1)/step == k {
						h.AddLatency(c[1], 1)
					}
				}
				rows = append(rows, align.NewRow(starts[host]+k*step, starts[host]+(k+1)*step, 0, h))
			}
			list = append(list, stream(string(rune('a'+host)), "1", rows))
		}
		return list
	}
	windows := func(workers int, bounds bool) (list []*align.Window) {
		opt := align.Options{Window: step, Tolerance: 50, Weighting: align.Completion, Levels: []align.Level{align.Cluster, align.Host}, Workers: workers, Bounds: bounds}
		for w, err := range align.Merged(context.Background(), streams(), opt, nil) {
			if err != nil {
				t.Fatal(err)
			}
			kept := *w
			if kept.Latencies = w.Latencies.Clone(); w.Fastest != nil {
				kept.Fastest, kept.Slowest = w.Fastest.Clone(), w.Slowest.Clone()
			}
			if list = append(list, &kept); workers > 1 { // the others are compared with windows whose memory is used again
				w.Release()
			}
		}
		return list
	}
	one, without := windows(1, true), windows(1, false)
	var in, all int
	for i, w := range windows(3, true) {
		if w.Key.Level == align.Host && w.Key.Host == "a" {
			if w.Fastest != nil || w.Slowest != nil {
				t.Errorf("a window that cuts no row has bounds")
			}
			continue
		}
		if !slices.Equal(w.Latencies.Weights(), without[i].Latencies.Weights()) || without[i].Slowest != nil {
			t.Errorf("%v at %d: bounds change the latencies", w.Key, w.Elapsed)
		}
		if w.Fastest == nil {
			continue // before the other hosts begin
		}
		if w.Fastest.Total() != w.Latencies.Total() || w.Slowest.Total() != w.Latencies.Total() ||
			!slices.Equal(w.Fastest.Weights(), one[i].Fastest.Weights()) || !slices.Equal(w.Slowest.Weights(), one[i].Slowest.Weights()) {
			t.Errorf("%v at %d: %v to %v requests of %v, with one worker %v to %v", w.Key, w.Elapsed, w.Fastest.Total(), w.Slowest.Total(),
				w.Latencies.Total(), one[i].Fastest.Total(), one[i].Slowest.Total())
		}
		truth := hist.New(hist.Fio3(0))
		for host, of := range completions {
			for _, c := range of {
				if at := starts[host] + c[0]; (w.Key.Host == "" || w.Key.Host == string(rune('a'+host))) && w.Elapsed < at && at <= w.Elapsed+step {
					truth.AddLatency(c[1], 1)
				}
			}
		}
		for _, q := range []float64{0.5, 0.9, 0.99} {
			low, is, high := w.Fastest.Percentile(q), w.Latencies.Percentile(q), w.Slowest.Percentile(q)
			if low.Low > is.Value || is.Value > high.High {
				t.Errorf("%v at %d: quantile %v is %v, between %v and %v", w.Key, w.Elapsed, q, is.Value, low.Low, high.High)
			}
			all++
			if x := truth.Percentile(q).Value; low.Low <= x && x <= high.High {
				in++
			}
		}
	}
	if t.Logf("%d of %d percentiles lie between their bounds", in, all); all < 200 || in < all*97/100 {
		t.Errorf("%d of %d percentiles lie between their bounds", in, all)
	}
}
