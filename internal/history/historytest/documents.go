package historytest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
)

// Start is when the first made run of the tests begins.
var Start = time.Date(2026, 11, 21, 10, 0, 0, 250e6, time.UTC)

// ID returns the id of a made run.
func ID(name string) string {
	sum := sha256.Sum256([]byte("suite\x00" + name))
	return hex.EncodeToString(sum[:10])
}

// NewRun returns the document of a made run. name identifies the run, ingest its version.
func NewRun(name, ingest string) *mapping.Run {
	d := Interval(name, ingest, 0)
	return &mapping.Run{
		Run: mapping.RunInfo{
			ID: d.Run.ID, Name: name, Archive: d.Run.Archive, Path: "results/" + name, Start: Start,
			End: Start.Add(time.Minute), Ingest: ingest, Labels: d.Run.Labels, Complete: true,
		},
		CBT:       d.CBT,
		Config:    mapping.ConfigOf(map[string]any{"op_size": 4096.0, "pool": map[string]any{"pg": 128.0}, "hosts": []any{"a", "b"}}),
		Fio:       mapping.FioInfo{Version: "fio-3.36", Jobs: 2},
		Hosts:     []mapping.RunHost{{Name: "a", Jobs: 1, Start: Start}, {Name: "b", Jobs: 1, SkewMS: 120}},
		Levels:    []mapping.Level{mapping.Cluster, mapping.Host},
		All:       &mapping.Totals{Requests: d.DocCount, IOPS: 1.0 / 3, Latency: d.Latency},
		Write:     &mapping.Totals{Requests: d.DocCount, IOPS: 12, Latency: d.Latency},
		Source:    mapping.Source{Files: 1, Bytes: 12, List: []mapping.SourceFile{{Path: "a.log", Role: mapping.RoleLog, Bytes: 12, Hash: "ab"}}},
		Documents: mapping.Documents{Cluster: 10},
		Ingested:  Start.Add(time.Hour),
	}
}

// Interval returns the document of window n of a made run, at level Cluster. Its contents depend on name, ingest and
// n.
func Interval(name, ingest string, n int) *mapping.Interval {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(len(name)*1000+len(ingest))))
	h := hist.New(hist.Fio3(n % 3))
	for i := range 40 {
		h.AddAt(180+i, 1+math.Floor(rng.Float64()*500))
	}
	lat := mapping.NewLatency(h, nil)
	at := time.Duration(n) * time.Second
	return &mapping.Interval{
		Time: Start.Add(at), Level: mapping.Cluster,
		Window: mapping.Window{End: Start.Add(at + time.Second), MS: 1000, ElapsedMS: at.Milliseconds()},
		Run: mapping.RunRef{
			ID: ID(name), Name: name, Archive: "suite", Start: Start, Ingest: ingest,
			Labels: map[string]string{"release": "squid", "run": name},
		},
		CBT:       mapping.CBT{Benchmark: "librbdfio", Mode: "randwrite", OpSize: 4096, IODepth: 32, Iteration: new(1)},
		Fio:       mapping.FioRef{Direction: "write", Version: "fio-3.36"},
		Latency:   lat,
		Requests:  mapping.Requests{Completed: lat.Bins.Total(), Weight: h.Total() + 0.25},
		IOPS:      float64(lat.Bins.Total()),
		Weighting: "inflight", DocCount: lat.Bins.Total(),
	}
}

// Intervals returns the documents of the first n windows of a made run.
func Intervals(name, ingest string, n int) []*mapping.Interval {
	docs := make([]*mapping.Interval, n)
	for i := range docs {
		docs[i] = Interval(name, ingest, i)
	}
	return docs
}

// grid returns documents of all combinations of level, direction, host, job and section in a few windows.
func grid(name string) []*mapping.Interval {
	var docs []*mapping.Interval
	add := func(n int, level mapping.Level, direction, host, job string) {
		d := Interval(name, "g", n)
		d.Level, d.Fio.Direction, d.Host.Name, d.Fio.Job = level, direction, host, job
		docs = append(docs, d)
	}
	for n := range 4 {
		for _, direction := range []string{"write", "read"} {
			add(n, mapping.Cluster, direction, "", "")
			for _, section := range []string{"writer", "reader"} {
				add(n, mapping.Section, direction, "", "")
				docs[len(docs)-1].Fio.Section = section
			}
			for h := range 2 {
				host := fmt.Sprintf("host-%d", h)
				add(n, mapping.Host, direction, host, "")
				for _, job := range []string{"2", "1", "10"} {
					add(n, mapping.Job, direction, host, job)
				}
			}
		}
	}
	return docs
}
