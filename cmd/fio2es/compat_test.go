package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// TestCompatTools compares with what fio's tools print, without any option, for the same
// logs (testdata/tools/*.defaults.txt): header, time, layout of each row, and values.
//
// What differs is the tools' doing. fiologparser_hist counts requests in all windows that
// their row of the log touches, has edges of bins as min and max, loses the first window
// of two-jobs-rw, and adds a window at the end, of the milliseconds by which rows come
// late. Neither tool knows that fio itself was stopped (stalls).
func TestCompatTools(t *testing.T) {
	for _, c := range []struct {
		run, tool, logs string
		off             float64 // largest difference of a percentile, percent; 0: not compared
		more, fewer     []int64 // times of rows that only fio2es has, and only the tool
	}{
		{"two-jobs-rw", fioHistoLogPctiles, "out_clat_hist.*", 4, nil, nil},
		{"two-jobs-rw", fiologparserHist, "out_clat_hist.*", 6, []int64{1000}, []int64{10000}},
		{"cbt-archive", fioHistoLogPctiles, "results/00000000/id-7c1f03ab/*_clat_hist.*", 4, nil, nil},
		{"cbt-archive", fiologparserHist, "results/00000000/id-7c1f03ab/*_clat_hist.*", 8, nil, []int64{8000}},
		{"stalls", fiologparserHist, "out_clat_hist.*", 0, nil, []int64{6000, 14000}},
	} {
		t.Run(c.run+"/"+c.tool, func(t *testing.T) {
			root := filepath.Join("..", "..", "testdata")
			recorded, err := os.ReadFile(filepath.Join(root, "tools", c.run+"."+c.tool+".defaults.txt"))
			if err != nil {
				t.Fatal(err)
			}
			logs, err := filepath.Glob(filepath.Join(root, "corpus", c.run, c.logs))
			if err != nil || len(logs) == 0 {
				t.Fatalf("no logs of %s: %v", c.run, err)
			}
			t.Setenv("XDG_CONFIG_HOME", t.TempDir())
			var out, errs strings.Builder
			args := append([]string{"percentiles", "--compat", c.tool}, logs...)
			if code := run(t.Context(), args, strings.NewReader(""), &out, &errs); code != 0 {
				t.Fatalf("exit code %d: %s", code, errs.String())
			}
			header, ours := compatRows(t, out.String())
			theirHeader, theirs := compatRows(t, string(recorded))
			if header != theirHeader {
				t.Errorf("header\n%sthe tool's is\n%s", header, theirHeader)
			}
			for _, r := range theirs {
				at := slices.IndexFunc(ours, func(o toolRow) bool { return o.time == r.time })
				if (at < 0) != slices.Contains(c.fewer, r.time) {
					t.Errorf("row %d of the tool: found %v", r.time, at >= 0)
				}
				if at >= 0 {
					r.compare(t, ours[at], c.tool, c.off)
				}
			}
			for _, r := range ours {
				if found := slices.ContainsFunc(theirs, func(o toolRow) bool { return o.time == r.time }); found == slices.Contains(c.more, r.time) {
					t.Errorf("row %d of fio2es: the tool has it: %v", r.time, found)
				}
			}
		})
	}
}

// toolRow is a row in a tool's layout.
type toolRow struct {
	time  int64
	cells []float64 // after the time; NaN: empty
	line  string
}

var (
	digits   = regexp.MustCompile(`[0-9]+`)
	fraction = regexp.MustCompile(`\.[0-9]+`)
)

// compatRows are the lines before the first row, and the rows.
func compatRows(t *testing.T, text string) (header string, rows []toolRow) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		cells := strings.Split(line, ", ")
		at, err := strconv.ParseInt(strings.TrimSpace(cells[0]), 10, 64)
		if err != nil {
			if rows != nil {
				t.Fatalf("header after rows: %q", line)
			}
			header += line + "\n"
			continue
		}
		r := toolRow{time: at}
		for _, cell := range cells[1:] {
			v := math.NaN()
			if cell != "" {
				if v, err = strconv.ParseFloat(strings.TrimSpace(cell), 64); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
			}
			r.cells = append(r.cells, v)
		}
		r.line = line
		rows = append(rows, r)
	}
	return header, rows
}

// shape is a row without its values: separators, which numbers are whole, how many
// decimals fiologparser_hist has, and how wide the other tool's first columns are.
func (r *toolRow) shape(tool string) string {
	if tool == fiologparserHist {
		decimals := fraction.ReplaceAllStringFunc(r.line, func(s string) string { return "." + strings.Repeat("d", len(s)-1) })
		return digits.ReplaceAllString(decimals, "n")
	}
	const columns = len("    1000,     3201, ")
	return digits.ReplaceAllStringFunc(r.line[:columns], func(s string) string { return strings.Repeat(" ", len(s)) }) +
		digits.ReplaceAllString(r.line[columns:], "n")
}

