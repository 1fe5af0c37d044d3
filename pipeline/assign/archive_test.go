package assign_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/pipeline/layout"
	"github.com/google/go-cmp/cmp"
)

const id = "results/00000000/id-7c1f03ab/"

func TestCorpus(t *testing.T) {
	a := read(context.Background(), scan(t, "../../testdata/corpus/cbt-archive"))
	want := []struct {
		name                  string
		logs, others, reports int
		missing               []string
	}{
		{"0/id-2b90e1d4/4krandrw/numjobs-002/total_iodepth-16", 8, 8, 8, nil}, // its configuration is of other hosts
		{"0/id-7c1f03ab", 64, 64, 8, nil},
		{"1/id-7c1f03ab", 4, 4, 4, []string{"hostC", "hostD"}},
	}
	if len(a.Runs) != len(want) || len(a.Left)+len(a.Skipped) > 0 {
		t.Fatalf("%d runs, left %q, skipped %v", len(a.Runs), reasons(a), a.Skipped)
	}
	for i, w := range want {
		r := a.Runs[i]
		if r.Name() != w.name || len(r.Logs) != w.logs || len(r.Others) != w.others || len(r.Reports) != w.reports {
			t.Errorf("%s: %d logs, %d others, %d reports; want %+v", r.Name(), len(r.Logs), len(r.Others), len(r.Reports), w)
		}
		configure(t, r)
		if diff := cmp.Diff(w.missing, r.MissingHosts()); diff != "" {
			t.Errorf("%s: missing hosts (-want +got):\n%s", r.Name(), diff)
		}
		if r.Benchmark != "librbdfio" || r.OpSize != 4096 || r.IODepth != 4 || len(r.Hosts) != 4 {
			t.Errorf("%s: settings %+v", r.Name(), r.CBT)
		}
	}
}

func TestRunsWithoutHistograms(t *testing.T) {
	a := tree{id + layout.ConfigName: yamlOf("benchmark: librbdfio", "mode: read")}.with(
		id+"output.0_bw.1.log.h1", id+"output.0_lat.1.log.h1", id+"output.0.h1", id+"output.0.h2",
		"results/00000001/id-7c1f03ab/json_output.0.h1", "results/00000001/id-7c1f03ab/json_output.0.h2",
		"results/00000002/id-7c1f03ab/w.h1/numjobs-001/total_iodepth-3/iodepth-000001/json_output.1",
		"results/00000002/id-7c1f03ab/w.h1/numjobs-001/total_iodepth-3/iodepth-000002/json_output.0",
		"results/00000002/id-7c1f03ab/osd_ra-00004096.h1/op_size-1/iodepth-1/write/ceph_settings.out",
	).read(t)
	want := []inShort{
		{Path: strings.TrimSuffix(id, "/"), Name: "0/id-7c1f03ab", Others: "h1/0/1 h1/0/1", Reports: "h1/0 h2/0", Config: true},
		{Path: "results/00000001/id-7c1f03ab", Name: "1/id-7c1f03ab", Reports: "h1/0 h2/0"},
		{Path: "results/00000002/id-7c1f03ab/w/numjobs-001/total_iodepth-3", Name: "2/id-7c1f03ab/w/numjobs-001/total_iodepth-3", Reports: "h1/1 h1/0"},
	}
	if diff := cmp.Diff(want, shorts(a)); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if len(a.Left) > 0 {
		t.Errorf("left %q", reasons(a))
	}
}

