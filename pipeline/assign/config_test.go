package assign_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/layout"
)

func TestFlatten(t *testing.T) {
	r := tree{
		id + layout.ConfigName: "cluster:\n  benchmark: fio\n  list: [1, two, 3.5, null, true]\n  null: x\n  none: ~\n  2: {3: three, true: yes}\n" +
			"  nested: [{a: 1}, [b, c], d]\n  large: 1000000.0\n  day: 2024-05-06\n  empty: {}\n  text: 0x10\n",
		"results/" + layout.ArchiveConfigName: yamlOf("clients: [h1]", "mons: {m1: {a: '1.2.3.4:6789'}}"),
	}.with(id + "output.0_bw.1.log.h1").read(t).Runs[0]
	want := map[string]any{
		"cluster.benchmark": "fio", "cluster.list": "1,two,3.5,,true", "cluster.null": "x", "cluster.2.3": "three", "cluster.2.true": "yes",
		"cluster.nested.0.a": "1", "cluster.nested.1": "b,c", "cluster.nested.2": "d", "cluster.large": "1000000",
		"cluster.day": "2024-05-06", "cluster.text": "16", "cbt.clients": "h1", "cbt.mons.m1.a": "1.2.3.4:6789",
	}
	if diff := cmp.Diff(want, configure(t, r)); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

func TestFill(t *testing.T) {
	tests := []struct {
		name, yaml string
		file       string
		want       mapping.CBT
	}{
		{"lists of several say nothing", yamlOf("mode: [read, write]", "op_size: [4096, 8192]", "iodepth: [4]"), "output.0_bw.1.log.h", mapping.CBT{IODepth: 4, Iteration: new(0)}},
		{"the path decides", yamlOf("mode: [read, write]", "op_size: 1"), "raw_ra-1/op_size-8192/concurrent_procs-2/iodepth-3/write/output.0_bw.1.log.h",
			mapping.CBT{Mode: "write", OpSize: 8192, IODepth: 3, Procs: 2, OSDReadAhead: 1, Iteration: new(0)}},
		{"flat, of one workload", yamlOf("mode: read", "workloads: {w: {mode: write, time: 5}}"), "output.0_bw.1.log.h", mapping.CBT{Workload: "w", Mode: "write", RunSeconds: 5, Iteration: new(0)}},
		{"flat, of one of two workloads", yamlOf("mode: read", "ramp: 3", "workloads: {w: {mode: write}, v: {}}"), "output.0_bw.1.log.h", mapping.CBT{RampSeconds: 3, Iteration: new(0)}},
		{"two workloads fit", yamlOf("workloads: {w: {mode: write, op_size: 1, time: 5}, v: {mode: write, op_size: 1}}"), "write_1.h/iodepth-2/numjobs-3/output.0_bw.1.log",
			mapping.CBT{Mode: "write", OpSize: 1, IODepth: 2, NumJobs: 3, Iteration: new(0)}},
		{"CBT's own op_size", yamlOf("workloads: {w: {time: 5}}"), "write_4194304.h/iodepth-2/numjobs-3/output.0_bw.1.log",
			mapping.CBT{Workload: "w", Mode: "write", OpSize: 4 << 20, IODepth: 2, NumJobs: 3, RunSeconds: 5, Iteration: new(0)}},
		{"an unknown workload", yamlOf("time: 5", "workloads: {w: {time: 6}}"), "v.h/iodepth-2/numjobs-3/output.0_bw.1.log", mapping.CBT{Workload: "v", IODepth: 2, NumJobs: 3, RunSeconds: 5, Iteration: new(0)}},
		{"sizes are mixed", yamlOf("benchmark: fio", "op_size: 4096", "bssplit: 4k/50:8k/50"), "output.0_bw.1.log.h", mapping.CBT{Benchmark: "fio", Iteration: new(0)}},
		{"total beats depth", yamlOf("iodepth: 4", "total_iodepth: 64"), "output.0_bw.1.log.h", mapping.CBT{TotalIODepth: 64, Iteration: new(0)}},
		{"numbers that are none", yamlOf("iodepth: -1", "numjobs: .nan", "time: 1e300", "ramp: x", "osd_ra: 99999999999999999999", "rwmixread: ' 7 '", "volumes_per_client: 2.0"),
			"output.0_bw.1.log.h", mapping.CBT{RWMixRead: 7, Volumes: 2, Iteration: new(0)}},
		{"a share of reads without writes", yamlOf("mode: randread", "rwmixread: 70"), "output.0_bw.1.log.h", mapping.CBT{Mode: "randread", Iteration: new(0)}},
		{"a share of reads", yamlOf("mode: readwrite", "rwmixread: 70"), "output.0_bw.1.log.h", mapping.CBT{Mode: "readwrite", RWMixRead: 70, Iteration: new(0)}},
		{"not below cluster", "benchmark: rawfio\nmode: read\n", "output.0_bw.1.log.h", mapping.CBT{Benchmark: "rawfio", Mode: "read", Iteration: new(0)}},
		{"numbers too large in the path", "{a: 1}", "op_size-99999999999999999999/x/output.0_bw.1.log.h", mapping.CBT{Workload: "", Iteration: new(0)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := tree{id + layout.ConfigName: tt.yaml}.with(id + tt.file).read(t).Runs[0]
			configure(t, r)
			if diff := cmp.Diff(tt.want, r.CBT); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
			once := r.CBT
			configure(t, r)
			if diff := cmp.Diff(once, r.CBT); diff != "" {
				t.Errorf("settings when read again:\n%s", diff)
			}
		})
	}
}

func TestDamagedConfiguration(t *testing.T) {
	const log = "raw_ra-1/op_size-8192/concurrent_procs-2/iodepth-3/write/output.0_bw.1.log.h"
	whole := yamlOf("clients: [h]")
	tests := []struct {
		name  string
		files tree
		want  []string // in the error
	}{
		{"missing", tree{"results/" + layout.ArchiveConfigName: whole}, []string{id + layout.ConfigName, fs.ErrNotExist.Error()}},
		{"empty", tree{id + layout.ConfigName: "", "results/" + layout.ArchiveConfigName: whole}, []string{layout.ConfigName, "no configuration in it"}},
		{"only a comment", tree{id + layout.ConfigName: "# x\n", "results/" + layout.ArchiveConfigName: whole}, []string{"no configuration in it"}},
		{"broken", tree{id + layout.ConfigName: "cluster:\n  a: 1\n  b: [1\nc: 2", "results/" + layout.ArchiveConfigName: whole}, []string{layout.ConfigName, "line "}},
		{"no mapping", tree{id + layout.ConfigName: "[1, 2]", "results/" + layout.ArchiveConfigName: whole}, []string{"want a mapping"}},
		{"too long", tree{id + layout.ConfigName: strings.Repeat("#", 200<<10), "results/" + layout.ArchiveConfigName: whole}, []string{"longer than"}},
		{
			"one name", tree{id + layout.ConfigName: "cluster:\n  a: {b: 1}\n  a.b: 2", "results/" + layout.ArchiveConfigName: whole},
			[]string{layout.ConfigName, "two settings have the name cluster.a.b", `has the value "1", not "2"`},
		},
		{"aliases without end", tree{id + layout.ConfigName: "a: &a [*a]", "results/" + layout.ArchiveConfigName: whole}, []string{layout.ConfigName}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.files.with(id + log).read(t)
			if len(a.Runs) != 1 || len(a.Left) > 0 {
				t.Fatalf("runs %+v, left %q", shorts(a), reasons(a))
			}
			r := a.Runs[0]
			flat, err := r.Configure(context.Background())
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q, want %q in it", err, part)
				}
			}
			if tt.name == "missing" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("error %v does not wrap ErrNotExist", err)
			}
			if r.OpSize != 8192 || r.Mode != "write" || len(r.Hosts) != 1 || flat["cbt.clients"] != "h" || flat[""] != nil {
				t.Errorf("settings %+v, configuration %v", r.CBT, flat)
			}
		})
	}
}

