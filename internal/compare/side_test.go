package compare

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

func TestText(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0.0 %", 0.0004: "0.0 %", -0.0004: "0.0 %", 0.031: "+3.1 %", -0.25: "-25.0 %", 0.9994: "+99.9 %", 0.9996: "+100 %", 18.53: "+1853 %",
	} {
		if got := (&Change{Metric: facts.IOPS, Change: share}).Text(); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
	p99 := metric("p99")
	for _, c := range []struct {
		change                      Change
		base, other, text, interval string
	}{
		{Change{Metric: facts.IOPS, Base: 100, Other: math.Inf(1), Change: math.NaN(), Verdict: Unknown}, "100", "-", "-", "-"},
		{Change{Metric: p99, Base: 1000, Other: 17e9, Change: 2, Low: -0.012, High: 0.5, Verdict: Same, OtherOpen: true}, "1.00µs", "≥17.0s", "≥+200 %", "-1.2 … +50.0 %"},
		{Change{Metric: p99, Base: 17e9, Other: 1000, Change: -0.5, Verdict: Unknown, BaseOpen: true}, "≥17.0s", "1.00µs", "≤-50.0 %", "-"},
		{Change{Metric: p99, Base: 17e9, Other: 17e9, Verdict: Unknown, BaseOpen: true, OtherOpen: true}, "≥17.0s", "≥17.0s", "-", "-"},
		{Change{Metric: facts.Mean, Base: 1e6, Other: 2e6, Change: 1, Verdict: Unknown, BaseOpen: true, OtherOpen: true}, "≥1.00ms", "≥2.00ms", "-", "-"},
	} {
		got := []string{c.change.BaseText(), c.change.OtherText(), c.change.Text(), c.change.IntervalText()}
		if want := []string{c.base, c.other, c.text, c.interval}; !slices.Equal(got, want) {
			t.Errorf("%+v: %q, want %q", c.change, got, want)
		}
	}
}

// runOf returns a run of one-second windows.
func runOf(name string, windows ...window.Window) *Run {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := &Run{Name: name}
	for i, w := range windows {
		w.Run = &mapping.RunInfo{Start: start}
		w.ElapsedMS, w.Start = int64(i)*1000, start.Add(time.Duration(i)*time.Second)
		w.End = w.Start.Add(time.Second)
		requests, err := w.Histogram()
		if err != nil {
			panic(err)
		}
		r.Add(&w, requests)
	}
	r.End(&mapping.Run{Run: mapping.RunInfo{Start: start, End: start.Add(time.Minute)}})
	return r
}

// TestRun: a window without a histogram has only an average, which cannot be compared, or no requests. A window
// without requests counts as time.
func TestRun(t *testing.T) {
	h := hist.New(hist.Fio3(0))
	h.AddLatency(1000, 100)
	read := func(latency mapping.Latency, n int64) window.Window {
		return window.Window{Direction: "read", Latency: latency, Completed: n}
	}
	served, quiet := read(mapping.NewLatency(h, nil), 100), read(mapping.Latency{}, 0)
	if r := runOf("nothing"); !r.IsEmpty() {
		t.Errorf("%+v", r)
	}
	averaged := func(mean, iops float64) window.Window {
		return window.Window{Direction: "read", Latency: mapping.Latency{Mean: mean}, IOPS: iops, Averaged: true}
	}
	averages := runOf("averages", averaged(5, 100), averaged(0, 90), averaged(6, 0)) // no request ended, or no rate is known
	if !averages.IsEmpty() {
		t.Errorf("%+v", averages)
	}
	doc := &mapping.Run{Read: &mapping.Totals{IOPS: 95, Latency: mapping.Latency{Mean: 5.5}}}
	if err := averages.AddTotals(doc, nil); err != nil {
		t.Fatal(err)
	}
	of := []*series{averages.series["read"]}
	if got := changesOf(of, of, Options{[]facts.Metric{facts.IOPS, facts.Mean}, 0.95, Within}); got[0].BaseText() != "95" || got[1].BaseText() != "5.50µs*" {
		t.Errorf("%s, %s", got[0].BaseText(), got[1].BaseText())
	}
	r := runOf("quiet seconds", served, quiet, served, quiet)
	if got := changesOf([]*series{r.series["read"]}, []*series{r.series["read"]}, Options{[]facts.Metric{facts.IOPS}, 0.95, Within})[0]; got.Base != 50 {
		t.Errorf("%v requests per second", got.Base)
	}
}

