package report

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

var began = time.Date(2026, 11, 21, 3, 13, 2, 0, time.UTC)

var timeZero time.Time // start of runs with an unknown date

func at(ms int64) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }

func histOf(n float64, us ...float64) *hist.Histogram {
	h := hist.New(hist.Fio3(0))
	for _, l := range us {
		h.AddLatency(int64(l*1000), n)
	}
	return h
}

func windowOf(direction, host string, elapsed, ms int64, h *hist.Histogram) *mapping.Interval {
	d := &mapping.Interval{
		Time: at(elapsed), Level: mapping.Cluster, Window: mapping.Window{End: at(elapsed + ms), MS: ms, ElapsedMS: elapsed},
		Run: mapping.RunRef{Name: "out", Start: began}, Fio: mapping.FioRef{Direction: direction},
		Latency: mapping.NewLatency(h, nil), Requests: mapping.Requests{Completed: int64(h.Total())},
	}
	if host != "" {
		d.Level, d.Host.Name = mapping.Host, host
	}
	d.IOPS = h.Total() * 1000 / float64(ms)
	return d
}

func totalsOfHist(h *hist.Histogram, seconds float64) *mapping.Totals {
	return &mapping.Totals{
		Requests: int64(h.Total()), IOPS: h.Total() / seconds, Bandwidth: 4096 * h.Total() / seconds,
		DurationMS: int64(seconds * 1000), Latency: mapping.NewLatency(h, nil),
	}
}

// sample returns the document and the windows of a run of two hosts, with a gap, a slow host and a slow second.
func sample(name string, slower float64) (*mapping.Run, []*mapping.Interval) {
	var windows []*mapping.Interval
	sums := map[string]*hist.Histogram{"read": {}, "write": {}}
	for second := range int64(8) {
		if second == 5 {
			continue // the gap
		}
		slow := slower
		if second == 3 {
			slow *= 20
		}
		for _, direction := range []string{"read", "write"} {
			whole := &hist.Histogram{}
			for i, host := range []string{"client01", "client02"} {
				h := histOf(40, 100*slow, 120*slow, 150*slow*float64(1+3*i))
				h.Merge(histOf(1, 900*slow*float64(1+second)))
				whole.Merge(h)
				windows = append(windows, windowOf(direction, host, second*1000, 1000, h))
			}
			windows = append(windows, windowOf(direction, "", second*1000, 1000, whole))
			sums[direction].Merge(whole)
		}
	}
	return &mapping.Run{
		Run: mapping.RunInfo{
			ID: "0123456789abcdef0123", Name: name, Archive: "archive", Path: "results/" + name, Start: began, End: at(8000), Complete: true,
			Labels: map[string]string{"disk": "nvme"},
		},
		CBT:    mapping.CBT{Benchmark: "librbdfio", Mode: "randrw", OpSize: 4096, IODepth: 4, NumJobs: 2, OSDReadAhead: 4096, Iteration: new(0)},
		Config: mapping.ConfigOf(map[string]any{"cluster.mode": "randrw", "cluster.time": "8"}),
		Fio:    mapping.FioInfo{Version: "fio-3.33", Jobs: 4, UsrCPU: 1.25, SysCPU: 0.5, Options: map[string]string{"bs": "4k", "rw": "randrw"}},
		Hosts:  []mapping.RunHost{{Name: "client01", Jobs: 2}, {Name: "client02", Jobs: 2, SkewMS: 361}},
		Clock:  mapping.Clock{Source: "report"}, Weighting: "inflight", IntervalMS: 1000, Levels: []mapping.Level{mapping.Cluster, mapping.Host},
		Read: totalsOfHist(sums["read"], 8), Write: totalsOfHist(sums["write"], 8),
		Recovered: mapping.Lost{Requests: 123}, Source: mapping.Source{Files: 3, Bytes: 70_000, Hash: "00c0ffee00c0ffee"},
		All: &mapping.Totals{Requests: int64(sums["read"].Total() + sums["write"].Total())},
	}, windows
}

func put(t testing.TB, p *Page, doc *mapping.Run, windows []*mapping.Interval) {
	t.Helper()
	r := p.begin(true)
	for _, w := range window.RejoinAll(windows) {
		requests, err := w.Histogram()
		if err != nil {
			t.Fatal(err)
		}
		r.add(w, requests)
	}
	one, err := r.end(doc)
	if err != nil || one == nil {
		t.Fatal(one, err)
	}
	p.put(one, r)
}

// equal reports whether two latencies are equal; NaN equals NaN.
func equal(a, b latencies) bool {
	return slices.EqualFunc(a[:], b[:], func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}
