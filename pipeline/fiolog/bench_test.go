package fiolog

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/golden"
)

// busyLog is a log of rows in which n of the bins are not zero: clustered, with gaps,
// and counts of one to three digits, as a device with two kinds of latency has them.
func busyLog(rows, columns, n int) []byte { return logOf(rows, columns, n, 40) }

// logOf returns such a log. mean is that of the counts.
func logOf(rows, columns, n int, mean float64) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	counts := make([]int, columns)
	for i := range rows {
		clear(counts)
		for left := n; left > 0; {
			at := columns/2 + int(rng.NormFloat64()*float64(columns)/14)
			if at >= 0 && at < columns && counts[at] == 0 {
				counts[at] = 1 + int(rng.ExpFloat64()*mean)
				left--
			}
		}
		fmt.Fprintf(&b, "%d, %d, 4096", 1000*(i/2+1)+i%2, i%2)
		for _, c := range counts {
			fmt.Fprintf(&b, ", %d", c)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func repeat(b []byte, size int) []byte { return bytes.Repeat(b, max(1, size/len(b))) }

func benchmarkReader(b *testing.B, log []byte) {
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	src := bytes.NewReader(log)
	r := NewReader(src, "x.log", ClatHist)
	rows := 0
	for b.Loop() {
		src.Reset(log)
		r.Reset(src, "x.log", ClatHist)
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

func benchmarkRow(b *testing.B, log []byte, parse func(line []byte, bins *binBuffer, r *row)) {
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	var bins binBuffer
	for b.Loop() {
		for rest := log; len(rest) > 0; {
			var r row
			n := bytes.IndexByte(rest, '\n') + 1
			parse(rest[:n], &bins, &r)
			rest = rest[n:]
		}
	}
}

func BenchmarkParse(b *testing.B) {
	log := busyLog(36, 1856, 220)
	b.Run("fast", func(b *testing.B) {
		benchmarkRow(b, log, func(line []byte, bins *binBuffer, r *row) { parseFast(line, bins, r) })
	})
	b.Run("fast/long counts", func(b *testing.B) {
		benchmarkRow(b, logOf(36, 1856, 220, 4000), func(line []byte, bins *binBuffer, r *row) { parseFast(line, bins, r) })
	})
	b.Run("slow", func(b *testing.B) {
		benchmarkRow(b, log, func(line []byte, bins *binBuffer, r *row) { parseSlow(line[:len(line)-1], bins, r) })
	})
	b.Run("plain loop", func(b *testing.B) { benchmarkRow(b, log, plainLoop) })
	b.Run("newlines only", func(b *testing.B) {
		benchmarkRow(b, log, func([]byte, *binBuffer, *row) {})
	})
}

// plainLoop is what one would write first: a number is digits, all else separates.
func plainLoop(line []byte, bins *binBuffer, r *row) {
	v, digits, field := uint64(0), false, 0
	for _, c := range line {
		if d := c - '0'; d <= 9 {
			v, digits = v*10+uint64(d), true
			continue
		}
		if !digits {
			continue
		}
		if field >= headFields && v != 0 {
			bins[r.used&(binSlots-1)] = hist.Bin{Index: uint32(field - headFields), Count: v}
			r.used++
		}
		v, digits = 0, false
		field++
	}
}
