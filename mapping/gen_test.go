package mapping_test

import (
	"math"
	"math/rand/v2"
	"time"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
)

var start = time.Date(2026, 11, 21, 10, 0, 0, 250e6, time.UTC)

// sample is a document as a real one: n bins around half a millisecond.
func sample(n int) *mapping.Interval {
	h, rng := hist.New(hist.Fio3(0)), rand.New(rand.NewPCG(1, uint64(n)))
	for i := range n {
		h.AddAt(700+i, 1+math.Floor(math.Exp(rng.Float64()*6)))
	}
	lat := mapping.NewLatency(h, nil)
	return &mapping.Interval{
		Time: start.Add(7 * time.Second), Level: mapping.Job,
		Window: mapping.Window{End: start.Add(8 * time.Second), MS: 1000, ElapsedMS: 7000},
		Run: mapping.RunRef{
			ID: "0bb09213eb51c32bb5ad", Name: "nightly 4k randwrite",
			Archive: "nightly.tar.zst", Start: start, Ingest: "0f3a55c1d2e4b697",
			Labels: map[string]string{"release": "squid", "cluster": "lab-a"},
			Hosts:  []string{"client-01.example.org"},
		},
		CBT:     mapping.CBT{Benchmark: "librbdfio", Mode: "randwrite", OpSize: 4096, IODepth: 32, NumJobs: 1, Volumes: 8, Iteration: new(0)},
		Host:    mapping.HostRef{Name: "client-01.example.org"},
		Fio:     mapping.FioRef{Direction: "write", Job: "1", Version: "fio-3.36"},
		Latency: lat, Requests: mapping.Requests{Completed: lat.Bins.Total(), Weight: h.Total() + 0.125},
		IOPS: float64(lat.Bins.Total()), Weighting: "inflight", DocCount: lat.Bins.Total(),
	}
}

func sampleRun() *mapping.Run {
	d := sample(20)
	return &mapping.Run{
		Run: mapping.RunInfo{
			ID: d.Run.ID, Name: d.Run.Name, Archive: d.Run.Archive, Path: "results/00000000/id-1a2b3c4d",
			Start: start, End: start.Add(time.Minute), Ingest: d.Run.Ingest, Labels: d.Run.Labels, Complete: true,
		},
		CBT:    d.CBT,
		Config: mapping.ConfigOf(map[string]any{"op_size": 4194304.0, "mode": "randwrite", "use_existing": true, "nested": map[string]any{"b": []any{1.5, nil}, "a": "<&>"}}),
		Fio:    mapping.FioInfo{Version: "fio-3.36", Options: map[string]string{"rw": "randwrite", "bs": "4k"}, Jobs: 16},
		Hosts: []mapping.RunHost{
			{Name: "client-01.example.org", Jobs: 8, Start: start, Clock: "job_start"},
			{Name: "client-02.example.org", Jobs: 8, Start: start.Add(120 * time.Millisecond), SkewMS: 120, Clock: "reports", ClockErrorMS: 40},
		},
		Clock: mapping.Clock{Source: "reports", ErrorMS: 40}, Placed: "2 jobs began after others had ended: by their own rows.",
		Weighting: "inflight", IntervalMS: 1000,
		Levels:    []mapping.Level{mapping.Cluster, mapping.Host},
		All:       &mapping.Totals{Requests: d.DocCount, Bytes: d.DocCount * 4096, DurationMS: 60000, IOPS: 333.3333333333333, Bandwidth: 1.5e6, Sums: mapping.Sums{IOPS: 400, Bandwidth: 2e6}, Latency: d.Latency},
		Write:     &mapping.Totals{Requests: d.DocCount, IOPS: 1, Latency: d.Latency},
		Recovered: mapping.Lost{Requests: 812}, Missing: mapping.Lost{Requests: 3},
		Warnings:  []string{"host \"client-03\": no log"},
		SLA:       []mapping.Verdict{{Rule: "write p99 < 10ms", Holds: true, Value: 7.25, Limit: 10}},
		Changes:   []mapping.Change{{Direction: "write", Metric: "p99_9", Verdict: "worse", Before: 2980, After: 3570.5, Percent: 19.8, BeforeRun: "cd34", Text: "p99.9 of writes 3.57ms, was 2.98ms"}},
		Source:    mapping.Source{Files: 1, Bytes: 5600, Hash: "ab12", List: []mapping.SourceFile{{Path: "output.0_clat_hist.1.log.client-01", Role: mapping.RoleLog, Bytes: 5600, Hash: "cd34"}}},
		Documents: mapping.Documents{Cluster: 60, Host: 120}, Ingested: start.Add(time.Hour), Program: mapping.Program{Version: "v1.2.3"},
	}
}

