package mapping_test

import (
	"testing"

	"github.com/go-json-experiment/json"

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

func BenchmarkCheck(b *testing.B) {
	d := sample(300)
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Check(); err != nil {
			b.Fatal(err)
		}
	}
}
