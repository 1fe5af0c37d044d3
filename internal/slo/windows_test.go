package slo

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// document returns an interval document whose requests all have the same latency.
func document(start time.Time, host string, elapsed, ms, late int64, requests uint64) *mapping.Interval {
	h := hist.New(hist.Fio3(0))
	h.AddLatency(1_000_000, float64(requests))
	at := start.Add(time.Duration(elapsed+late) * time.Millisecond)
	return &mapping.Interval{
		Time: at, Window: mapping.Window{End: at.Add(time.Duration(ms) * time.Millisecond), MS: ms, ElapsedMS: elapsed},
		Run: mapping.RunRef{Start: start}, Host: mapping.HostRef{Name: host}, Fio: mapping.FioRef{Direction: "read"},
		Latency: mapping.NewLatency(h, nil), Requests: mapping.Requests{Completed: int64(requests)},
	}
}

// TestMerge: windows of several hosts become one window, and so do the parts of a split document.
func TestMerge(t *testing.T) {
	start := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	e := New(parse(t, "iops >= 30 in every window", "requests > 0", "p99 < 10ms in every window"))
	docs := []*mapping.Interval{document(start, "a", 0, 1000, 0, 10), document(start, "b", 0, 1000, 4, 20), document(start, "a", 1000, 1000, 0, 10), document(start, "b", 1000, 1000, 4, 25)}
	docs[2].Latency.P99 = 20_000 // percentiles of one host, which are not those of the merged window
	whole := document(start, "a", 2000, 1000, 0, math.MaxInt32+7)
	parts := whole.Split()
	if len(parts) != 2 {
		t.Fatalf("%d parts", len(parts))
	}
	for _, p := range parts {
		p.Latency.P99 = 9_000 // percentiles of the document before it was split
	}
	rate := &mapping.Interval{
		Time: start.Add(3 * time.Second), Window: mapping.Window{End: start.Add(4 * time.Second), MS: 1000, ElapsedMS: 3000}, Run: mapping.RunRef{Start: start}, Fio: mapping.FioRef{Direction: "read"},
		IOPS: 31, Weighting: mapping.Averaged,
	}
	silent := *rate
	silent.Time, silent.Window.End, silent.Window.ElapsedMS, silent.IOPS = start.Add(4*time.Second), start.Add(5*time.Second), 4000, 0
	for _, w := range window.RejoinAll(slices.Concat(docs, parts, []*mapping.Interval{rate, &silent})) {
		if err := e.Merge(w); err != nil {
			t.Fatal(err)
		}
	}
	v := e.Verdicts()
	if w := v[0].Windows; v[0].State != Met || w.Judged != 4000 || w.Worst != (Moment{Start: 0, End: 1000, Value: 30}) {
		t.Errorf("iops: %+v", v[0])
	}
	if v[1].Value != 65+math.MaxInt32+7+31 {
		t.Errorf("requests: %+v", v[1])
	}
	if w := v[2].Windows; v[2].State != Met || w.Judged != 3000 || w.Worst.Value != 9e6 || w.Worst.Start != 2000 {
		t.Errorf("p99: %+v", v[2])
	}
}
