package mapping_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/mapping"
)

// common returns what a document has in common with its series, as a store reads it.
func common(t interface{ Fatal(...any) }, d *mapping.Interval) *mapping.Interval {
	got := new(mapping.Interval)
	if err := json.Unmarshal(d.Common().AppendJSON(nil), got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestCompactRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := genInterval(t)
		switch rapid.IntRange(0, 4).Draw(t, "oddity") {
		case 0:
			want.Latency.Layout = rapid.SampledFrom([]string{"", "fio3/1", "other"}).Draw(t, "layout")
		case 1:
			want.Latency.Bins = mapping.Bins{Values: []float64{5, 1e300}, Counts: []int64{-1, 1}}
		case 2:
			want.Latency.Bins = mapping.Bins{Values: []float64{5, 4}, Counts: []int64{1, 1}}
		}
		got := common(t, want)
		b := want.AppendCompact([]byte("before"))[len("before"):]
		if err := got.UnmarshalCompact(b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("read back (-want +got):\n%s", diff)
		}
	})
}

// TestCompactIsWhole: the compact form and the common part have all fields of a document between them.
func TestCompactIsWhole(t *testing.T) {
	want, n := sample(3), 0.0
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		switch n++; v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				if field := v.Field(i); field.Type() != reflect.TypeFor[mapping.Bins]() && field.Type() != reflect.TypeFor[time.Time]() {
					fill(field)
				}
			}
		case reflect.Int, reflect.Int64:
			v.SetInt(int64(n))
		case reflect.Float64:
			v.SetFloat(n + 1.0/3)
		case reflect.Bool:
			v.SetBool(true)
		}
	}
	want.Bounds = new(mapping.Bounds)
	for _, part := range []any{&want.Window, &want.Latency, &want.Requests, &want.CBT, &want.Fio, want.Bounds, &want.Part, &want.IOPS, &want.Bandwidth, &want.DocCount} {
		fill(reflect.ValueOf(part).Elem())
	}
	got := common(t, want)
	if err := got.UnmarshalCompact(want.AppendCompact(nil)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func TestCompactFaults(t *testing.T) {
	d := sample(40)
	whole, like := d.AppendCompact(nil), d.Common()
	decode := func(b []byte) error {
		got := *like
		return got.UnmarshalCompact(b)
	}
	for n := range whole {
		if err := decode(whole[:n]); err == nil {
			t.Fatalf("%d of %d bytes: no error", n, len(whole))
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 { // anything but a panic
		b := append([]byte(nil), whole...)
		for range 1 + rng.IntN(3) {
			b[rng.IntN(len(b))] = byte(rng.Uint32())
		}
		_ = decode(b)
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
	d := sample(300)
	buf, like := d.AppendCompact(nil), d.Common()
	b.ReportAllocs()
	for b.Loop() {
		got := *like
		if err := got.UnmarshalCompact(buf); err != nil {
			b.Fatal(err)
		}
	}
}
