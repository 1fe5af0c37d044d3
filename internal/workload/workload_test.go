package workload

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/table"
	_ "github.com/fio2es/fio2es/internal/testcost" // fixed seeds
	"github.com/fio2es/fio2es/mapping"
)

// night returns the run of night n. Its latencies are between times and twice times milliseconds.
func night(n int, cbt mapping.CBT, times float64) *mapping.Run {
	h := hist.New(hist.Fio3(0))
	for i := range 1000 {
		h.AddLatency(int64(1e6*times*(1+float64(i)/1000)), 1)
	}
	cbt.Iteration = new(n % 3)
	return &mapping.Run{
		Run:   mapping.RunInfo{ID: fmt.Sprintf("%016x", n), Name: fmt.Sprintf("night%d", n), Complete: true, Start: time.Date(2026, 1, 1+n, 0, 0, 0, 0, time.UTC)},
		CBT:   cbt,
		Write: &mapping.Totals{Requests: 1000, IOPS: 1000 / times, Latency: mapping.NewLatency(h, nil)},
	}
}

// TestGroup: runs with the same settings are one workload, for any number of runs and any version of Ceph. Titles
// say how workloads differ.
func TestGroup(t *testing.T) {
	a := mapping.CBT{Benchmark: "librbdfio", Mode: "randwrite", OpSize: 4096, IODepth: 16, NumJobs: 2, RunSeconds: 60}
	other, mixed, pool := a, a, a
	other.OpSize, mixed.Mode, mixed.RWMixRead, pool.Pool = 65536, "randrw", 70, "ec"
	version := a
	version.CephVersion, version.RunSeconds = "18.2.1", 90
	plain := night(9, mapping.CBT{}, 1)
	plain.CBT = mapping.CBT{}
	runs := []*mapping.Run{night(4, version, 1), night(3, other, 1), night(2, a, 1), night(5, mixed, 1), night(6, pool, 1), plain, night(1, a, 1)}
	var got []string
	for _, w := range Group(runs) {
		text := w.Title + ":"
		for _, r := range w.Runs {
			text += " " + r.Run.Name
			if Key(r) != Key(w.Runs[0]) {
				t.Errorf("%s: %q and %q", w.Title, Key(r), Key(w.Runs[0]))
			}
		}
		got = append(got, text)
	}
	want := []string{
		"night9: night9",
		"randrw 4K qd16: night5",
		"randwrite 4K qd16: night1 night2 night4",
		"randwrite 4K qd16, pool ec: night6",
		"randwrite 64K qd16: night3",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestTitles: different workloads have different titles.
func TestTitles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var runs []*mapping.Run
		for i := range rapid.IntRange(1, 20).Draw(t, "runs") {
			pick := func(name string) int64 { return rapid.Int64Range(0, 2).Draw(t, name) }
			runs = append(runs, night(i, mapping.CBT{
				Mode: []string{"", "read", "randrw"}[pick("mode")], OpSize: pick("size") * 4096, IODepth: pick("depth"),
				NumJobs: pick("jobs"), Pool: []string{"", "a", "b"}[pick("pool")], Volumes: pick("volumes"),
			}, 1))
		}
		titles, n := map[string]bool{}, 0
		for _, w := range Group(runs) {
			titles[w.Title] = true
			n += len(w.Runs)
		}
		if len(titles) != len(Group(runs)) || titles[""] || n != len(runs) {
			t.Fatalf("%d workloads of %d runs: %v", len(Group(runs)), n, titles)
		}
	})
}

