package compare

import (
	"math"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/memtest"
)

// process simulates runs of one test. The logarithm of the latency is an AR(1) process: each window depends on the
// one before, as on a device that collects garbage. Requests wait for one another, so slow windows have fewer.
type process struct {
	rng     *rand.Rand
	windows int
	memory  float64 // correlation of a window with the one before: 0 … 1
	spread  float64 // standard deviation of the logarithm between windows
	between float64 // standard deviation of the logarithm between runs of the test
}

// run returns one run. Its latencies are those of the test multiplied by times.
func (p *process) run(times float64) *series {
	s := &series{}
	level := math.Log(1e6*times) + p.between*p.rng.NormFloat64()
	x := p.spread * p.rng.NormFloat64()
	for i := range p.windows {
		h := hist.New(hist.Fio3(2))
		n := int64(math.Round(100 * math.Exp(-x) / times))
		for range n {
			h.AddLatency(int64(math.Exp(level+x+0.5*p.rng.NormFloat64())), 1)
		}
		s.add(windowAt(int64(i)*1000, int64(i+1)*1000, n), h)
		x = p.memory*x + math.Sqrt(1-p.memory*p.memory)*p.spread*p.rng.NormFloat64()
	}
	return s
}

// side returns several runs of the test.
func (p *process) side(runs int, times float64) (side []*series) {
	for range runs {
		side = append(side, p.run(times))
	}
	return side
}

var covered = []facts.Metric{facts.IOPS, facts.Mean, metric("p50"), metric("p99")}

// naiveReach returns half the length of the interval that order statistics give the logarithm of a percentile, with
// a confidence of 95 %.
func naiveReach(side []*series, q float64) float64 {
	low, high, _ := newPool(side).whole.latency.ConfidenceInterval(q, 0.95)
	return math.Log(high.Value/low.Value) / 2
}

// shareSame returns the share of comparisons without a difference by metric, and the same share if order statistics
// decide.
func (p *process) shareSame(cases, runs int, times float64) (same, naive map[facts.Metric]float64) {
	same, naive = map[facts.Metric]float64{}, map[facts.Metric]float64{}
	for range cases {
		base, other := p.side(runs, 1), p.side(runs, times)
		for _, c := range changesOf(base, other, Options{covered, 0.95, Within}) {
			if c.Verdict == Same || c.Verdict == Unclear {
				same[c.Metric] += 1 / float64(cases)
			}
			if c.Quantile == 0 {
				continue
			}
			if math.Abs(math.Log(c.Other/c.Base)) <= math.Hypot(naiveReach(base, c.Quantile), naiveReach(other, c.Quantile)) {
				naive[c.Metric] += 1 / float64(cases)
			}
		}
	}
	return same, naive
}

// TestCoverage: runs of the same test differ in about 5 % of the comparisons, as a confidence of 95 % promises. With
// order statistics, most would differ. If ups and downs last longer than a block, neighbouring blocks are alike, and
// this is taken into account. A change by 20 % is nearly always found. With FIO2ES_TEST_SCALE there are more
// comparisons.
func TestCoverage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		windows, cases int
		memory, least  float64
	}{
		{30, memtest.Scale(0, 400), 0, 0.94}, {30, memtest.Scale(0, 400), 0.6, 0.90}, {60, memtest.Scale(0, 400), 0.3, 0.93},
		{120, memtest.Scale(60, 400), 0.6, 0.93}, {240, memtest.Scale(0, 400), 0.9, 0.90},
	} {
		p := &process{rng: rand.New(rand.NewPCG(1, 2)), windows: c.windows, memory: c.memory, spread: 0.15}
		same, naive := p.shareSame(c.cases, 1, 1)
		if c.cases == 0 {
			continue
		}
		t.Logf("%3d windows, memory %.1f: no difference shown: %v; by order statistics: %v", c.windows, c.memory, same, naive)
		for _, m := range covered {
			if same[m] < c.least || same[m] > 0.99 {
				t.Errorf("%s: no difference in %.1f %% of the comparisons", m, same[m]*100)
			}
			if c.windows >= 120 && m.Quantile > 0 && naive[m] > 0.8 {
				t.Errorf("%s: order statistics show none in %.1f %% of the comparisons: why not use them?", m, naive[m]*100)
			}
		}
	}
	p := &process{rng: rand.New(rand.NewPCG(1, 2)), windows: 120, memory: 0.6, spread: 0.15}
	slower, _ := p.shareSame(memtest.Scale(15, 100), 1, 1.2)
	for _, m := range covered {
		if slower[m] > 0.1 {
			t.Errorf("%s: a change by 20 %% is not found in %.0f %% of the comparisons", m, slower[m]*100)
		}
	}
}

// TestRepetitions: runs of the same test differ three times as much as their windows suggest. Then one run per side
// is too few, and three per side are nearly enough.
func TestRepetitions(t *testing.T) {
	memtest.Large(t)
	t.Parallel()
	p := &process{rng: rand.New(rand.NewPCG(1, 2)), windows: 60, memory: 0.3, spread: 0.1, between: 0.05}
	var same [4]map[facts.Metric]float64 // by number of runs per side
	for runs := 1; runs <= 3; runs++ {
		same[runs], _ = p.shareSame(200, runs, 1)
		t.Logf("no difference shown, with %d of each side: %v", runs, same[runs])
	}
	for _, m := range []facts.Metric{facts.Mean, covered[2]} {
		if same[1][m] > 0.6 || same[3][m] < 0.85 {
			t.Errorf("%s: no difference in %.0f %% of the comparisons of one run, %.0f %% of three", m, same[1][m]*100, same[3][m]*100)
		}
	}
}

