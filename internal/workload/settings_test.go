package workload

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/mapping"
)

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

// TestPlainRuns: all options of fio that change what is measured, the jobs and the hosts make a workload of runs without
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
		"host g, not h":                           plainRun("a", "g", 1, base),
		"jobs 4, not 1":                           plainRun("a", "h", 4, base+" numjobs=4"),
		"some_new_option 1, not none":             plainRun("a", "h", 1, base+" some_new_option=1"),
		"host none, not h":                        plainRun("a", "", 1, base),
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
	unknown := plainRun("c", "h", 1, "")
	if Key(unknown) == Key(first) || Doubt(first, unknown) != "" || Doubt(unknown, plainRun("d", "h", 1, "")) != "" {
		t.Error("runs whose options are not known")
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