func genTime(t *rapid.T, label string) time.Time {
	return time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, label)).UTC()
}

func genText(t *rapid.T, label string) string { return rapid.String().Draw(t, label) }

func genTexts(t *rapid.T, label string) []string {
	if list := rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, label); len(list) > 0 {
		return list
	}
	return nil
}

func genMap(t *rapid.T, label string) map[string]string {
	if m := rapid.MapOfN(rapid.String(), rapid.String(), 0, 4).Draw(t, label); len(m) > 0 {
		return m
	}
	return nil
}

func genSize(t *rapid.T, label string) float64 {
	return rapid.OneOf(rapid.Float64Range(0, math.MaxFloat64), rapid.Map(rapid.Int64Range(0, 1e15), func(n int64) float64 {
		return float64(n) / 1e4
	})).Draw(t, label)
}

func genLayout(t *rapid.T) hist.Layout {
	return rapid.SampledFrom(someLayouts()).Draw(t, "layout")
}

func genHistogram(t *rapid.T) *hist.Histogram {
	h := hist.New(genLayout(t))
	for range rapid.IntRange(0, 20).Draw(t, "bins") {
		h.AddAt(rapid.IntRange(0, h.Layout().Len()-1).Draw(t, "bin"), float64(rapid.Int64Range(1, 1<<34).Draw(t, "count")))
	}
	return h
}

func genInterval(t *rapid.T) *mapping.Interval {
	lat := mapping.NewLatency(genHistogram(t), nil)
	return &mapping.Interval{
		Time: genTime(t, "time"), Level: mapping.Level(rapid.IntRange(1, 3).Draw(t, "level")), Part: rapid.IntRange(0, 2).Draw(t, "part"),
		Window: mapping.Window{End: genTime(t, "end"), MS: rapid.Int64Range(0, 1e9).Draw(t, "ms"), ElapsedMS: rapid.Int64().Draw(t, "elapsed"),
			FromMS: rapid.Int64Range(0, 1e6).Draw(t, "from"), ToMS: rapid.Int64Range(0, 1e6).Draw(t, "to"),
			Fastest: genSize(t, "fastest"), Slowest: genSize(t, "slowest")},
		Run: mapping.RunRef{
			ID: genText(t, "id") + "x", Name: genText(t, "name"), Archive: genText(t, "archive"),
			Start: genTime(t, "start"), Ingest: "i", Labels: genMap(t, "labels"), Edit: genText(t, "edit"),
			Execution: genText(t, "execution"), Stage: rapid.IntRange(0, 2).Draw(t, "stage"), Hosts: genTexts(t, "hosts"),
		},
		CBT:     genCBT(t),
		Host:    mapping.HostRef{Name: genText(t, "host")},
		Fio:     mapping.FioRef{Direction: "read", Job: genText(t, "job"), Version: genText(t, "version")},
		Latency: lat, Requests: mapping.Requests{Completed: rapid.Int64Range(0, 1<<50).Draw(t, "completed"), Weight: genSize(t, "weight")},
		IOPS: genSize(t, "iops"), Bandwidth: genSize(t, "bandwidth"), Weighting: genText(t, "weighting"), DocCount: lat.Bins.Total(), Bounds: genBounds(t),
	}
}

