package methods

import (
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestTools: the rules of fio's tools give what the tools printed for the same logs (testdata/tools), to the digit. Both add
// reads and writes, so here all rows have one direction, and each direction of a log counts as a job of its own.
func TestTools(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "testdata")
	for _, c := range []struct {
		name, logs string
		tool       string
		columns    []int // of p50, p95 and p99
		unit       float64
		off        float64 // share: digits that the tool prints
		last       int64   // the last time that is compared
	}{
		{"two-jobs-rw", "out_clat_hist.*", logParser, []int{4, 6, 7}, 1, 1e-7, math.MaxInt64},
		{"stalls", "out_clat_hist.*", logParser, []int{4, 6, 7}, 1, 1e-7, math.MaxInt64},
		{"cbt-archive", "results/00000000/id-7c1f03ab/*_clat_hist.*", logParser, []int{4, 6, 7}, 1, 1e-7, math.MaxInt64},
		// When the first log ends, the tool ends the rows of all others.
		{"two-jobs-rw", "out_clat_hist.*", logPctiles, []int{3, 4, 5}, 1e3, 1e-9, 9000},
		{"cbt-archive", "results/00000000/id-7c1f03ab/*_clat_hist.*", logPctiles, []int{3, 4, 5}, 1e3, 1e-9, 6000},
	} {
		logs, err := filepath.Glob(filepath.Join(root, "corpus", c.name, c.logs))
		if err != nil || len(logs) == 0 {
			t.Fatalf("no logs of %s: %v", c.name, err)
		}
		all := &Comparison{Options: Options{Percentiles: named("p50", "p95", "p99"), Window: 1000}}
		for job, path := range logs {
			addLog(t, all, job, path)
		}
		asked := newAnswers("", false, &edges{length: 1000})
		for w := range int64(20) {
			asked.windows[place{0, w}] = []float64{}
		}
		tools := all.tools()
		i := slices.IndexFunc(tools, func(a tool) bool { return a.name == c.tool })
		ours, err := all.ask(t.Context(), tools[i], asked)
		if err != nil {
			t.Fatal(err)
		}
		recorded, err := os.ReadFile(filepath.Join(root, "tools", c.name+"."+c.tool+".defaults.txt"))
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for line := range strings.Lines(string(recorded)) {
			cells := strings.Split(strings.TrimSpace(line), ",")
			ms, err := strconv.ParseInt(strings.TrimSpace(cells[0]), 10, 64)
			if err != nil || ms > c.last || len(cells) <= c.columns[2] || strings.TrimSpace(cells[3]) == "" {
				continue
			}
			rows++
			got := ours.windows[place{0, ms/1000 - 1}]
			for i, column := range c.columns {
				want, err := strconv.ParseFloat(strings.TrimSpace(cells[column]), 64)
				if err != nil {
					t.Fatalf("%s of %s: %q", c.tool, c.name, line)
				}
				if want *= c.unit; got == nil || math.Abs(got[i]-want) > c.off*want {
					t.Errorf("%s of %s at %d ms: %v, the tool printed %v", c.tool, c.name, ms, got, want)
					break
				}
			}
		}
		if rows < 6 {
			t.Errorf("%s of %s: %d rows", c.tool, c.name, rows)
		}
	}
}

// addLog adds the rows of a packed histogram log, all as reads.
func addLog(t *testing.T, c *Comparison, job int, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var log fiolog.Reader
	log.Reset(text, path, fiolog.ClatHist)
	for rec, err := log.Next(); err == nil; rec, err = log.Next() {
		c.AddLog(0, job*fiolog.Directions+int(rec.Direction), rec.Time, rec.Layout, rec.Bins)
	}
	if len(c.rows) == 0 || c.rows[len(c.rows)-1].job/fiolog.Directions != job {
		t.Fatalf("%s has no rows", path)
	}
}

// TestRowSize: the size of a row is the length of its text.
func TestRowSize(t *testing.T) {
	t.Parallel()
	r := row{at: 1003, layout: hist.Fio3(6), bins: []hist.Bin{{Index: 1, Count: 7}, {Index: 28, Count: 1234}}}
	text := "1003, 0, 4096, 0, 7" + strings.Repeat(", 0", 26) + ", 1234\n"
	if got := r.size(); got != int64(len(text)) {
		t.Errorf("%d bytes, want %d: %q", got, len(text), text)
	}
}
