package mapping_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/mapping"
)

func TestCompactRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, got := genInterval(t), new(mapping.Interval)
		switch rapid.IntRange(0, 4).Draw(t, "oddity") {
		case 0:
			want.Latency.Layout = rapid.SampledFrom([]string{"", "fio3/1", "other"}).Draw(t, "layout")
		case 1:
			want.Latency.Bins = mapping.Bins{Values: []float64{5, 1e300}, Counts: []int64{-1, 1}}
		case 2:
			want.Latency.Bins = mapping.Bins{Values: []float64{5, 4}, Counts: []int64{1, 1}}
		}
		b := want.AppendCompact([]byte("before"))[len("before"):]
		if err := got.UnmarshalCompact(b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("read back (-want +got):\n%s", diff)
		}
	})
}

func TestCompactFaults(t *testing.T) {
	d := sample(40)
	whole := d.AppendCompact(nil)
	for n := range whole {
		if err := new(mapping.Interval).UnmarshalCompact(whole[:n]); err == nil {
			t.Fatalf("%d of %d bytes: no error", n, len(whole))
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 { // anything but a panic
		b := append([]byte(nil), whole...)
		for range 1 + rng.IntN(3) {
			b[rng.IntN(len(b))] = byte(rng.Uint32())
		}
		_ = new(mapping.Interval).UnmarshalCompact(b)
	}
}

func BenchmarkAppendCompact(b *testing.B) {
	d := sample(300)
	buf := d.AppendCompact(nil)
	b.ReportAllocs()
	for b.Loop() {
		buf = d.AppendCompact(buf[:0])
	}
	b.ReportMetric(float64(len(buf)), "B/doc")
}

func BenchmarkUnmarshalCompact(b *testing.B) {
	buf := sample(300).AppendCompact(nil)
	b.ReportAllocs()
	for b.Loop() {
		if err := new(mapping.Interval).UnmarshalCompact(buf); err != nil {
			b.Fatal(err)
		}
	}
}
