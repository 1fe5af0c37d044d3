package historytest

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
)

// NightWorkloads is how many workloads [Nights] has.
const NightWorkloads = 100

// Nights yields the documents of n runs of an archive of CBT, the oldest first: the same workloads one after another, again and again.
// The documents are as large as those of runs of one client, also their histograms and configurations. Numbers vary by a few percent,
// and each fifth workload becomes slower in the middle. The same n gives the same runs.
func Nights(n int) iter.Seq[*mapping.Run] {
	const bins = 60
	return func(yield func(*mapping.Run) bool) {
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		start := time.Date(2024, 3, 4, 0, 0, 0, 0, time.UTC)
		for i := range n {
			w, night := i%NightWorkloads, i/NightWorkloads
			mode, size, depth := []string{"randread", "randwrite", "read", "write", "randrw"}[w%5], int64(4096)<<(w/5%5*2), int64(1)<<(w/25*2)
			begin := start.Add(time.Duration(i) * 5 * time.Minute)
			us := float64(200+20*w) * math.Exp(0.03*rng.NormFloat64())
			if w%5 == 0 && i > n/2 {
				us *= 1.2
			}
			totals := func() *mapping.Totals {
				h := hist.New(hist.Fio3(0))
				for b := range bins {
					h.AddLatency(int64(us*1000*math.Exp(float64(b-bins/3)/20)), float64(1+int(1000*math.Exp(-float64(b)/5))))
				}
				requests := int64(h.Total())
				t := &mapping.Totals{Requests: requests, Bytes: requests * size, DurationMS: 60_000, IOPS: 1e6 / us, Bandwidth: float64(size) * 1e6 / us, Latency: mapping.NewLatency(h, nil)}
				t.Means = mapping.Means{Slat: 4, Clat: us, Lat: us + 4}
				t.Sums = mapping.Sums{IOPS: t.IOPS, Bandwidth: t.Bandwidth}
				return t
			}
			name := fmt.Sprintf("%d/id-%08x", night, w)
			run := &mapping.Run{
				Run: mapping.RunInfo{
					ID: ID(strconv.Itoa(i)), Name: name, Archive: "nightly", Path: fmt.Sprintf("results/%08d/id-%08x", night, w), Ingest: fmt.Sprintf("%016x", rng.Uint64()),
					Start: begin, End: begin.Add(time.Minute), Labels: map[string]string{"release": "r" + strconv.Itoa(night/30)}, Complete: true, Stage: 1, Stages: 1,
				},
				CBT: mapping.CBT{
					Benchmark: "librbdfio", Mode: mode, OpSize: size, IODepth: depth, NumJobs: 1, Procs: 1, Volumes: 1, Clients: 1, OSDReadAhead: 4096, RunSeconds: 60,
					Iteration: new(night),
				},
				Fio: mapping.FioInfo{Version: "fio-3.36", Jobs: 1, UsrCPU: 0.7, SysCPU: 1.3, Switches: 495, Options: map[string]string{
					"bs": strconv.FormatInt(size, 10) + "B", "rw": mode, "iodepth": strconv.FormatInt(depth, 10), "ioengine": "rbd", "direct": "1", "log_hist_msec": "1000",
					"name": fmt.Sprintf("cbt-librbdfio-client01-file-%d", w), "numjobs": "1", "runtime": "60", "write_hist_log": "output.0",
				}},
				Hosts: []mapping.RunHost{{Name: "client01", Jobs: 1, Start: begin, Clock: "report", ClockErrorMS: 150}}, Clock: mapping.Clock{Source: "report", ErrorMS: 150},
				Weighting: "inflight", IntervalMS: 1000, Levels: []mapping.Level{mapping.Cluster, mapping.Host},
				Source: mapping.Source{Files: 4, Bytes: 30_964, Hash: fmt.Sprintf("%016x", rng.Uint64())}, Documents: mapping.Documents{Cluster: 60, Host: 60},
				Ingested: begin.Add(time.Hour), Program: mapping.Program{Version: "v1.0.0"},
			}
			run.Run.Execution = run.Run.ID
			config := map[string]any{"cluster.iteration": strconv.Itoa(night), "cluster.mode": mode, "cluster.op_size": strconv.FormatInt(size, 10)}
			for key := range 20 {
				config[fmt.Sprintf("cluster.setting_%d", key)] = fmt.Sprint("value ", key)
			}
			run.Config = mapping.ConfigOf(config)
			for _, role := range []string{mapping.RoleReport, mapping.RoleLog} {
				run.Source.List = append(run.Source.List, mapping.SourceFile{
					Path: run.Run.Path + "/" + role, Role: role, Bytes: 15_482, Hash: fmt.Sprintf("%016x", rng.Uint64()), Begin: fmt.Sprintf("%016x", rng.Uint64()),
				})
			}
			run.All = totals()
			if mode != "randwrite" && mode != "write" {
				run.Read = totals()
			}
			if mode != "randread" && mode != "read" {
				run.Write = totals()
			}
			if !yield(run) {
				return
			}
		}
	}
}
