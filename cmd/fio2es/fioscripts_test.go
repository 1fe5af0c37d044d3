package main

import (
	"encoding/csv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestFioScripts compares percentiles of each second with those of fio's own scripts, for the same rows of one direction,
// because they add reads and writes. How far apart they may be is in percent: the scripts have other values for a bin, and
// fio-histo-log-pctiles mixes rows that do not end on full seconds.
func TestFioScripts(t *testing.T) {
	t.Parallel()
	python, debian := os.Getenv("FIO2ES_TEST_PYTHON"), "/usr/share/doc/fio"
	if python == "" {
		t.Skip("FIO2ES_TEST_PYTHON names no Python with pandas")
	}
	if _, err := os.Stat(filepath.Join(debian, "fiologparser_hist.py.gz")); err != nil {
		t.Skip("no scripts of fio: ", err)
	}
	dir := t.TempDir()
	var logs []string
	for _, job := range []string{"1", "2"} {
		reads := ""
		for line := range strings.Lines(string(unzipped(t, filepath.Join("..", "..", "testdata", "corpus", "two-jobs-rw", "out_clat_hist."+job+".log.gz")))) {
			if strings.Contains(line[:12], ", 0, ") {
				reads += line
			}
		}
		logs = append(logs, filepath.Join(dir, "reads_clat_hist."+job+".log"))
		check(t, os.WriteFile(logs[len(logs)-1], []byte(reads), 0o666))
	}
	rows, err := csv.NewReader(strings.NewReader(outputOf(t, append([]string{"percentiles", "--format", "csv"}, logs...)...))).ReadAll()
	check(t, err)
	column := func(name string) int { return slices.Index(rows[0], name) }
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		check(t, err)
		return v
	}
	for _, script := range []struct {
		name    string
		options []string
		columns [4]int  // of p50, p90, p95 and p99
		unit    float64 // of latencies, in microseconds
		late    float64 // ms from the end of a window to the time of its row in the output
	}{
		{"fio-histo-log-pctiles", []string{"--percentiles", "50", "90", "95", "99", "--"}, [4]int{2, 3, 4, 5}, 1, 0},
		{"fiologparser_hist", []string{"--noweight"}, [4]int{4, 5, 6, 7}, 1e-3, 1000},
	} {
		file := filepath.Join(dir, script.name+".py")
		check(t, os.WriteFile(file, unzipped(t, filepath.Join(debian, script.name+".py.gz")), 0o666))
		out, err := exec.CommandContext(t.Context(), python, slices.Concat([]string{file}, script.options, logs)...).Output()
		check(t, err)
		compared := 0
		for line := range strings.Lines(string(out)) {
			cells := strings.Split(line, ",")
			end, err := strconv.ParseFloat(strings.TrimSpace(cells[0]), 64)
			if err != nil || len(cells) <= script.columns[3] || strings.TrimSpace(cells[1]) == "0" {
				continue
			}
			at := slices.IndexFunc(rows, func(row []string) bool {
				return row[column("level")] == "cluster" && math.Abs(number(row[column("end_ms")])+script.late-end) < 100
			})
			if at < 0 {
				t.Errorf("%s has a row for %v ms, and fio2es has none", script.name, end)
				continue
			}
			compared++
			for i, apart := range []float64{2, 2, 2, 5} {
				name := []string{"p50_us", "p90_us", "p95_us", "p99_us"}[i]
				ours, theirs := number(rows[at][column(name)]), number(cells[script.columns[i]])*script.unit
				if off := 100 * math.Abs(ours-theirs) / theirs; off > apart {
					t.Errorf("%s of the window that ends at %s ms: %v, %s has %v: %.2f %% apart", name, rows[at][column("end_ms")], ours, script.name, theirs, off)
				}
			}
		}
		if compared != 9 {
			t.Errorf("%s: compared %d windows, want 9", script.name, compared)
		}
	}
}
