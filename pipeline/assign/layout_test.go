package assign_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/mapping"
)

// layouts are one archive for each way in which CBT lays out its files: two hosts, and
// volumes and jobs of equal numbers on both.
var layouts = []struct {
	name     string
	files    tree
	run      inShort
	settings mapping.CBT // less what all have
}{
	{
		name: "librbdfio flat",
		files: tree{
			"results/cbt_config.yaml": yamlOf("clients: [hostA, me@hostB]", "osds: [o1, o2, o3]", "osds_per_node: 4", "ceph_version: 19.2.1"),
			"results/00000003/id-7c1f03ab/benchmark_config.yaml": yamlOf("benchmark: librbdfio", "iteration: 3", "mode: randrw", "op_size: 4096",
				"iodepth: 8", "numjobs: 2", "procs_per_volume: 1", "volumes_per_client: 2", "rwmixread: 70", "time: 300", "ramp: 30", "pool_profile: rbd3", "osd_ra: 4096"),
		}.with(
			"results/00000003/id-7c1f03ab/output.0_clat_hist.1.log.hostA", "results/00000003/id-7c1f03ab/output.0_clat_hist.2.log.hostA",
			"results/00000003/id-7c1f03ab/output.10_clat_hist.1.log.hostA", "results/00000003/id-7c1f03ab/output.2_clat_hist.1.log.hostA",
			"results/00000003/id-7c1f03ab/output.0_clat_hist.1.log.hostB", "results/00000003/id-7c1f03ab/output.0_bw.1.log.hostB",
			"results/00000003/id-7c1f03ab/output.0_clat.1.log.hostB", "results/00000003/id-7c1f03ab/output.0.hostA",
			"results/00000003/id-7c1f03ab/json_output.0.hostA", "results/00000003/id-7c1f03ab/ceph_settings.out.o1",
			"results/00000003/id-7c1f03ab/idle_monitoring.hostA/collectl/x.txt", "results/00000003/id-7c1f03ab/collectl.hostA/x.json",
		),
		run: inShort{
			Path: "results/00000003/id-7c1f03ab", Name: "3/id-7c1f03ab", Config: true,
			Logs: "hostA/0/1 hostA/0/2 hostA/2/1 hostA/10/1 hostB/0/1", Others: "hostB/0/1 hostB/0/1", Reports: "hostA/0 hostA/0",
		},
		settings: mapping.CBT{Benchmark: "librbdfio", Iteration: new(3), Mode: "randrw", OpSize: 4096, IODepth: 8, NumJobs: 2, Procs: 1, Volumes: 2, RWMixRead: 70, RunSeconds: 300, RampSeconds: 30, Pool: "rbd3", OSDReadAhead: 4096, Clients: 2, OSDHosts: 3, OSDs: 12, CephVersion: "19.2.1"},
	},
	{
		name: "fio with endpoints",
		files: tree{"00000000/id-00c0ffee/benchmark_config.yaml": yamlOf("benchmark: fio", "bs: 4k", "op_size: 4194304", "mode: [read]",
			"client_endpoints: rbd", "procs_per_endpoint: 2", "time: '60'")}.with(
			"00000000/id-00c0ffee/output.1_clat_hist.1.log.a.b.c", "00000000/id-00c0ffee/output.1.a.b.c"),
		run:      inShort{Path: "00000000/id-00c0ffee", Name: "0/id-00c0ffee", Logs: "a.b.c/1/1", Reports: "a.b.c/1", Config: true},
		settings: mapping.CBT{Benchmark: "fio", Mode: "read", OpSize: 4096, Procs: 2, RunSeconds: 60, Iteration: new(0)},
	},
	{
		name: "rawfio",
		files: tree{"results/00000000/id-aa/benchmark_config.yaml": yamlOf("benchmark: rawfio", "concurrent_procs: 3", "iodepth: [1, 32]")}.with(
			"results/00000000/id-aa/raw_ra-00000128/op_size-00065536/concurrent_procs-006/iodepth-032/randread/output.2_clat_hist.1.log.h1",
			"results/00000000/id-aa/raw_ra-00000128/op_size-00065536/concurrent_procs-006/iodepth-032/randread/output.2.h1",
			"results/00000000/id-aa/raw_ra-00000128/op_size-00065536/concurrent_procs-006/iodepth-032/randread/live_output.2.h2",
			"results/00000000/id-aa/raw_ra-00000128/op_size-00065536/concurrent_procs-006/iodepth-032/randread/output.2_clat_hist.1.log.h2"),
		run: inShort{
			Path: "results/00000000/id-aa/raw_ra-00000128/op_size-00065536/concurrent_procs-006/iodepth-032/randread",
			Name: "0/id-aa/raw_ra-00000128/op_size-00065536/concurrent_procs-006/iodepth-032/randread",
			Logs: "h1/2/1 h2/2/1", Reports: "h2/2 h1/2", Config: true,
		},
		settings: mapping.CBT{Benchmark: "rawfio", Mode: "randread", OpSize: 65536, IODepth: 32, Procs: 6, OSDReadAhead: 128, Iteration: new(0)},
	},
	{
		name: "kvmrbdfio",
		files: tree{"id-0000abcd/benchmark_config.yaml": yamlOf("benchmark: kvmrbdfio", "iteration: 7", "op_size: 1024")}.with(
			"id-0000abcd/osd_ra-00004096/client_ra-00000256/op_size-00004096/concurrent_procs-002/iodepth-016/write/output.0_clat_hist.1.log.vm1"),
		run: inShort{
			Path: "id-0000abcd/osd_ra-00004096/client_ra-00000256/op_size-00004096/concurrent_procs-002/iodepth-016/write",
			Name: "id-0000abcd/osd_ra-00004096/client_ra-00000256/op_size-00004096/concurrent_procs-002/iodepth-016/write",
			Logs: "vm1/0/1", Config: true,
		},
		settings: mapping.CBT{Benchmark: "kvmrbdfio", Iteration: new(7), Mode: "write", OpSize: 4096, IODepth: 16, Procs: 2, OSDReadAhead: 4096, ReadAhead: 256},
	},
	{
		name: "rbdfio without volumes, hosts are addresses",
		files: tree{"results/00000000/id-bb/benchmark_config.yaml": yamlOf("benchmark: rbdfio")}.with(
			"results/00000000/id-bb/rbdfio/osd_ra-00000000/client_ra-00000128/op_size-04194304/concurrent_procs-001/iodepth-001/read/output_clat_hist.1.log.10.0.0.1",
			"results/00000000/id-bb/rbdfio/osd_ra-00000000/client_ra-00000128/op_size-04194304/concurrent_procs-001/iodepth-001/read/output_clat_hist.2.log.10.0.0.1",
			"results/00000000/id-bb/rbdfio/osd_ra-00000000/client_ra-00000128/op_size-04194304/concurrent_procs-001/iodepth-001/read/output.10.0.0.1"),
		run: inShort{
			Path: "results/00000000/id-bb/rbdfio/osd_ra-00000000/client_ra-00000128/op_size-04194304/concurrent_procs-001/iodepth-001/read",
			Name: "0/id-bb/rbdfio/osd_ra-00000000/client_ra-00000128/op_size-04194304/concurrent_procs-001/iodepth-001/read",
			Logs: "10.0.0.1//1 10.0.0.1//2", Reports: "10.0.0.1/", Config: true,
		},
		settings: mapping.CBT{Benchmark: "rbdfio", Mode: "read", OpSize: 4 << 20, IODepth: 1, Procs: 1, ReadAhead: 128, Iteration: new(0)},
	},
	{
		name: "librbdfio of the histogram fork, host on the files",
		files: tree{"results/00000000/id-cc/benchmark_config.yaml": yamlOf("benchmark: librbdfio", "log_hist_msec: 1000")}.with(
			"results/00000000/id-cc/osd_ra-00004096/op_size-00004096/concurrent_procs-004/iodepth-128/randwrite/output.0_clat_hist.1.log.c1",
			"results/00000000/id-cc/osd_ra-00004096/op_size-00004096/concurrent_procs-004/iodepth-128/randwrite/output.0_clat_hist.1.log.c2"),
		run: inShort{
			Path: "results/00000000/id-cc/osd_ra-00004096/op_size-00004096/concurrent_procs-004/iodepth-128/randwrite",
			Name: "0/id-cc/osd_ra-00004096/op_size-00004096/concurrent_procs-004/iodepth-128/randwrite", Logs: "c1/0/1 c2/0/1", Config: true,
		},
		settings: mapping.CBT{Benchmark: "librbdfio", Mode: "randwrite", OpSize: 4096, IODepth: 128, Procs: 4, OSDReadAhead: 4096, Iteration: new(0)},
	},
	{
		name: "the same, host on the first folder",
		files: tree{"results/00000000/id-cc/benchmark_config.yaml": yamlOf("benchmark: librbdfio")}.with(
			"results/00000000/id-cc/osd_ra-00004096.c1.lab.org/op_size-00004096/concurrent_procs-004/iodepth-128/randwrite/output.0_clat_hist.1.log",
			"results/00000000/id-cc/osd_ra-00004096.c2.lab.org/op_size-00004096/concurrent_procs-004/iodepth-128/randwrite/output.0_clat_hist.1.log",
			"results/00000000/id-cc/osd_ra-00004096.c2.lab.org/op_size-00004096/concurrent_procs-004/iodepth-128/randwrite/json_output.0"),
		run: inShort{
			Path: "results/00000000/id-cc/osd_ra-00004096/op_size-00004096/concurrent_procs-004/iodepth-128/randwrite",
			Name: "0/id-cc/osd_ra-00004096/op_size-00004096/concurrent_procs-004/iodepth-128/randwrite",
			Logs: "c1.lab.org/0/1 c2.lab.org/0/1", Reports: "c2.lab.org/0", Config: true,
		},
		settings: mapping.CBT{Benchmark: "librbdfio", Mode: "randwrite", OpSize: 4096, IODepth: 128, Procs: 4, OSDReadAhead: 4096, Iteration: new(0)},
	},
	{
		name: "workloads, host with dots on the folder",
		files: tree{"results/00000000/id-dd/benchmark_config.yaml": yamlOf("benchmark: librbdfio", "mode: write", "time: 90", "volumes_per_client: 2",
			"workloads:", "  4krr:", "    mode: randread", "    op_size: 4096", "    numjobs: [1, 2]", "    total_iodepth: [4, 16]", "  warm:", "    mode: write", "    time: 600")}.with(
			"results/00000000/id-dd/4krr.c1.lab.org/numjobs-002/total_iodepth-16/iodepth-000008/output.0_clat_hist.1.log",
			"results/00000000/id-dd/4krr.c1.lab.org/numjobs-002/total_iodepth-16/iodepth-000008/output.1_clat_hist.1.log",
			"results/00000000/id-dd/4krr.c2.lab.org/numjobs-002/total_iodepth-16/iodepth-000008/output.0_clat_hist.1.log",
			"results/00000000/id-dd/4krr.c2.lab.org/numjobs-002/total_iodepth-16/iodepth-000008/output.0"),
		run: inShort{
			Path: "results/00000000/id-dd/4krr/numjobs-002/total_iodepth-16", Name: "0/id-dd/4krr/numjobs-002/total_iodepth-16",
			Logs: "c1.lab.org/0/1 c1.lab.org/1/1 c2.lab.org/0/1", Reports: "c2.lab.org/0", Config: true,
		},
		settings: mapping.CBT{Benchmark: "librbdfio", Workload: "4krr", Mode: "randread", OpSize: 4096, NumJobs: 2, IODepth: 8, TotalIODepth: 16, Volumes: 2, RunSeconds: 90, Iteration: new(0)},
	},
	{
		name: "workloads, volumes of one execution in two iodepth folders",
		files: tree{"results/00000000/id-dd/benchmark_config.yaml": yamlOf("benchmark: librbdfio", "workloads: {w: {mode: read, numjobs: [1], total_iodepth: [3]}}")}.with(
			"results/00000000/id-dd/w.c1/numjobs-001/total_iodepth-3/iodepth-000001/output.1_clat_hist.1.log",
			"results/00000000/id-dd/w.c1/numjobs-001/total_iodepth-3/iodepth-000001/output.1",
			"results/00000000/id-dd/w.c1/numjobs-001/total_iodepth-3/iodepth-000002/output.0_clat_hist.1.log",
			"results/00000000/id-dd/w.c1/numjobs-001/total_iodepth-3/iodepth-000002/output.0"),
		run: inShort{
			Path: "results/00000000/id-dd/w/numjobs-001/total_iodepth-3", Name: "0/id-dd/w/numjobs-001/total_iodepth-3",
			Logs: "c1/0/1 c1/1/1", Reports: "c1/1 c1/0", Config: true,
		},
		settings: mapping.CBT{Benchmark: "librbdfio", Workload: "w", Mode: "read", NumJobs: 1, TotalIODepth: 3, Iteration: new(0)},
	},
	{
		name: "workloads with dots in their names",
		files: tree{"results/00000000/id-dd/benchmark_config.yaml": yamlOf("benchmark: librbdfio", "workloads: {v1: {mode: write}, v1.5.rand: {mode: randread}}")}.with(
			"results/00000000/id-dd/v1.5.rand.c1.org/numjobs-001/iodepth-000004/output.0_clat_hist.1.log",
			"results/00000000/id-dd/v1.5.rand.c2.org/numjobs-001/iodepth-000004/output.0_clat_hist.1.log"),
		run: inShort{
			Path: "results/00000000/id-dd/v1.5.rand/numjobs-001/iodepth-000004", Name: "0/id-dd/v1.5.rand/numjobs-001/iodepth-000004",
			Logs: "c1.org/0/1 c2.org/0/1", Config: true,
		},
		settings: mapping.CBT{Benchmark: "librbdfio", Workload: "v1.5.rand", Mode: "randread", NumJobs: 1, IODepth: 4, Iteration: new(0)},
	},
	{
		name: "newer workloads",
		files: tree{"results/00000000/id-ee/benchmark_config.yaml": yamlOf("benchmark: librbdfio", "op_size: 8192",
			"workloads: {a: {mode: randread, op_size: 4096, iodepth: [16]}, b: {mode: randread, rwmixread: 3}}")}.with(
			"results/00000000/id-ee/randread_4096.c1/iodepth-016/numjobs-002/output.0_clat_hist.1.log",
			"results/00000000/id-ee/randread_4096.c2/iodepth-016/numjobs-002/output.0_clat_hist.1.log"),
		run: inShort{
			Path: "results/00000000/id-ee/randread_4096/iodepth-016/numjobs-002", Name: "0/id-ee/randread_4096/iodepth-016/numjobs-002",
			Logs: "c1/0/1 c2/0/1", Config: true,
		},
		settings: mapping.CBT{Benchmark: "librbdfio", Workload: "a", Mode: "randread", OpSize: 4096, IODepth: 16, NumJobs: 2, Iteration: new(0)},
	},
	{
		name: "newer workloads, the folder's iodepth is the total",
		files: tree{"results/00000000/id-ee/benchmark_config.yaml": yamlOf("benchmark: librbdfio", "workloads: {a: {mode: read, op_size: 4096, total_iodepth: [16, 32]}}")}.with(
			"results/00000000/id-ee/read_4096/iodepth-016/numjobs-001/output.0_clat_hist.1.log.c1"),
		run:      inShort{Path: "results/00000000/id-ee/read_4096/iodepth-016/numjobs-001", Name: "0/id-ee/read_4096/iodepth-016/numjobs-001", Logs: "c1/0/1", Config: true},
		settings: mapping.CBT{Benchmark: "librbdfio", Workload: "a", Mode: "read", OpSize: 4096, TotalIODepth: 16, NumJobs: 1, Iteration: new(0)},
	},
	{
		name: "a workload folder out of its archive",
		files: tree{}.with("old/4krr.c1.lab.org/numjobs-002/total_iodepth-16/iodepth-000008/output.0_clat_hist.1.log",
			"old/4krr.c2.lab.org/numjobs-002/total_iodepth-16/iodepth-000008/output.0_clat_hist.1.log"),
		run: inShort{Path: "old/4krr/numjobs-002/total_iodepth-16/output", Name: "old/4krr/numjobs-002/total_iodepth-16/output",
			Logs: "c1.lab.org/0/1 c2.lab.org/0/1"},
		settings: mapping.CBT{Workload: "4krr", NumJobs: 2, IODepth: 8, TotalIODepth: 16},
	},
}

