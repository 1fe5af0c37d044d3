package plan

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// TestCountJobs: a run has the jobs that its reports count, also where logs are missing or one log is of all jobs, and
// no settings in which the entries behind such a log differ.
func TestCountJobs(t *testing.T) {
	planOf := func(sizes, logs []int) *Plan {
		ev := &assign.Evidence{Run: &assign.Run{}}
		if len(sizes) > 0 {
			report := &fiolog.Report{}
			for i, size := range sizes {
				j := fiolog.Job{Name: fmt.Sprint("s", i), Options: options{"numjobs": fmt.Sprint(size), "rw": "read"}}
				j.Directions[fiolog.Read].TotalIOs = 100
				report.Jobs = append(report.Jobs, j)
			}
			ev.Outputs = []*assign.Output{{Report: assign.Report{Named: true, Host: "a", File: evidence.Of(&source.File{})}, Execution: evidence.Execution{Fio: report}}}
		}
		for _, n := range logs {
			log := assign.Log{Host: "a", Job: n, Kind: fiolog.ClatHist, File: evidence.Of(&source.File{})}
			ev.Logs = append(ev.Logs, &assign.JobLog{Log: log, Segment: min(n, 1) * -1})
		}
		stages, err := newPlan(sums{1}, ev, Options{Absent: true}, &assign.Remarks{})
		if err != nil || len(stages) != 1 {
			t.Fatal(err, len(stages))
		}
		return stages[0]
	}
	for _, c := range []struct {
		name        string
		sizes, logs []int // of the entries of a report, and the numbers of logs, of which 0 is of all jobs
		want        int
	}{
		{"no report", nil, []int{1, 2}, 2},
		{"a log for each job", []int{3}, []int{1, 2, 3}, 3},
		{"group_reporting, and one log", []int{3}, []int{1}, 3},
		{"some logs are missing", []int{3, 1}, []int{1, 3}, 4},
		{"one log of two sections", []int{2, 3}, []int{0}, 5},
		{"a group of several sections", []int{1, 1}, []int{1, 2, 3, 4}, 4},
	} {
		p := planOf(c.sizes, c.logs)
		if n, ofHost := Stand(p.Jobs), p.Hosts()[0].Jobs; n != c.want || ofHost != c.want {
			t.Errorf("%s: %d jobs, %d of the host, want %d", c.name, n, ofHost, c.want)
		}
	}
	p := planOf([]int{2, 4}, []int{0})
	options, set := p.Options(), p.FioSettings()
	if !maps.Equal(options, map[string]string{"rw": "read", "numjobs": "2 | 4"}) || set.Mode != "read" || set.NumJobs != 0 {
		t.Errorf("%+v, %+v", options, set)
	}
}

// TestVerify: a job that reads what it has written runs for the time of both.
func TestVerify(t *testing.T) {
	for _, numjobs := range []int64{1, 3} {
		e := assign.NewEntries(&assign.Output{Execution: evidence.Execution{Fio: &fiolog.Report{Jobs: []fiolog.Job{{
			Runtime: numjobs * 10480, Directions: [3]fiolog.DirectionStats{{Runtime: 5304}, {Runtime: 5178}},
			Options: map[string]string{"verify": "crc32c", "numjobs": fmt.Sprint(numjobs)},
		}}}}})[0]
		if e.Ran != 10480 || e.Size != int(numjobs) || e.IsGroup {
			t.Errorf("%d jobs: ran %d, size %d", numjobs, e.Ran, e.Size)
		}
	}
}

// TestGroupOfSections: with group_reporting fio writes one entry for several sections, with the options of the last one.
// job_runtime, the sum over all jobs, shows that there are more.
func TestGroupOfSections(t *testing.T) {
	const ran = 3009
	for _, c := range []struct {
		name    string
		runtime int64 // of all jobs
		size    int
		mode    string
	}{
		{"the jobs of one section", 3 * ran, 3, "write"},
		{"two of its jobs ended earlier", ran + 200, 3, "write"},
		{"jobs of another section", 15016, 5, ""},
		{"one that was short", 3*ran + ran/4, 4, ""},
	} {
		entries := assign.NewEntries(&assign.Output{Execution: evidence.Execution{Fio: &fiolog.Report{
			GlobalOptions: map[string]string{"runtime": "3", "rw": "read"},
			Jobs: []fiolog.Job{{
				Name: "a", Runtime: c.runtime, Options: map[string]string{"rw": "write", "numjobs": "3"},
				Mixed: &fiolog.DirectionStats{Runtime: ran, TotalIOs: 10},
			}},
		}}})
		p := &Plan{Run: &assign.Run{}, Entries: entries}
		set, rw := p.FioSettings(), entries[0].Option("rw")
		if e := entries[0]; e.Size != c.size || set.Mode != c.mode || rw != c.mode || set.RunSeconds != 3 || (e.Mixed != nil) != (c.mode == "") {
			t.Errorf("%s: %d jobs, mixed %v, settings %+v, rw=%s", c.name, e.Size, e.Mixed != nil, set, rw)
		}
	}
}

