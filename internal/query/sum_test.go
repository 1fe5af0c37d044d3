package query

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// TestSum: the sum of windows has their requests, bytes and merged histogram, for each direction and for all.
// Windows joined by --interval are such sums.
func TestSum(t *testing.T) {
	_, stored := both(t, "two-jobs-rw", mapping.Cluster)
	q := &Query{From: "+2s", To: "+7s"}
	windows := read(t, stored, q)
	sum, requests, completed := window.Sum{}, map[string]*hist.Histogram{}, map[string]int64{}
	var span window.Span
	for _, w := range windows {
		h, err := w.Histogram()
		check(t, err)
		for _, direction := range []string{w.Direction, "all"} {
			if requests[direction] == nil {
				requests[direction] = &hist.Histogram{}
			}
			requests[direction].Merge(h)
			completed[direction] += w.Completed
		}
		span.Add(w)
		check(t, sum.Add(w))
	}
	list := sum.Windows()
	if len(list) != 3 || len(windows) != 10 {
		t.Fatalf("%d sums of %d windows", len(list), len(windows))
	}
	for i, direction := range []string{"read", "write", "all"} {
		w := list[i]
		if w.Direction != direction || w.Completed != completed[direction] || w.Start != span.Start || w.End != span.End || w.Level != 0 {
			t.Errorf("%s: %+v", direction, w)
		}
		if rate := float64(w.Completed) / span.Length().Seconds(); w.IOPS < rate-0.001 || w.IOPS > rate+0.001 {
			t.Errorf("%s: %v IOPS, want %v", direction, w.IOPS, rate)
		}
		if diff := cmp.Diff(mapping.NewLatency(requests[direction], nil), w.Document(&mapping.Interval{}).Latency); diff != "" {
			t.Errorf("%s (-want +got):\n%s", direction, diff)
		}
	}
	// Windows of five seconds from the start, and the sums of the stored ones.
	stored.JoinMS = 5000
	joined := read(t, stored, &Query{To: "+5s"})
	stored.JoinMS = 0
	first := window.Sum{}
	for _, w := range read(t, stored, &Query{To: "+5s"}) {
		check(t, first.Add(w))
	}
	for i, w := range first.Windows()[:2] {
		if diff := cmp.Diff(joined[i].Latency, w.Document(&mapping.Interval{}).Latency); diff != "" || joined[i].IOPS != w.IOPS || joined[i].Bandwidth != w.Bandwidth {
			t.Errorf("%s: %v and %v IOPS (-joined +sum):\n%s", w.Direction, joined[i].IOPS, w.IOPS, diff)
		}
	}
	if one := new(window.Sum).Windows(); len(one) != 0 {
		t.Errorf("no windows: %v", one)
	}
}
