package evidence_test

import (
	"path"
	"testing"

	"github.com/fio2es/fio2es/pipeline/evidence"
)

func TestGridNames(t *testing.T) {
	for _, c := range []struct {
		name string
		ms   int64
		rest string
	}{
		{"/runs/x/job.grid1s.json", 1000, "job.json"},
		{"job.grid30s.json.hostA", 30_000, "job.json.hostA"},
		{"live_output.grid1s.0.client1", 1000, "live_output.0.client1"},
		{"live_output.grid1s", 1000, "live_output"},
		{"job.json", 0, "job.json"},
		{"x.grid1s/job.json", 0, "job.json"},
		{"job.grid0s.json", 0, "job.grid0s.json"},
		{"mygrid1s.json", 0, "mygrid1s.json"},
	} {
		if got := evidence.Grid(c.name); got != c.ms {
			t.Errorf("%s: %d ms, want %d", c.name, got, c.ms)
		}
		if got := evidence.CutGrid(path.Base(c.name)); got != c.rest {
			t.Errorf("%s: %s, want %s", c.name, got, c.rest)
		}
	}
}
