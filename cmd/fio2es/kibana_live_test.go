package main

import (
	"math"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/kibana/kibanatest"
	"github.com/fio2es/fio2es/mapping"
)

// liveTime is the time of the run of sendLive.
var liveTime = kibanatest.Context{From: at("2026-11-21T03:20:00Z"), To: at("2026-11-21T03:22:00Z")}

// liveID is the id of the run of sendLive.
var liveID = mapping.SharedID("cloud", 1)

// sendLive stores what three hosts have sent of a run in two minutes. The last one has been silent for half a minute, the others are
// heard of for ever, and do not hang.
func sendLive(t *testing.T, real estest.Real, prefix string) {
	t.Helper()
	client, err := es.New(real.Config)
	check(t, err)
	t.Cleanup(client.Close)
	store, start := elastic.New(client, prefix), liveTime.From
	for i, host := range []string{"node1", "node2", "node3"} {
		doc := historytest.NewRun("cloud", mapping.SharedIngest(1))
		doc.Run.Start, doc.Run.End, doc.IntervalMS = start, time.Time{}, 1000
		to := shared.New(store, shared.Member{Name: "cloud", Host: host, Unit: "job"}, 1, doc)
		check(t, to.Join(t.Context()))
		seconds, seen := 118, at("2126-11-21T03:21:59Z")
		if i == 2 {
			seconds, seen = 90, start.Add(91*time.Second)
		}
		for n := range seconds {
			begin := start.Add(time.Duration(n) * time.Second)
			for d, direction := range []string{"read", "write"} {
				slow := 80e3 * float64(1+2*d) * (1.5 + math.Sin(float64(n+20*i)/9))
				if i == 2 && n > 70 {
					slow *= 20
				}
				to.Add(begin, []*mapping.Interval{liveWindow(to.Run(), begin, direction, slow)})
			}
		}
		check(t, to.Send(t.Context(), doc, seen))
	}
	parts, err := store.Parts(t.Context(), liveID)
	check(t, err)
	for _, p := range parts[:2] {
		p.Last = at("2126-11-21T03:21:59Z") // without the clock that was measured
		check(t, store.PutPart(t.Context(), p))
	}
	request(t, real, "POST", "/"+prefix+"-*/_refresh", "", &struct{}{})
}

// liveWindow returns a window of a second. Half of its requests take some ns nanoseconds, few take longer.
func liveWindow(run mapping.RunInfo, begin time.Time, direction string, ns float64) *mapping.Interval {
	h := hist.New(hist.Fio3(0))
	for i, count := range []float64{600, 300, 80, 15, 4, 1} {
		h.AddLatency(int64(ns*math.Pow(1.6, float64(i))), count)
	}
	l := mapping.NewLatency(h, nil)
	return &mapping.Interval{
		Time: begin, Level: mapping.Cluster, Window: mapping.Window{End: begin.Add(time.Second), MS: 1000},
		Run: mapping.RunRef{ID: run.ID, Name: run.Name, Start: run.Start, Ingest: run.Ingest}, Fio: mapping.FioRef{Direction: direction},
		Latency: l, DocCount: l.Bins.Total(), Requests: mapping.Requests{Completed: l.Bins.Total(), Weight: h.Total()}, IOPS: h.Total(), Bandwidth: 4096 * h.Total(),
	}
}
