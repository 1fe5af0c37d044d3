package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

func seriesOf(t interface{ Fatal(...any) }, limit int, windows []*mapping.Interval) *series {
	s := newSeries(limit)
	for _, w := range window.RejoinAll(windows) {
		h, err := w.Histogram()
		if err != nil {
			t.Fatal(err)
		}
		s.add(w, h)
	}
	s.finish()
	return s
}

// someWindows returns windows as runs have them: the first may be cut, some are missing, bins have several
// coarsenesses, and some windows have no requests.
func someWindows(t *rapid.T) []*mapping.Interval {
	length := rapid.SampledFrom([]int64{100, 1000, 10_000}).Draw(t, "length")
	cut := rapid.Int64Range(0, length-1).Draw(t, "cut")
	var list []*mapping.Interval
	for i, n := range rapid.SliceOfN(rapid.IntRange(-1, 3), 1, 200).Draw(t, "windows") {
		if n < 0 {
			continue
		}
		h := hist.New(hist.Fio3(rapid.IntRange(0, 2).Draw(t, "coarseness")))
		for _, bin := range rapid.SliceOfN(rapid.IntRange(0, h.Layout().Len()-1), n, n).Draw(t, "bins") {
			h.AddAt(bin, float64(rapid.IntRange(1, 1000).Draw(t, "requests")))
		}
		start := max(int64(i)*length-cut, 0)
		list = append(list, windowOf("read", "", start, int64(i+1)*length-cut-start, h))
	}
	return list
}

// TestSeries: columns are consecutive windows, at most limit. Each has the percentiles of its merged histograms
// (those of the document if it is a single window) and the worst values of its windows. No request is lost.
func TestSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		windows, limit := someWindows(t), rapid.IntRange(2, 40).Draw(t, "limit")
		s := seriesOf(t, limit, windows)
		if len(s.columns) > limit {
			t.Fatalf("%d columns, more than %d", len(s.columns), limit)
		}
		next := 0
		for i := range s.columns {
			c := s.columns[i]
			merged, completed, worst, own := &hist.Histogram{}, int64(0), noLatencies, noLatencies
			lowest, most := math.Inf(1), math.Inf(-1)
			for range c.windows {
				d := windows[next]
				next++
				lowest, most, completed = min(lowest, d.IOPS), max(most, d.IOPS), completed+d.Requests.Completed
				if d.Latency.Layout == "" {
					continue
				}
				h, err := d.Latency.Hist()
				if err != nil {
					t.Fatal(err)
				}
				merged.Merge(h)
				own = latencies{d.Latency.P50, d.Latency.P95, d.Latency.P99, d.Latency.P999, d.Latency.Max}
				for p, v := range own {
					worst[p] = higher(worst[p], v)
				}
			}
			want := own
			if c.windows > 1 && !merged.IsEmpty() {
				for p := range overTime {
					want[p] = math.Round(merged.Percentile(overTime[p].q).Value) / 1000
				}
			}
			if !equal(c.at, want) || !equal(c.worst, worst) {
				t.Fatalf("column %d of %d windows: %v, worst %v; want %v, worst %v", i, c.windows, c.at, c.worst, want, worst)
			}
			if c.served != float64(completed) || c.lowest != lowest || c.most != most || !c.End.Equal(windows[next-1].Window.End) {
				t.Fatalf("column %d: %+v", i, c)
			}
		}
		if next != len(windows) {
			t.Fatalf("%d windows, want %d", next, len(windows))
		}
	})
}

// TestColumnsAreMany: windows without gaps fill at least half of the allowed columns. All columns but the first and
// the last have the same number of windows.
func TestColumnsAreMany(t *testing.T) {
	var windows []*mapping.Interval
	for i := range int64(10_000) {
		windows = append(windows, windowOf("read", "", i*1000, 1000, histOf(1, 50)))
	}
	for _, n := range []int{600, 601, 1200, 2400, 2401, 2762, 3600, 10_000} {
		s := seriesOf(t, maxColumns, windows[:n])
		if len(s.columns) > maxColumns || n > maxColumns && 2*len(s.columns) < maxColumns {
			t.Errorf("%d windows are %d columns", n, len(s.columns))
		}
		for i := 2; i < len(s.columns)-1; i++ {
			if s.columns[i].windows != s.columns[1].windows {
				t.Errorf("%d windows: column %d has %d, the second %d", n, i, s.columns[i].windows, s.columns[1].windows)
				break
			}
		}
	}
}