func TestMissingHosts(t *testing.T) {
	tests := []struct {
		clients string
		files   []string
		want    []string
	}{
		{"[a, b, c, d]", []string{"output.0_clat_hist.1.log.a", "output.0_clat_hist.1.log.b", "output.0_clat_hist.1.log.d", "output.0.c"}, nil},
		{"[a, b, c, d]", []string{"output.0_clat_hist.1.log.a", "output.0_clat_hist.1.log.b", "output.0.c"}, []string{"d"}},
		{"[u@a:22, b.lab.org]", []string{"output.0_bw.1.log.a", "output.0_bw.1.log.b"}, nil},
		{"[a, b]", []string{"output.0.a"}, []string{"b"}},
		{"[a, b]", []string{"output.0_bw.1.log"}, nil},
		{"[10.0.0.1, 10.0.0.2]", []string{"output.0_bw.1.log.a"}, nil},
		{"a", []string{"output.0_bw.1.log.a"}, nil},
		{"{a: x, b: y}", []string{"output.0_bw.1.log.B"}, []string{"a"}},
	}
	for _, tt := range tests {
		files := tree{id + layout.ConfigName: yamlOf("benchmark: fio"), "results/" + layout.ArchiveConfigName: yamlOf("clients: " + tt.clients)}
		for _, f := range tt.files {
			files[id+f] = ""
		}
		r := files.read(t).Runs[0]
		configure(t, r)
		if diff := cmp.Diff(tt.want, r.MissingHosts()); diff != "" {
			t.Errorf("clients %s, files %q (-want +got):\n%s", tt.clients, tt.files, diff)
		}
	}
}
