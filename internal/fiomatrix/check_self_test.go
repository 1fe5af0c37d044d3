//go:build linux

package fiomatrix

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// steady returns a case of two jobs of 4 s with a request every 2 ms, and what a correct fio2es says about it:
// windows of 1 s, including the last one.
func steady() (*scene, *said) {
	const start, seconds = int64(1_700_000_000_000), 4
	s := &scene{way: "steady", histMS: 1000, wants: []want{{}}}
	p := &process{sections: []*section{{name: "job", jobs: 2}}}
	a := &said{runs: []runDoc{{ID: "r", Name: "out", from: start, to: start + seconds*1000, hosts: map[string]int64{"": start}}}}
	for n := range 2 {
		j := &truthJob{process: p, number: n + 1, startLo: start, startHi: start, endLo: start + seconds*1000, endHi: start + seconds*1000}
		for ms := int64(2); ms <= seconds*1000; ms += 2 {
			j.done[0] = append(j.done[0], completion{start + ms, 100_000 + ms%1000*1000, 4096})
		}
		for sec := int64(1); sec < seconds; sec++ {
			j.rows[0] = append(j.rows[0], start+sec*1000)
		}
		s.truth = append(s.truth, j)
	}
	percentiles := [4]float64{599_000, 999_000, 1_049_000, 1_089_000}
	for sec := range int64(seconds) {
		w := window{run: "r", from: start + sec*1000, to: start + sec*1000 + 1000, percentiles: percentiles}
		for level, jobs := range map[string][]string{"cluster": {""}, "host": {""}, "job": {"1", "2"}} {
			for _, job := range jobs {
				w.level, w.job, w.completed, w.iops = level, job, int64(1000/len(jobs)), float64(1000/len(jobs))
				a.windows = append(a.windows, w)
				a.printed = append(a.printed, map[string]any{"requests": float64(w.completed)})
			}
		}
	}
	latency := latencyDoc{P50: 599, P90: 999, P95: 1049, P99: 1089}
	a.runs[0].dirs[0] = &totalDoc{Requests: 4000, IOPS: 1000, Latency: latency}
	a.runs[0].all = &totalDoc{Requests: 4000}
	return s, a
}

