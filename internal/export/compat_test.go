package export

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// TestCompatLayouts: fio 2, absolute times, windows without requests, and windows of other lengths. The recorded
// outputs have none of these.
func TestCompatLayouts(t *testing.T) {
	figures := map[string]float64{"min": 1, "mean": 2.5, "p50": 2, "p90": 3, "p95": 4, "p99": 5.25, "max": 6}
	a := facts.NewLatencies(func(name string) (float64, bool) { us, ok := figures[name]; return us, ok })
	start := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.Local)
	known := &mapping.Run{Run: mapping.RunInfo{Start: start}, Clock: mapping.Clock{Source: "log_unix_epoch"}, IntervalMS: 1000}
	for _, c := range []struct {
		name   string
		tool   string
		run    *mapping.Run
		layout hist.Layout
		rows   []compatRow
		want   string // the last lines
	}{
		{"nanoseconds", FiologparserHist, &mapping.Run{IntervalMS: 1000}, hist.Layout{}, []compatRow{{0, 1031, 7, a}}, "1000, 7, 1000, 2500.000, 2000.000, 3000.000, 4000.000, 5250.000, 6000\n"},
		{"fio 2", FiologparserHist, &mapping.Run{IntervalMS: 1000}, hist.Fio2(0), []compatRow{{0, 1000, 7, a}}, "1000, 7, 1, 2.500, 2.000, 3.000, 4.000, 5.250, 6\n"},
		{"only waiting", FiologparserHist, &mapping.Run{IntervalMS: 1000}, hist.Layout{}, []compatRow{{0, 1000, 0, a}}, "1000, 1, 1000, 2500.000, 2000.000, 3000.000, 4000.000, 5250.000, 6000\n"},
		{"absolute", FiologparserHist, known, hist.Layout{}, []compatRow{{1000, 2000, 7, a}},
			fmt.Sprintf("%d, 7, 1000, 2500.000, 2000.000, 3000.000, 4000.000, 5250.000, 6000\n", start.UnixMilli()+2000)},
		{"gap", FioHistoLogPctiles, &mapping.Run{IntervalMS: 5000}, hist.Layout{}, []compatRow{{0, 5010, 7, a}, {10000, 12000, 8, a}},
			"       0,        0, , , , , , \n    5000,        7, 1.0, 2.0, 4.0, 5.25, 6.0\n   10000,        0, , , , , , \n   15000,        8, 1.0, 2.0, 4.0, 5.25, 6.0\n"},
		{"joined", FioHistoLogPctiles, &mapping.Run{IntervalMS: 1000}, hist.Layout{}, []compatRow{{0, 990, 7, a}, {1000, 2700, 8, a}},
			"\n    1000,        7, 1.0, 2.0, 4.0, 5.25, 6.0\n    3000,        8, 1.0, 2.0, 4.0, 5.25, 6.0\n"},
		{"short first", FioHistoLogPctiles, &mapping.Run{IntervalMS: 1000}, hist.Layout{}, []compatRow{{0, 700, 7, a}, {700, 1700, 8, a}},
			"\n     700,        7, 1.0, 2.0, 4.0, 5.25, 6.0\n    1700,        8, 1.0, 2.0, 4.0, 5.25, 6.0\n"},
		{"absolute", FioHistoLogPctiles, known, hist.Fio2(1), nil, "fio version = 2\nbucket groups = 19\nbucket bits = 5\n" +
			"time quantum = 1 sec\npercentiles = 0.0,50.0,95.0,99.0,100.0\nbuckets per group = 32\nbuckets per interval = 608 \noutput unit = usec\n" +
			fmt.Sprintf("all threads running as of unix epoch time %d = Fri Jan  2 03:04:05 2026\n", start.Unix()) +
			"time (millisec), percentiles in increasing order with values in usec\nmsec-since-start, samples, min, median, 95.0, 99.0, max, \n"},
	} {
		var out strings.Builder
		snapEnds(c.rows, c.run.IntervalMS)
		print := printLogparser
		if c.tool == FioHistoLogPctiles {
			print = printPctiles
		}
		print(&out, c.run, c.rows, c.layout)
		if !strings.HasSuffix(out.String(), c.want) {
			t.Errorf("%s, %s:\n%swant\n%s", c.tool, c.name, out.String(), c.want)
		}
	}
}

// TestCompatAddUp: the directions of a window become one row.
func TestCompatAddUp(t *testing.T) {
	document := func(direction string, elapsed, late int64, weight float64, latencies ...int64) *mapping.Interval {
		h := hist.New(hist.Layout{})
		for _, ns := range latencies {
			h.AddLatency(ns, weight)
		}
		end := time.Duration(elapsed+1000+late) * time.Millisecond
		return &mapping.Interval{
			Window: mapping.Window{End: time.Time{}.Add(end), MS: 1000, ElapsedMS: elapsed}, Fio: mapping.FioRef{Direction: direction},
			Latency: mapping.NewLatency(h, nil), Requests: mapping.Requests{Weight: h.Total()},
		}
	}
	for _, c := range []struct {
		name string
		docs []*mapping.Interval
		want string
	}{
		{"one direction", []*mapping.Interval{document("read", 0, 0, 1, 100)}, "1000, 1, 100, 100.000, 100.000, 100.000, 100.000, 100.000, 100\n"},
		{"two, some milliseconds apart", []*mapping.Interval{document("read", 0, 30, 1, 10, 20), document("write", 0, 0, 1, 100), document("read", 1000, 30, 1, 30)},
			"1000, 3, 10, 43.000, 20.000, 100.000, 100.000, 100.000, 100\n2000, 1, 30, 30.000, 30.000, 30.000, 30.000, 30.000, 30\n"},
		{"both only waiting", []*mapping.Interval{document("read", 0, 0, 0.1, 50), document("write", 0, 0, 0.4, 100)},
			"1000, 1, 100, 100.000, 100.000, 100.000, 100.000, 100.000, 100\n"},
		{"averages beside", []*mapping.Interval{{Fio: mapping.FioRef{Direction: "read"}}, document("write", 0, 0, 1, 100)},
			"1000, 1, 100, 100.000, 100.000, 100.000, 100.000, 100.000, 100\n"},
	} {
		var out strings.Builder
		w := NewCompat(&out, FiologparserHist)
		for _, d := range c.docs {
			if err := w.Add(window.From(d)); err != nil {
				t.Fatal(err)
			}
		}
		if hasRows, err := w.End(&mapping.Run{IntervalMS: 1000}); err != nil || !hasRows {
			t.Fatal(hasRows, err)
		}
		if _, rows, _ := strings.Cut(out.String(), "\n"); rows != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, rows, c.want)
		}
	}
}