// compare checks our row against the tool's.
func (r *toolRow) compare(t *testing.T, ours toolRow, tool string, off float64) {
	t.Helper()
	if ours.shape(tool) != r.shape(tool) {
		t.Errorf("row\n%s\nthe tool's is\n%s", ours.line, r.line)
		return
	}
	percentiles := []int{2, 3, 4} // median, 95 and 99 %, of samples, min, median, 95.0, 99.0, max
	if tool == fiologparserHist {
		percentiles = []int{3, 4, 5, 6} // median, 90, 95 and 99 %, of samples, min, avg, median, 90%, 95%, 99%, max
	} else if d := math.Abs(ours.cells[0] - r.cells[0]); d > 0.05*r.cells[0] {
		t.Errorf("row %d: %v samples, the tool has %v", r.time, ours.cells[0], r.cells[0])
	}
	if off == 0 || math.IsNaN(r.cells[percentiles[0]]) {
		return
	}
	for _, i := range percentiles {
		if d := 100 * math.Abs(ours.cells[i]-r.cells[i]) / r.cells[i]; d > off {
			t.Errorf("row %d, column %d: %v, the tool has %v: %.1f %% apart", r.time, i+1, ours.cells[i], r.cells[i], d)
		}
	}
}

// TestCompatLayouts checks what the recorded outputs do not have: fio 2, absolute times,
// windows without requests, and those that are not as long as the others.
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
		{"nanoseconds", fiologparserHist, &mapping.Run{IntervalMS: 1000}, hist.Layout{}, []compatRow{{0, 1031, 7, a}}, "1000, 7, 1000, 2500.000, 2000.000, 3000.000, 4000.000, 5250.000, 6000\n"},
		{"fio 2", fiologparserHist, &mapping.Run{IntervalMS: 1000}, hist.Fio2(0), []compatRow{{0, 1000, 7, a}}, "1000, 7, 1, 2.500, 2.000, 3.000, 4.000, 5.250, 6\n"},
		{"only waiting", fiologparserHist, &mapping.Run{IntervalMS: 1000}, hist.Layout{}, []compatRow{{0, 1000, 0, a}}, "1000, 1, 1000, 2500.000, 2000.000, 3000.000, 4000.000, 5250.000, 6000\n"},
		{"absolute", fiologparserHist, known, hist.Layout{}, []compatRow{{1000, 2000, 7, a}},
			fmt.Sprintf("%d, 7, 1000, 2500.000, 2000.000, 3000.000, 4000.000, 5250.000, 6000\n", start.UnixMilli()+2000)},
		{"gap", fioHistoLogPctiles, &mapping.Run{IntervalMS: 5000}, hist.Layout{}, []compatRow{{0, 5010, 7, a}, {10000, 12000, 8, a}},
			"       0,        0, , , , , , \n    5000,        7, 1.0, 2.0, 4.0, 5.25, 6.0\n   10000,        0, , , , , , \n   15000,        8, 1.0, 2.0, 4.0, 5.25, 6.0\n"},
		{"joined", fioHistoLogPctiles, &mapping.Run{IntervalMS: 1000}, hist.Layout{}, []compatRow{{0, 990, 7, a}, {1000, 2700, 8, a}},
			"\n    1000,        7, 1.0, 2.0, 4.0, 5.25, 6.0\n    3000,        8, 1.0, 2.0, 4.0, 5.25, 6.0\n"},
		{"short first", fioHistoLogPctiles, &mapping.Run{IntervalMS: 1000}, hist.Layout{}, []compatRow{{0, 700, 7, a}, {700, 1700, 8, a}},
			"\n     700,        7, 1.0, 2.0, 4.0, 5.25, 6.0\n    1700,        8, 1.0, 2.0, 4.0, 5.25, 6.0\n"},
		{"absolute", fioHistoLogPctiles, known, hist.Fio2(1), nil, "fio version = 2\nbucket groups = 19\nbucket bits = 5\n" +
			"time quantum = 1 sec\npercentiles = 0.0,50.0,95.0,99.0,100.0\nbuckets per group = 32\nbuckets per interval = 608 \noutput unit = usec\n" +
			fmt.Sprintf("all threads running as of unix epoch time %d = Fri Jan  2 03:04:05 2026\n", start.Unix()) +
			"time (millisec), percentiles in increasing order with values in usec\nmsec-since-start, samples, min, median, 95.0, 99.0, max, \n"},
	} {
		var out strings.Builder
		snapEnds(c.rows, c.run.IntervalMS)
		print := printLogparser
		if c.tool == fioHistoLogPctiles {
			print = printPctiles
		}
		print(&out, c.run, c.rows, c.layout)
		if !strings.HasSuffix(out.String(), c.want) {
			t.Errorf("%s, %s:\n%swant\n%s", c.tool, c.name, out.String(), c.want)
		}
	}
}

// TestCompatAddUp checks that directions of a window become one row.
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
		w := newCompatWriter(&out, fiologparserHist)
		for _, d := range c.docs {
			if err := w.window(window.From(d)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.closeWindow(), w.end(&mapping.Run{IntervalMS: 1000})); err != nil {
			t.Fatal(err)
		}
		if _, rows, _ := strings.Cut(out.String(), "\n"); rows != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, rows, c.want)
		}
	}
}