// TestSeries: a change is between two runs, and only in the direction and number in which it happened. Runs that lack files
// and runs without a date are in no series.
func TestSeries(t *testing.T) {
	r, cbt := rand.New(rand.NewPCG(1, 2)), mapping.CBT{Mode: "randwrite", OpSize: 4096}
	var runs []*mapping.Run
	for n := range 40 {
		times := math.Exp(0.01 * r.NormFloat64())
		if n >= 25 {
			times *= 1.2
		}
		runs = append(runs, night(n, cbt, times))
	}
	runs[30].Run.Partial, runs[10].Write = true, nil
	undated := night(99, cbt, 5)
	undated.Run.Start = time.Time{}
	runs = append(runs, undated)
	runs[25].Fio.Version, runs[25].Run.Labels = "fio-3.36", map[string]string{"release": "reef"}
	runs[25].Config = mapping.ConfigOf(map[string]any{"cluster": map[string]any{"osds_per_node": 4.0, "list": []any{"a", 1.0}}})
	runs[24].Fio.Version = "fio-3.33"

	numbers, err := NumbersOf("p99.9", "iops")
	if err != nil {
		t.Fatal(err)
	}
	list := Group(runs)[0].Series(numbers, 0.05)
	if len(list) != 2 {
		t.Fatalf("%d series", len(list))
	}
	for i, s := range list {
		if s.Direction != "write" || len(s.Values) != 38 || len(s.Changes) != 1 {
			t.Fatalf("%s %s: %d values, %v", s.Direction, s.Number.Text(), len(s.Values), s.Changes)
		}
		c := &s.Changes[0]
		if c.Before != runs[24] || c.After != runs[25] || !s.IsWorse(c) || math.Abs(c.Level.Ratio.Low-[]float64{1.2, 1 / 1.2}[i]) > 0.02 {
			t.Errorf("%s: %+v", s.Number.Text(), c)
		}
	}
	got := strings.Join(Differences(runs[24], runs[25]), "; ")
	if want := "fio fio-3.36, was fio-3.33; label.release reef, was none; config.cluster.list a,1, was none; config.cluster.osds_per_node 4, was none"; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	if _, err := NumbersOf("p98"); err == nil || !strings.Contains(err.Error(), "p98: want one of IOPS, bandwidth, min, mean, p") {
		t.Error(err)
	}
}

// TestBounds: a percentile in fio's last bin is a lower bound, and everything computed from it is marked as a bound.
// The light document of a run is enough for this.
func TestBounds(t *testing.T) {
	var runs []*mapping.Run
	for n := range 30 {
		h := hist.New(hist.Fio3(0))
		h.AddLatency(1e9+int64(n%3)*1e7, 1000)
		if n >= 20 {
			h.AddLatency(int64(n)*1e9, 100) // each night is slower, by an unknown amount
		}
		run := night(n, mapping.CBT{Mode: "randwrite"}, 1)
		run.Write.Latency = mapping.NewLatency(h, nil)
		runs = append(runs, run.Light())
	}
	var texts []string
	for _, name := range []string{"p50", "p99", "mean"} {
		numbers, err := NumbersOf(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range Group(runs)[0].Series(numbers, 0.05)[0].Rows() {
			var cells []string
			for _, c := range table.Pick(Columns(), "since", "before_value", "after_value", "change", "high", "open") {
				cells = append(cells, c.TextOf(row))
			}
			texts = append(texts, name+" "+strings.Join(cells, "|"))
			if name == "p99" && (row.Change.interval() != "≥+1565.7 %" || row.TextOf(row.Values[29]) != "≥17.0s") {
				t.Errorf("%s, %s", row.Change.interval(), row.TextOf(row.Values[29]))
			}
		}
	}
	p99, err := NumbersOf("p99")
	if err != nil {
		t.Fatal(err)
	}
	if row := Group(runs[20:])[0].Series(p99, 0.05)[0].Rows()[0]; row.HasChange() || row.Verdict() != "unknown" {
		t.Errorf("of bounds alone: %s", row.Verdict())
	}
	want := []string{
		"p50 ||1.01s|||",
		"p99 2026-01-21|1.01s|≥17.0s|≥+1579.5 %||after_value change_percent",
		"mean 2026-01-21|1.01s|≥2.47s|≥+144.8 %||after_value change_percent",
	}
	if !slices.Equal(texts, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(texts, "\n"), strings.Join(want, "\n"))
	}
}

// TestTailAlone: a change of only the slowest requests is found in high percentiles, and in no other number.
func TestTailAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var runs []*mapping.Run
	for n := range 60 {
		h := hist.New(hist.Fio3(0))
		for i := range 10000 {
			ns := 1e6 * math.Exp(0.01*r.NormFloat64()+float64(i)/10000)
			if i >= 9950 && n >= 40 {
				ns *= 1.5
			}
			h.AddLatency(int64(ns), 1)
		}
		run := night(n, mapping.CBT{Mode: "randread"}, 1)
		run.Write.Latency = mapping.NewLatency(h, nil)
		runs = append(runs, run)
	}
	numbers := MustNumbers(append(slices.Clone(facts.LatencyNames), "iops", "bandwidth")...)
	for _, s := range Group(runs)[0].Series(numbers, 0.03) {
		isTail := s.Number.Text() == "p99.9" || s.Number.Text() == "p99.99" || s.Number.Text() == "max"
		if isTail != (len(s.Changes) == 1) || isTail && s.Changes[0].After != runs[40] {
			t.Errorf("%s: %d changes", s.Number.Text(), len(s.Changes))
		}
	}
}

