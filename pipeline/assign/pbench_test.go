package assign_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/layout"
	"github.com/fio2es/fio2es/pipeline/source"
)

const pbenchJob = `[global]
bs=128k
runtime=30
ioengine=libaio
iodepth=32
direct=1
time_based=1
ramp_time=5
write_bw_log=fio
write_iops_log=fio
write_lat_log=fio
log_avg_msec=1000
write_hist_log=fio
log_hist_msec=10000

[job-/dev/sda]
filename=/dev/sda
rw=randwrite
numjobs=2

[job-/dev/sdb]
filename=/dev/sdb
rw=randwrite
numjobs=2
`

// clientReport is what fio --client prints.
func clientReport(jobs ...job) string {
	return strings.Replace(fioReport(append(jobs, job{"All clients"})...), `"jobs"`, `"client_stats"`, 1)
}

// sampleTree is a sample of pbench-fio of two clients.
func sampleTree(dir string) tree {
	return tree{
		dir + "/fio.job": pbenchJob, dir + "/fio.cmd": "fio --client=a --client=b --max-jobs=4 --output-format=json fio.job\n",
		dir + "/fio-result.txt": clientReport(job{"job-/dev/sda", histMsec, "write_hist_log=fio"}), dir + "/result.txt": "iops=1\n",
		dir + "/result.json": `{"throughput": 1}`, dir + "/tools-default/a/iostat/disk.txt": "x",
	}.with(dir+"/clients/a/fio_clat_hist.1.log", dir+"/clients/a/fio_clat_hist.2.log", dir+"/clients/a/fio_clat.1.log",
		dir+"/clients/b.lab/fio_clat_hist.1.log", dir+"/clients/b.lab/fio_clat_hist.2.log", dir+"/clients/b.lab/client-result.txt")
}

var pbenchRun = inShort{Logs: "a//1 a//2 b.lab//1 b.lab//2", Others: "a//1", Reports: "/?"}

func TestPbench(t *testing.T) {
	files := sampleTree("fio_x_2024/1-randwrite-128KiB/sample1")
	for p, content := range sampleTree("fio_x_2024/1-randwrite-128KiB/sample2") {
		files[p] = content
	}
	files["fio_x_2024/2-read-4KiB/sample1/fio-result.txt"] = fioReport(job{"j", histMsec, "write_hist_log=fio"})
	files["fio_x_2024/2-read-4KiB/fio.job"] = "[global]\nbs=4k\n[a]\nrw=read\niodepth=4\n" // as newer versions have it
	files = files.with("fio_x_2024/2-read-4KiB/sample1/clients/localhost/fio_clat_hist.1.log",
		"fio_x_2024/sysinfo/beg/a/block-params.txt", "fio_x_2024/sysinfo/x.json", "fio_x_2024/metadata.log", "fio_x_2024/summary-result.txt")
	for how, a := range map[string]*assign.Archive{"folder": files.read(t), "packed": read(context.Background(), scan(t, files.pack(t, "arch")))} {
		want := []inShort{pbenchRun, pbenchRun, {Logs: "localhost//1", Reports: "localhost/?"}}
		for i, path := range []string{"1-randwrite-128KiB/sample1", "1-randwrite-128KiB/sample2", "2-read-4KiB/sample1"} {
			want[i].Path = "fio_x_2024/" + path
			want[i].Name = want[i].Path
		}
		if diff := cmp.Diff(want, shorts(a)); diff != "" {
			t.Fatalf("%s: runs (-want +got):\n%s", how, diff)
		}
		first := mapping.CBT{Benchmark: mapping.PBench, Mode: "randwrite", OpSize: 128 << 10}
		settings := []mapping.CBT{first, first, {Benchmark: mapping.PBench, Mode: "read", OpSize: 4 << 10}}
		for i, r := range a.Runs {
			configure(t, r)
			if diff := cmp.Diff(settings[i], r.CBT); diff != "" {
				t.Errorf("%s: %s: settings (-want +got):\n%s", how, r.Path, diff)
			}
			if r.Job == nil || r.Reports[0].Candidate || r.Reports[0].Found != assign.FoundNamed {
				t.Errorf("%s: %s: job file %v, report %+v", how, r.Path, r.Job, r.Reports[0])
			}
		}
		o := a.Runs[0].Sections[0].Map()
		if o["log_hist_msec"] != "10000" || o["rw"] != "randwrite" {
			t.Errorf("%s: options %v", how, o)
		}
		for _, l := range a.Left {
			if strings.Contains(l.File.Path, "tools-") || strings.Contains(l.File.Path, "sysinfo") || l.Notable {
				t.Errorf("%s: left %s: %s", how, l.File.Path, l.Reason)
			}
		}
	}
}

