package pipeline_test

import (
	"path/filepath"
	"testing"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// TestVerifyWindows: periodic reports of real fio with verify. The last one has the longest run time of a direction,
// which is less than how long the job ran before.
func TestVerifyWindows(t *testing.T) {
	docs, res := readRun(t, filepath.Join("..", "testdata", "corpus", "verify"), "out", pipeline.Options{Levels: []mapping.Level{mapping.Cluster}})
	for _, d := range docs {
		if d.Requests.Completed > 610 {
			t.Errorf("%d %s requests at %d ms", d.Requests.Completed, d.Fio.Direction, d.Window.ElapsedMS)
		}
	}
	if ms := res.Run.All.DurationMS; ms != 7504 || res.Run.Read.Requests != 2048 || res.Run.Write.Requests != 2048 {
		t.Errorf("%d ms, %+v, %+v", ms, res.Run.Read, res.Run.Write)
	}
}
