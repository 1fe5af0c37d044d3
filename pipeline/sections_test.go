package pipeline

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/mapping"
)

// TestSections: the sections of a run have all of its requests, each those of its jobs in fio's report.
func TestSections(t *testing.T) {
	_, res := readRun(t, filepath.Join("..", "testdata", "corpus", "trim-write-read"), "out", Options{})
	var names []string
	sums := map[string]int64{}
	for _, s := range res.Run.Sections {
		names = append(names, s.Name+" "+s.CBT.Mode)
		for _, d := range s.ByDirection() {
			sums[d.Direction] += d.Requests
			if d.Latency.P50 == 0 || len(d.Latency.Bins.Values) > 0 {
				t.Errorf("%s: %s of %+v", s.Name, d.Direction, d.Latency)
			}
		}
	}
	if got := strings.Join(names, ", "); got != "readwrite randrw, trimwrite trimwrite, trim randtrim" {
		t.Errorf("sections: %s", got)
	}
	for _, d := range res.Run.ByDirection() {
		if sums[d.Direction] != d.Requests {
			t.Errorf("%ss: sections have %d requests, the run %d", d.Direction, sums[d.Direction], d.Requests)
		}
	}
	if s := res.Run.Sections[0]; s.Read.Requests != 289 || s.Trim != nil || s.All.Requests != s.Read.Requests+s.Write.Requests {
		t.Errorf("the first section: %+v, %+v", s.Read, s.All)
	}
	if _, one := readRun(t, filepath.Join("..", "testdata", "corpus", "stalls"), "out", Options{Levels: []mapping.Level{mapping.Cluster}}); len(one.Run.Sections) > 0 {
		t.Errorf("jobs that did the same have %d sections", len(one.Run.Sections))
	}
}
