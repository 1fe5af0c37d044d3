package cbt

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		dir + "/fio-result.txt": clientReport(job{"job-/dev/sda", hist, "write_hist_log=fio"}), dir + "/result.txt": "iops=1\n",
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
	files["fio_x_2024/2-read-4KiB/sample1/fio-result.txt"] = fioReport(job{"j", hist, "write_hist_log=fio"})
	files["fio_x_2024/2-read-4KiB/fio.job"] = "[global]\nbs=4k\n[a]\nrw=read\niodepth=4\n" // as newer versions have it
	files = files.with("fio_x_2024/2-read-4KiB/sample1/clients/localhost/fio_clat_hist.1.log",
		"fio_x_2024/sysinfo/beg/a/block-params.txt", "fio_x_2024/sysinfo/x.json", "fio_x_2024/metadata.log", "fio_x_2024/summary-result.txt")
	for how, a := range map[string]*Archive{"folder": files.read(t), "packed": Read(scan(t, files.pack(t, "arch")))} {
		want := []inShort{pbenchRun, pbenchRun, {Logs: "localhost//1", Reports: "localhost/?"}}
		for i, path := range []string{"1-randwrite-128KiB/sample1", "1-randwrite-128KiB/sample2", "2-read-4KiB/sample1"} {
			want[i].Path = "fio_x_2024/" + path
			want[i].Name = want[i].Path
		}
		if diff := cmp.Diff(want, shorts(a)); diff != "" {
			t.Fatalf("%s: runs (-want +got):\n%s", how, diff)
		}
		settings := []Settings{
			{Benchmark: pbench, Mode: "randwrite", OpSize: 128 << 10, IODepth: 32, NumJobs: 2, Runtime: 30, Ramp: 5, Iteration: -1},
			{Benchmark: pbench, Mode: "randwrite", OpSize: 128 << 10, IODepth: 32, NumJobs: 2, Runtime: 30, Ramp: 5, Iteration: -1},
			{Benchmark: pbench, Mode: "read", OpSize: 4 << 10, IODepth: 4, Iteration: -1},
		}
		for i, r := range a.Runs {
			configure(t, r)
			if diff := cmp.Diff(settings[i], r.Settings); diff != "" {
				t.Errorf("%s: %s: settings (-want +got):\n%s", how, r.Path, diff)
			}
			if r.Job == nil || r.Reports[0].Candidate || r.Reports[0].Found != FoundNamed {
				t.Errorf("%s: %s: job file %v, report %+v", how, r.Path, r.Job, r.Reports[0])
			}
		}
		o := a.Runs[0].JobOptions
		if o["log_hist_msec"] != "10000" || o["rw"] != "randwrite" || o["filename"] != "" {
			t.Errorf("%s: options %v", how, o)
		}
		for _, l := range a.Left {
			if strings.Contains(l.File.Path, "tools-") || strings.Contains(l.File.Path, "sysinfo") || l.Notable {
				t.Errorf("%s: left %s: %s", how, l.File.Path, l.Reason)
			}
		}
	}
}

// The user may give a folder from inside of an archive, or one with a sample packed.
func TestInsidePbench(t *testing.T) {
	root := sampleTree("1-randwrite-128KiB/sample3").write(t, "arch")
	for dir, path := range map[string]string{"": "1-randwrite-128KiB/sample3", "/1-randwrite-128KiB": "sample3", "/1-randwrite-128KiB/sample3": "."} {
		a := Read(scan(t, root+dir))
		want := pbenchRun
		want.Path, want.Name = path, path
		if path == "." {
			want.Name = "sample3"
		}
		if diff := cmp.Diff([]inShort{want}, shorts(a)); diff != "" {
			t.Errorf("%s: runs (-want +got):\n%s", dir, diff)
		}
		if a.Runs[0].OpSize != 128<<10 || a.Runs[0].Job == nil {
			t.Errorf("%s: settings %+v", dir, a.Runs[0].Settings)
		}
	}
	packed := sampleTree("sample1").pack(t, "sample1")
	if a := Read(scan(t, packed)); len(a.Runs) != 1 || a.Runs[0].Path != "sample1" && a.Runs[0].Path != "." || len(a.Runs[0].HostNames()) != 2 {
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
		{"by the report's name", tree{"r.fio": "[j]\n", "o.fio": "[k]\n", "r.json": fioReport(job{"j", hist, "write_hist_log=x"})}.with("x_clat_hist.1.log"),
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