// TestRealPbench reads what pbench-fio would have kept of real fio: with a client, packed,
// and without a client.
func TestRealPbench(t *testing.T) {
	a := read(context.Background(), scan(t, "testdata/pbench"))
	const demo = "fio_demo_2026.11.22T02.20.00/"
	want := []inShort{
		{Path: demo + "1-randwrite-4KiB/sample1", Logs: "127.0.0.1//1 127.0.0.1//2", Others: "127.0.0.1//1 127.0.0.1//2", Reports: "/?"},
		{Path: demo + "1-randwrite-4KiB/sample2", Logs: "localhost//1 localhost//2", Others: "localhost//1 localhost//2", Reports: "localhost/?"},
		{Path: demo + "2-randread-16KiB/sample1", Logs: "localhost//1 localhost//2", Others: "localhost//1 localhost//2", Reports: "localhost/?"},
	}
	for i := range want {
		want[i].Name = want[i].Path
	}
	if diff := cmp.Diff(want, shorts(a)); diff != "" {
		t.Fatalf("runs (-want +got):\n%s", diff)
	}
	for i, r := range a.Runs {
		settings := mapping.CBT{Benchmark: mapping.PBench, Mode: "randwrite", OpSize: 4096}
		if i == 2 {
			settings.Mode, settings.OpSize = "randread", 16384
		}
		if diff := cmp.Diff(settings, r.CBT); diff != "" {
			t.Errorf("%s: settings (-want +got):\n%s", r.Path, diff)
		}
		for _, f := range r.Files() {
			if f.ModTime.IsZero() {
				t.Errorf("%s: no time of change", f.Name())
			}
		}
	}
	if len(a.Left) > 0 {
		t.Errorf("left %q", reasons(a))
	}
}

// packSample packs a sample as pbench-fio does, with another compression.
func packSample(t *testing.T, sample tree) string {
	inner := tree{}
	for p, content := range sample {
		inner[strings.TrimPrefix(p, "sample1/")] = content
	}
	return inner.pack(t, "sample1")
}

// A sample that is there packed and unpacked is one run.
func TestSampleTwice(t *testing.T) {
	sample := sampleTree("sample1")
	root := sample.under("1-read-4KiB").write(t, "arch")
	packed, err := os.ReadFile(packSample(t, sample))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(root, "1-read-4KiB", "sample1.tar.xz"), packed, 0o644))
	set, err := source.Scan(t.Context(), []string{root}, layout.Options())
	must(t, err)
	defer set.Close()
	a := read(context.Background(), evidence.All(set.Files))
	if len(a.Runs) != 1 || len(a.Runs[0].Logs) != 4 {
		t.Errorf("runs %+v", shorts(a))
	}
	if len(set.Problems) != 1 || !strings.Contains(set.Problems[0].Error(), "sample1.tar.xz") {
		t.Errorf("problems %v", set.Problems)
	}
}

