package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestFioSettings: what options of one job say, and that nothing is guessed.
func TestFioSettings(t *testing.T) {
	type options = map[string]string
	for _, c := range []struct {
		name        string
		own, global options
		want        mapping.CBT
	}{
		{"none", nil, nil, mapping.CBT{}},
		{
			"own and global", options{"rw": "randwrite", "bs": "4k"},
			options{"bs": "8k", "iodepth": "16", "numjobs": "4", "runtime": "60", "ramp_time": "5s", "rwmixread": "70"},
			mapping.CBT{Mode: "randwrite", OpSize: 4096, IODepth: 16, NumJobs: 4, RunSeconds: 60, RampSeconds: 5},
		},
		{
			"other names", options{"readwrite": "readwrite", "blocksize": "1m", "timeout": "2m", "rwmixwrite": "30"}, nil,
			mapping.CBT{Mode: "rw", OpSize: 1 << 20, RunSeconds: 120, RWMixRead: 70},
		},
		{"offsets", options{"rw": "randread:8", "bs": "4096"}, nil, mapping.CBT{Mode: "randread", OpSize: 4096}},
		{"size of the direction", options{"rw": "randwrite", "bs": "4k,64k"}, nil, mapping.CBT{Mode: "randwrite", OpSize: 64 << 10}},
		{"size of trims", options{"rw": "trim", "bs": "4k,64k,1m"}, nil, mapping.CBT{Mode: "trim", OpSize: 1 << 20}},
		{"usual size of reads", options{"rw": "read", "bs": ",64k"}, nil, mapping.CBT{Mode: "read", OpSize: 4096}},
		{"size after the last comma", options{"rw": "write", "bs": "64k,"}, nil, mapping.CBT{Mode: "write"}},
		{"sizes that differ", options{"rw": "randrw", "bs": "4k,64k"}, nil, mapping.CBT{Mode: "randrw"}},
		{"sizes that are equal", options{"rw": "randrw", "bs": "4k,4k", "rwmixread": "30"}, nil, mapping.CBT{Mode: "randrw", OpSize: 4096, RWMixRead: 30}},
		{"split sizes", options{"rw": "write", "bs": "4k", "bssplit": "4k/50:8k/50"}, nil, mapping.CBT{Mode: "write"}},
		{"two shares", options{"rw": "randrw", "rwmixread": "70", "rwmixwrite": "40"}, nil, mapping.CBT{Mode: "randrw"}},
		{"parts of a second", options{"rw": "read", "runtime": "1500ms"}, nil, mapping.CBT{Mode: "read"}},
		{"no numbers", options{"rw": "read", "iodepth": "many", "numjobs": "-1", "bs": "4k-8k"}, nil, mapping.CBT{Mode: "read"}},
	} {
		if diff := cmp.Diff(c.want, optionsOf(c.own, c.global).settings()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestFioSettingsOfJobs: settings in which jobs differ are unknown.
func TestFioSettingsOfJobs(t *testing.T) {
	report := &fiolog.Report{
		GlobalOptions: map[string]string{"rw": "randread", "bs": "4k", "iodepth": "8", "numjobs": "2"},
		Jobs: []fiolog.Job{
			{Options: map[string]string{}},
			{Options: map[string]string{"bssplit": "4k/50:8k/50", "numjobs": "2"}},
			{Options: map[string]string{"iodepth": "16"}},
		},
	}
	p := &plan{}
	for i := range report.Jobs {
		p.entries = append(p.entries, &entry{jobOptions: jobOptions{report: report, index: i}})
	}
	if diff := cmp.Diff(mapping.CBT{Mode: "randread", NumJobs: 2}, p.entries.settings()); diff != "" {
		t.Error(diff)
	}
}

// TestSettingsText: ids of versions of earlier releases stay.
func TestSettingsText(t *testing.T) {
	c := mapping.CBT{Benchmark: "librbdfio", OpSize: 4096, Iteration: new(2)}
	const want = "{Benchmark:librbdfio Workload: Mode: RWMixRead:0 OpSize:4096 IODepth:0 TotalIODepth:0 NumJobs:0 Procs:0 Volumes:0 " +
		"Clients:0 OSDs:0 OSDHosts:0 Pool: CephVersion: OSDReadAhead:0 ReadAhead:0 RunSeconds:0 RampSeconds:0 Iteration:2}"
	if got := settingsText(c); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if *c.Iteration != 2 {
		t.Error("the settings were changed")
	}
}

// TestUsualSize: requests of a live run have fio's default size unless an option or the number of bytes contradicts it.
// Some requests are in flight.
func TestUsualSize(t *testing.T) {
	type options = map[string]string
	for _, c := range []struct {
		global, own     options
		requests, bytes uint64
		want            int64
	}{
		{nil, options{"rw": "read"}, 101, 100 * 4096, 4096},
		{options{"name": "a"}, nil, 100, 100 * 4096, 4096},
		{nil, nil, 101, 100 * 4096, 0}, // a report without options
		{options{"bs": "8k"}, options{"rw": "read"}, 101, 100 * 8192, 0},
		{options{"bssplit": "4k/50:8k/50"}, options{"rw": "read"}, 101, 100 * 4096, 0},
		{nil, options{"rw": "read"}, 101, 102 * 4096, 0},
		{nil, options{"rw": "read"}, 101, 100 * 512, 0},
	} {
		report := &fiolog.Report{GlobalOptions: c.global, Jobs: []fiolog.Job{{Options: c.own}}}
		e := &entry{jobOptions: jobOptions{report: report, index: 0}, jobStats: jobStats{Job: &report.Jobs[0]}}
		e.Directions[fiolog.Read].TotalIOs, e.Directions[fiolog.Read].IOBytes = c.requests, c.bytes
		if got := (entryList{e}).usualSize(fiolog.Read); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// TestContradiction: the configuration of another run in the folder of a run is said.
func TestContradiction(t *testing.T) {
	for config, want := range map[string]string{
		"mode: randwrite\n  op_size: 4096": "",
		"mode: randrw":                     "has mode randrw, and fio's report randwrite",
		"op_size: 65536":                   "has 65536 bytes a request, and fio's report 4096",
		"benchmark: fio":                   "",
	} {
		dir := filepath.Join(t.TempDir(), "lab")
		if err := os.CopyFS(filepath.Join(dir, "results", "00000001"), os.DirFS(filepath.Join("..", "testdata", "corpus", "cbt-archive", "results", "00000001"))); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "results", "00000001", "id-7c1f03ab", "benchmark_config.yaml")
		if err := os.WriteFile(file, []byte("cluster:\n  "+config+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		result, err := Read(t.Context(), onlyRun(t, dir), Options{}, func(*mapping.Interval) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		var notes strings.Builder
		for _, n := range result.Notes {
			fmt.Fprintln(&notes, n)
		}
		if got := notes.String(); want == "" && strings.Contains(got, "those of another run") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", config, got)
		}
	}
}
