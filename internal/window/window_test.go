package window

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
)

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// document returns the document of the second window of a run.
func document(level mapping.Level, host, direction string, h *hist.Histogram) *mapping.Interval {
	lat := mapping.NewLatency(h, nil)
	return &mapping.Interval{
		Time: start.Add(time.Second), Level: level, Window: mapping.Window{End: start.Add(2 * time.Second), MS: 1000, ElapsedMS: 1000},
		Run: mapping.RunRef{ID: "aa", Name: "run aa", Start: start, Ingest: "1"}, Host: mapping.HostRef{Name: host},
		Fio: mapping.FioRef{Direction: direction}, Latency: lat, DocCount: lat.Bins.Total(),
		Requests: mapping.Requests{Completed: lat.Bins.Total(), Weight: h.Total()}, IOPS: h.Total(), Bandwidth: 4096,
	}
}

// TestRejoin: windows that were split for a store are unchanged when they are read, also between other windows.
func TestRejoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var docs []*mapping.Interval
		var want []*Window
		for _, host := range []string{"", "a", "b"} {
			level := mapping.Host
			if host == "" {
				level = mapping.Cluster
			}
			for _, direction := range []string{"read", "write"} {
				h := hist.New(hist.Fio3(0))
				for range rapid.IntRange(1, 4).Draw(t, "bins") {
					n := rapid.SampledFrom([]float64{1, 1000, 1 << 31, 1 << 33}).Draw(t, "count")
					h.AddAt(rapid.IntRange(0, h.Layout().Len()-1).Draw(t, "bin"), n)
				}
				d := document(level, host, direction, h)
				docs, want = append(docs, d.Split()...), append(want, From(d))
			}
		}
		kept := make([]mapping.Interval, len(docs))
		for i, d := range docs {
			kept[i] = *d
			kept[i].Latency.Bins.Counts = slices.Clone(d.Latency.Bins.Counts)
		}
		got := RejoinAll(docs)
		if len(got) != len(want) {
			t.Fatalf("%d windows, want %d", len(got), len(want))
		}
		for i := range want {
			g, w := got[i], want[i]
			have, err := g.Histogram()
			if err != nil {
				t.Fatal(err)
			}
			whole, err := w.Histogram()
			if err != nil || !slices.Equal(have.Weights(), whole.Weights()) {
				t.Fatalf("window %d: %v, want %v, %v", i, have.Weights(), whole.Weights(), err)
			}
			if g.Completed != w.Completed || g.Weight != w.Weight || g.IOPS != w.IOPS || g.Bandwidth != w.Bandwidth ||
				g.Host != w.Host || g.Direction != w.Direction || g.Latency.P99 != w.Latency.P99 {
				t.Fatalf("window %d: %+v, want %+v", i, g, w)
			}
		}
		for i, d := range docs {
			if !cmp.Equal(kept[i].Latency, d.Latency) {
				t.Fatalf("document %d was changed", i)
			}
		}
	})
}

// TestDocument: the document of a document's window is the same document.
func TestDocument(t *testing.T) {
	h := hist.New(hist.Fio3(0))
	h.AddAt(5, 3)
	d := document(mapping.Host, "a", "read", h)
	d.CBT.Mode, d.Run.Hosts, d.Weighting, d.Fio.Version = "randread", []string{"a"}, "inflight", "fio-3.36"
	like := *d
	like.Time, like.Part, like.Window, like.Latency, like.DocCount = start, 2, mapping.Window{}, mapping.Latency{}, 7
	like.Requests, like.IOPS, like.Bandwidth = mapping.Requests{}, 1, 2
	if got := From(d).Document(&like); !cmp.Equal(got, d) {
		t.Error(cmp.Diff(d, got))
	}
}

// TestRejoinError: windows end at an error.
func TestRejoinError(t *testing.T) {
	bad := errors.New("bad")
	for _, err := range Rejoin(func(yield func(*mapping.Interval, error) bool) { yield(nil, bad) }) {
		if err != bad {
			t.Errorf("%v", err)
		}
	}
}

// TestHistogram: averages have no histogram. Bins that are no latencies are an error that names the window.
func TestHistogram(t *testing.T) {
	h := hist.New(hist.Fio3(0))
	h.AddAt(5, 3)
	d := document(mapping.Cluster, "", "read", h)
	if w := From(d); w.StartMS() != 1000 || w.EndMS() != 2000 || w.Length() != time.Second {
		t.Errorf("%+v", w)
	}
	d.Latency.Layout = "fio9"
	if _, err := From(d).Histogram(); !errors.Is(err, mapping.ErrBins) {
		t.Errorf("%v", err)
	}
	d.Latency = mapping.Latency{Mean: 5}
	if h, err := From(d).Histogram(); h != nil || err != nil {
		t.Errorf("%v, %v", h, err)
	}
}
