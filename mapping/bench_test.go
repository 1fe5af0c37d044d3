package mapping_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
)

func BenchmarkAppendJSON(b *testing.B) {
	d := sample(300)
	buf := d.AppendJSON(nil)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf = d.AppendJSON(buf[:0])
	}
}

func BenchmarkDecode(b *testing.B) {
	text := sample(300).AppendJSON(nil)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var d mapping.Interval
		if err := json.Unmarshal(text, &d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewLatency(b *testing.B) {
	h, counts, rng := hist.New(hist.Fio3(0)), []hist.Bin(nil), rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		n := rng.IntN(100) + 1
		h.AddAt(700+i, float64(n))
		counts = append(counts, hist.Bin{Index: uint32(700 + i), Count: uint64(n)})
	}
	b.ReportAllocs()
	for b.Loop() {
		mapping.NewLatency(h, counts)
	}
}

func BenchmarkHist(b *testing.B) {
	d := sample(300)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Latency.Hist(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkID(b *testing.B) {
	d := sample(1)
	b.ReportAllocs()
	for b.Loop() {
		d.ID()
	}
}

func BenchmarkCheck(b *testing.B) {
	d := sample(300)
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Check(); err != nil {
			b.Fatal(err)
		}
	}
}