// TestUnbinned: windows and bins lack requests. Figures are those of fio's report; a percentile is fio's own, or between bounds, and is
// worse or better only if all of them say so.
func TestUnbinned(t *testing.T) {
	of := func(name string, us, lacking int64, fio *mapping.FioLatency, most float64) *Side {
		r, sum := &Run{Name: name}, hist.New(hist.Fio3(0))
		for i := range int64(20) {
			h := hist.New(hist.Fio3(0))
			for k := range int64(10) {
				h.AddLatency((us+k+i%3)*1000, 100)
			}
			sum.Merge(h)
			run := &mapping.RunInfo{}
			r.Add(&window.Window{
				Run: run, Direction: "read", Start: run.Start.Add(time.Duration(i) * time.Second), End: run.Start.Add(time.Duration(i+1) * time.Second),
				Completed: 1000, Latency: mapping.NewLatency(h, nil),
			}, h)
		}
		totals := &mapping.Totals{Requests: 20000 + lacking, DurationMS: 20000, IOPS: float64(20000+lacking) / 20, Latency: mapping.NewLatency(sum, nil), Fio: fio}
		totals.Latency.SetExact(&mapping.FioLatency{Min: float64(us), Mean: 2 * float64(us), Max: most})
		totals.SetUnbinned(lacking, sum)
		doc := &mapping.Run{Read: totals}
		doc.Run.End = doc.Run.Start.Add(20 * time.Second)
		r.End(doc)
		if err := r.AddTotals(doc, nil); err != nil {
			t.Fatal(err)
		}
		return &Side{name, []*Run{r}}
	}
	own := &mapping.FioLatency{Min: 100, Mean: 200, Max: 900, Percentiles: []mapping.FioPercentile{{Rank: 50, Value: 150}}}
	metrics := []facts.Metric{facts.IOPS, facts.Mean, metric("p50"), metric("p99")}
	for _, c := range []struct {
		name        string
		base, other *Side
		want        string
	}{
		{"nothing lacks", of("a", 100, 0, nil, 900), of("b", 200, 0, nil, 900), "iops 1000 1000 0.0 % 0.0 … 0.0 % no change; mean 200µs 400µs +100 % +99.3 … +101 % worse; p50 105µs 206µs +95.2 % +94.5 … +95.9 % worse; p99 111µs 212µs +90.8 % +89.6 … +91.7 % worse"},
		{"bounds decide p50 alone", of("a", 100, 1000, nil, 900), of("b", 200, 1000, nil, 900), "iops 1050 1050 0.0 % -4.8 … +5.0 % no change > 5.0 %; mean 200µs 400µs +100 % +2.5 … +281 % worse; p50 ~105µs ~206µs ≥+94.5 % +93.8 … +96.6 % worse; p99 ≥111µs ≥212µs - - unknown"},
		{"bounds of the same", of("a", 100, 1000, nil, 900), of("b", 100, 1000, nil, 900), "iops 1050 1050 0.0 % -4.8 … +5.0 % no change > 5.0 %; mean 200µs 200µs 0.0 % -47.5 … +90.5 % unclear; p50 ~105µs ~105µs - -0.9 … +0.9 % no change > 1.0 %; p99 ≥111µs ≥111µs - - unknown"},
		{"bounds decide all", of("a", 100, 1000, nil, 150), of("b", 200, 1000, nil, 900), "iops 1050 1050 0.0 % -4.8 … +5.0 % no change > 5.0 %; mean 200µs 400µs +100 % +2.5 … +281 % worse; p50 ~105µs ~206µs ≥+94.5 % +93.8 … +96.6 % worse; p99 ≥111µs ≥212µs ≥+41.5 % +40.6 … +713 % worse"},
		{"fio's own", of("a", 100, 1000, own, 900), of("b", 200, 0, nil, 900), "iops 1050 1000 -4.8 % -4.8 … 0.0 % no change > 4.8 %; mean 200µs 400µs +100 % +99.3 … +281 % worse; p50 150µs* 206µs +37.2 % +36.7 … +95.9 % worse; p99 ≥149µs 212µs - - unknown"},
	} {
		lines, _, err := Compare(c.base, c.other, Options{metrics, 0.95, Within})
		var texts []string
		for _, l := range lines {
			texts = append(texts, strings.Join([]string{l.Metric.String(), l.BaseText(), l.OtherText(), l.Text(), l.IntervalText(), l.VerdictText()}, " "))
		}
		if got := strings.Join(texts, "; "); err != nil || got != c.want {
			t.Errorf("%s: %v\n%s, want\n%s", c.name, err, got, c.want)
		}
	}
	lines, _, err := Compare(of("a", 100, 1000, nil, 900), of("b", 100, 1000, nil, 900), Options{metrics, 0.95, Within})
	if want := "read: p99 is between bounds: 1,000 of 21,000 requests are in no row (--output-format=json+ has them)"; err != nil || lines[3].Reason() != want {
		t.Errorf("%v %q, want %q", err, lines[3].Reason(), want)
	}
	condition, err := ParseCondition("p99 > +10%")
	if got := condition.state(&lines[3]); err != nil || got != NotChecked {
		t.Errorf("%v %s", err, got)
	}
}

