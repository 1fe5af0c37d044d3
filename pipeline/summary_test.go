package pipeline_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// TestLacksReport: with the report of one of two hosts, the bytes and bandwidth of the run are unknown, not those of the
// one host.
func TestLacksReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results", "00000001")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "testdata", "corpus", "cbt-archive", "results", "00000001"))); err != nil {
		t.Fatal(err)
	}
	for _, isWhole := range []bool{true, false} {
		result, err := Read(t.Context(), onlyRun(t, filepath.Dir(dir)), pipeline.Options{}, func(*window.Window) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range []*mapping.Totals{result.Run.All, result.Run.Write} {
			if of.Requests == 0 || (of.Bytes > 0) != isWhole || (of.Bandwidth > 0) != isWhole || (of.Sums != mapping.Sums{}) != isWhole {
				t.Errorf("whole %v: %+v", isWhole, of)
			}
		}
		for _, name := range []string{"json_output.0.hostB.gz", "output.0.hostB.gz"} {
			if err := os.Remove(filepath.Join(dir, "id-7c1f03ab", name)); isWhole && err != nil {
				t.Fatal(err)
			}
		}
	}
}
