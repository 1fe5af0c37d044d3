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

// TestCutBounds: bounds of windows that cut rows, and what they are of several such windows together.
func TestCutBounds(t *testing.T) {
	t.Parallel()
	fastest, slowest := hist.New(hist.Fio3(0)), hist.New(hist.Fio3(0))
	for n := range int64(1000) {
		fastest.AddLatency(1_000_000+1000*n, 1)
		slowest.AddLatency(2_000_000+1000*n, 1)
	}
	slowest.AddLatency(20e9, 5) // in the last bin
	b := CutBounds(fastest, slowest)
	low, high := fastest.Percentile(0.99), slowest.Percentile(0.99)
	if want := (Between{low.Low / 1000, high.High / 1000}); b.P99 != want || !b.AreCertain() || b.P99.Low > 1990 || b.P99.High < 2990 {
		t.Errorf("p99 %+v, want %+v", b.P99, want)
	}
	if b.P9999.Low == 0 || b.P9999.High != 0 {
		t.Errorf("p99.99 %+v has an end", b.P9999)
	}
	lat := Figures(fastest)
	if same := SureBounds(&lat, b); *same != *b || same == b {
		t.Errorf("%+v, want a copy of %+v", same, b)
	}
	sample := NewBounds(fastest, 0.95)
	sure := SureBounds(&lat, sample)
	if sample.AreCertain() || sure.P99 != (Between{lat.P99, lat.P99}) || !sure.AreCertain() {
		t.Errorf("%+v of exact percentiles %+v", sure, lat)
	}
	if open := Figures(slowest); SureBounds(&open, nil).P9999 != (Between{open.OpenFrom(), 0}) {
		t.Errorf("p99.99 in the last bin: %+v", SureBounds(&open, nil).P9999)
	}
	sure.Widen(b)
	if sure.P99 != (Between{b.P99.Low, b.P99.High}) || sure.P9999.High != 0 || sure.P50.Low != b.P50.Low {
		t.Errorf("%+v is no wider than %+v", sure, b)
	}
	if sample.Widen(b); sample.Confidence != 0.95 || sample.P9999 != (Between{}) || sample.P99.High != b.P99.High {
		t.Errorf("%+v, widened", sample)
	}
}