// TestTotals: runs without windows are compared by their totals, without an interval. Percentiles are those of bins, or those that fio lists; of several runs the middle one counts.
func TestTotals(t *testing.T) {
	of := func(fio *mapping.FioLatency, us ...int64) *Run {
		h := hist.New(hist.Fio3(0))
		for _, x := range us {
			h.AddLatency(x*1000, 100)
		}
		totals := &mapping.Totals{Requests: int64(100 * max(len(us), 1)), DurationMS: 1000, Latency: mapping.NewLatency(h, nil), Fio: fio}
		r, doc := &Run{Name: "x"}, &mapping.Run{Read: totals}
		r.End(doc)
		if err := r.AddTotals(doc, nil); err != nil {
			t.Fatal(err)
		}
		return r
	}
	fio := func(mean, p50 float64) *Run {
		return of(&mapping.FioLatency{Mean: mean, Max: 9000, Percentiles: []mapping.FioPercentile{{Rank: 50, Value: p50}}})
	}
	bounds := func(low, high float64) *Run { // of several jobs without bins
		b := &mapping.Bounds{Confidence: 1}
		b.Set(slices.IndexFunc(mapping.Percentiles[:], func(p mapping.Percentile) bool { return p.Rank == 50 }), mapping.Between{Low: low, High: high})
		r, doc := &Run{Name: "x"}, &mapping.Run{Read: &mapping.Totals{Requests: 100, DurationMS: 1000, Fio: &mapping.FioLatency{Mean: 100, Max: 9000}, Bounds: b}}
		r.End(doc)
		if err := r.AddTotals(doc, nil); err != nil {
			t.Fatal(err)
		}
		return r
	}
	metrics := []facts.Metric{facts.IOPS, facts.Mean, metric("p50"), metric("p99")}
	for _, c := range []struct {
		name        string
		base, other []*Run
		want        string // base, other, change, interval and verdict
	}{
		{"fio's own", []*Run{fio(100, 80)}, []*Run{fio(150, 60)},
			"iops 100 100 0.0 % - no interval; mean 100µs* 150µs* +50.0 % - no interval; p50 80.0µs* 60.0µs* -25.0 % - no interval; p99 - - - - unknown"},
		{"jobs without bins", []*Run{bounds(50, 60)}, []*Run{bounds(90, 200)},
			"iops 100 100 0.0 % - no interval; mean 100µs* 100µs* 0.0 % - no interval; p50 ~54.8µs ≥90.0µs ≥+50.0 % - no interval; p99 - - - - unknown"},
		{"bins", []*Run{of(nil, 100)}, []*Run{of(nil, 200)},
			"iops 100 100 0.0 % - no interval; mean 99.8µs 200µs +100 % - no interval; p50 99.8µs 200µs +100 % - no interval; p99 100µs 201µs +100 % - no interval"},
		{"repetitions", []*Run{fio(100, 80), fio(200, 70), fio(300, 20)}, []*Run{of(nil, 70)},
			"iops 100 100 0.0 % - no interval; mean 200µs* 70.1µs -64.9 % - no interval; p50 70.0µs* 70.1µs +0.2 % - no interval; p99 - 70.6µs - - unknown"},
	} {
		lines, _, err := Compare(&Side{"a", c.base}, &Side{"b", c.other}, Options{metrics, 0.95, Within})
		var texts []string
		for _, l := range lines {
			texts = append(texts, strings.Join([]string{l.Metric.String(), l.BaseText(), l.OtherText(), l.Text(), l.IntervalText(), l.VerdictText()}, " "))
		}
		if got := strings.Join(texts, "; "); err != nil || got != c.want {
			t.Errorf("%s: %v\n%s, want\n%s", c.name, err, got, c.want)
		}
	}
}