// genBounds are bounds of some percentiles, or none.
func genBounds(t *rapid.T) *mapping.Bounds {
	if rapid.Bool().Draw(t, "no bounds") {
		return nil
	}
	b := &mapping.Bounds{Confidence: rapid.SampledFrom([]float64{0.95, 1}).Draw(t, "confidence")}
	for i := range mapping.Percentiles {
		if rapid.Bool().Draw(t, "bounded") {
			b.Set(i, mapping.Between{Low: genSize(t, "low"), High: genSize(t, "high")})
		}
	}
	return b
}

// genRun is a run's document.
func genRun(t *rapid.T) *mapping.Run {
	run := sampleRun()
	run.CBT, run.Fio.Options, run.Run.Labels = genCBT(t), genMap(t, "options"), genMap(t, "labels")
	run.Trim = &mapping.Totals{Bandwidth: genSize(t, "bandwidth"), Latency: mapping.NewLatency(genHistogram(t), nil)}
	run.Run.Compacted = mapping.Compacted{From: genText(t, "from") + "x", IntervalMS: 1000, At: genTime(t, "at")}
	run.Run.Edited, run.Run.Note = genMap(t, "edited"), genText(t, "note")
	run.NoWindows, run.All.Fio = genText(t, "no windows"), genFio(t)
	run.Config = mapping.ConfigOf(map[string]any{
		genText(t, "key"): genSize(t, "value"), "text": genText(t, "text"), "odd": []any{7, map[string]any{}, []any{}, nil, false, "\xff\xfe", -0.5, 1e300},
	})
	return run
}

// genFio is fio's own figures, or none.
func genFio(t *rapid.T) *mapping.FioLatency {
	if rapid.Bool().Draw(t, "no figures of fio") {
		return nil
	}
	f := &mapping.FioLatency{Min: genSize(t, "min"), Mean: genSize(t, "mean"), Max: genSize(t, "max"), StdDev: genSize(t, "stddev")}
	for range rapid.IntRange(0, 3).Draw(t, "percentiles") {
		f.Percentiles = append(f.Percentiles, mapping.FioPercentile{
			Rank: rapid.OneOf(rapid.Float64Range(0, 100), rapid.SampledFrom([]float64{50, 99, 99.9})).Draw(t, "rank"), Value: genSize(t, "value"),
		})
	}
	return f
}

func genCBT(t *rapid.T) mapping.CBT {
	n := func(label string) int { return rapid.IntRange(0, 3).Draw(t, label) }
	return mapping.CBT{
		Benchmark: genText(t, "benchmark"), Workload: genText(t, "workload"), Mode: genText(t, "mode"), RWMixRead: int64(n("mix")),
		OpSize: int64(n("op_size")), IODepth: int64(n("iodepth")), TotalIODepth: int64(n("total")), NumJobs: int64(n("numjobs")), Procs: int64(n("procs")),
		Volumes: int64(n("volumes")), Clients: n("clients"), OSDReadAhead: int64(n("osd_ra")), ReadAhead: int64(n("ra")),
		RunSeconds: int64(n("time")), RampSeconds: int64(n("ramp")), Iteration: [...]*int{nil, new(0), new(1), new(2)}[n("iteration")],
	}
}

// someLayouts are the layouts of released fio, and of some that were rebuilt.
func someLayouts() []hist.Layout {
	var all []hist.Layout
	for c := range 7 {
		all = append(all, hist.Fio3(c), hist.Fio2(c))
		for _, groups := range []int{17, 24, 34, 47, 58} {
			for _, unit := range []hist.Unit{hist.Nanoseconds, hist.Microseconds} {
				l, err := hist.NewLayout(unit, groups, c)
				if err != nil {
					panic(err)
				}
				if l.Real() == l.Len() {
					all = append(all, l)
				}
			}
		}
	}
	return all
}