// twoGroups simulates runs in which a share of the requests is slower by a factor. The share and the latencies go up
// and down from window to window.
type twoGroups struct {
	share, times float64
}

// run returns one run. Its latencies are those of the test multiplied by times.
func (g twoGroups) run(rng *rand.Rand, times float64) *series {
	const memory, spread, shares = 0.6, 0.1, 0.3
	s := &series{}
	x, z := rng.NormFloat64(), rng.NormFloat64()
	for i := range int64(120) {
		h := hist.New(hist.Fio3(2))
		share := g.share * math.Exp(shares*z-shares*shares/2)
		for range 200 {
			latency := 1e6 * times * math.Exp(spread*x+0.3*rng.NormFloat64())
			if rng.Float64() < share {
				latency *= g.times
			}
			h.AddLatency(int64(latency), 1)
		}
		s.add(windowAt(i*1000, i*1000+1000, 200), h)
		x = memory*x + math.Sqrt(1-memory*memory)*rng.NormFloat64()
		z = memory*z + math.Sqrt(1-memory*memory)*rng.NormFloat64()
	}
	return s
}

// p99 returns the p99 of the test, from very many requests.
func (g twoGroups) p99(rng *rand.Rand, times float64) float64 {
	var side []*series
	for range 30 {
		side = append(side, g.run(rng, times))
	}
	return newPool(side).whole.latency.Percentile(0.99).Value
}

// TestSpansGap: that a percentile may lie between two groups is in the change, and in no note.
func TestSpansGap(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	side := func(name string) *Side {
		return &Side{name, []*Run{{Name: name, series: map[string]*series{"read": twoGroups{0.01, 20}.run(rng, 1)}}}}
	}
	lines, notes, err := Compare(side("a"), side("b"), Options{covered[3:], 0.95, Within})
	if err != nil || len(notes) > 0 || !lines[0].SpansGap() || lines[0].Metric.Quantile != 0.99 {
		t.Errorf("%+v %q %v", lines, notes, err)
	}
}

// TestGap: p99 lies between two groups of latencies. The shares of requests above it find changes that its interval
// does not show, and are wrong no more often than intervals. Intervals contain the truth as often as before.
func TestGap(t *testing.T) {
	memtest.Large(t)
	t.Parallel()
	const cases = 100
	why := regexp.MustCompile(`^p99 may lie between two groups of latencies, so its interval is wide(; it is worse by the share of requests above it)?: ` +
		`(1|0.9\d+|1.0\d+) % of the base's requests are above [0-9.]+ms, and [0-9.]+ % of the other side's, [-+0-9.]+ % \([-+0-9.]+ … [-+0-9.]+ %\)$`)
	for _, c := range []struct {
		name        string
		base, other twoGroups
		times       float64
		// share of comparisons that find the change: at most without the shares, at least with them
		before, after float64
	}{
		{"the same", twoGroups{0.01, 20}, twoGroups{0.01, 20}, 1, 0.2, 0},
		{"slower by half, at the gap", twoGroups{0.01, 20}, twoGroups{0.01, 20}, 1.5, 0.3, 0.45},
		{"slower by half, above the gap", twoGroups{0.012, 20}, twoGroups{0.012, 20}, 1.5, 0.65, 0.65},
		{"more and less slow requests", twoGroups{0.011, 20}, twoGroups{0.015, 15}, 1, 0.2, 0},
		{"more slow requests", twoGroups{0.008, 20}, twoGroups{0.012, 20}, 1, 1, 0.75},
	} {
		rng := rand.New(rand.NewPCG(7, 8))
		truth := c.times - 1
		if c.base != c.other {
			truth = c.other.p99(rng, c.times)/c.base.p99(rng, 1) - 1
		}
		before, found, wrong, covers := 0.0, 0.0, 0.0, 0.0
		for range cases {
			got := changesOf([]*series{c.base.run(rng, 1)}, []*series{c.other.run(rng, c.times)}, Options{covered[3:], 0.95, Within})[0]
			isFound := got.Verdict == Worse || got.Verdict == Better
			if isFound {
				found += 1. / cases
			}
			if isFound && got.Low != 0 && got.High != 0 {
				before += 1. / cases
			}
			if isFound && (got.Verdict == Worse) != (truth > 0) {
				wrong += 1. / cases
			}
			if got.Low <= truth && truth <= got.High {
				covers += 1. / cases
			}
			if c.times > 1 && got.Why != "" && !why.MatchString(got.Why) {
				t.Errorf("%s: %s", c.name, got.Why)
			}
			if got.Low > got.Change || got.High < got.Change {
				t.Fatalf("%s: %+v", c.name, got)
			}
		}
		t.Logf("%-30s true change %+6.1f %%: found in %.0f %% by the interval, in %.0f %% with shares, wrong in %.0f %%; intervals contain it in %.0f %%",
			c.name, truth*100, before*100, found*100, wrong*100, covers*100)
		if before > c.before || found < c.after || covers < 0.83 || math.Abs(truth) > 0.2 && wrong > 0.06 {
			t.Errorf("%s: want at most %.0f %% and at least %.0f %%", c.name, c.before*100, c.after*100)
		}
	}
}
