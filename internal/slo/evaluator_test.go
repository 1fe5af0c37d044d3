package slo

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

func parse(t interface{ Fatal(...any) }, texts ...string) (list []Rule) {
	for _, text := range texts {
		r, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// of returns a histogram with these numbers of requests, by latency in nanoseconds.
func of(latencies map[int64]float64) *hist.Histogram {
	h := hist.New(hist.Fio3(0))
	for ns, n := range latencies {
		h.AddLatency(ns, n)
	}
	return h
}

// second returns a window of one second in which n requests of ns nanoseconds completed.
func second(direction string, at, n, ns int64) sample {
	return sample{direction: direction, start: at * 1000, end: at*1000 + 1000, completed: n, latency: of(map[int64]float64{ns: float64(n)})}
}

const ms = 1_000_000

// TestWhole: 990 requests of 1 ms, in the bin from 999,424 to 1,007,615 ns, and ten of 50 ms.
func TestWhole(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		rule    string
		state   State
		isClose bool
		value   float64
		budget  float64
	}{
		{"p99 <= 1.0077ms", Met, false, 1_007_611, none},
		{"p99 <= 1007.615us", Met, false, 1_007_611, none}, // the highest latency of the bin
		{"p99 <= 1007611ns", Met, true, 1_007_611, none},   // the printed value decides
		{"p99 < 1007611ns", Broken, true, 1_007_611, none},
		{"p99 <= 1ms", Broken, true, 1_007_611, none},
		{"p99 <= 999.423us", Broken, false, 1_007_611, none},
		{"p99 > 1ms", Met, true, 1_007_611, none},
		{"p99 >= 1.1ms", Broken, false, 1_007_611, none},
		{"min >= 999us", Met, false, 999_428, none},
		{"within 2ms >= 99%", Met, false, 0.99, 1},
		{"within 2ms > 99%", Broken, false, 0.99, 1},
		{"within 2ms >= 99.5%", Broken, false, 0.99, 2},
		{"within 60ms >= 99.9%", Met, false, 1, 0},
		{"within 60ms >= 100%", Met, false, 1, none},
		{"within 2ms <= 99%", Met, false, 0.99, none},
		{"iops >= 100", Met, false, 100, none},
		{"iops > 100", Broken, false, 100, none},
		{"requests >= 1k", Met, false, 1000, none},
		{"requests < 1k", Broken, false, 1000, none},
	} {
		e := New(parse(t, c.rule))
		e.of("write").total = &total{completed: 1000, iops: 100, latency: of(map[int64]float64{ms: 990, 50 * ms: 10})}
		v := e.Verdicts()[0]
		if v.State != c.state || v.Close != c.isClose || v.Value != c.value || v.Low > v.Value || v.High < v.Value || v.Direction != "write" || v.Why != "" || v.Requests != 1000 ||
			math.IsNaN(v.Budget) != math.IsNaN(c.budget) || math.Abs(v.Budget-c.budget) > 1e-9 {
			t.Errorf("%s: %+v", c.rule, v)
		}
	}
}

// TestOpen: a latency in the last bin may be any latency above 17.05 s, so the value that it is given must not
// decide, except for a mean.
func TestOpen(t *testing.T) {
	for rule, want := range map[string]struct {
		state   State
		isClose bool
	}{
		"max <= 17s": {Broken, false}, "max <= 20s": {Unknown, true}, "p99.9 < 30s": {Unknown, true}, "p99.9 > 17s": {Met, false},
		"p99.9 > 20s": {Unknown, true}, "p50 <= 20s": {Met, false}, "mean <= 1s": {Met, true}, "mean <= 100ms": {Broken, false},
		"within 17s >= 99%": {Met, false}, "within 20s > 99.5%": {Unknown, true}, "within 20s > 99%": {Unknown, true}, "within 20s >= 99%": {Met, false},
	} {
		e := New(parse(t, rule))
		e.of("read").total = &total{latency: of(map[int64]float64{ms: 990, 60_000 * ms: 10})}
		if v := e.Verdicts()[0]; v.State != want.state || v.Close != want.isClose || (v.Why != "") != (want.state == Unknown) {
			t.Errorf("%s: %+v", rule, v)
		}
	}
	e := New(parse(t, "max <= 20s in every window"))
	e.add(second("read", 0, 10, 60_000*ms))
	if v := e.Verdicts()[0]; v.State != Unknown || !v.Close || v.Low != 0 || v.Value != 0 || v.High != 1 || !v.Windows.Worst.Open {
		t.Errorf("in windows: %+v", v)
	}
	unknown := second("read", 1, 10, 60_000*ms)
	if o, _ := e.rules[0].in(&unknown); o.met || !o.isUnknown {
		t.Errorf("a window that cannot be judged: %+v", o)
	}
	e = New(parse(t, "max <= 10s in every window"))
	e.add(unknown)
	if o, _ := e.rules[0].in(&unknown); o.met || o.isUnknown || !o.Open {
		t.Errorf("17.05 s or more is above 10 s: %+v", o)
	}
	if v := e.Verdicts()[0]; v.State != Broken || v.Close || !v.Windows.First.Open {
		t.Errorf("in windows: %+v", v)
	}
}

// TestUnknown: missing data does not count as success.
func TestUnknown(t *testing.T) {
	all := parse(t, "p99 < 1s", "write.iops >= 0", "within 1s > 0% in every window", "iops >= 0 in every window", "trim.requests >= 0")
	states := func(e *Evaluator) (list []string) {
		for _, v := range e.Verdicts() {
			list = append(list, fmt.Sprint(v.Direction, " ", v.State, " ", v.Why))
		}
		return list
	}
	for _, c := range []struct {
		name string
		fill func(e *Evaluator)
		want []string
	}{
		{"nothing", func(*Evaluator) {}, []string{
			" unknown there are no requests", "write unknown there are no writes", " unknown there are no requests", " unknown there are no requests", "trim unknown there are no trims",
		}},
		{"reads", func(e *Evaluator) { e.add(second("read", 0, 5, ms)) }, []string{
			"read met ", "write unknown there are no writes", "read met ", "read met ", "trim unknown there are no trims",
		}},
		{"no histograms", func(e *Evaluator) { e.of("write").total = &total{completed: 5, iops: 1} }, []string{
			"write unknown there are no histograms of latency", "write met ", "write unknown there are no histograms of latency", "write unknown there are no windows to judge",
			"trim unknown there are no trims",
		}},
		{"fio's own", func(e *Evaluator) {
			fio := &mapping.FioLatency{Max: 9, Percentiles: []mapping.FioPercentile{{Rank: 99, Value: 8}}}
			e.of("write").total = &total{completed: 5, iops: 1, totals: &mapping.Totals{Requests: 5, Fio: fio}}
		}, []string{
			"write met ", "write met ", "write unknown there are no histograms of latency", "write unknown there are no windows to judge", "trim unknown there are no trims",
		}},
		{"all directions in one, and only a rate", func(e *Evaluator) {
			fio := &mapping.FioLatency{Max: 9, Percentiles: []mapping.FioPercentile{{Rank: 99, Value: 8}}}
			if err := e.SetRun(&mapping.Run{All: &mapping.Totals{IOPS: 1, Fio: fio}}, nil); err != nil {
				t.Fatal(err)
			}
		}, []string{
			"all met ", "write unknown fio reported all directions in one (unified_rw_reporting)", "all unknown there are no histograms of latency",
			"all unknown there are no windows to judge", "trim unknown fio reported all directions in one (unified_rw_reporting)",
		}},
		{"no windows", func(e *Evaluator) { e.of("trim").total = &total{completed: 5, latency: of(map[int64]float64{ms: 5})} }, []string{
			"trim met ", "write unknown there are no writes", "trim unknown there are no windows to judge", "trim unknown there are no windows to judge", "trim met ",
		}},
	} {
		e := New(all)
		c.fill(e)
		if got := states(e); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestDirections: directions are checked separately, in order.
func TestDirections(t *testing.T) {
	e := New(parse(t, "p99 <= 2ms", "write.p99 <= 2ms"))
	for _, w := range []sample{second("write", 0, 10, 3*ms), second("read", 0, 1000, ms)} {
		e.add(w)
	}
	var got []string
	for _, v := range e.Verdicts() {
		got = append(got, v.Direction+" "+string(v.State))
	}
	if want := []string{"read met", "write broken", "write broken"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestGaps: rows that are a little late leave gaps of some milliseconds, and sometimes overlap. A stall leaves a gap
// in which no request completed.
func TestGaps(t *testing.T) {
	e := New(parse(t, "iops >= 100 in 70% of windows", "p99 <= 2ms in 70% of windows", "iops >= 100"))
	for _, w := range [][3]int64{{0, 30, 50}, {30, 1093, 600}, {1093, 2093, 50}, {2095, 3095, 600}, {5090, 6100, 600}, {6099, 7100, 700}, {7130, 8130, 600}} {
		e.add(sample{direction: "read", start: w[0], end: w[1], completed: w[2], latency: of(map[int64]float64{ms * w[2] / 100: 9})})
	}
	e.end = 8120
	v := e.Verdicts()
	want := Windows{
		Judged: 30 + 1063 + 1000 + 1000 + 1995 + 1010 + 1001 + 1000, Held: 30 + 1063 + 1000 + 1010 + 1001 + 1000,
		Worst: Moment{Start: 3095, End: 5090, Value: 0}, First: Moment{Start: 1093, End: 2093, Value: 50}, Longest: Moment{Start: 3095, End: 5090, Value: 0},
	}
	if v[0].Windows != want || v[0].State != Broken || v[0].Value != 5104.0/8099 {
		t.Errorf("iops: %+v, want %+v", v[0], want)
	}
	p99 := func(latency int64) float64 {
		return math.Round(of(map[int64]float64{latency: 9}).Percentile(0.99).Value)
	}
	want = Windows{ // the gap has no latency, and ends a stretch
		Judged: 6104, Held: 30 + 1000,
		Worst: Moment{Start: 6099, End: 7100, Value: p99(7 * ms)}, First: Moment{Start: 30, End: 1093, Value: p99(6 * ms)}, Longest: Moment{Start: 5090, End: 8130, Value: p99(7 * ms)},
	}
	if v[1].Windows != want || v[1].State != Broken || math.Abs(v[1].Budget-(1-1030.0/6104)/0.3) > 1e-9 {
		t.Errorf("p99: %+v, want %+v", v[1], want)
	}
	if v[2].Value != 394.089 { // 3,200 requests in 8.12 s
		t.Errorf("iops of the whole: %+v", v[2])
	}
}

// TestLastWindow: the run's end cuts the last window, so its rate is too low and must not count.
func TestLastWindow(t *testing.T) {
	for _, c := range []struct {
		end, seconds, judged int64
		state                State
	}{
		{2300, 3, 2000, Met}, {3000, 3, 3000, Broken}, {2960, 3, 3000, Broken}, {2940, 3, 2000, Met},
		{300, 1, 300, Met}, {1000, 1, 1000, Broken}, {0, 1, 1000, Broken}, // an end of 0 ms is ignored
	} {
		e := New(parse(t, "read.iops >= 100 in every window"))
		for at := range c.seconds - 1 {
			e.add(second("read", at, 100, ms))
		}
		e.add(second("read", c.seconds-1, 30, ms))
		e.end = c.end
		if v := e.Verdicts()[0]; v.State != c.state || v.Windows.Judged != c.judged {
			t.Errorf("%+v: %+v", c, v)
		}
	}
	e := New(parse(t, "read.iops >= 100 in every window"))
	e.add(second("read", 0, 30, ms))
	if v := e.Verdicts()[0]; v.State != Broken {
		t.Errorf("while it runs: %+v", v)
	}
}

// TestShortLastWindow: a window that ends with the run counts by its own length. If it is far shorter than the
// others, it has no usable rate.
func TestShortLastWindow(t *testing.T) {
	for _, c := range []struct {
		length, requests, judged int64
		state                    State
	}{
		{200, 34, 3200, Met}, {200, 15, 3200, Broken}, {101, 0, 3101, Broken}, {99, 0, 3000, Met},
	} {
		e := New(parse(t, "read.iops >= 100 in every window"))
		for at := range int64(3) {
			e.add(second("read", at, 170, ms))
		}
		e.add(sample{direction: "read", start: 3000, end: 3000 + c.length, completed: c.requests})
		e.end = 3000 + c.length
		if v := e.Verdicts()[0]; v.State != c.state || v.Windows.Judged != c.judged {
			t.Errorf("%+v: %+v", c, v)
		}
	}
}

// TestLongWindow: a window that is longer than the others, because a report came late, does not say that a rule is met in
// each part of it. It can say that the rule is broken.
func TestLongWindow(t *testing.T) {
	for _, c := range []struct {
		rule     string
		requests int64 // in the long window
		even     bool
		state    State
	}{
		{"read.iops >= 100 in every window", 680, true, Unknown},
		{"read.iops >= 100 in 40% of windows", 680, true, Met},
		{"read.iops >= 200 in every window", 680, true, Broken},
		{"read.iops >= 100 in every window", 0, true, Broken},
		{"read.iops <= 500 in every window", 0, true, Met}, // no request completed in any part
		{"read.p99 <= 1s in every window", 680, true, Unknown},
		{"read.iops >= 100 in every window", 680, false, Met}, // windows of different lengths were asked for
	} {
		e := New(parse(t, c.rule))
		for at := range int64(3) {
			e.add(second("read", at, 170, ms))
		}
		long := second("read", 3, c.requests, ms)
		if long.end += 3000; c.requests == 0 {
			long = sample{direction: "read", start: 3000, end: 7000}
		}
		e.add(long)
		e.add(second("read", 7, 170, ms))
		e.end, e.even = 8000, c.even
		if v := e.Verdicts()[0]; v.State != c.state {
			t.Errorf("%+v: %+v", c, v)
		}
	}
}

// TestStored: stored values of a window have precedence over its histogram, and widen the bounds.
func TestStored(t *testing.T) {
	w := second("read", 0, 100, 2*ms)
	w.stored = &mapping.Latency{P95: 2000, P99: 3400}
	e := New(parse(t, "p99 <= 3ms in every window", "p95 <= 3ms in every window"))
	e.add(w)
	if v := e.Verdicts(); v[0].State != Broken || v[0].Windows.Worst.Value != 3.4*ms || v[1].State != Met {
		t.Errorf("%+v", v)
	}
	w.stored = &mapping.Latency{P99: 1000}
	if o, ok := parse(t, "p99 > 1.5ms")[0].in(&w); !ok || o.met || o.Value != ms || o.surely == o.maybe {
		t.Errorf("below the bin: %+v", o)
	}
}

// BenchmarkAdd adds an hour of one-second windows, with usual rules.
func BenchmarkAdd(b *testing.B) {
	h := hist.New(hist.Fio3(0))
	for i := range 400 {
		h.AddAt(900+i, float64(400-i))
	}
	list := parse(b, "p99 <= 10ms", "p99.9 <= 50ms in 99% of windows", "within 100ms >= 99.9%", "iops >= 5000 in 99% of windows")
	b.ReportAllocs()
	for b.Loop() {
		e := New(list)
		for at := range int64(3600) {
			e.add(sample{direction: "read", start: at * 1000, end: at*1000 + 1000, completed: 80_000, latency: h})
		}
		e.Verdicts()
	}
}

// document returns an interval document whose requests all have the same latency.
func document(start time.Time, host string, elapsed, ms, late int64, requests uint64) *mapping.Interval {
	h := hist.New(hist.Fio3(0))
	h.AddLatency(1_000_000, float64(requests))
	at := start.Add(time.Duration(elapsed+late) * time.Millisecond)
	return &mapping.Interval{
		Time: at, Window: mapping.Window{End: at.Add(time.Duration(ms) * time.Millisecond), MS: ms, ElapsedMS: elapsed},
		Run: mapping.RunRef{Start: start}, Host: mapping.HostRef{Name: host}, Fio: mapping.FioRef{Direction: "read"},
		Latency: mapping.NewLatency(h, nil), Requests: mapping.Requests{Completed: int64(requests)},
	}
}

// TestMerge: windows of several hosts become one window, and so do the parts of a split document.
func TestMerge(t *testing.T) {
	start := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	e := New(parse(t, "iops >= 30 in every window", "requests > 0", "p99 < 10ms in every window"))
	docs := []*mapping.Interval{document(start, "a", 0, 1000, 0, 10), document(start, "b", 0, 1000, 4, 20), document(start, "a", 1000, 1000, 0, 10), document(start, "b", 1000, 1000, 4, 25)}
	docs[2].Latency.P99 = 20_000 // percentiles of one host, which are not those of the merged window
	whole := document(start, "a", 2000, 1000, 0, math.MaxInt32+7)
	parts := whole.Split()
	if len(parts) != 2 {
		t.Fatalf("%d parts", len(parts))
	}
	for _, p := range parts {
		p.Latency.P99 = 9_000 // percentiles of the document before it was split
	}
	rate := &mapping.Interval{
		Time: start.Add(3 * time.Second), Window: mapping.Window{End: start.Add(4 * time.Second), MS: 1000, ElapsedMS: 3000}, Run: mapping.RunRef{Start: start}, Fio: mapping.FioRef{Direction: "read"},
		IOPS: 31, Weighting: mapping.Averaged,
	}
	silent := *rate
	silent.Time, silent.Window.End, silent.Window.ElapsedMS, silent.IOPS = start.Add(4*time.Second), start.Add(5*time.Second), 4000, 0
	for _, w := range window.RejoinAll(slices.Concat(docs, parts, []*mapping.Interval{rate, &silent})) {
		if err := e.Add(w); err != nil {
			t.Fatal(err)
		}
	}
	v := e.Verdicts()
	if w := v[0].Windows; v[0].State != Met || w.Judged != 4000 || w.Worst != (Moment{Start: 0, End: 1000, Value: 30}) {
		t.Errorf("iops: %+v", v[0])
	}
	if v[1].Value != 65+math.MaxInt32+7+31 {
		t.Errorf("requests: %+v", v[1])
	}
	if w := v[2].Windows; v[2].State != Met || w.Judged != 3000 || w.Worst.Value != 9e6 || w.Worst.Start != 2000 {
		t.Errorf("p99: %+v", v[2])
	}
}

// TestCutRows: where windows cut rows, a limit between the bounds of a percentile is close, and its estimate decides.
func TestCutRows(t *testing.T) {
	for rule, want := range map[string]struct {
		state   State
		isClose bool
	}{
		"p99 <= 1.1ms in every window": {Met, true}, "p99 <= 0.8ms in every window": {Broken, true}, "p99 <= 3.1ms in every window": {Met, false},
		"p90 <= 1.1ms in every window": {Met, false},
	} {
		e := New(parse(t, rule))
		h := of(map[int64]float64{ms: 1000})
		lat := mapping.NewLatency(h, nil)
		w := &window.Window{
			Run: &mapping.RunInfo{Start: time.Unix(0, 0)}, Level: mapping.Cluster, Direction: "read", Start: time.Unix(0, 0), End: time.Unix(1, 0),
			Completed: 1000, Latency: lat, Bounds: &mapping.Bounds{Confidence: 1, P99: mapping.Between{Low: 700, High: 3000}},
		}
		if err := e.Add(w); err != nil {
			t.Fatal(err)
		}
		if v := e.Verdicts()[0]; v.State != want.state || v.Close != want.isClose {
			t.Errorf("%s: %v, close %v", rule, v.State, v.Close)
		}
		w.Bounds.Confidence = 0.95 // of a sample: the percentile of the window itself is known
		e = New(parse(t, rule))
		if err := e.Add(w); err != nil {
			t.Fatal(err)
		}
		if v := e.Verdicts()[0]; v.State != want.state || v.Close {
			t.Errorf("%s, of a sample: %v, close %v", rule, v.State, v.Close)
		}
	}
}
