package fiolog_test

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// busyLog is such a log, with counts of one to three digits.
func busyLog(rows, columns, n int) []byte { return fiolog.LogOf(rows, columns, n, 40) }

func repeat(b []byte, size int) []byte { return bytes.Repeat(b, max(1, size/len(b))) }

func benchmarkReader(b *testing.B, log []byte) {
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	src := bytes.NewReader(log)
	r := fiolog.NewReader(src, "x.log", fiolog.ClatHist)
	rows := 0
	for b.Loop() {
		src.Reset(log)
		r.Reset(src, "x.log", fiolog.ClatHist)
		for {
			if _, err := r.Next(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			rows++
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkReader(b *testing.B) {
	b.Run("real", func(b *testing.B) {
		benchmarkReader(b, repeat(golden.Gunzip(b, filepath.Join("testdata", "good.log.gz")), 16<<20))
	})
	b.Run("busy", func(b *testing.B) { benchmarkReader(b, busyLog(3000, 1856, 220)) })
	b.Run("coarse", func(b *testing.B) { benchmarkReader(b, busyLog(20000, 232, 60)) })
	b.Run("tabs", func(b *testing.B) {
		benchmarkReader(b, bytes.ReplaceAll(busyLog(3000, 1856, 220), []byte(", "), []byte(" ,\t")))
	})
}