// TestChecks: a correct answer passes, and each fault is found by its check.
func TestChecks(t *testing.T) {
	tests := []struct {
		name   string
		change func(*scene, *said)
		want   string // the check that fails; empty: none
	}{
		{"right", func(*scene, *said) {}, ""},
		{"late, but tolerated", func(_ *scene, a *said) { shiftAll(a, 140) }, ""},
		{"late", func(_ *scene, a *said) { shiftAll(a, 160) }, "run start"},
		{"early", func(_ *scene, a *said) { shiftAll(a, -160) }, "run start"},
		{"host late", func(_ *scene, a *said) { a.runs[0].hosts[""] += 200 }, "host start"},
		{"end late", func(_ *scene, a *said) { a.runs[0].to += 200 }, "run end"},
		{"one request more", func(_ *scene, a *said) { a.runs[0].dirs[0].Requests++ }, "double"},
		{"one request less", func(_ *scene, a *said) { a.runs[0].dirs[0].Requests-- }, "total read"},
		{"another direction", func(_ *scene, a *said) { a.runs[0].dirs[1] = &totalDoc{Requests: 1} }, "double"},
		{"counted twice in windows", func(_ *scene, a *said) { a.windows[0].completed *= 2 }, "double"},
		{"a level less", func(_ *scene, a *said) {
			a.windows = slices.DeleteFunc(a.windows, func(w window) bool { return w.level == "host" })
		}, "level host read"},
		{"moved to the next window", func(_ *scene, a *said) {
			moveRequests(a, 150)
		}, "counts cluster read"},
		{"moved, but within what is open", func(_ *scene, a *said) { moveRequests(a, 20) }, ""},
		{"last window too long", func(_ *scene, a *said) {
			each(a, func(w *window) {
				if w.to == a.runs[0].to {
					w.to += 700
				}
			})
		}, "last window, cluster read"},
		{"IOPS of the last window", func(_ *scene, a *said) { each(a, func(w *window) { w.iops /= 2 }) }, "last IOPS read"},
		{"IOPS of the run", func(_ *scene, a *said) { a.runs[0].dirs[0].IOPS = 1200 }, "run IOPS read"},
		{"p99 of windows", func(_ *scene, a *said) {
			each(a, func(w *window) { w.percentiles[3] *= 1.1 })
		}, "percentiles cluster read"},
		{"p50 of windows, a little", func(_ *scene, a *said) { each(a, func(w *window) { w.percentiles[0] *= 1.012 }) }, ""},
		{"p50 of the run", func(_ *scene, a *said) { a.runs[0].dirs[0].Latency.P50 *= 1.1 }, "run percentiles read"},
		{"warned of nothing", func(_ *scene, a *said) { a.ingest.stderr = "warning: all is well" }, "false warning"},
		{"estimates of an even rate", func(_ *scene, a *said) {
			a.ingest.stderr = "warning: run:out: 2 windows are estimates, the first at 2.0 s\n"
		}, "false warning"},
		{"estimates where a job stood", func(s *scene, a *said) {
			s.histMS = 0
			a.ingest.stderr, a.ingest.exit, a.percentiles.exit = "warning: run:out: 2 windows are estimates, the first at 2.0 s\n", 3, 3
		}, ""},
		{"exit code", func(_ *scene, a *said) { a.ingest.exit, a.percentiles.exit = 3, 3 }, "exit code"},
		{"loss not reported", func(s *scene, a *said) {
			s.wants = []want{{kind: short, says: []string{`json\+`}}}
			a.ingest.exit, a.percentiles.exit = 3, 3
		}, "not reported"},
		{"wrong advice", func(s *scene, a *said) {
			s.wants = []want{{never: wrongAdvice}}
			a.ingest.stderr = "note: use --output-format=json+"
		}, "false words"},
		{"windows invented", func(s *scene, a *said) { s.wants = []want{{kind: totals}} }, "invented"},
		{"a run invented", func(_ *scene, a *said) { a.runs = append(a.runs, runDoc{ID: "x", Name: "x"}) }, "runs"},
		{"no run", func(_ *scene, a *said) { a.runs, a.windows, a.printed = nil, nil, nil }, "runs"},
		{"percentiles differ from ingest", func(_ *scene, a *said) { a.printed = a.printed[1:] }, "percentiles and ingest"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, a := steady()
			tt.change(s, a)
			var found []string
			for _, f := range s.check(a).failures {
				found = append(found, f.check+": "+f.got)
			}
			if tt.want == "" && len(found) > 0 {
				t.Errorf("found %q", found)
			}
			if tt.want != "" && !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, tt.want+":") }) {
				t.Errorf("%q not in %q", tt.want, found)
			}
		})
	}
}

// shiftAll moves all times.
func shiftAll(a *said, by int64) {
	a.runs[0].from, a.runs[0].to, a.runs[0].hosts[""] = a.runs[0].from+by, a.runs[0].to+by, a.runs[0].hosts[""]+by
	each(a, func(w *window) { w.from, w.to = w.from+by, w.to+by })
}

func each(a *said, change func(*window)) {
	for i := range a.windows {
		change(&a.windows[i])
	}
}

// moveRequests moves n requests of the cluster's second window to its third.
func moveRequests(a *said, n int64) {
	each(a, func(w *window) {
		switch {
		case w.level == "cluster" && w.from == a.runs[0].from+1000:
			w.completed -= n
		case w.level == "cluster" && w.from == a.runs[0].from+2000:
			w.completed += n
		}
	})
}

// TestParseRows: rows of raw logs and of histograms, and the parts of a log of all jobs.
func TestParseRows(t *testing.T) {
	raw, err := parseRows([]byte("0, 8262, 1, 4096, 0\n3, 340, 0, 4096, 0\n"))
	if want := []logRow{{at: 0, value: 8262, dir: 1, size: 4096}, {at: 3, value: 340, size: 4096}}; err != nil || !reflect.DeepEqual(raw, want) {
		t.Errorf("%v, %v", raw, err)
	}
	bins, err := parseRows([]byte("503, 2, 4096, 0, 0, 0, 7, 2\n"))
	if want := []logRow{{at: 503, value: 9, dir: 2, bins: []int64{0, 0, 0, 7, 2}}}; err != nil || !reflect.DeepEqual(bins, want) {
		t.Errorf("%v, %v", bins, err)
	}
	if _, err := parseRows([]byte("503\n")); err == nil {
		t.Error("no error of a broken row")
	}
	all := []logRow{{at: 1000}, {at: 2000}, {at: 1001}, {at: 1990}, {at: 1400}}
	if got := partOf(all, 2); !reflect.DeepEqual(got, all[2:4]) {
		t.Errorf("%v", got)
	}
	if got := partOf(all, 4); got != nil {
		t.Errorf("%v", got)
	}
}
