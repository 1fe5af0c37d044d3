package plan_test

import (
	"bytes"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/layout"
	"github.com/fio2es/fio2es/pipeline/plan"
	"github.com/fio2es/fio2es/pipeline/source"
)

// settingsCases are options of a job and the settings that they name. TestFioSettingsAsFio compares sizes and modes with
// what fio does.
var settingsCases = []struct {
	name        string
	own, global map[string]string
	want        mapping.CBT
}{
	{"none", nil, nil, mapping.CBT{}},
	{
		"own and global", options{"rw": "randwrite", "bs": "4k"},
		options{"bs": "8k", "ioengine": "libaio", "iodepth": "16", "numjobs": "4", "runtime": "60", "ramp_time": "5s", "rwmixread": "70"},
		mapping.CBT{Mode: "randwrite", OpSize: 4096, IODepth: 16, NumJobs: 4, RunSeconds: 60, RampSeconds: 5},
	},
	{
		"other forms", options{"rw": "readwrite", "bs": "1m", "runtime": "2m", "rwmixwrite": "30"}, nil,
		mapping.CBT{Mode: "rw", OpSize: 1 << 20, RunSeconds: 120, RWMixRead: 70, IODepth: 1, NumJobs: 1},
	},
	{"offsets", options{"rw": "randread:8", "bs": "4096"}, nil, mapping.CBT{Mode: "randread", OpSize: 4096, IODepth: 1, NumJobs: 1}},
	{"a unit of 1000", options{"rw": "randread", "bs": "4KiB"}, nil, mapping.CBT{Mode: "randread", OpSize: 4000, IODepth: 1, NumJobs: 1}},
	{"units of another base", options{"rw": "randread", "kb_base": "1000", "bs": "4k"}, nil, mapping.CBT{Mode: "randread", IODepth: 1, NumJobs: 1}},
	{"size of the direction", options{"rw": "randwrite", "bs": "4k,64k"}, nil, mapping.CBT{Mode: "randwrite", OpSize: 64 << 10, IODepth: 1, NumJobs: 1}},
	{"size of trims", options{"rw": "trim", "bs": "4k,64k,1m"}, nil, mapping.CBT{Mode: "trim", OpSize: 1 << 20, IODepth: 1, NumJobs: 1}},
	{"usual size of reads", options{"rw": "read", "bs": ",64k"}, nil, mapping.CBT{Mode: "read", OpSize: 4096, IODepth: 1, NumJobs: 1}},
	{"usual size of writes", options{"rw": "write", "bs": "64k,"}, nil, mapping.CBT{Mode: "write", OpSize: 4096, IODepth: 1, NumJobs: 1}},
	{"usual size of trims", options{"rw": "trim", "bs": "64k,8k,"}, nil, mapping.CBT{Mode: "trim", OpSize: 4096, IODepth: 1, NumJobs: 1}},
	{"sizes that differ", options{"rw": "randrw", "bs": "4k,64k"}, nil, mapping.CBT{Mode: "randrw", RWMixRead: 50, IODepth: 1, NumJobs: 1}},
	{"sizes that are equal", options{"rw": "randrw", "bs": "4k,4k", "rwmixread": "30"}, nil, mapping.CBT{Mode: "randrw", OpSize: 4096, RWMixRead: 30, IODepth: 1, NumJobs: 1}},
	{"split sizes", options{"rw": "write", "bs": "4k", "bssplit": "4k/50:8k/50"}, nil, mapping.CBT{Mode: "write", IODepth: 1, NumJobs: 1}},
	{"a range of sizes", options{"rw": "write", "bsrange": "4k-8k"}, options{"bs": "4k"}, mapping.CBT{Mode: "write", IODepth: 1, NumJobs: 1}},
	{"a share of another mode", options{"rw": "write", "rwmixread": "70"}, nil, mapping.CBT{Mode: "write", OpSize: 4096, IODepth: 1, NumJobs: 1}},
	{"two shares", options{"rw": "randrw", "rwmixread": "70", "rwmixwrite": "40"}, nil, mapping.CBT{Mode: "randrw", OpSize: 4096, IODepth: 1, NumJobs: 1}},
	{"parts of a second", options{"rw": "read", "runtime": "1500ms"}, nil, mapping.CBT{Mode: "read", OpSize: 4096, IODepth: 1, NumJobs: 1}},
	{"microseconds to fio", options{"rw": "read", "runtime": "2min"}, nil, mapping.CBT{Mode: "read", OpSize: 4096, IODepth: 1, NumJobs: 1}},
	{"no numbers", options{"rw": "read", "iodepth": "many", "numjobs": "-1", "bs": "4k-8k"}, nil, mapping.CBT{Mode: "read"}},
	{"defaults", options{"size": "1g"}, nil, mapping.CBT{Mode: "read", OpSize: 4096, IODepth: 1, NumJobs: 1}},
	{"a log that is replayed", options{"read_iolog": "x.log"}, nil, mapping.CBT{}},
	{"an engine of one request at a time", options{"rw": "read", "iodepth": "8", "ioengine": "pvsync2"}, nil, mapping.CBT{Mode: "read", OpSize: 4096, IODepth: 1, NumJobs: 1}},
	{"fio's own engine is such", options{"rw": "read", "iodepth": "8"}, nil, mapping.CBT{Mode: "read", OpSize: 4096, IODepth: 1, NumJobs: 1}},
	{"threads take the requests", options{"rw": "read", "iodepth": "8", "io_submit_mode": "offload"}, nil, mapping.CBT{Mode: "read", OpSize: 4096, IODepth: 8, NumJobs: 1}},
	{"an engine that queues", options{"rw": "read", "iodepth": "8", "ioengine": "null"}, nil, mapping.CBT{Mode: "read", OpSize: 4096, IODepth: 8, NumJobs: 1}},
	{"variables of a job file", options{"rw": "${RW}", "bs": "${BS}", "ioengine": "libaio", "iodepth": "${QD}"}, nil, mapping.CBT{NumJobs: 1}},
}