// TestMayWait: jobs of a group are placed together, which is wrong if one of them waits. A job file has the options of all
// sections, a report of one.
func TestMayWait(t *testing.T) {
	section := func(delay string) *fioargs.Section { return sectionOf(options{"startdelay": delay, "rw": "read"}) }
	for _, c := range []struct {
		name        string
		own, global options
		file        []*fioargs.Section
		want        bool
	}{
		{"no delay", options{"rw": "read"}, nil, nil, false},
		{"a delay of all", nil, options{"startdelay": "2"}, nil, false},
		{"a delay of one", options{"startdelay": "2"}, nil, nil, true},
		{"a ramp of one", options{"ramp_time": "2"}, nil, nil, true},
		{"one waits for another", nil, nil, []*fioargs.Section{section(""), sectionOf(options{"wait_for": "a"})}, true},
		{"the same delay in each section", options{"startdelay": "2"}, nil, []*fioargs.Section{section("2"), section("2")}, false},
		{"a delay of another section", nil, nil, []*fioargs.Section{section("2"), section("")}, true},
	} {
		for _, isGroup := range []bool{true, false} {
			e := &assign.Entry{JobOptions: assign.JobOptions{Own: c.own, Global: c.global, IsGroup: isGroup}}
			if got := mayWait(e, c.file); got != (c.want && isGroup) {
				t.Errorf("%s, group %v: %v", c.name, isGroup, got)
			}
		}
	}
}

// TestNominal: measured intervals become those that people set, also in short runs.
func TestNominal(t *testing.T) {
	for measured, want := range map[int64]int64{986: 1000, 1010: 1000, 1980: 2000, 510: 500, 250: 250, 123: 120, 100: 100, 3: 0, 10_040: 10_000} {
		if got := evidence.Nominal(measured); got != want {
			t.Errorf("rows of %d ms: %d, want %d", measured, got, want)
		}
	}
	for _, c := range []struct {
		times          []int64
		spacing, usual int64
	}{
		{[]int64{559, 1555, 2560, 3008}, 1000, 1000}, // fio 3.33 and --runtime=3
		{[]int64{600, 1590, 2000}, 1000, 1000},
		{[]int64{600, 1310, 2600, 3010}, 1000, 1000}, // a report was late
		{[]int64{600, 2580, 4580, 5000}, 2000, 2000},
		{[]int64{100, 620, 1095, 1597, 1700}, 500, 1000},
		{[]int64{100, 1000}, 0, 1000}, // too few
	} {
		p := assign.Output{Execution: evidence.Execution{Times: c.times}}
		if got := p.Spacing(); got != c.spacing || UsualWindow(got) != c.usual {
			t.Errorf("reports at %v: %d, windows of %d", c.times, got, UsualWindow(got))
		}
	}
}

// TestOptionsOfSections: options that sections have apart are listed in the order of the sections, once for all jobs of a
// section. Of a group without a job file, only one section is known. Names do not count, nor those of CBT's volumes.
func TestOptionsOfSections(t *testing.T) {
	job := func(group int, options string) fiolog.Job { return fiolog.Job{GroupID: group, Options: words(options)} }
	for _, c := range []struct {
		name, want string
		jobs       []fiolog.Job
		isGroup    bool
		sections   []string
		set        string // benchmark
		client     bool
	}{
		{name: "one", want: "bs=4k rw=read size=1g", jobs: []fiolog.Job{job(0, "rw=read bs=4k name=a"), job(0, "rw=read bs=4k name=b")}},
		{name: "two", want: "bs=8k direct=0 | 1 rw=read | write size=1g", jobs: []fiolog.Job{
			job(0, "rw=read bs=8k name=a"), job(0, "rw=read bs=8192 name=a"), job(0, "rw=write bs=8k direct=1 name=b"),
		}},
		{name: "no default", want: "ioengine=psync | rbd pool=- | p size=1g", jobs: []fiolog.Job{job(0, ""), job(0, "ioengine=rbd pool=p")}},
		{name: "groups side by side", want: "rw=read size=1g", jobs: []fiolog.Job{job(1, "rw=read"), job(2, "rw=read")}},
		{name: "new names", want: "rwmixwrite=30 size=1g", jobs: []fiolog.Job{job(0, "rwmixwrite=30")}},
		{name: "group", want: "rw=write | ? size=1g", jobs: []fiolog.Job{job(0, "rw=write")}, isGroup: true},
		{name: "job file", want: "rw=read | write size=1g", jobs: []fiolog.Job{job(0, "rw=write")}, isGroup: true, sections: []string{"rw=read", "rw=write"}},
		{name: "plain", want: "filename=/a | /b size=1g", jobs: []fiolog.Job{job(0, "filename=/a"), job(0, "filename=/b")}},
		{name: "client", want: "filename=/a | /b size=1g", jobs: []fiolog.Job{job(0, "filename=/b"), job(0, "filename=/a")}, client: true},
		{name: "CBT", want: "size=1g", jobs: []fiolog.Job{job(0, "filename=/a"), job(0, "filename=/b")}, set: "librbdfio"},
	} {
		out := &assign.Output{Execution: evidence.Execution{Fio: &fiolog.Report{GlobalOptions: words("size=1g"), Jobs: c.jobs}}}
		out.Client = c.client
		p := &Plan{Run: &assign.Run{}, Outputs: []*assign.Output{out}}
		p.Run.Benchmark = c.set
		for _, s := range c.sections {
			p.Run.Sections = append(p.Run.Sections, sectionOf(words(s)))
		}
		for i := range c.jobs {
			e := &assign.Entry{JobOptions: out.Options(i), Job: &c.jobs[i], Out: out}
			e.IsGroup = c.isGroup
			p.Entries = append(p.Entries, e)
		}
		want := map[string]string{}
		for _, option := range strings.Fields(strings.ReplaceAll(c.want, fioargs.Between, "#")) {
			name, value, _ := strings.Cut(option, "=")
			want[name] = strings.ReplaceAll(value, "#", fioargs.Between)
		}
		if got := p.Options(); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}

func words(text string) map[string]string {
	options := map[string]string{}
	for _, option := range strings.Fields(text) {
		name, value, _ := strings.Cut(option, "=")
		options[name] = value
	}
	return options
}