func TestPlainFolders(t *testing.T) {
	a := tree{}.with(
		"day1/fio_clat_hist.1.log", "day1/fio_clat_hist.2.log", "day1/fio_clat.1.log", "day1/fio.json", "day1/README.md",
		"day2/a_clat_hist.1.log.h1", "day2/a_clat_hist.1.log.h2.lab", "day2/b.3_clat_hist.1.log", "day2/a.json", "day2/b.3.txt", "day2/both.out", "day2/b", "day2/c",
		"day2/sub/x_clat_hist.log", "day2/sub/output.0",
		// Nothing shows that prefixes are of one execution.
		"day3/h_clat_hist.1.log", "day3/l_clat.1.log", "day3/l_slat.1.log", "day3/b_bw.1.log",
		"day4/h_clat_hist.1.log", "day4/l_clat.2.log",
		"day5/settings.json", "day5/LICENSE",
	).read(t)
	want := []inShort{
		{Path: "day1/fio", Name: "day1/fio", Logs: "//1 //2", Others: "//1", Reports: "/?"},
		{Path: "day2/a", Name: "day2/a", Logs: "h1//1 h2.lab//1", Reports: "/? /?"},
		{Path: "day2/b", Name: "day2/b", Logs: "/3/1", Reports: "/? /?"},
		{Path: "day2/sub/x", Name: "day2/sub/x", Logs: "//0", Reports: "/?"},
		{Path: "day3/h", Name: "day3/h", Logs: "//1"},
		{Path: "day3/l", Name: "day3/l", Others: "//1 //1"},
		{Path: "day4/h", Name: "day4/h", Logs: "//1"},
		{Path: "day4/l", Name: "day4/l", Others: "//2"},
	}
	if diff := cmp.Diff(want, shorts(a)); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"day3/b_bw.1.log: only bandwidth, and neither a report nor another log belongs to it: add fio's report, whose options name it",
		"day5/settings.json: is not fio's output, and there are no logs in its folder"}, reasons(a)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	for _, r := range a.Runs {
		if isTwice := r.Path == "day3/h"; (len(r.Doubts) > 0) != isTwice { // see TestTwice
			t.Errorf("%s: doubts %q", r.Path, r.Doubts)
		}
	}
}

// TestReportsAlone: outside CBT's layout a report without logs is a run if fio wrote it.
func TestReportsAlone(t *testing.T) {
	report := `{
  "fio version" : "fio-3.33",
`
	a := tree{
		"a.json": report, "b.out": "note: a text\n" + report, "c.json": `{"version" : "fio version"}`, "d.txt": "fio version", "e": report,
		"hosts/json_output.0.client01": report, "hosts/json_output.0.client02": report,
		"logged/x_clat_hist.1.log": "", "logged/x.json": report, "logged/y.json": report,
	}.read(t)
	want := []inShort{
		{Path: "a", Name: "a", Reports: "/?"},
		{Path: "b", Name: "b", Reports: "/?"},
		{Path: "e", Name: "e", Reports: "/?"},
		{Path: "hosts/output", Name: "hosts/output", Reports: "client01/0 client02/0"},
		{Path: "logged/x", Name: "logged/x", Logs: "//1", Reports: "/? /?"},
	}
	if diff := cmp.Diff(want, slices.SortedFunc(slices.Values(shorts(a)), func(a, b inShort) int { return strings.Compare(a.Path, b.Path) })); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if got := len(a.Left); got != 2 {
		t.Errorf("left %q", reasons(a))
	}
}

// What cannot be attributed is listed with a reason.
func TestLeft(t *testing.T) {
	tests := []struct {
		name  string
		files tree
		want  []string // path: part of the reason
	}{
		{"second log", tree{}.with("a/x_clat_hist.1.log", "a/x_clat_hist.1.log.fz"), []string{"a/x_clat_hist.1.log.fz: a second log"}},
		{"log of all jobs", tree{}.with("a/x_clat_hist.1.log", "a/x_clat_hist.log"), []string{"a/x_clat_hist.log: a log of all jobs beside"}},
		{"log of all jobs of another host", tree{}.with("a/x_clat_hist.1.log.h1", "a/x_clat_hist.log.h2"), nil},
		{"only a configuration", tree{id + layout.ConfigName: yamlOf("benchmark: fio"), "results/" + layout.ArchiveConfigName: "{}"},
			[]string{id + layout.ConfigName + ": neither logs nor reports", "results/cbt_config.yaml: the archive of this"}},
		{"other files in an archive", tree{}.with(id+"output.0_bw.1.log.h", id+"w.h/x.json"), []string{id + "w.h/x.json: may be fio's"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := reasons(tt.files.read(t))
			if len(got) != len(tt.want) {
				t.Fatalf("left %q, want %q", got, tt.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tt.want[i]) {
					t.Errorf("left %q, want %q…", got[i], tt.want[i])
				}
			}
		})
	}
}

func TestGivenTwice(t *testing.T) {
	root := tree{}.with("a/x_clat_hist.1.log", "a/x.json").write(t, "arch")
	a := read(context.Background(), scan(t, root, root))
	if len(a.Runs) != 1 || len(a.Runs[0].Logs) != 1 || len(a.Runs[0].Reports) != 1 || len(a.Left) != 2 {
		t.Errorf("runs %+v, left %q", shorts(a), reasons(a))
	}
	// Files given one by one are together by their folder.
	root = tree{}.with("x_clat_hist.1.log", "x_clat_hist.2.log").write(t, "arch")
	a = read(context.Background(), scan(t, filepath.Join(root, "x_clat_hist.1.log"), filepath.Join(root, "x_clat_hist.2.log")))
	if len(a.Runs) != 1 || len(a.Runs[0].Logs) != 2 {
		t.Errorf("two logs of a folder: %+v", shorts(a))
	}
}

