package pipeline_test

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/pipeline"
)

// TestSums: fio's own IOPS and bandwidths of the jobs of a run are kept, summed, as its report has them.
func TestSums(t *testing.T) {
	dir := filepath.Join("..", "testdata", "corpus", "two-jobs-rw")
	text := golden.Gunzip(t, filepath.Join(dir, "out.txt.gz"))
	text = text[bytes.IndexByte(text, '{'):] // behind what fio says before
	type direction struct {
		IOPS float64 `json:"iops"`
		BW   float64 `json:"bw_bytes"`
	}
	var report struct {
		Jobs []struct{ Read, Write direction }
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&report); err != nil {
		t.Fatal(err)
	}
	var iops, bandwidth float64
	for _, j := range report.Jobs {
		iops, bandwidth = iops+j.Read.IOPS, bandwidth+j.Read.BW
	}
	_, res := readRun(t, dir, "out", pipeline.Options{})
	got := res.Run.Read.Sums
	if iops == 0 || math.Abs(got.IOPS-iops) > 0.001 || math.Abs(got.Bandwidth-bandwidth) > 1 {
		t.Errorf("%+v, want %v and %v", got, iops, bandwidth)
	}
	if all := res.Run.All.Sums; all.IOPS < got.IOPS+res.Run.Write.Sums.IOPS-0.01 || all.IOPS > got.IOPS+res.Run.Write.Sums.IOPS+0.01 {
		t.Errorf("all %+v, of %+v and %+v", all, got, res.Run.Write.Sums)
	}
}