// TestMatch: runs are matched by their settings. A run on both sides is not compared with itself.
func TestMatch(t *testing.T) {
	run := func(id string, depth int64) *mapping.Run {
		r := &mapping.Run{Run: mapping.RunInfo{ID: id}}
		r.CBT.IODepth = depth
		return r
	}
	both := run("c", 2)
	var got []string
	for _, m := range Match([]*mapping.Run{run("a", 1), run("b", 2), both}, []*mapping.Run{both, run("d", 3), run("", 2)}) {
		text := m.Title + ":"
		for _, r := range m.Base {
			text += " " + r.Run.ID
		}
		text += " |"
		for _, r := range m.Other {
			text += " " + r.Run.ID
		}
		got = append(got, text)
	}
	if text := strings.Join(got, "; "); text != "qd1: a |; qd2: b |  c; qd3: | d" {
		t.Errorf("%s", text)
	}
}

// plainRun returns a run of fio alone with options such as "rw=read bs=4k", on one host.
func plainRun(name, host string, jobs int, options string) *mapping.Run {
	run := &mapping.Run{Run: mapping.RunInfo{Name: name}, Fio: mapping.FioInfo{Jobs: jobs, Options: map[string]string{}}}
	if host != "" {
		run.Hosts = []mapping.RunHost{{Name: host}}
	}
	for _, option := range strings.Fields(options) {
		name, value, _ := strings.Cut(option, "=")
		run.Fio.Options[name] = value
	}
	if run.Fio.Options["rw"] == "randread" {
		run.CBT.Mode = "randread"
	}
	return run
}

