package fiotest

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

type jsonReport struct {
	Version     string `json:"fio version"`
	TimestampMs int64  `json:"timestamp_ms"`
	Jobs        []struct {
		Name       string        `json:"jobname"`
		JobRuntime int64         `json:"job_runtime"`
		Read       jsonDirection `json:"read"`
		Write      jsonDirection `json:"write"`
		Trim       jsonDirection `json:"trim"`
	} `json:"jobs"`
}

type jsonDirection struct {
	IOBytes  uint64 `json:"io_bytes"`
	TotalIOs uint64 `json:"total_ios"`
	Runtime  int64  `json:"runtime"`
	Clat     struct {
		Min, Max   uint64
		N          uint64
		Percentile map[string]uint64
		Bins       map[string]uint64
	} `json:"clat_ns"`
}

var small4 = ArchiveSpec{Runs: 4, Hosts: 2, Jobs: 3, Seconds: 6, Coarseness: 4, Seed: 5}

func TestArchiveMatchesTruth(t *testing.T) {
	dir := t.TempDir()
	if _, err := small4.WriteDir(dir); err != nil {
		t.Fatal(err)
	}
	for i := range small4.Runs {
		r := small4.Run(i)
		for h := range small4.Hosts {
			checkHost(t, os.DirFS(dir), r, h)
		}
	}
}

// checkHost compares the logs and both reports of a host with the truth.
func checkHost(t *testing.T, archive fs.FS, r RunSpec, h int) {
	t.Helper()
	plain := readFile(t, archive, r.path("json_output.0", h))
	mixed := readFile(t, archive, r.path("output.0", h))
	if !strings.Contains(mixed, "\nStarting 3 processes\n"+plain) {
		t.Errorf("%s: the mixed report does not contain the plain one", r.ID)
	}
	var rep jsonReport
	if err := json.Unmarshal([]byte(plain), &rep); err != nil {
		t.Fatal(err)
	}
	if start := rep.TimestampMs - rep.Jobs[0].JobRuntime - r.HostStart(h).UnixMilli(); start < 0 || start > 100 {
		t.Errorf("%s: the report is %d ms late", r.ID, start)
	}
	for j, job := range rep.Jobs {
		truth, err := r.Log(h, j).Truth()
		if err != nil {
			t.Fatal(err)
		}
		p := naive(t, readFile(t, archive, r.LogPath(h, j)))
		for d, got := range []jsonDirection{job.Read, job.Write, job.Trim} {
			if !slices.Equal(p.sums[d], truth.Columns(d, 4)) {
				t.Errorf("%s: log of direction %d differs from truth", r.LogPath(h, j), d)
			}
			checkBins(t, got, truth.Whole(d), r.OpSize)
		}
	}
}

func checkBins(t *testing.T, got jsonDirection, whole []uint64, opSize int) {
	t.Helper()
	n := total(whole)
	if got.TotalIOs != n || got.Clat.N != n || got.IOBytes != n*uint64(opSize) {
		t.Errorf("report counts %d, %d, %d bytes; truth %d", got.TotalIOs, got.Clat.N, got.IOBytes, n)
	}
	bins := make([]uint64, len(whole))
	for name, c := range got.Clat.Bins {
		ns, err := strconv.ParseUint(name, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		bins[find(edges3, ns)] += c
	}
	if !slices.Equal(bins, whole) && n > 0 {
		t.Error("bins of the report differ from truth")
	}
	if p := got.Clat.Percentile; n > 0 && (len(p) != 17 || p["99.990000"] > got.Clat.Max || p["1.000000"] < got.Clat.Min) {
		t.Errorf("percentiles %v within %d and %d", p, got.Clat.Min, got.Clat.Max)
	}
}

func readFile(t *testing.T, fsys fs.FS, name string) string {
	t.Helper()
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRunsDiffer(t *testing.T) {
	s := ArchiveSpec{Runs: 300}
	paths, values := map[string]bool{}, map[any]bool{}
	for i := range s.Runs {
		r := s.Run(i)
		paths[r.Path] = true
		values[r.Mode], values[r.OpSize], values[r.IODepth] = true, true, true
		if i >= 120 && r.ID != s.Run(i-120).ID {
			t.Errorf("run %d has another ID than in the iteration before", i)
		}
	}
	if len(paths) != s.Runs {
		t.Errorf("%d paths for %d runs", len(paths), s.Runs)
	}
	if len(values) != len(modes)+len(opSizes)+len(depths) {
		t.Errorf("only %d values: %v", len(values), slices.Collect(maps.Keys(values)))
	}
	if d := s.Run(2).Log(0, 0).Directions; !slices.Equal(d, []int{Read, Write}) {
		t.Errorf("%s has directions %v", s.Run(2).Mode, d)
	}
}

// TestFioPercentileOnTheRank: 9,995 of 10,000 requests end exactly at the rank of 99.95, and fio takes the next bin.
func TestFioPercentileOnTheRank(t *testing.T) {
	bins := make([]uint64, len(edges3)-1)
	bins[10], bins[20] = 9995, 5
	got := fioPercentiles(bins, 10000)
	if got[14] != 10 || got[15] != 20 || got[16] != 20 {
		t.Errorf("p99.9, p99.95, p99.99 in bins %v", got[14:])
	}
}
