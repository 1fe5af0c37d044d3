package mapping_test

import (
	"testing"

	"github.com/fio2es/fio2es/mapping"
)

func TestFioPercentile(t *testing.T) {
	f := mapping.FioLatency{Percentiles: []mapping.FioPercentile{{Rank: 50, Value: 12}, {Rank: 99.9, Value: 700}}}
	if v, ok := f.At(99.9); v != 700 || !ok {
		t.Errorf("p99.9 is %v, %v", v, ok)
	}
	if v, ok := f.At(99); v != 0 || ok {
		t.Errorf("p99, which fio did not list, is %v, %v", v, ok)
	}
}
