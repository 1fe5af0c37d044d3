package pipeline_test

import (
	"fmt"
	"testing"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/pipeline"
)

// BenchmarkLogs reads the same number of rows in few logs and in many, from their files to windows.
func BenchmarkLogs(b *testing.B) {
	const rows = 20_000
	for _, logs := range []int{20, 200, 2000} {
		b.Run(fmt.Sprint(logs), func(b *testing.B) {
			dir := b.TempDir()
			if _, err := (&fiotest.LogSpec{Seconds: rows / logs, IOPS: 500, Directions: []int{fiotest.Write}, Seed: 1}).WriteDir(dir, logs); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				a, err := pipeline.Open(b.Context(), []string{dir}, nil, nil)
				if err != nil || len(a.Runs) != 1 {
					b.Fatal(len(a.Runs), err)
				}
				if docs, _, err := Documents(b.Context(), a.Runs[0], pipeline.Options{}); err != nil || len(docs) == 0 {
					b.Fatal(len(docs), err)
				}
				a.Close()
			}
		})
	}
}
