package compare

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

func TestText(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0.0 %", 0.0004: "0.0 %", -0.0004: "0.0 %", 0.031: "+3.1 %", -0.25: "-25.0 %", 0.9994: "+99.9 %", 0.9996: "+100 %", 18.53: "+1853 %",
	} {
		if got := (&Change{Metric: window.IOPS, Change: share}).Text(); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
	p99 := metric("p99")
	for _, c := range []struct {
		change                      Change
		base, other, text, interval string
	}{
		{Change{Metric: window.IOPS, Base: 100, Other: math.Inf(1), Change: math.NaN(), Verdict: Unknown}, "100", "-", "-", "-"},
		{Change{Metric: p99, Base: 1000, Other: 17e9, Change: 2, Low: -0.012, High: 0.5, Verdict: Same, OtherOpen: true}, "1.00µs", "≥17.0s", "≥+200 %", "-1.2 … +50.0 %"},
		{Change{Metric: p99, Base: 17e9, Other: 1000, Change: -0.5, Verdict: Unknown, BaseOpen: true}, "≥17.0s", "1.00µs", "≤-50.0 %", "-"},
		{Change{Metric: p99, Base: 17e9, Other: 17e9, Verdict: Unknown, BaseOpen: true, OtherOpen: true}, "≥17.0s", "≥17.0s", "-", "-"},
		{Change{Metric: window.Mean, Base: 1e6, Other: 2e6, Change: 1, Verdict: Unknown, BaseOpen: true, OtherOpen: true}, "≥1.00ms", "≥2.00ms", "-", "-"},
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
	if r := runOf("nothing"); !r.IsEmpty() || r.OnlyAverages() {
		t.Errorf("%+v", r)
	}
	if r := runOf("averages", read(mapping.Latency{Mean: 5}, 0)); !r.IsEmpty() || !r.OnlyAverages() {
		t.Errorf("%+v", r)
	}
	r := runOf("quiet seconds", served, quiet, served, quiet)
	if got := Sides([]*Series{r.series["read"]}, []*Series{r.series["read"]}, Options{[]window.Metric{window.IOPS}, 0.95, Within})[0]; got.Base != 50 {
		t.Errorf("%v requests per second", got.Base)
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
	lines, notes, err := Compare(base, other, Options{[]window.Metric{window.IOPS, window.Mean}, 0.95, Within})
	if err != nil || len(lines) != 4 {
		t.Errorf("%+v, %v", lines, err)
	}
	for _, want := range []string{"only 1 of the 2 runs of old have writes", "only new has trims: not compared", "old and new: read: too few windows"} {
		if n := strings.Count(strings.Join(notes, "\n"), want); n != 1 {
			t.Errorf("%d of %q in %q", n, want, notes)
		}
	}
	if _, _, err := Compare(&Side{"old", []*Run{of("read")}}, &Side{"new", []*Run{of("trim")}}, Options{[]window.Metric{window.IOPS}, 0.95, Within}); err == nil ||
		!strings.Contains(err.Error(), "no direction in common: the first has reads, the second trims") {
		t.Error(err)
	}
}

// TestSummary: changes come first, then unclear lines, then lines without a change.
func TestSummary(t *testing.T) {
	line := func(direction, name string, v Verdict) Line {
		return Line{direction, Change{Metric: metric(name), Verdict: v}}
	}
	worse, better, same := line("write", "p99", Worse), line("read", "iops", Better), line("read", "p50", Same)
	unclear, unknown := line("read", "p99.9", Unclear), line("read", "p99.9", Unknown)
	for _, c := range []struct {
		lines []Line
		want  string
	}{
		{[]Line{same, worse, better, unclear, worse}, "worse: write p99, write p99; better: read iops"},
		{[]Line{better, same}, "better: read iops"}, {[]Line{same, unclear, unknown}, "unclear: read p99.9"},
		{[]Line{same, unknown}, "no change"}, {[]Line{unknown}, "unknown"},
	} {
		if got := Summary(c.lines); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