func TestSkipped(t *testing.T) {
	tests := []struct {
		name, config string // "" for a configuration that is missing
		files        []string
		want         string
	}{
		{"radosbench", "radosbench", []string{"write/output.0.h1", "write/json_output.0.h1", "seq/output.0.h1"}, "radosbench"},
		{"cephtestrados", "cephtestrados", nil, "cephtestrados"},
		{"getput", "getput", []string{"osd_ra-00004096/op_size-00004096/procs-00000001/c/put/output.gw1.h"}, "getput"},
		{"hsbench", "hsbench", []string{"output.0.json.h1"}, "hsbench"},
		{"cosbench", "cosbench", nil, "cosbench"},
		{"a class to come", "newbench", []string{"output.0.h1"}, "newbench"},
		{"fio", "fio", []string{"output.0.h1"}, ""},
		{"fio's, against its configuration", "radosbench", []string{"output.0_bw.1.log.h1"}, ""},
		{"reports of who knows what", "", []string{"output.0.h1"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := tree{"results/" + layout.ArchiveConfigName: yamlOf("clients: [h1]")}
			if tt.config != "" {
				files[id+layout.ConfigName] = yamlOf("benchmark: " + tt.config)
			}
			for _, f := range tt.files {
				files[id+f] = ""
			}
			a := files.read(t)
			if len(a.Left) > 0 {
				t.Errorf("left %q", reasons(a))
			}
			if tt.want == "" {
				if len(a.Runs) != 1 || len(a.Skipped) > 0 {
					t.Errorf("%d runs, skipped %+v; want a run", len(a.Runs), a.Skipped)
				}
				return
			}
			if len(a.Runs) > 0 || len(a.Skipped) != 1 {
				t.Fatalf("runs %+v, skipped %+v; want one skipped", shorts(a), a.Skipped)
			}
			s := a.Skipped[0]
			if s.Path != strings.TrimSuffix(id, "/") || !strings.HasPrefix(s.Reason, tt.want) {
				t.Errorf("skipped %+v, want %s", s, tt.want)
			}
		})
	}
}

func TestDoubts(t *testing.T) {
	const log = "/numjobs-001/iodepth-000001/output.0_clat_hist.1.log"
	tests := []struct {
		name  string
		files tree
		host  string
		doubt string
	}{
		{"workload, host and no configuration", tree{}.with(id + "w.h1" + log), "h1", ""},
		{"workload or host with dots and no configuration", tree{}.with(id + "w.h1.lab" + log), "h1.lab", "no configuration says"},
		{"the archive's configuration knows the host", tree{"results/" + layout.ArchiveConfigName: yamlOf("clients: {h1.lab: }")}.with(id + "w.2.h1.lab" + log), "h1.lab", ""},
		{"a broken configuration", tree{id + layout.ConfigName: "a: ["}.with(id + "w.h1.lab" + log), "h1.lab", "no configuration says"},
		{"folder and file disagree", tree{id + layout.ConfigName: yamlOf("workloads: {w: {}}")}.with(id + "w.h1" + log + ".h2"), "h2", "its folder says h1"},
		{"dots, but the file has the host", tree{}.with(id + "w.x.y" + log + ".h2"), "h2", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.files.read(t)
			if len(a.Runs) != 1 || len(a.Runs[0].Logs) != 1 || a.Runs[0].Logs[0].Host != tt.host {
				t.Fatalf("runs %+v, want host %s", shorts(a), tt.host)
			}
			if got := strings.Join(a.Runs[0].Doubts, "; "); (tt.doubt == "") != (got == "") || !strings.Contains(got, tt.doubt) {
				t.Errorf("doubts %q, want %q", got, tt.doubt)
			}
		})
	}
}

// Volumes that are in two iodepth folders cannot be of one execution.
func TestDepthsThatOverlap(t *testing.T) {
	a := tree{}.with(id+"w.h1/numjobs-001/total_iodepth-3/iodepth-000001/output.0_clat_hist.1.log",
		id+"w.h1/numjobs-001/total_iodepth-3/iodepth-000002/output.0_clat_hist.1.log").read(t)
	if len(a.Runs) != 2 || a.Runs[0].Path == a.Runs[1].Path || len(a.Runs[0].Doubts) == 0 {
		t.Errorf("runs %+v, want two with a doubt", shorts(a))
	}
}