// TestPlainRuns: all options of fio that change what is measured, and the jobs, make a workload of runs without
// CBT. Defaults, names, the length of the test and of its windows do not.
func TestPlainRuns(t *testing.T) {
	const base = "rw=randread ioengine=libaio size=1g filename=/dev/a"
	first := plainRun("a", "h", 1, base)
	for _, same := range []*mapping.Run{
		plainRun("b", "h", 1, base+" direct=0 bs=4k iodepth=1 numjobs=1 name=x runtime=60 time_based= write_hist_log=l"),
		{Run: first.Run, CBT: first.CBT, Fio: first.Fio, Hosts: first.Hosts, IntervalMS: 1980},
	} {
		if apart := SettingsApart(first, same); Key(same) != Key(first) || len(apart) > 0 || Doubt(first, same) != "" {
			t.Errorf("%q, %q: %v", Key(first), Key(same), apart)
		}
	}
	if elsewhere := plainRun("a", "g", 1, base); Key(elsewhere) != Key(first) || Doubt(first, elsewhere) != "host g, not h" {
		t.Errorf("on another host: %q, %q: %s", Key(first), Key(elsewhere), Doubt(first, elsewhere))
	}
	others := map[string]*mapping.Run{
		"direct 1, not 0":                         plainRun("a", "h", 1, base+" direct=1"),
		"rate_iops 500, not 0":                    plainRun("a", "h", 1, base+" rate_iops=500"),
		"rate_iops 1000, not 0":                   plainRun("a", "h", 1, base+" rate_iops=1000"),
		"rw randread:8, not randread":             plainRun("a", "h", 1, base+" rw=randread:8"),
		"iodepth 16, not 1":                       plainRun("a", "h", 1, base+" iodepth=16"),
		"bs 4k,64k, not 4k":                       plainRun("a", "h", 1, base+" bs=4k,64k"),
		"size 2g, not 1g":                         plainRun("a", "h", 1, base+" size=2g"),
		"filename /dev/b, not /dev/a":             plainRun("a", "h", 1, base+" filename=/dev/b"),
		"ioengine psync, not libaio":              plainRun("a", "h", 1, base+" ioengine=psync"),
		"jobs 4, not 1":                           plainRun("a", "h", 4, base+" numjobs=4"),
		"some_new_option 1, not none":             plainRun("a", "h", 1, base+" some_new_option=1"),
		"thinktime 1ms, not 0; verify md5, not 0": plainRun("a", "h", 1, base+" thinktime=1000 verify=md5"),
	}
	for want, run := range others {
		if got := strings.Join(SettingsApart(first, run), "; "); got != want || Doubt(first, run) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	titles := map[string]bool{}
	for _, w := range Group(append(slices.Collect(maps.Values(others)), first)) {
		titles[w.Title] = true
	}
	if len(titles) != len(others)+1 {
		t.Errorf("%d titles of %d workloads: %v", len(titles), len(others)+1, titles)
	}
	bare, sized := plainRun("a", "h", 1, base), plainRun("a", "h", 1, base+" bs=4k direct=1")
	sized.CBT.OpSize = 4096
	if list := Group([]*mapping.Run{bare, sized}); list[0].Title != "randread" || list[1].Title != "randread 4K, direct 1" {
		t.Errorf("%q, %q: the title says how the workloads differ", list[0].Title, list[1].Title)
	}
	unknown := plainRun("c", "h", 1, "")
	if Key(unknown) == Key(first) || Doubt(first, unknown) != "" || Doubt(unknown, plainRun("d", "h", 1, "")) != "" {
		t.Error("runs whose options are not known")
	}
	text := plainRun("e", "h", 1, "rw=randread")
	text.Fio.Format = "normal"
	if got := Doubt(plainRun("f", "h", 1, "rw=randread fsync=8"), text); got != "" {
		t.Errorf("fio's text does not have fsync: %s", got)
	}
	if got := Doubt(plainRun("f", "h", 1, "rw=randwrite"), text); got != "rw randread, not randwrite" {
		t.Errorf("fio's text has rw: %q", got)
	}
}

// TestNights: the runs of CBT are of one workload on all nights: its names of files and volumes do not count. The
// options of fio do.
func TestNights(t *testing.T) {
	run := func(night, options string) *mapping.Run {
		r := plainRun("id-"+night, "client"+night, 4, "ioengine=rbd rw=randwrite bs=4M iodepth=16 numjobs=2 "+options)
		r.CBT = mapping.CBT{Benchmark: "librbdfio", Mode: "randwrite", OpSize: 4 << 20, IODepth: 16, NumJobs: 2, Iteration: new(0)}
		maps.Copy(r.Fio.Options, map[string]string{"rbdname": "cbt-" + night, "filename": "/tmp/cbt/" + night, "directory": "/" + night, "write_lat_log": night})
		return r
	}
	first := run("1", "direct=1")
	if next := run("2", "direct=1"); Key(next) != Key(first) {
		t.Error(SettingsApart(first, next))
	}
	if next := run("2", "direct=1 rate_iops=500"); Doubt(first, next) != "rate_iops 500, not 0" {
		t.Error(SettingsApart(first, next))
	}
	pbench := run("3", "direct=1")
	pbench.CBT.Benchmark = mapping.PBench
	if apart := SettingsApart(pbench, first); !slices.Contains(apart, "filename none, not /tmp/cbt/3") {
		t.Error(apart)
	}
}

// TestTitlesOfOptions: different workloads of fio alone have different titles, whichever of their options are set.
func TestTitlesOfOptions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var runs []*mapping.Run
		for range rapid.IntRange(1, 20).Draw(t, "runs") {
			run := plainRun("a", "", 1, "size=1g")
			set := func(name string, values ...string) string {
				value := rapid.SampledFrom(append(values, "")).Draw(t, name)
				if value != "" {
					run.Fio.Options[name] = value
				}
				return value
			}
			set("direct", "0", "1")
			run.CBT.Mode, _, _ = strings.Cut(set("rw", "read", "randrw", "randread", "randread:8"), ":")
			run.CBT.OpSize = map[string]int64{"4k": 4096, "4096": 4096, "64k": 65536, "4k,64k": 4096}[set("bs", "4k", "4096", "64k", "4k,64k")]
			if run.Fio.Options["bs"] == "4k,64k" && run.CBT.Mode == "randrw" {
				run.CBT.OpSize = 0
			}
			run.CBT.IODepth = map[string]int64{"1": 1, "16": 16}[set("iodepth", "1", "16", "1 | 16")]
			runs = append(runs, run)
		}
		titles := map[string]bool{}
		for _, w := range Group(runs) {
			titles[w.Title] = true
		}
		if len(titles) != len(Group(runs)) || titles[""] {
			t.Fatalf("%d workloads: %v", len(Group(runs)), titles)
		}
	})
}

