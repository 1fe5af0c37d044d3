package main

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/export"
)

// TestCompatTools compares with the output of fio's tools without options for the same logs
// (testdata/tools/*.defaults.txt): header, time and layout of each row, and values.
//
// The differences come from the tools. fiologparser_hist counts requests in all windows that a row of the log
// touches, has edges of bins as min and max, loses the first window of two-jobs-rw, and adds a window at the end for
// the milliseconds by which rows are late. Neither tool knows that fio itself was stopped (stalls).
func TestCompatTools(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		run, tool, logs string
		off             float64 // largest difference of a percentile, in percent; 0: not compared
		more, fewer     []int64 // times of rows that only fio2es has, or only the tool
	}{
		{"two-jobs-rw", export.FioHistoLogPctiles, "out_clat_hist.*", 4, nil, nil},
		{"two-jobs-rw", export.FiologparserHist, "out_clat_hist.*", 6, []int64{1000}, []int64{10000}},
		{"cbt-archive", export.FioHistoLogPctiles, "results/00000000/id-7c1f03ab/*_clat_hist.*", 4, nil, nil},
		{"cbt-archive", export.FiologparserHist, "results/00000000/id-7c1f03ab/*_clat_hist.*", 8, nil, []int64{8000}},
		{"stalls", export.FiologparserHist, "out_clat_hist.*", 0, nil, []int64{6000, 14000}},
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
	cells []float64 // cells after the time; NaN: empty
	line  string
}

var (
	digits   = regexp.MustCompile(`[0-9]+`)
	fraction = regexp.MustCompile(`\.[0-9]+`)
)

// compatRows returns the lines before the first row, and the rows.
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

// shape returns a row without its values: separators, which numbers are whole, the number of decimals in
// fiologparser_hist, and the width of the other tool's first columns.
func (r *toolRow) shape(tool string) string {
	if tool == export.FiologparserHist {
		decimals := fraction.ReplaceAllStringFunc(r.line, func(s string) string { return "." + strings.Repeat("d", len(s)-1) })
		return digits.ReplaceAllString(decimals, "n")
	}
	const columns = len("    1000,     3201, ")
	return digits.ReplaceAllStringFunc(r.line[:columns], func(s string) string { return strings.Repeat(" ", len(s)) }) +
		digits.ReplaceAllString(r.line[columns:], "n")
}

// compare compares our row with the tool's.
func (r *toolRow) compare(t *testing.T, ours toolRow, tool string, off float64) {
	t.Helper()
	if ours.shape(tool) != r.shape(tool) {
		t.Errorf("row\n%s\nthe tool's is\n%s", ours.line, r.line)
		return
	}
	percentiles := []int{2, 3, 4} // median, 95 and 99 %, of samples, min, median, 95.0, 99.0, max
	if tool == export.FiologparserHist {
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