// TestGaps: a line ends where a window is missing, also beside a joined column.
func TestGaps(t *testing.T) {
	for _, c := range []struct {
		name  string
		start []int64 // starts of one-second windows
		want  int     // number of lines
	}{
		{"none", []int64{0, 1000, 2000}, 1},
		{"late rows", []int64{0, 1004, 2003}, 1},
		{"one missing", []int64{0, 1000, 3000}, 2},
		{"alone", []int64{0, 2000, 4000}, 3},
		{"only two", []int64{0, 3000}, 2},
	} {
		var windows []*mapping.Interval
		for _, start := range c.start {
			windows = append(windows, windowOf("read", "", start, 1000, histOf(5, 100)))
		}
		drawn := &timeChart{axis: chart.TimeAxis{From: at(0), Until: at(10_000)}}
		d := drawn.steps(seriesOf(t, 600, windows), chart.LatencyAxis(10, 1000, 0, 100), true, func(c *column) float64 { return c.at[0] })
		if got := strings.Count(d, "M"); got != c.want {
			t.Errorf("%s: %d lines, want %d: %s", c.name, got, c.want, d)
		}
	}
}

// TestDrawn: each step of a line is at the percentile of its column.
func TestDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		windows := someWindows(t)
		s := seriesOf(t, rapid.IntRange(2, 50).Draw(t, "limit"), windows)
		low, high := s.latencies()
		if high < low {
			return
		}
		a := chart.LatencyAxis(low, high, 20, 190)
		pic := &timeChart{axis: chart.TimeAxis{From: windows[0].Time, Until: windows[len(windows)-1].Window.End}}
		for p := range overTime {
			d := pic.steps(s, a, false, func(c *column) float64 { return c.at[p] })
			drawn := strings.Split(strings.TrimPrefix(d, "M"), "M")
			next := 0
			for i := range s.columns {
				if math.IsNaN(s.columns[i].at[p]) {
					continue
				}
				var x, y, until float64
				if _, err := fmt.Sscanf(drawn[next], "%f %fH%f", &x, &y, &until); err != nil {
					t.Fatalf("%q: %v", drawn[next], err)
				}
				next++
				us := a.Low * math.Pow(a.High/a.Low, (a.Top+a.Height-y)/a.Height)
				if tolerance := math.Pow(a.High/a.Low, 0.06/a.Height); us/s.columns[i].at[p] > tolerance || s.columns[i].at[p]/us > tolerance {
					if s.columns[i].at[p] >= a.Low {
						t.Fatalf("%s of column %d is drawn at %v µs, want %v", overTime[p].name, i, us, s.columns[i].at[p])
					}
				}
				if x < chart.Left || until > chart.Left+chart.AreaWidth || until < x+1-1e-9 {
					t.Fatalf("column %d is drawn from %v to %v", i, x, until)
				}
			}
			if next != len(drawn) && d != "" {
				t.Fatalf("%d dashes, want %d", len(drawn), next)
			}
		}
	})
}

// TestCoarser: the axis includes the percentiles of a column, even if a coarser window in it makes them higher than
// those of its windows.
func TestCoarser(t *testing.T) {
	var windows []*mapping.Interval
	for i, coarseness := range []int{0, 0, 2} {
		h := hist.New(hist.Fio3(coarseness))
		h.AddAt(0, float64(1+i/2))
		windows = append(windows, windowOf("read", "", int64(i)*100, 100, h))
	}
	s := seriesOf(t, 2, windows)
	_, high := s.latencies()
	isHigher := false
	for i := range s.columns {
		c := s.columns[i]
		isHigher = isHigher || c.at[ofMax] > c.worst[ofMax]
		if c.at[ofMax] > high {
			t.Errorf("column %d: %v µs, and the highest is %v", i, c.at[ofMax], high)
		}
	}
	if !isHigher {
		t.Error("no column is higher than its windows")
	}
}

// TestMoments: the worst windows and the longest gap do not depend on the joining of columns.
func TestMoments(t *testing.T) {
	var windows []*mapping.Interval
	for i := range int64(100) {
		n, us := 100.0, 50.0
		switch i {
		case 0, 99:
			n = 1 // may be cut, so they must not be the worst
		case 40:
			us = 5000
		case 60:
			n = 7
		}
		windows = append(windows, windowOf("read", "", i*1000, 1000, histOf(n, us)))
	}
	gaps := slices.Concat(windows[:20], windows[22:30], windows[31:])
	for _, limit := range []int{3, 600} {
		m := seriesOf(t, limit, windows).worst
		if !m.p99.at.Equal(at(40_000)) || !m.slowest.at.Equal(at(40_000)) || !m.idle.at.Equal(at(60_000)) || m.idle.value != 7 || m.gap != 0 {
			t.Errorf("%+v %+v %+v", m.p99, m.slowest, m.idle)
		}
		if m := seriesOf(t, limit, gaps).worst; !m.idle.at.Equal(at(20_000)) || m.idle.value != 0 || m.gap != 2*time.Second {
			t.Errorf("%+v for %v", m.idle, m.gap)
		}
	}
}