// TestMatchStages: stages of two executions are paired by name, or else by settings. The others have no partner.
func TestMatchStages(t *testing.T) {
	stage := func(execution string, n int, name, rw string, depth int64) *mapping.Run {
		return &mapping.Run{
			Run: mapping.RunInfo{ID: execution + name, Name: "job/" + name, StageName: name, Path: "job", Execution: execution, Stage: n, Stages: 4},
			Fio: mapping.FioInfo{Options: map[string]string{"rw": rw, "iodepth": fmt.Sprint(depth)}},
			CBT: mapping.CBT{Mode: rw, OpSize: 4096, IODepth: depth},
		}
	}
	base := []*mapping.Run{stage("a", 1, "fill", "write", 8), stage("a", 2, "r1", "randread", 1), stage("a", 3, "r16", "randread", 16), stage("a", 4, "trim", "trim", 1)}
	other := []*mapping.Run{stage("b", 1, "r1", "randread", 1), stage("b", 2, "again", "randread", 1), stage("b", 3, "r16", "randread", 32), stage("b", 4, "prepare", "write", 8)}
	var got []string
	for _, m := range MatchStages(base, append(other, stage("c", 1, "r1", "randread", 1))) {
		text := m.Title + " |"
		for _, side := range [][]*mapping.Run{m.Base, m.Other} {
			for _, run := range side {
				text += " " + run.Run.ID
			}
			text += " |"
		}
		got = append(got, text)
	}
	want := []string{
		"fill and prepare: write 4K qd8 | afill | bprepare |",
		"r1: randread 4K qd1 | ar1 | br1 cr1 |",
		"r16 | ar16 | br16 |",
		"trim: trim 4K qd1 | atrim | |",
		"again: randread 4K qd1 | | bagain |",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// TestSections: a section is a workload with its own settings, and another one if something else ran beside it. Runs with
// sections have the same settings if all of their sections have.
func TestSections(t *testing.T) {
	of := func(rw, bs string) mapping.RunSection {
		size, _ := fioargs.ParseSize(bs)
		return mapping.RunSection{Name: rw, Jobs: 1, CBT: mapping.CBT{Mode: rw, OpSize: size, IODepth: 1}, Options: map[string]string{"rw": rw, "bs": bs}, Read: &mapping.Totals{Requests: 1}}
	}
	mixed := func(id string, sections ...mapping.RunSection) *mapping.Run {
		return &mapping.Run{Run: mapping.RunInfo{ID: id}, Sections: sections, Fio: mapping.FioInfo{Jobs: len(sections)}}
	}
	alone := &mapping.Run{Run: mapping.RunInfo{ID: "alone"}, CBT: of("randread", "4k").CBT, Fio: mapping.FioInfo{Jobs: 1, Options: of("randread", "4k").Options}}
	a, b := mixed("a", of("randread", "4k"), of("write", "1m")), mixed("b", of("write", "1m"), of("randread", "4k"))
	other := mixed("c", of("randread", "4k"), of("write", "64k"))
	var got []string
	for _, w := range Group(facts.Parts(a, b, other, alone)) {
		text := w.Title + ":"
		for _, run := range w.Runs {
			text += " " + run.Run.ID
		}
		got = append(got, text)
	}
	want := []string{
		"randread 4K qd1: alone", "randread 4K qd1, beside write 1M qd1: a b", "randread 4K qd1, beside write 64K qd1: c",
		"write 1M qd1, beside randread 4K qd1: a b", "write 64K qd1, beside randread 4K qd1: c",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if Key(a) != Key(b) || Key(a) == Key(other) || !Has(a, Keys(facts.Parts(b)[:1])) || Has(a, Keys([]*mapping.Run{alone})) {
		t.Error("runs with sections have the wrong settings")
	}
}
