package assign_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/source"
)

// BenchmarkRead sorts an archive of 1000 runs of 4 hosts and 16 jobs, with six logs each.
func BenchmarkRead(b *testing.B) {
	var files []*evidence.File
	for run := range 1000 {
		dir := fmt.Sprintf("results/%08d/id-%08x/", run%10, run/10)
		for host := range 4 {
			for job := range 16 {
				for _, kind := range []string{"clat_hist", "clat", "slat", "lat", "bw", "iops"} {
					files = append(files, evidence.Of(&source.File{Root: "/a/arch", Archive: "arch",
						Path: fmt.Sprintf("%soutput.0_%s.%d.log.client%02d.lab.example.com", dir, kind, job+1, host)}))
				}
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if a := read(context.Background(), files); len(a.Runs) != 1000 {
			b.Fatalf("%d runs", len(a.Runs))
		}
	}
	b.ReportMetric(float64(b.N*len(files))/b.Elapsed().Seconds(), "files/s")
}
