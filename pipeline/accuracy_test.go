package pipeline_test

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/source"
)

// accuracyRanks are computed for each second, and for the whole run.
var accuracyRanks = []float64{0.5, 0.9, 0.95, 0.99}

var accuracyNames = []string{"p50", "p90", "p95", "p99", "max"}

// accuracyCases are runs whose every completion was logged, too. Limits are percent of
// the exact value: for the median of the errors of all seconds, of each percentile in
// turn, and for each percentile of the whole run.
var accuracyCases = []struct {
	name       string
	only       string // the run's path
	align      pipeline.Align
	percentile []float64
	max        float64
	whole      float64
}{
	{"two-jobs-rw", "out", pipeline.AlignRun, []float64{0.24, 0.28, 0.39, 0.21}, 1, 0.4},
	{"coarseness", "out", pipeline.AlignRun, []float64{3, 3, 3, 3}, 3, 3},
	{"stalls", "out", pipeline.AlignRun, []float64{0.16, 0.24, 0.57, 0.53}, 1, 0.4},
	{"cbt-archive", "results/00000000/id-7c1f03ab", pipeline.AlignJob, []float64{0.6, 0.6, 0.6, 0.6}, 1, 0.4},
}

// TestAccuracy compares the percentiles of each second with those of the raw
// completions, requests longer than the window weighted exactly, by the share of their
// life spent in it; and the same with what fio's own tools answer for the same logs
// (testdata/tools). The tools add reads and writes, take times as they like (the better
// of two readings counts) and drop the end of the run.
func TestAccuracy(t *testing.T) {
	for _, c := range accuracyCases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join("..", "testdata", "corpus", c.name)
			docs, res := readRun(t, path, c.only, pipeline.Options{Align: c.align, Levels: []mapping.Level{mapping.Cluster}})
			raw := readRaw(t, path, c.only)
			ours := errorsOf(docs, raw)
			t.Logf("%-22s %s", "median error, percent:", strings.Join(accuracyNames, "    "))
			report(t, "fio2es", ours)
			for i, name := range accuracyNames {
				limit := append(c.percentile, c.max)[i]
				if m := median(ours[i]); m > limit {
					t.Errorf("%s: median error %.3f %%, want at most %.3f %%", name, m, limit)
				}
			}
			for _, tool := range []string{"fio-histo-log-pctiles", "fiologparser_hist"} {
				theirs := toolErrors(t, c.name, tool, raw)
				if theirs == nil {
					continue
				}
				report(t, tool, theirs)
				for i, name := range accuracyNames {
					if m, n := median(ours[i]), median(theirs[i]); m > n+0.1 {
						t.Errorf("%s: median error %.3f %%, %s has %.3f %%", name, m, tool, n)
					}
				}
			}
			checkWhole(t, res.Run, raw, c.whole)
		})
	}
}

// checkWhole compares the percentiles of the whole run, its tail included.
func checkWhole(t *testing.T, run *mapping.Run, raw []fiotest.Completion, limit float64) {
	t.Helper()
	for _, d := range []struct {
		number int
		*mapping.Totals
	}{{fiotest.Read, run.Read}, {fiotest.Write, run.Write}, {fiotest.AnyDirection, run.All}} {
		if d.Totals == nil {
			continue
		}
		exact := fiotest.Exact(raw, d.number, -1, math.MaxInt64, append(accuracyRanks, 0.999)...)
		if d.Requests != int64(exact.Requests) {
			t.Errorf("whole run, direction %d: %d requests, %d completions", d.number, d.Requests, exact.Requests)
		}
		line := ""
		l := &d.Latency
		for i, got := range []float64{l.P50, l.P90, l.P95, l.P99, l.P999} {
			off := percentOff(got, exact.Quantiles[i])
			line += fmt.Sprintf("  %.3f", off)
			if i == 4 { // the sixth slowest of six thousand: alone in its bin, half of which is the error
				limit = max(limit, 100.0/128)
			}
			if off > limit {
				t.Errorf("whole run, direction %d: %.1fµs, exactly %v: off by %.3f %%", d.number, got, exact.Quantiles[i], off)
			}
		}
		t.Logf("whole run, direction %2d: p50 p90 p95 p99 p99.9 off by%s percent", d.number, line)
	}
}

// errorsOf returns the errors of all windows for each percentile and the maximum.
func errorsOf(docs []*mapping.Interval, raw []fiotest.Completion) [][]float64 {
	errs := make([][]float64, len(accuracyNames))
	for _, d := range docs {
		start := d.Time.Sub(d.Run.Start)
		end := start + time.Duration(d.Window.MS)*time.Millisecond
		direction := slices.Index([]string{"read", "write", "trim"}, d.Fio.Direction)
		exact := fiotest.ExactInflightLong(raw, direction, afterStart(start), end, accuracyRanks...)
		for i, got := range []float64{d.Latency.P50, d.Latency.P90, d.Latency.P95, d.Latency.P99} {
			errs[i] = append(errs[i], percentOff(got, exact.Quantiles[i]))
		}
		errs[4] = append(errs[4], percentOff(d.Latency.Max, exact.Max))
	}
	return errs
}