// TestCompare: if a side lacks something, a note names it, and it is not compared.
func TestCompare(t *testing.T) {
	h := hist.New(hist.Fio3(0))
	h.AddLatency(1000, 100)
	of := func(directions ...string) *Run {
		var list []window.Window
		for _, d := range directions {
			list = append(list, window.Window{Direction: d, Latency: mapping.NewLatency(h, nil), Completed: 100})
		}
		return runOf("r", list...)
	}
	base, other := &Side{"old", []*Run{of("read", "write"), of("read")}}, &Side{"new", []*Run{of("read", "write"), of("read", "trim")}}
	lines, notes, err := Compare(base, other, Options{[]facts.Metric{facts.IOPS, facts.Mean}, 0.95, Within})
	if err != nil || len(lines) != 4 {
		t.Errorf("%+v, %v", lines, err)
	}
	for _, want := range []string{"only 1 of the 2 runs of old have writes", "only new has trims: not compared"} {
		if n := strings.Count(strings.Join(notes, "\n"), want); n != 1 {
			t.Errorf("%d of %q in %q", n, want, notes)
		}
	}
	if why := lines[0].Reason(); !strings.HasPrefix(why, "read: too few windows") {
		t.Errorf("the first line has no interval, because %q", why)
	}
	if lines, _, err = Compare(&Side{"old", []*Run{of("all")}}, &Side{"new", []*Run{of("all")}}, Options{[]facts.Metric{facts.IOPS}, 0.95, Within}); err != nil || len(lines) != 1 {
		t.Errorf("all directions in one: %+v, %v", lines, err)
	}
	if _, _, err := Compare(&Side{"old", []*Run{of("read")}}, &Side{"new", []*Run{of("all")}}, Options{[]facts.Metric{facts.IOPS}, 0.95, Within}); err == nil ||
		!strings.Contains(err.Error(), "no direction in common: the first has reads, the second all requests") {
		t.Error(err)
	}
}

// TestConclusion: what changed comes first, by p99 or the largest change. What is not known is counted, and never left out.
func TestConclusion(t *testing.T) {
	line := func(direction, name string, v Verdict, change, low, high float64) Line {
		base := figure{Number: facts.Known(2e6)}
		return Line{direction, Change{Metric: metric(name), Verdict: v, Change: change, Low: low, High: high, Base: 2e6, Other: 2e6 * (1 + change), base: base, other: base}}
	}
	worse, worst := line("write", "p99", Worse, 0.5, 0.4, 0.6), line("write", "mean", Worse, 0.9, 0.8, 1)
	better, same := line("read", "p50", Better, -0.25, -0.3, -0.2), line("read", "p50", Same, 0, -0.01, 0.0211)
	unclear, unknown := line("read", "p99.9", Unclear, 0.1, -0.2, 0.3), line("read", "p99.9", Unknown, 0, 0, 0)
	without := line("read", "mean", NoInterval, 0.5, 0, 0)
	const slower, once = "slower: p99 of writes +50.0 % (2.00ms to 3.00ms)", "; one run may differ as much from the next"
	for _, c := range []struct {
		runs  int
		lines []Line
		want  string
	}{
		{3, []Line{same, worst, better, unclear, worse}, slower + " and 1 more; faster: p50 of reads -25.0 % (2.00ms to 1.50ms); 1 unclear"},
		{1, []Line{worse, same}, slower + once},
		{3, []Line{worse, without, unknown}, slower + "; 2 without an interval"},
		{1, []Line{same, unclear, unclear}, "unclear: p99.9 of reads (-20.0 … +30.0 %) and 1 more; no change > 2.2 % in 1 of 3 numbers"},
		{3, []Line{same, unknown}, "no change > 2.2 % in 1 of 2 numbers; 1 without an interval"},
		{1, []Line{without, unknown}, "no verdict: no number has an interval"},
	} {
		side := &Side{Runs: make([]*Run, c.runs)}
		if got := Conclusion(side, side, c.lines); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	const want = "6 cells: 1 slower, 1 slower and faster, 1 faster, 1 unclear, 1 no change, 1 no verdict"
	if got := Summary("cell", [][]Line{{worse, unclear}, {worse, better}, {better, same}, {unclear, same}, {same, unknown}, {without}}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// windowAt returns a window between two times in milliseconds.
func windowAt(from, to, completed int64) *window.Window {
	at := func(ms int64) time.Time { return time.Time{}.Add(time.Duration(ms) * time.Millisecond) }
	return &window.Window{
		Run: &mapping.RunInfo{}, ElapsedMS: from, Start: at(from), End: at(to), Completed: completed,
	}
}

// windowsOf returns n windows of one second. The i-th has i+1 requests of one microsecond.
func windowsOf(n int) *series {
	s := &series{}
	for i := range n {
		h := hist.New(hist.Fio3(0))
		h.AddLatency(1000, float64(i+1))
		s.add(windowAt(int64(i)*1000, int64(i+1)*1000, int64(i+1)), h)
	}
	return s
}

// TestBlocks: the number of blocks, and of windows in each.
func TestBlocks(t *testing.T) {
	for _, c := range []struct{ windows, blocks, fewest, most int }{
		{0, 0, 0, 0}, {1, 1, 1, 1}, {8, 8, 1, 1}, {10, 10, 1, 1}, {25, 10, 2, 3}, {40, 10, 4, 4},
		{60, 15, 4, 4}, {120, 30, 4, 4}, {600, 30, 20, 20}, {959, 30, 31, 32}, {960, 30, 32, 32},
		{961, 30, 31, 34}, {5000, 30, 160, 176},
	} {
		blocks := windowsOf(c.windows).blocks()
		if len(blocks) != c.blocks {
			t.Errorf("%d windows: %d blocks, want %d", c.windows, len(blocks), c.blocks)
		}
		for i, b := range blocks {
			if n := int(b.ms() / 1000); n < c.fewest || n > c.most {
				t.Errorf("%d windows: block %d has %d, want %d to %d", c.windows, i, n, c.fewest, c.most)
			}
		}
	}
}

// TestBlocksHaveAll: blocks have all requests and all of the time, including the gaps between windows.
func TestBlocksHaveAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, requests, at, end := &series{}, int64(0), int64(0), int64(0)
		windows := rapid.IntRange(1, 3000).Draw(t, "windows")
		gap := int64(rapid.IntRange(0, 3).Draw(t, "gap"))
		for i := range windows {
			h := hist.New(hist.Fio3(i % 2))
			h.AddLatency(int64(i), 2)
			s.add(windowAt(at, at+10, 2), h)
			requests += 2
			end = at + 10
			at = end + gap
		}
		completed, ms, latencies := int64(0), int64(0), 0.0
		for _, b := range s.blocks() {
			completed += b.completed
			ms += b.ms()
			latencies += b.latency.Total()
		}
		if completed != requests || ms != end || latencies != float64(2*windows) || s.windows != windows {
			t.Fatalf("%d windows, %d requests (%v latencies) in %d ms; want %d, %d, %d in %d ms",
				s.windows, completed, latencies, ms, windows, requests, 2*windows, end)
		}
		if len(s.kept.All()) > maxKept {
			t.Fatalf("%d kept blocks", len(s.kept.All()))
		}
	})
}