type options = map[string]string

// sectionOf is a section of a job file.
func sectionOf(of options) *fioargs.Section {
	s := &fioargs.Section{}
	for name, value := range of {
		s.Options = append(s.Options, fioargs.Option{Name: name, Value: value})
	}
	return s
}

// TestFioSettings: what options of one job say, and that nothing is guessed. A report and a job file say the same.
func TestFioSettings(t *testing.T) {
	for _, c := range settingsCases {
		report := &fiolog.Report{Unit: hist.Nanoseconds, GlobalOptions: c.global, Jobs: []fiolog.Job{{Options: c.own}}}
		byReport := &plan.Plan{Run: &assign.Run{}, Entries: assign.NewEntries(&assign.Output{Execution: evidence.Execution{Fio: report}})}
		both := maps.Clone(c.global)
		if both == nil {
			both = options{}
		}
		maps.Copy(both, c.own)
		byFile := &plan.Plan{Run: &assign.Run{Sections: []*fioargs.Section{sectionOf(both)}}}
		for _, p := range []*plan.Plan{byReport, byFile} {
			if diff := cmp.Diff(c.want, p.FioSettings()); diff != "" {
				t.Errorf("%s: %s", c.name, diff)
			}
		}
	}
}

// TestFioSettingsAsFio: fio serves requests of the directions and of the size that the settings name.
func TestFioSettingsAsFio(t *testing.T) {
	fio, err := exec.LookPath("fio")
	if err != nil {
		t.Skip("fio is not installed")
	}
	args := []string{"--output-format=json"}
	for i, c := range settingsCases {
		args = append(args, fmt.Sprintf("--name=%d", i), "--ioengine=null", "--size=8m", "--number_ios=8")
		for _, from := range []options{c.global, c.own} {
			for _, name := range []string{"rw", "kb_base", "bs", "bssplit", "bsrange", "rwmixread", "rwmixwrite"} {
				if value, ok := from[name]; ok && !strings.Contains(value, "$") {
					args = append(args, "--"+name+"="+value)
				}
			}
		}
	}
	out, err := exec.CommandContext(t.Context(), fio, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for report, err := range fiolog.ReadReports(bytes.NewReader(out), "fio") {
		if err != nil {
			t.Fatal(err)
		}
		for i, j := range report.Jobs {
			c := settingsCases[i]
			mode, directions := fioargs.ParseMode(c.want.Mode)
			for d, s := range j.Directions {
				if s.TotalIOs > 0 && mode != "" && !slices.Contains(directions, fiolog.Direction(d)) {
					t.Errorf("%s: fio served requests of direction %d", c.name, d)
				}
				if c.want.OpSize > 0 && s.IOBytes != s.TotalIOs*uint64(c.want.OpSize) {
					t.Errorf("%s: %d requests of direction %d with %d bytes", c.name, s.TotalIOs, d, s.IOBytes)
				}
			}
		}
	}
}

// TestSectionsOfGroup: with group_reporting a report lists the options of one section. Others may set them otherwise, so
// these, and what the requests contradict, are unknown, unless a job file has all sections.
func TestSectionsOfGroup(t *testing.T) {
	section := func(bs, depth string) *fioargs.Section {
		return sectionOf(options{"rw": "randread", "bs": bs, "ioengine": "libaio", "iodepth": depth, "ramp_time": "1"})
	}
	behind := section("64k", "64")
	behind.Options = append(behind.Options, fioargs.Option{Name: "stonewall"})
	for _, c := range []struct {
		name  string
		own   options
		bytes uint64 // of 3000 reads
		file  []*fioargs.Section
		want  mapping.CBT
	}{
		{"equal sections", nil, 3000 * 4096, nil, mapping.CBT{Mode: "randread", OpSize: 4096, IODepth: 4, RampSeconds: 1}},
		{"requests in flight", nil, 2990 * 4096, nil, mapping.CBT{Mode: "randread", OpSize: 4096, IODepth: 4, RampSeconds: 1}},
		{"another size", nil, 3000 * 5461, nil, mapping.CBT{Mode: "randread", IODepth: 4, RampSeconds: 1}},
		{"an option of the last one", options{"iodepth": "8", "ramp_time": "2"}, 3000 * 4096, nil, mapping.CBT{Mode: "randread", OpSize: 4096}},
		{"split sizes of the last one", options{"bssplit": "4k/50:4k/50"}, 3000 * 4096, nil, mapping.CBT{Mode: "randread", IODepth: 4, RampSeconds: 1}},
		{"another mode", options{"rw": "randread"}, 3000 * 4096, nil, mapping.CBT{OpSize: 4096, IODepth: 4, RampSeconds: 1}},
		{
			"another job file", options{"iodepth": "8"}, 3000 * 4096, []*fioargs.Section{section("8k", "16"), section("8k", "16")},
			mapping.CBT{Mode: "randread", OpSize: 4096, RampSeconds: 1},
		},
		{
			"all sections", options{"iodepth": "8"}, 3000 * 5461, []*fioargs.Section{section("8k", "8"), section("4k", "8"), section("4k", "8")},
			mapping.CBT{Mode: "randread", IODepth: 8, NumJobs: 1, RampSeconds: 1},
		},
		{
			"sections of the next stage", options{"iodepth": "8"}, 3000 * 5461, []*fioargs.Section{section("8k", "8"), section("4k", "8"), behind},
			mapping.CBT{Mode: "randread", IODepth: 8, NumJobs: 1, RampSeconds: 1},
		},
	} {
		j := fiolog.Job{Runtime: 3000, Options: c.own}
		j.Directions[fiolog.Read] = fiolog.DirectionStats{Runtime: 1000, TotalIOs: 3000, IOBytes: c.bytes}
		global := options{"rw": "randread", "bs": "4k", "iodepth": "4", "ramp_time": "1"}
		entries := assign.NewEntries(&assign.Output{Execution: evidence.Execution{Fio: &fiolog.Report{GlobalOptions: global, Jobs: []fiolog.Job{j}}}})
		p := &plan.Plan{Run: &assign.Run{Sections: c.file}, Entries: entries}
		if diff := cmp.Diff(c.want, p.FioSettings()); diff != "" || entries[0].Size != 3 {
			t.Errorf("%s: %d jobs: %s", c.name, entries[0].Size, diff)
		}
		if ramp, _, _ := entries[0].Waits(); c.file == nil && ramp != time.Duration(c.want.RampSeconds)*time.Second {
			t.Errorf("%s: ramp_time is %v", c.name, ramp)
		}
	}
	writes := fiolog.Job{Runtime: 3000}
	writes.Directions[fiolog.Write] = fiolog.DirectionStats{Runtime: 1000, TotalIOs: 10, IOBytes: 10 * 4096}
	p := &plan.Plan{Run: &assign.Run{}, Entries: assign.NewEntries(&assign.Output{Execution: evidence.Execution{Fio: &fiolog.Report{GlobalOptions: options{"rw": "randread"}, Jobs: []fiolog.Job{writes}}}})}
	if set := p.FioSettings(); set.Mode != "" {
		t.Errorf("writes have the mode %s", set.Mode)
	}
}

// TestSettingsOfFolders: what the names of people's folders say counts where no option of fio is known.
func TestSettingsOfFolders(t *testing.T) {
	path, fio := mapping.CBT{IODepth: 8}, mapping.CBT{Mode: "read", OpSize: 4096, IODepth: 1, NumJobs: 1}
	p := &plan.Plan{Run: &assign.Run{Settings: layout.Settings{CBT: path}}}
	if even := (&plan.Plan{Run: &assign.Run{Settings: layout.Settings{CBT: mapping.CBT{Workload: "w", TotalIODepth: 16, IODepth: 8, Iteration: new(0)}}}}).Settings(); even.IODepth != 0 || even.TotalIODepth != 16 {
		t.Errorf("the depth of volumes is beside the total: %+v", even)
	}
	if got := p.Settings(); got != path {
		t.Errorf("without options: %+v", got)
	}
	p.Run.Sections = []*fioargs.Section{sectionOf(options{"rw": "read"})}
	if got := p.Settings(); got != fio {
		t.Errorf("with options: %+v", got)
	}
}

// TestFioSettingsOfJobs: settings in which jobs differ are unknown.
func TestFioSettingsOfJobs(t *testing.T) {
	report := &fiolog.Report{
		GlobalOptions: map[string]string{"rw": "randread", "bs": "4k", "ioengine": "libaio", "iodepth": "8", "numjobs": "2"},
		Jobs: []fiolog.Job{
			{Options: map[string]string{}},
			{Options: map[string]string{"bssplit": "4k/50:8k/50", "numjobs": "2"}},
			{Options: map[string]string{"iodepth": "16"}},
		},
	}
	p := &plan.Plan{Run: &assign.Run{}}
	for i := range report.Jobs {
		p.Entries = append(p.Entries, &assign.Entry{JobOptions: (&assign.Output{Execution: evidence.Execution{Fio: report}}).Options(i)})
	}
	if diff := cmp.Diff(mapping.CBT{Mode: "randread", NumJobs: 2}, p.FioSettings()); diff != "" {
		t.Error(diff)
	}
}

// TestLiveSize: requests of a live run have the size that options name, or else fio's usual one unless the number of bytes
// contradicts it.
// Some requests are in flight.
func TestLiveSize(t *testing.T) {
	for _, c := range []struct {
		global, own     options
		requests, bytes uint64
		want            int64
	}{
		{nil, options{"rw": "read"}, 101, 100 * 4096, 4096},
		{options{"name": "a"}, nil, 100, 100 * 4096, 4096},
		{nil, nil, 101, 100 * 4096, 0}, // a report without options
		{options{"bs": "8k"}, options{"rw": "read"}, 101, 100 * 8192, 8192},
		{options{"bssplit": "4k/50:8k/50"}, options{"rw": "read"}, 101, 100 * 4096, 0},
		{nil, options{"rw": "read"}, 101, 102 * 4096, 0},
		{nil, options{"rw": "read"}, 101, 100 * 512, 0},
	} {
		report := &fiolog.Report{Unit: hist.Nanoseconds, GlobalOptions: c.global, Jobs: []fiolog.Job{{Options: c.own}}}
		e := &assign.Entry{JobOptions: (&assign.Output{Execution: evidence.Execution{Fio: report}}).Options(0), Job: &report.Jobs[0]}
		e.Directions[fiolog.Read].TotalIOs, e.Directions[fiolog.Read].IOBytes = c.requests, c.bytes
		p := &plan.Plan{Run: &assign.Run{}, Entries: []*assign.Entry{e}}
		if got, ok := p.RequestSize(fiolog.Read, true); int64(got) != c.want || ok != (c.want > 0) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestSectionsHere: without a report, a stage has the settings of those sections of the job file whose jobs it has.
func TestSectionsHere(t *testing.T) {
	file := []*fioargs.Section{
		sectionOf(options{"rw": "read"}), sectionOf(options{"rw": "write", "numjobs": "2", "stonewall": "1"}), sectionOf(options{"rw": "trim"}),
	}
	for _, c := range []struct {
		name   string
		stages int
		jobs   []int // of the stage
		logs   int
		want   string // the modes of its sections
	}{
		{"one stage", 1, []int{1, 2, 3, 4}, 4, "read | write | trim"},
		{"the first", 2, []int{1}, 4, "read"},
		{"two sections", 2, []int{2, 3, 4}, 4, "write | trim"},
		{"a log is missing in the middle", 2, []int{3, 4}, 4, "write | trim"},
		{"only some sections ran", 2, []int{1}, 3, ""},
		{"more jobs than the file has", 2, []int{1}, 5, ""},
	} {
		p := &plan.Plan{Stages: c.stages, Run: &assign.Run{Sections: file}}
		p.Run.Logs = []assign.Log{{Job: 1}, {Job: c.logs}}
		for _, n := range c.jobs {
			p.Jobs = append(p.Jobs, &plan.Job{Job: assign.Job{JobKey: assign.JobKey{Number: n}}})
		}
		if got := p.Options()["rw"]; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestSectionsOfVolumes: jobs that differ only in the names that CBT gave to volumes, or in the numbers of files and jobs of
// one report, do the same work. Others are sections, such as devices.
func TestSectionsOfVolumes(t *testing.T) {
	const base = "rw=randread bs=4k "
	byCBT := mapping.CBT{Workload: "4krandread"}
	total := mapping.CBT{Benchmark: "librbdfio", TotalIODepth: 3}
	for _, c := range []struct {
		name    string
		cbt     mapping.CBT
		reports [][]string // name and options of the jobs
		want    string     // the names of the sections
	}{
		{"volumes of CBT", byCBT, [][]string{{"a-0 rbdname=cbt-h-0 pool=p-0"}, {"a-1 rbdname=cbt-h-1 pool=p-1"}}, "a-0+a-1"},
		{"files of CBT", mapping.CBT{Iteration: new(0)}, [][]string{{"a filename=/mnt/h0/f", "b directory=/mnt/x"}}, "a+b"},
		{"a total depth", total, [][]string{{"a iodepth=2"}, {"a iodepth=1"}}, "a"},
		{"depths of volumes", byCBT, [][]string{{"a iodepth=2"}, {"a iodepth=1"}}, "a, a #2"},
		{"other work of CBT", total, [][]string{{"a rbdname=v0"}, {"b rbdname=v1 rw=write"}}, "a, b"},
		{"numbered jobs", mapping.CBT{}, [][]string{{"job1 rbdname=vol-1", "job2 rbdname=vol-2", "job10 rbdname=vol-10"}}, "job1+job2+job10"},
		{"numbered jobs of two kinds", mapping.CBT{}, [][]string{{"r1 filename=/m/1", "w1 filename=/m/1 rw=write", "r2 filename=/m/2", "w2 filename=/m/2 rw=write"}}, "r1+r2, w1+w2"},
		{"numbered jobs of two reports", mapping.CBT{}, [][]string{{"job1 filename=/m/1"}, {"job2 filename=/m/2"}}, "job1, job2"},
		{"files without a number", mapping.CBT{}, [][]string{{"job1 filename=/m/a", "job2 filename=/m/b"}}, "job1, job2"},
		{"jobs without a number", mapping.CBT{}, [][]string{{"log filename=/m/1", "data filename=/m/2"}}, "log, data"},
		{"devices", mapping.CBT{}, [][]string{{"job1 filename=/dev/nvme0n1", "job2 filename=/dev/nvme1n1"}}, "job1, job2"},
		{"pbench", mapping.CBT{Benchmark: mapping.PBench}, [][]string{{"job1 filename=/dev/vdb"}, {"job2 filename=/dev/vdc"}}, "job1, job2"},
	} {
		ev := &assign.Evidence{Run: &assign.Run{Settings: layout.Settings{CBT: c.cbt}}}
		for _, jobs := range c.reports {
			report := &fiolog.Report{Unit: hist.Nanoseconds}
			for _, text := range jobs {
				j := fiolog.Job{Options: options{}}
				for i, option := range strings.Fields(text + " " + base) {
					name, value, _ := strings.Cut(option, "=")
					if _, isSet := j.Options[name]; i == 0 {
						j.Name = name
					} else if !isSet {
						j.Options[name] = value
					}
				}
				report.Jobs = append(report.Jobs, j)
			}
			out := &assign.Output{Report: assign.Report{File: evidence.Of(&source.File{})}, Execution: evidence.Execution{Fio: report}}
			ev.Outputs = append(ev.Outputs, out)
		}
		stages, err := newPlan(sums{}, ev, plan.Options{Absent: true}, &assign.Remarks{})
		if err != nil || len(stages) != 1 {
			t.Fatal(c.name, err, len(stages))
		}
		var names []string
		for _, s := range stages[0].Sections {
			names = append(names, s.Name)
			if c.cbt.TotalIODepth > 0 && s.Settings.IODepth > 0 {
				t.Errorf("%s: section %s has depth %d", c.name, s.Name, s.Settings.IODepth)
			}
		}
		if got := strings.Join(names, ", "); got != c.want {
			t.Errorf("%s: sections %s, want %s", c.name, got, c.want)
		}
	}
}
