package compare

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/testcost"
)

func TestParseMetrics(t *testing.T) {
	got, err := ParseMetrics("iops", " Mean ", "P99", "p99_9", "p99.90", "mean", "Bandwidth")
	if want := []facts.Metric{facts.IOPS, facts.Mean, metric("p99"), metric("p99.9"), facts.Bandwidth}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "p100", "99", "min", "max", "requests", "p99%"} {
		if got, err := ParseMetrics("p50", text); err == nil || !strings.Contains(err.Error(), "want bandwidth, iops, mean, or a percentile") {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// TestSides: which of iops and latencies became better, worse, or neither.
func TestSides(t *testing.T) {
	p := &process{rng: rand.New(rand.NewPCG(3, 4)), windows: 80, spread: 0.05}
	base, slower, faster, again := p.side(1, 1), p.side(1, 1.3), p.side(1, 0.7), p.side(1, 1)
	for _, c := range []struct {
		name    string
		other   []*series
		verdict Verdict
		times   float64
	}{{"slower", slower, Worse, 1.3}, {"faster", faster, Better, 0.7}, {"again", again, Same, 1}, {"itself", base, Same, 1}} {
		for _, got := range changesOf(base, c.other, Options{covered, 0.95, Within}) {
			want := c.times - 1
			if got.Metric == facts.IOPS {
				want = 1/c.times - 1
			}
			if got.Verdict == Unclear && c.verdict == Same { // the interval of p99 is too wide
				got.Verdict = Same
			}
			if got.Verdict != c.verdict || math.Abs(got.Change-want) > 0.07 || got.Low > got.Change || got.High < got.Change || got.Why != "" {
				t.Errorf("%s: %+v, want %s, %.2f", c.name, got, c.verdict, want)
			}
		}
	}
	if a, b := changesOf(base, slower, Options{covered, 0.95, Within}), changesOf(base, slower, Options{covered, 0.95, Within}); !reflect.DeepEqual(a, b) {
		t.Errorf("%+v, and once more %+v", a, b)
	}
	wide, narrow := changesOf(base, again, Options{covered, 0.99, Within}), changesOf(base, again, Options{covered, 0.8, Within})
	for i := range covered {
		if wide[i].High-wide[i].Low <= narrow[i].High-narrow[i].Low {
			t.Errorf("%s: at 99 %% %+v, at 80 %% %+v", covered[i], wide[i], narrow[i])
		}
	}
}

// TestVerdict: the interval decides. A narrow interval around 0 shows that there is no change; a wide one shows
// nothing.
func TestVerdict(t *testing.T) {
	logs := make([]float64, 1000)
	for _, c := range []struct {
		low, high float64
		within    float64
		verdict   Verdict
		text      string
	}{
		{0.01, 0.3, 0.1, Worse, "worse"}, {-0.3, -0.01, 0.1, Better, "better"},
		{-0.004, 0.0291, 0.1, Same, "no change > 3.0 %"}, {-0.0811, 0.02, 0.1, Same, "no change > 8.2 %"}, {0, 0, 0.1, Same, "no change"},
		{-0.05, 0.11, 0.1, Unclear, "unclear"}, {-0.94, 16.75, 0.1, Unclear, "unclear"}, {-0.05, 0.11, 0.2, Same, "no change > 11.0 %"},
	} {
		for i := range logs { // half of the replicates at each end
			logs[i] = math.Log1p([]float64{c.low, c.high}[2*i/len(logs)])
		}
		got := Change{Metric: facts.Mean}
		got.judge(logs, 0.025, c.within)
		if got.Verdict != c.verdict || got.VerdictText() != c.text {
			t.Errorf("%+v: %+v, %s", c, got, got.VerdictText())
		}
	}
}

// TestUnknown: without an interval, Why says the reason, and the values are still there. With too few windows the change is known.
func TestUnknown(t *testing.T) {
	p := &process{rng: rand.New(rand.NewPCG(3, 4)), windows: 7}
	short := p.side(1, 1)
	p.windows = 8
	enough := p.side(1, 1)
	zero := &series{}
	for i := range int64(20) {
		h := hist.New(hist.Fio3(0))
		h.AddLatency(0, 10)
		zero.add(windowAt(i, i+1, 0), h)
	}
	for _, c := range []struct {
		name        string
		base, other []*series
		metric      facts.Metric
		why         string
	}{
		{"few windows", enough, short, facts.Mean, "too few windows for an interval: 8 and 7, want 8 of each at least"},
		{"few windows of the baseline", short, enough, facts.Mean, "too few windows for an interval: 7 and 8, want 8 of each at least"},
		{"enough", enough, enough, facts.Mean, ""},
		{"repetitions", []*series{short[0], short[0]}, enough, facts.Mean, ""},
		{"few requests", enough, enough, metric("p99.9"), "too few requests for an interval of p99.9: 800 and 800"},
		{"nothing completed", []*series{zero}, enough, facts.IOPS, "iops is not above 0 throughout"},
		{"no latency", []*series{zero}, enough, metric("p50"), "p50 is not above 0 throughout"},
	} {
		got := changesOf(c.base, c.other, Options{[]facts.Metric{c.metric}, 0.95, Within})[0]
		if got.Why != c.why || got.HasInterval() != (c.why == "") || math.IsNaN(got.Low) != (c.why != "") || math.IsNaN(got.High) != (c.why != "") {
			t.Errorf("%s: %+v, want %q", c.name, got, c.why)
		}
		if math.IsNaN(got.Other) || math.IsInf(got.Change, 0) || (got.Verdict == NoInterval) != strings.HasPrefix(c.why, "too few windows") {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// TestPool: the blocks of a pool together are the runs, in any layouts. If a side is a single block, each replicate
// is the side.
func TestPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var side []*series
		want, completed := hist.Histogram{}, 0.0
		for range rapid.IntRange(1, 4).Draw(t, "runs") {
			s := &series{}
			layout := hist.Fio3(rapid.IntRange(0, 6).Draw(t, "coarseness"))
			for i := range rapid.Int64Range(1, 50).Draw(t, "windows") {
				h := hist.New(layout)
				n := rapid.Int64Range(1, 1000).Draw(t, "requests")
				h.AddLatency(rapid.Int64Range(0, 1e10).Draw(t, "latency"), float64(n))
				s.add(windowAt(i*10, i*10+10, n), h)
				want.Merge(h)
				completed += float64(n)
			}
			side = append(side, s)
		}
		p := newPool(side)
		sum, drawn := hist.New(want.Layout()), 0.0
		for i := range p.counts {
			for j, n := range p.counts[i] {
				sum.AddAt(p.bins[j], n)
			}
			drawn += p.completed[i]
		}
		if !reflect.DeepEqual(sum.Weights(), want.Weights()) || drawn != completed {
			t.Fatalf("%v (%v requests), want %v (%v)", sum.Weights(), drawn, want.Weights(), completed)
		}
		if got := metricsOf(covered)(p.whole); got[1] != want.Mean().Value || got[3] != want.Percentile(0.99).Value {
			t.Fatalf("%v, want %v, %v", got, want.Mean().Value, want.Percentile(0.99).Value)
		}
		if len(side) > 1 || len(p.counts) > 1 {
			return
		}
		if got, want := metricsOf(covered)(p.draw(rand.New(rand.NewPCG(1, 1)))), metricsOf(covered)(p.whole); !reflect.DeepEqual(got, want) {
			t.Fatalf("drew %v, of one block that has %v", got, want)
		}
	})
}

func TestQuantile(t *testing.T) {
	numbers := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	for q, want := range map[float64]float64{0: 1, 0.05: 1, 0.1: 1, 0.2: 2, 0.25: 2.5, 0.5: 5, 0.9: 9, 1: 9} {
		if got := quantile(numbers, q); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
}

// BenchmarkSides compares two runs of 1,000 windows.
func BenchmarkSides(b *testing.B) {
	p := &process{rng: rand.New(rand.NewPCG(3, 4)), windows: 1000, spread: 0.3}
	base, other := p.side(1, 1), p.side(1, 1)
	metrics := append(covered, metric("p95"), metric("p99.9"))
	for b.Loop() {
		changesOf(base, other, Options{metrics, 0.95, Within})
	}
}

// TestStudentT compares with published tables of three decimals (NIST/SEMATECH e-Handbook of Statistical Methods,
// 1.3.6.7.2). For one and two degrees of freedom it compares with the closed forms tan(pi*c/2) and c*sqrt(2/(1-c²)).
func TestStudentT(t *testing.T) {
	for _, c := range []struct {
		confidence float64
		freedom    int
		want       float64
	}{
		{0.80, 1, 3.078}, {0.90, 1, 6.314}, {0.95, 1, 12.706}, {0.99, 1, 63.657},
		{0.95, 2, 4.303}, {0.95, 3, 3.182}, {0.95, 4, 2.776}, {0.99, 5, 4.032},
		{0.90, 7, 1.895}, {0.95, 7, 2.365}, {0.98, 7, 2.998}, {0.99, 7, 3.499},
		{0.95, 10, 2.228}, {0.95, 15, 2.131}, {0.95, 29, 2.045}, {0.99, 29, 2.756},
		{0.95, 30, 2.042}, {0.99, 60, 2.660}, {0.95, 100, 1.984}, {0.80, 100, 1.290},
	} {
		if got := studentT(c.confidence, c.freedom); math.Abs(got-c.want) > 0.00051 {
			t.Errorf("%v with %d degrees of freedom: %v, want %v", c.confidence, c.freedom, got, c.want)
		}
	}
	for _, c := range []float64{0.5, 0.9, 0.95, 0.99} {
		if got, want := studentT(c, 1), math.Tan(math.Pi*c/2); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%v with one degree of freedom: %v, want %v", c, got, want)
		}
		if got, want := studentT(c, 2), c*math.Sqrt(2/(1-c*c)); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%v with two degrees of freedom: %v, want %v", c, got, want)
		}
	}
}

// TestTailOf: the share is that of the normal distribution beyond the t of tables times sqrt(k/(k-1)). For ten
// blocks this is beyond 2.262*1.054 = 2.384. For very many blocks the share is 2.5 %.
func TestTailOf(t *testing.T) {
	for blocks, want := range map[int]float64{5: 0.00096, 8: 0.00573, 10: 0.00856, 30: 0.01877, 10_000: 0.02499} {
		if got := tailOf(0.95, blocks); math.Abs(got-want) > 0.00002 {
			t.Errorf("%d blocks: %.5f, want %v", blocks, got, want)
		}
	}
}

func TestMain(m *testing.M) {
	testcost.Lower()
	m.Run()
}

func metric(name string) facts.Metric {
	m, _ := facts.ParseMetric(name)
	return m
}

func TestParseCondition(t *testing.T) {
	for text, want := range map[string]Condition{
		"p99 > +10%":          {"p99 > +10%", "", metric("p99"), true, 0.10},
		"p99>10%":             {"p99>10%", "", metric("p99"), true, 0.10},
		" write.iops < -5 % ": {"write.iops < -5 %", "write", facts.IOPS, false, -0.05},
		"read.p99.9 > 2.5%":   {"read.p99.9 > 2.5%", "read", metric("p99.9"), true, 0.025},
		"p99_9>0%":            {"p99_9>0%", "", metric("p99.9"), true, 0},
		"trim . mean < 0%":    {"trim . mean < 0%", "trim", facts.Mean, false, 0},
	} {
		if got, err := ParseCondition(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "p99", "p99 > 10", "p99 = 10%", "p99 >= 10%", "both.p99 > 10%", "max > 10%", "p100 > 1%", "> 10%", "p99 > ten%", "p99 > 10% or so"} {
		_, err := ParseCondition(text)
		if err == nil || !strings.HasPrefix(err.Error(), `"`+text+`", column `) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestCheck: a condition is met by a change beyond its limit whose interval excludes 0. It is unclear if it is not
// met and the interval reaches beyond the limit. It is unknown without an interval, and absent without its
// direction.
func TestCheck(t *testing.T) {
	line := func(direction, name string, change, low, high float64, v Verdict) Line {
		m := metric(name)
		return Line{Direction: direction, Change: Change{
			Metric: m, Base: 1000, Other: 1000 + 1000*change, Change: change, Low: low, High: high, Verdict: v, Why: "why not",
		}}
	}
	lines := []Line{
		line("read", "iops", -0.2, -0.25, -0.15, Worse), line("read", "p99", 0.12, 0.05, 0.2, Worse),
		line("write", "iops", -0.2, -0.5, 0.1, Unclear), line("write", "p99", -0.3, -0.4, -0.2, Better),
		line("write", "p50", math.NaN(), math.NaN(), math.NaN(), Unknown), line("read", "mean", 0.012, -0.004, 0.029, Same),
	}
	for _, c := range []struct{ text, want string }{
		{"p99 > 10%", "met: new against old: read p99 from 1.00µs to 1.12µs, +12.0 % (+5.0 … +20.0 %)\n" +
			"not met: new against old: write p99 from 1.00µs to 700ns, -30.0 % (-40.0 … -20.0 %)"},
		{"read.p99 > 12%", "unclear: new against old: read p99 from 1.00µs to 1.12µs, +12.0 % (+5.0 … +20.0 %)"},
		{"read.p99 > 20%", "not met: new against old: read p99 from 1.00µs to 1.12µs, +12.0 % (+5.0 … +20.0 %)"},
		{"write.p99 < -25%", "met: new against old: write p99 from 1.00µs to 700ns, -30.0 % (-40.0 … -20.0 %)"},
		{"write.p99 < -35%", "unclear: new against old: write p99 from 1.00µs to 700ns, -30.0 % (-40.0 … -20.0 %)"},
		{"write.p99 > 10%", "not met: new against old: write p99 from 1.00µs to 700ns, -30.0 % (-40.0 … -20.0 %)"},
		{"write.iops < -10%", "unclear: new against old: write iops from 1000 to 800, -20.0 % (-50.0 … +10.0 %)"},
		{"mean > +10%", "not met: new against old: read mean from 1.00µs to 1.01µs, +1.2 % (-0.4 … +2.9 %)"},
		{"mean > 2%", "unclear: new against old: read mean from 1.00µs to 1.01µs, +1.2 % (-0.4 … +2.9 %)"},
		{"p50 > 1%", "not checked: new against old: write: why not"},
		{"read.p50 > 1%", "absent: new against old: at least one of them has no reads"},
	} {
		condition, err := ParseCondition(c.text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		gate := Gate{Conditions: []Condition{condition}}
		gate.Check("", &Side{Name: "old"}, &Side{Name: "new"}, lines)
		for _, o := range gate.outcomes {
			got = append(got, strings.TrimPrefix(o.Text, c.text+": "))
		}
		if text := strings.Join(got, "\n"); text != c.want {
			t.Errorf("%s: %s, want %s", c.text, text, c.want)
		}
	}
}
