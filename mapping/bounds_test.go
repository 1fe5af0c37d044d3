package mapping

import (
	"testing"

	"github.com/fio2es/fio2es/hist"
)

// TestBounds: intervals are those of the histogram, in microseconds. There is none if requests are too few.
func TestBounds(t *testing.T) {
	t.Parallel()
	h := hist.New(hist.Fio3(0))
	if b := NewBounds(h, 0.95); b != nil {
		t.Errorf("of nothing: %+v", b)
	}
	for ns := range int64(1000) {
		h.AddLatency(1_000_000+1000*ns, 1)
	}
	if b := NewBounds(h, 0); b != nil {
		t.Errorf("not wanted: %+v", b)
	}
	b := NewBounds(h, 0.95)
	if b.Confidence != 0.95 || b.P9999 != (Between{}) {
		t.Errorf("%+v: p99.99 of 1,000 requests has no interval", b)
	}
	low, high, ok := h.ConfidenceInterval(0.99, 0.95)
	if want := (Between{low.Low / 1000, high.High / 1000}); !ok || b.P99 != want || !(b.P99.Low < 1990 && b.P99.High > 1990) {
		t.Errorf("p99 %+v, want %+v", b.P99, want)
	}
}
