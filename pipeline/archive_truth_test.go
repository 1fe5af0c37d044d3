package pipeline_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// series names what a document is about. Its level says which of the names are set.
type series struct {
	level     mapping.Level
	direction string
	host, job string
}

// TestTruth ingests generated archives and compares the requests of every series of
// every run with those that were generated, the ones after the last row of each log
// included; and the bins of the whole run one by one.
func TestTruth(t *testing.T) {
	for name, spec := range map[string]fiotest.ArchiveSpec{
		"short":                  {Runs: 10, Hosts: 2, Jobs: 4, Seconds: 3, Coarseness: 3, Seed: 11},
		"fine":                   {Runs: 3, Hosts: 3, Jobs: 2, Seconds: 20, Seed: 12, IOPS: 200},
		"stalls":                 {Runs: 1, Hosts: 4, Jobs: 8, Seconds: 90, Coarseness: 6, Seed: 13},
		"one job":                {Runs: 5, Hosts: 1, Jobs: 1, Seconds: 30, Coarseness: 2, Seed: 14, IOPS: 1000},
		"fio 2, 24 groups":       {Runs: 3, Hosts: 2, Jobs: 2, Seconds: 40, Fio2: true, Groups: 24, Seed: 16, StallEvery: 12, LongestStall: 25},
		"the same, coarse":       {Runs: 2, Hosts: 2, Jobs: 2, Seconds: 40, Fio2: true, Groups: 24, Coarseness: 3, Seed: 17, StallEvery: 12, LongestStall: 25},
		"fio 3, 34 groups":       {Runs: 3, Hosts: 2, Jobs: 2, Seconds: 40, Groups: 34, Seed: 18, StallEvery: 12, LongestStall: 25},
		"the same, coarseness 1": {Runs: 2, Hosts: 2, Jobs: 2, Seconds: 40, Groups: 34, Coarseness: 1, Seed: 19, StallEvery: 12, LongestStall: 25},
		"minutes":                {Runs: 1, Hosts: 2, Jobs: 2, Seconds: 900, Groups: 34, Coarseness: 2, Seed: 20, StallEvery: 50, LongestStall: 300},
		"fio 3, 17 groups":       {Runs: 2, Hosts: 2, Jobs: 2, Seconds: 9, Groups: 17, Seed: 21},
		"too fast":               {Runs: 5, Hosts: 2, Jobs: 2, Seconds: 1, Coarseness: 1, Seed: 15},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := spec.WriteDir(dir); err != nil {
				t.Fatal(err)
			}
			archive, err := pipeline.Open(t.Context(), []string{dir}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer archive.Close()
			if len(archive.Runs) != spec.Runs {
				t.Fatalf("%d runs, want %d", len(archive.Runs), spec.Runs)
			}
			for _, run := range archive.Runs {
				i := 0
				for spec.Run(i).Path != run.Path {
					if i++; i == spec.Runs {
						t.Fatalf("no run %s was generated", run.Path)
					}
				}
				docs, res, err := Documents(t.Context(), run, pipeline.Options{Levels: []mapping.Level{mapping.Cluster, mapping.Host, mapping.Job}})
				if err != nil {
					t.Fatal(err)
				}
				notes := slices.DeleteFunc(res.Notes, func(err error) bool { // hosts begin at different moments, so windows cut their rows
					return strings.Contains(err.Error(), "began apart") || spec.StallEvery > 0 && strings.Contains(err.Error(), "are estimates, the first at")
				})
				if len(res.Skipped)+len(notes) > 0 || res.Run.Run.Complete == (len(res.Skipped) > 0) {
					t.Errorf("%s: lost %v, notes %v", run.Path, res.Skipped, notes)
				}
				compareTruth(t, spec, spec.Run(i), docs, res.Run)
			}
		})
	}
}

// compareTruth compares the documents of one run with what was generated.
func compareTruth(t *testing.T, spec fiotest.ArchiveSpec, r fiotest.RunSpec, docs []*mapping.Interval, doc *mapping.Run) {
	t.Helper()
	want, bins, tails := truthOf(t, spec, r)
	completed, counted := map[series]int64{}, map[series]int64{}
	for _, d := range docs {
		s := series{d.Level, d.Fio.Direction, d.Host.Name, d.Fio.Job}
		completed[s] += d.Requests.Completed
		counted[s] += d.DocCount
	}
	for s, n := range want {
		if completed[s] != n || counted[s] != n {
			t.Errorf("%s: %+v: %d completed, %d in histograms, want %d", r.Path, s, completed[s], counted[s], n)
		}
	}
	if len(completed) != len(want) {
		t.Errorf("%s: %d series, want %d", r.Path, len(completed), len(want))
	}
	if doc.Recovered.Requests != tails || doc.Missing.Requests != 0 {
		t.Errorf("%s: %d recovered, %d missing, want %d", r.Path, doc.Recovered.Requests, doc.Missing.Requests, tails)
	}
	all := int64(0)
	for d, total := range []*mapping.Totals{doc.Read, doc.Write, doc.Trim} {
		n := want[series{mapping.Cluster, fiolog.Direction(d).String(), "", ""}]
		if all += n; requests(total) != n {
			t.Errorf("%s: %s: the run has %d requests, want %d", r.Path, fiolog.Direction(d), requests(total), n)
		}
		if total == nil {
			continue
		}
		whole, err := total.Latency.Hist()
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range whole.All() {
			if float64(bins[d][i]) != n {
				t.Errorf("%s: %s: bin %d has %v, want %d", r.Path, fiolog.Direction(d), i, n, bins[d][i])
			}
		}
	}
	if requests(doc.All) != all {
		t.Errorf("%s: all: %d requests, want %d", r.Path, requests(doc.All), all)
	}
}

// truthOf is how many requests each series of a run has, the bins of each direction, and
// how many requests are in no log.
func truthOf(t *testing.T, spec fiotest.ArchiveSpec, r fiotest.RunSpec) (map[series]int64, [fiolog.Directions][]uint64, int64) {
	t.Helper()
	want, tails, whole := map[series]int64{}, int64(0), fiotest.Truth{}
	for h := range spec.Hosts {
		for j := range spec.Jobs {
			truth, err := r.Log(h, j).Truth()
			if err != nil {
				t.Fatal(err)
			}
			whole.Merge(truth)
			for d := range fiolog.Directions {
				logged, tail := truth.Requests(d)
				if logged+tail == 0 {
					continue
				}
				tails += int64(tail)
				direction := fiolog.Direction(d).String()
				for _, s := range []series{
					{mapping.Cluster, direction, "", ""},
					{mapping.Host, direction, r.Host(h), ""},
					{mapping.Job, direction, r.Host(h), "0." + strconv.Itoa(j+1)},
				} {
					want[s] += int64(logged + tail)
				}
			}
		}
	}
	var bins [fiolog.Directions][]uint64
	for d := range bins {
		bins[d] = whole.Whole(d)
	}
	return want, bins, tails
}