// The user may give a folder from inside of an archive, or one with a sample packed.
func TestInsidePbench(t *testing.T) {
	root := sampleTree("1-randwrite-128KiB/sample3").write(t, "arch")
	for dir, path := range map[string]string{"": "1-randwrite-128KiB/sample3", "/1-randwrite-128KiB": "sample3", "/1-randwrite-128KiB/sample3": "."} {
		a := read(context.Background(), scan(t, root+dir))
		want := pbenchRun
		want.Path, want.Name = path, path
		if path == "." {
			want.Name = "sample3"
		}
		if diff := cmp.Diff([]inShort{want}, shorts(a)); diff != "" {
			t.Errorf("%s: runs (-want +got):\n%s", dir, diff)
		}
		if path != "." && a.Runs[0].OpSize != 128<<10 || a.Runs[0].Job == nil {
			t.Errorf("%s: settings %+v", dir, a.Runs[0].CBT)
		}
	}
	packed := sampleTree("sample1").pack(t, "sample1")
	if a := read(context.Background(), scan(t, packed)); len(a.Runs) != 1 || a.Runs[0].Path != "sample1" && a.Runs[0].Path != "." || len(a.Runs[0].HostNames()) != 2 {
		t.Errorf("a packed sample: %+v", shorts(a))
	}
}

// A folder is not pbench-fio's because of its name.
func TestNotPbench(t *testing.T) {
	a := tree{}.with("sample1/x_clat_hist.1.log", "sample2/clients.txt", "b/clients/h/x_clat_hist.1.log").read(t)
	want := []inShort{
		{Path: "b/clients/h/x", Name: "b/clients/h/x", Logs: "//1"},
		{Path: "sample1/x", Name: "sample1/x", Logs: "//1", Reports: ""},
	}
	if diff := cmp.Diff(want, shorts(a)); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestJobFiles(t *testing.T) {
	tests := []struct {
		name  string
		files tree
		want  map[string]string // of each run its job file
		left  []string
	}{
		{"the only one", tree{"a/test.fio": "[j]\nrw=read\n"}.with("a/x_clat_hist.1.log"), map[string]string{"a/x": "a/test.fio"}, nil},
		{"by its name", tree{"x.fio": "[j]\n", "y.job": "[j]\n"}.with("x_clat_hist.1.log", "y_clat_hist.1.log"),
			map[string]string{"x": "x.fio", "y": "y.job"}, nil},
		{"by the report's name", tree{"r.fio": "[j]\n", "o.fio": "[k]\n", "r.json": fioReport(job{"j", histMsec, "write_hist_log=x"})}.with("x_clat_hist.1.log"),
			map[string]string{"x": "r.fio"}, []string{"o.fio"}},
		{"by its options", tree{"1.fio": "[j]\nwrite_hist_log=b\n", "2.fio": "[j]\nwrite_hist_log=a\n"}.with("a_clat_hist.1.log", "b_clat_hist.1.log"),
			map[string]string{"a": "2.fio", "b": "1.fio"}, nil},
		{"of other logs", tree{"1.fio": "[j]\nwrite_hist_log=b\n"}.with("a_clat_hist.1.log"), map[string]string{"a": ""}, []string{"1.fio"}},
		{"in the folder above", tree{"1.fio": "[j]\nwrite_hist_log=logs/a\n"}.with("logs/a_clat_hist.1.log"), map[string]string{"logs/a": "1.fio"}, nil},
		{"none at all", tree{"1.job": "{}"}.with("a_clat_hist.1.log"), map[string]string{"a": ""}, []string{"1.job"}},
		{"of two that may be", tree{"1.fio": "[j]\n", "2.fio": "[j]\n"}.with("a_clat_hist.1.log"), map[string]string{"a": ""}, []string{"1.fio", "2.fio"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.files.read(t)
			got := map[string]string{}
			for _, r := range a.Runs {
				if got[r.Path] = ""; r.Job != nil {
					got[r.Path] = r.Job.Path
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("job files (-want +got):\n%s", diff)
			}
			var left []string
			for _, l := range a.Left {
				left = append(left, l.File.Path)
			}
			slices.Sort(left)
			if diff := cmp.Diff(tt.left, left); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}