func TestLayouts(t *testing.T) {
	for _, tt := range layouts {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.files.read(t)
			if diff := cmp.Diff([]inShort{tt.run}, shorts(a)); diff != "" {
				t.Fatalf("runs (-want +got):\n%s", diff)
			}
			if got := reasons(a); len(got) > 0 {
				t.Errorf("left: %q, want none", got)
			}
			configure(t, a.Runs[0])
			if diff := cmp.Diff(tt.settings, a.Runs[0].CBT); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

// An archive gives the same as a folder, packed, and with others in one folder.
func TestLayoutsPacked(t *testing.T) {
	for _, tt := range layouts {
		t.Run(tt.name, func(t *testing.T) {
			folder, packed := tt.files.read(t), read(context.Background(), scan(t, tt.files.pack(t, "arch")))
			if diff := cmp.Diff(shorts(folder), shorts(packed)); diff != "" {
				t.Errorf("runs of the folder and of the archive (-folder +archive):\n%s", diff)
			}
			if f, p := folder.Runs[0].Archive, packed.Runs[0].Archive; f != p {
				t.Errorf("archive %q as a folder, %q packed", f, p)
			}
			deep := tt.files.under("to/the").read(t)
			want, got := folder.Runs[0], deep.Runs[0]
			if got.Below != "to/the/"+want.Below {
				t.Errorf("two folders deeper: %q below the argument", got.Below)
			}
			switch { // CBT's archive is the folder that has results
			case strings.HasPrefix(want.Path, "results/") && (got.Archive != "the" || got.Path != want.Path || got.Name() != want.Name()):
				t.Errorf("two folders deeper: archive %q, path %q, name %q", got.Archive, got.Path, got.Name())
			case !strings.HasPrefix(want.Path, "results/") && (got.Archive != want.Archive || got.Path != "to/the/"+want.Path || got.Name() != "to/the/"+want.Name()):
				t.Errorf("two folders deeper: archive %q, path %q, name %q", got.Archive, got.Path, got.Name())
			}
		})
	}
}

func TestSeveralArchives(t *testing.T) {
	flat := layouts[0].files
	other := tree{}
	for p, content := range flat {
		other["b/"+p], other["a/"+p] = content, content
	}
	other = other.with("a/results/00000004/id-7c1f03ab/output.0_clat_hist.1.log.hostA", "a/results/00000003/id-00000001/output.0_bw.1.log.hostA")
	var got []string
	for _, r := range other.read(t).Runs {
		got = append(got, r.Archive+"/"+r.Path)
	}
	want := []string{"a/results/00000003/id-00000001", "a/results/00000003/id-7c1f03ab", "a/results/00000004/id-7c1f03ab", "b/results/00000003/id-7c1f03ab"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	// Two arguments of one name are two archives.
	if a := read(context.Background(), scan(t, flat.write(t, "arch"), flat.write(t, "arch"))); len(a.Runs) != 2 || len(a.Left) > 0 {
		t.Errorf("two archives of one name: %d runs, left %q", len(a.Runs), reasons(a))
	}
}

// The user may give a folder from inside of an archive.
func TestInsideArchive(t *testing.T) {
	root := layouts[7].files.write(t, "arch")
	for dir, below := range map[string]string{
		"":                           "results/00000000/id-dd/4krr/numjobs-002/total_iodepth-16",
		"/results":                   "00000000/id-dd/4krr/numjobs-002/total_iodepth-16",
		"/results/00000000":          "id-dd/4krr/numjobs-002/total_iodepth-16",
		"/../" + filepath.Base(root): "results/00000000/id-dd/4krr/numjobs-002/total_iodepth-16",
	} {
		a := read(context.Background(), scan(t, root+dir))
		const path, name = "results/00000000/id-dd/4krr/numjobs-002/total_iodepth-16", "0/id-dd/4krr/numjobs-002/total_iodepth-16"
		if r := a.Runs[0]; len(a.Runs) != 1 || r.Archive != "arch" || r.Path != path || r.Below != below || r.Name() != name || len(r.HostNames()) != 2 {
			t.Errorf("%s: archive %s, %+v", dir, r.Archive, shorts(a))
		}
		configure(t, a.Runs[0])
	}
	a := read(context.Background(), scan(t, layouts[0].files.write(t, "arch")+"/results/00000003/id-7c1f03ab"))
	if r := a.Runs[0]; len(a.Runs) != 1 || r.Archive != "arch" || r.Path != "results/00000003/id-7c1f03ab" || r.Below != "." || r.Name() != "3/id-7c1f03ab" {
		t.Errorf("an id- folder: archive %s, %+v", r.Archive, shorts(a))
	}
	configure(t, a.Runs[0])
	if *a.Runs[0].Iteration != 3 {
		t.Errorf("iteration %d, want 3 as the configuration says", *a.Runs[0].Iteration)
	}
}
