package pipeline_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// corpusRuns are all runs of the corpus that have histogram logs, with the requests
// that fio's own JSON counts for read, write and trim.
var corpusRuns = []struct {
	path, run string
	want      [fiolog.Directions]int64
}{
	{"two-jobs-rw", "out", [...]int64{20000, 12000, 0}},
	{"coarseness", "out", [...]int64{20000, 12000, 0}},
	{"stalls", "out", [...]int64{8400, 5600, 0}},
	{"epoch", "out", [...]int64{3600, 2400, 0}},
	{"mixed-bs", "out", [...]int64{747, 2400, 0}},
	{"one-file", "out", [...]int64{5400, 3600, 0}},
	{"trim-write-read", "out", [...]int64{289, 424, 363}},
	{"cbt-archive", "results/00000000/id-7c1f03ab", [...]int64{0, 25600, 0}},
	{"cbt-archive", "results/00000001/id-7c1f03ab", [...]int64{0, 800, 0}},
	{"cbt-archive", "results/00000000/id-2b90e1d4/4krandrw/numjobs-002/total_iodepth-16", [...]int64{1600, 1600, 0}},
}

// TestCounts compares, for every run of the corpus and every level, the requests in the
// documents with fio's total_ios, read from its JSON independently. The tail that fio
// does not log is in them.
func TestCounts(t *testing.T) {
	for _, c := range corpusRuns {
		t.Run(c.path+" "+c.run, func(t *testing.T) {
			for _, opt := range []pipeline.Options{
				{},
				{Align: pipeline.AlignJob},
				{Weighting: 1},
				{SpreadAll: true},
				{Window: 1300e6, Tolerance: -1},
				{Window: 7e9},
			} {
				opt.Levels = []mapping.Level{mapping.Cluster, mapping.Host, mapping.Job}
				docs, res := readRun(t, filepath.Join("..", "testdata", "corpus", c.path), c.run, opt)
				// Windows of 1.3 s cut the rows of a second, and before a stall these are not even.
				isEstimate := c.path == "stalls" && opt.Window == 1300e6 && strings.Contains(fmt.Sprint(res.Skipped), "are estimates, the first at")
				isPart := res.Run.Run.Lacks == "2 of 4 clients" && c.run == "results/00000001/id-7c1f03ab"
				if len(res.Skipped) > 0 && !isEstimate {
					t.Errorf("lost: %v", res.Skipped)
				}
				type sum struct{ completed, counted int64 }
				sums := map[mapping.Level]map[string]*sum{}
				for _, d := range docs {
					if sums[d.Level] == nil {
						sums[d.Level] = map[string]*sum{}
					}
					s := sums[d.Level][d.Fio.Direction]
					if s == nil {
						s = &sum{}
						sums[d.Level][d.Fio.Direction] = s
					}
					s.completed += d.Requests.Completed
					s.counted += d.DocCount
				}
				for _, level := range opt.Levels {
					for d, want := range c.want {
						s := sums[level][fiolog.Direction(d).String()]
						if s == nil {
							s = &sum{}
						}
						if s.completed != want || s.counted != want {
							t.Errorf("window %v align %q: level %s: %s: %d completed, %d in histograms, want %d", opt.Window, opt.Align, level, fiolog.Direction(d), s.completed, s.counted, want)
						}
					}
				}
				for d, total := range []*mapping.Totals{res.Run.Read, res.Run.Write, res.Run.Trim} {
					if got := requests(total); got != c.want[d] {
						t.Errorf("run document: %s: %d requests, want %d", fiolog.Direction(d), got, c.want[d])
					}
				}
				if res.Run.Run.Complete == (isEstimate || isPart) || res.Run.Run.Partial != isPart || res.Run.Missing.Requests != 0 {
					t.Errorf("complete %v, missing %d, warnings %v", res.Run.Run.Complete, res.Run.Missing.Requests, res.Run.Warnings)
				}
			}
		})
	}
}

func requests(t *mapping.Totals) int64 {
	if t == nil {
		return 0
	}
	return t.Requests
}

// TestCompressedByFio: logs whose counts fio has lost are refused, with the reason.
func TestCompressedByFio(t *testing.T) {
	_, res := readRun(t, filepath.Join("..", "testdata", "corpus", "compressed"), "", pipeline.Options{})
	if len(res.Skipped) == 0 || !errors.Is(errors.Join(res.Skipped...), fiolog.ErrStoredCompressed) {
		t.Errorf("got %v, want %v", res.Skipped, fiolog.ErrStoredCompressed)
	}
}
