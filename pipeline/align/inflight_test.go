package align_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// histLog does what fio's add_clat_sample does with completions in order of time: the
// clock starts with the first, and a row is written, the completion that is at hand
// in it, once an interval is over.
type histLog struct {
	interval int64 // milliseconds
	started  bool
	last     int64 // when the interval at hand began
	counts   *hist.Histogram
}

// complete returns the row's bins when there is one to write.
func (l *histLog) complete(c fiotest.Completion) (row []hist.Bin) {
	if l.counts == nil {
		l.counts = hist.New(fine)
	}
	l.counts.AddLatency(int64(c.Latency), 1)
	now := c.Time.Milliseconds()
	if !l.started {
		l.started, l.last = true, now
	}
	if now-l.last < l.interval {
		return nil
	}
	l.last += l.interval
	return l.take()
}

func (l *histLog) take() (row []hist.Bin) {
	for i, n := range l.counts.All() {
		row = append(row, hist.Bin{Index: uint32(i), Count: uint64(n)})
	}
	l.counts.Reset()
	return row
}

// logOf is a job's log of these completions, as the rows that it means, with the tail
// that fio's report knows of. Where the interval is not known, they are taken as even.
func logOf(all []fiotest.Completion, interval int64, known bool) []align.Row {
	l := &histLog{interval: interval}
	s := align.NewSplitter(0)
	if known {
		s = align.NewSplitter(interval)
	}
	var rows []align.Row
	for _, c := range all {
		b := l.complete(c)
		if b == nil {
			continue
		}
		for _, r := range s.Split(c.Time.Milliseconds(), fiolog.Read, fine, b, total(b)) {
			r.Bins = slices.Clone(r.Bins)
			rows = append(rows, r)
		}
	}
	if b := l.take(); b != nil {
		from, to := tailOf(s, fiolog.Read, runLength.Milliseconds(), true)
		rows = append(rows, align.Row{Start: from, End: to, Layout: fine, Bins: b, Total: total(b)})
	}
	return rows
}

// load is a way for requests to arrive and to be served.
type load struct {
	name     string
	rate     float64            // requests a second
	latency  []share            // a mixture
	stalls   [][2]time.Duration // while which nothing completes
	interval int64              // of the log; also the window
	limit    float64            // total variation from the exact weights, percent
	byBin    float64            // the same, each group of 64 bins apart
}

// share is a part of the requests, log-normal around a median.
type share struct {
	part   float64
	median time.Duration
	sigma  float64
}

const runLength = 60 * time.Second

// requests are all that the load completes in a run, by completion.
func (l load) requests(rng *rand.Rand) []fiotest.Completion {
	var all []fiotest.Completion
	for at := 0.0; ; {
		at += rng.ExpFloat64() / l.rate
		begin := time.Duration(at * float64(time.Second))
		pick, latency := rng.Float64(), time.Duration(0)
		for _, s := range l.latency {
			if pick -= s.part; pick < 0 {
				latency = time.Duration(float64(s.median) * math.Exp(s.sigma*rng.NormFloat64()))
				break
			}
		}
		end := begin + latency
		for _, s := range l.stalls {
			if end >= s[0] && end < s[1] {
				end = s[1] + time.Duration(rng.Float64()*float64(3*time.Millisecond))
			}
		}
		if begin > runLength {
			break
		}
		if end < runLength {
			all = append(all, fiotest.Completion{Time: end, Latency: end - begin})
		}
	}
	slices.SortFunc(all, func(a, b fiotest.Completion) int { return int(a.Time - b.Time) })
	return all
}

// loads have limits some way above the worst of 20 seeds.
var loads = []load{
	{
		name: "steady", rate: 2000, interval: 1000, limit: 0.15, byBin: 0.25,
		latency: []share{{1, 2 * time.Millisecond, 0.5}},
	},
	{
		name: "slow tail", rate: 500, interval: 1000, limit: 0.5, byBin: 1,
		latency: []share{{0.95, 5 * time.Millisecond, 0.5}, {0.05, 1500 * time.Millisecond, 0.6}},
	},
	{
		name: "overload", rate: 200, interval: 1000, limit: 1.2, byBin: 1.6,
		latency: []share{{1, 3 * time.Second, 0.4}},
	},
	stalling,
	{
		name: "short windows", rate: 1000, interval: 100, limit: 2.5, byBin: 3.5,
		latency: []share{{0.9, 3 * time.Millisecond, 0.4}, {0.1, 400 * time.Millisecond, 0.5}},
	},
}