// TestBlocksAreMeasured: the time of blocks is that of the measured windows, not of their nominal starts. fio's first
// interval is often longer than the others, and begins before its nominal start.
func TestBlocksAreMeasured(t *testing.T) {
	s := &series{}
	for _, w := range []struct{ nominal, from, to int64 }{{28, 0, 1031}, {1028, 1031, 2031}, {2028, 2030, 2503}} {
		window := windowAt(w.from, w.to, 1)
		window.ElapsedMS = w.nominal
		s.add(window, nil)
	}
	s.endBy(2503, 0)
	ms := int64(0)
	for _, b := range s.blocks() {
		ms += b.ms()
	}
	if ms != 2503 {
		t.Errorf("blocks of %d ms, want 2503", ms)
	}
}

// TestLasted: a direction lasts as long as its run document says, to the millisecond, if its last window then has a length.
func TestLasted(t *testing.T) {
	for lasted, want := range map[int64]int64{0: 2500, 2510: 2510, 2490: 2490, 1900: 2500} {
		s := &series{}
		for _, from := range []int64{7, 1000, 2000} {
			s.add(windowAt(from, from+1000, 1), nil)
		}
		s.endBy(2507, lasted)
		ms := int64(0)
		for _, b := range s.blocks() {
			ms += b.ms()
		}
		if ms != want {
			t.Errorf("lasted %d: blocks of %d ms, want %d", lasted, ms, want)
		}
	}
}

// TestEndBy: the last window ends with the run.
func TestEndBy(t *testing.T) {
	for end, want := range map[int64]int64{8000: 10_000, 9000: 10_000, 9001: 9001, 9400: 9400, 10_000: 10_000, 12_000: 10_000} {
		s, ms := windowsOf(10), int64(0)
		s.endBy(end, 0)
		for _, b := range s.blocks() {
			ms += b.ms()
		}
		if ms != want {
			t.Errorf("a run of %d ms: blocks of %d ms, want %d", end, ms, want)
		}
	}
	(&series{}).endBy(1000, 0)
}