// afterStart is the time after which a window's completions come. The first one has its
// start, too: what completed within the first millisecond did so at time 0, says the log.
func afterStart(start time.Duration) time.Duration {
	if start == 0 {
		return -1
	}
	return start
}

// toolErrors are the errors of a tool's recorded answer; nil if it has none. Its rows say
// when a second ended, in milliseconds, then percentiles.
func toolErrors(t *testing.T, name, tool string, raw []fiotest.Completion) [][]float64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "tools", name+"."+tool+".txt"))
	if os.IsNotExist(err) {
		return nil
	}
	columns, unit := []int{5, 6, 7, 8, 9}, 1.0 // nanoseconds
	if tool == "fio-histo-log-pctiles" {
		columns, unit = []int{2, 3, 4, 5, 6}, 1000
	}
	var best [][]float64
	for _, late := range []time.Duration{0, 25 * time.Millisecond} {
		errs := make([][]float64, len(accuracyNames))
		for line := range strings.Lines(string(text)) {
			cells := strings.Split(strings.TrimSpace(line), ",")
			ms, err := strconv.Atoi(strings.TrimSpace(cells[0]))
			if err != nil || ms == 0 || len(cells) <= columns[4] {
				continue
			}
			end := time.Duration(ms)*time.Millisecond + late
			exact := fiotest.ExactInflightLong(raw, fiotest.AnyDirection, afterStart(end-time.Second), end, accuracyRanks...)
			if exact.Requests == 0 {
				continue
			}
			for i, want := range append(exact.Quantiles, exact.Max) {
				got, err := strconv.ParseFloat(strings.TrimSpace(cells[columns[i]]), 64)
				if err != nil {
					t.Fatalf("%s of %s: %q", tool, name, line)
				}
				errs[i] = append(errs[i], percentOff(got*unit/1000, want))
			}
		}
		if len(errs[0]) == 0 {
			t.Fatalf("%s of %s: no rows", tool, name)
		}
		for i := range errs {
			if best == nil {
				best = make([][]float64, len(errs))
			}
			if best[i] == nil || median(errs[i]) < median(best[i]) {
				best[i] = errs[i]
			}
		}
	}
	return best
}

func report(t *testing.T, who string, errs [][]float64) {
	line := ""
	for _, e := range errs {
		line += fmt.Sprintf(" %6.3f", median(e))
	}
	line += "   worst:"
	for _, e := range errs {
		line += fmt.Sprintf(" %.2f", slices.Max(e))
	}
	t.Logf("%-22s%s (%d windows)", who, line, len(errs[0]))
}

func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return (s[len(s)/2] + s[(len(s)-1)/2]) / 2
}

// percentOff is the error of a latency in microseconds.
func percentOff(us float64, exact time.Duration) float64 {
	return math.Abs(us*1000-float64(exact)) / float64(exact) * 100
}

// readRaw reads the raw completions beside a run's logs.
func readRaw(t *testing.T, root, only string) []fiotest.Completion {
	t.Helper()
	set, err := source.Scan(t.Context(), []string{root}, source.Options{Want: func(name string) bool {
		return strings.Contains(name, "_clat.") && (only == "out" || strings.HasPrefix(name, only))
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	var all []fiotest.Completion
	for _, f := range set.Files {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		one, err := fiotest.ReadRaw(bufio.NewReader(in))
		if err != nil {
			t.Fatal(f.Name(), err)
		}
		in.Close()
		all = append(all, one...)
	}
	slices.SortFunc(all, func(a, b fiotest.Completion) int { return cmp.Compare(a.Time, b.Time) })
	return all
}

// docOf is the document of a window, without what all documents of a run share.
func docOf(w *window.Window) *mapping.Interval {
	return w.Document(&mapping.Interval{Run: mapping.RunRef{Start: w.Run.Start}})
}

// readRun makes the documents of one run under a path; only may be empty.
func readRun(t *testing.T, path, only string, opt pipeline.Options) ([]*mapping.Interval, *pipeline.Result) {
	t.Helper()
	docs, results := readStages(t, path, only, opt)
	if len(results) != 1 {
		t.Fatalf("%s: %d stages, want one", path, len(results))
	}
	return docs[0], results[0]
}

// readStages returns the documents and the result of each stage of the only execution under a path, or of one of several.
func readStages(t *testing.T, path, only string, opt pipeline.Options) (docs [][]*mapping.Interval, results []*pipeline.Result) {
	t.Helper()
	a, err := pipeline.Open(t.Context(), []string{path}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, run := range a.Runs {
		if only != "" && run.Path != only {
			continue
		}
		for stage, err := range pipeline.Stages(t.Context(), run, opt, false) {
			if err != nil {
				t.Fatal(err)
			}
			var of []*mapping.Interval
			res, err := stage.Read(t.Context(), nil, func(w *window.Window) error {
				of = append(of, docOf(w))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			docs, results = append(docs, of), append(results, res)
		}
		return docs, results
	}
	t.Fatalf("%s: no run %q", path, only)
	return nil, nil
}