var stalling = load{
	name: "stalls", rate: 500, interval: 1000, limit: 2.8, byBin: 2.9,
	latency: []share{{1, 2 * time.Millisecond, 0.5}},
	stalls: [][2]time.Duration{
		{10300 * time.Millisecond, 13800 * time.Millisecond},
		{40 * time.Second, 47 * time.Second},
	},
}

// TestInFlightIsExact compares the weights of windows with the exact ones: the share of
// its life that each single request spent there.
func TestInFlightIsExact(t *testing.T) {
	for _, l := range loads {
		t.Run(l.name, func(t *testing.T) {
			for seed := range uint64(3) {
				all := l.requests(rand.New(rand.NewPCG(seed, 7)))
				windows, bins := l.variation(t, all, logOf(all, l.interval, true))
				t.Logf("%d requests: total variation %.2f %% over windows, %.2f %% over windows and bins", len(all), windows, bins)
				if windows > l.limit || bins > l.byBin {
					t.Errorf("total variation %.2f and %.2f %%, want at most %v and %v", windows, bins, l.limit, l.byBin)
				}
			}
		})
	}
}

// TestSplitterKnowsStalls: rows taken as even are further from the truth.
func TestSplitterKnowsStalls(t *testing.T) {
	for seed := range uint64(3) {
		all := stalling.requests(rand.New(rand.NewPCG(seed, 7)))
		_, split := stalling.variation(t, all, logOf(all, stalling.interval, true))
		_, even := stalling.variation(t, all, logOf(all, stalling.interval, false))
		if split >= even {
			t.Errorf("total variation %.2f %%, with even rows %.2f %%", split, even)
		}
	}
}

// variation is how far the windows made of rows are from the truth, in percent of all
// requests: total variation over windows, and over windows and groups of bins.
func (l load) variation(t *testing.T, all []fiotest.Completion, rows []align.Row) (windows, bins float64) {
	t.Helper()
	got, stats := merge(t, []jobRows{{rows: rows}}, align.Options{
		Window: l.interval, Tolerance: l.interval / 20, SpreadAll: true,
	})
	want, have := exactWeights(all, l.interval), weightsOf(got, l.interval)
	n := float64(len(all))
	if sum := sumOf(have...); sum != n || stats.Late != 0 {
		t.Errorf("weights sum to %v, %v late, of %v requests", sum, stats.Late, n)
	}
	for w := range max(len(want), len(have)) {
		a, b := at(want, w), at(have, w)
		windows += math.Abs(sumOf(a) - sumOf(b))
		bins += distance(a, b)
	}
	return windows / 2 / n * 100, bins / 2 / n * 100
}

// groups of bins are compared, not each bin: whether a request is in one or its
// neighbour has nothing to do with when it was there.
const groups = 29

func at(weights [][groups]float64, w int) (out [groups]float64) {
	if w < len(weights) {
		out = weights[w]
	}
	return out
}

func sumOf(weights ...[groups]float64) float64 {
	sum := 0.0
	for _, w := range weights {
		for _, n := range w {
			sum += n
		}
	}
	return sum
}

func distance(a, b [groups]float64) float64 {
	sum := 0.0
	for g := range a {
		sum += math.Abs(a[g] - b[g])
	}
	return sum
}

func exactWeights(all []fiotest.Completion, window int64) (weights [][groups]float64) {
	length := time.Duration(window) * time.Millisecond
	weights = make([][groups]float64, runLength/length)
	for _, c := range all {
		begin := c.Time - c.Latency
		for w := begin / length; w*length < c.Time; w++ {
			inside := min(c.Time, (w+1)*length) - max(begin, w*length)
			weights[w][fine.Index(int64(c.Latency))/64] += float64(inside) / float64(c.Latency)
		}
	}
	return weights
}

func weightsOf(windows []*align.Window, window int64) (weights [][groups]float64) {
	for _, w := range windows {
		for int64(len(weights)) <= w.Elapsed/window {
			weights = append(weights, [groups]float64{})
		}
		for i, n := range w.Latencies.All() {
			weights[w.Elapsed/window][i/64] += n
		}
	}
	return weights
}
