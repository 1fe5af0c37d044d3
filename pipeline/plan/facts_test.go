package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
	"github.com/fio2es/fio2es/pipeline/source"
)

// TestCountJobs: a run has the jobs that its reports count, also where logs are missing or one log is of all jobs, and
// no settings in which the entries behind such a log differ.
func TestCountJobs(t *testing.T) {
	planOf := func(sizes, logs []int) *plan.Plan {
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
		stages, err := newPlan(sums{1}, ev, plan.Options{Absent: true}, &assign.Remarks{})
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
		if n, ofHost := plan.Stand(p.Jobs), p.Hosts()[0].Jobs; n != c.want || ofHost != c.want {
			t.Errorf("%s: %d jobs, %d of the host, want %d", c.name, n, ofHost, c.want)
		}
	}
	p := planOf([]int{2, 4}, []int{0})
	options, set := p.Options(), p.FioSettings()
	if !maps.Equal(options, map[string]string{"rw": "read", "numjobs": "2 | 4"}) || set.Mode != "read" || set.NumJobs != 0 {
		t.Errorf("%+v, %+v", options, set)
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
		p := &plan.Plan{Run: &assign.Run{}, Entries: entries}
		set, rw := p.FioSettings(), entries[0].Option("rw")
		if e := entries[0]; e.Size != c.size || set.Mode != c.mode || rw != c.mode || set.RunSeconds != 3 || (e.Mixed != nil) != (c.mode == "") {
			t.Errorf("%s: %d jobs, mixed %v, settings %+v, rw=%s", c.name, e.Size, e.Mixed != nil, set, rw)
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
		p := assign.Output{Report: assign.Report{File: &evidence.File{File: &source.File{}}}, Execution: evidence.Execution{Times: c.times}}
		if got := p.Spacing(); got != c.spacing || plan.UsualWindow(got) != c.usual {
			t.Errorf("reports at %v: %d, windows of %d", c.times, got, plan.UsualWindow(got))
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
		p := &plan.Plan{Run: &assign.Run{}, Outputs: []*assign.Output{out}}
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

// TestLimitLevels: a level with too many documents in a window is left out, and reported.
func TestLimitLevels(t *testing.T) {
	all := []mapping.Level{mapping.Cluster, mapping.Host, mapping.Job}
	for _, tt := range []struct {
		hosts, jobs  int
		levels, want []mapping.Level
		skipped      int
	}{
		{256, 5000, all, all, 0},
		{257, 1001, all, []mapping.Level{mapping.Cluster, mapping.Job}, 1},
		{257, 5001, all, []mapping.Level{mapping.Cluster}, 2},
		{10, 5001, nil, []mapping.Level{mapping.Cluster, mapping.Host}, 0},
		{257, 1001, []mapping.Level{mapping.Host}, nil, 1},
	} {
		levels, jobs := tt.levels, []*plan.Job(nil)
		if levels == nil {
			levels = all[:2]
		}
		for i := range tt.jobs {
			jobs = append(jobs, &plan.Job{Job: assign.Job{JobKey: assign.JobKey{Host: fmt.Sprint(i % tt.hosts)}}})
		}
		got, errs := (&plan.Plan{Jobs: jobs}).LimitLevels(levels)
		if !slices.Equal(got, tt.want) || len(errs) != tt.skipped {
			t.Errorf("%d hosts, %d jobs, levels %v: got %v, %v; want %v", tt.hosts, tt.jobs, tt.levels, got, errs, tt.want)
		}
	}
	for _, tt := range []struct {
		sections, hosts int
		levels, want    []mapping.Level
		skipped         int
	}{
		{1, 1, []mapping.Level{mapping.Cluster, mapping.Section}, all[:1], 0},
		{1, 1, []mapping.Level{mapping.Section}, nil, 1},
		{1024, 2, []mapping.Level{mapping.Cluster, mapping.Section}, []mapping.Level{mapping.Cluster, mapping.Section}, 0},
		{1025, 1, []mapping.Level{mapping.Cluster, mapping.Section}, all[:1], 1},
	} {
		p := &plan.Plan{Sections: make([]plan.Section, tt.sections)}
		for i := range tt.sections * tt.hosts {
			p.Jobs = append(p.Jobs, &plan.Job{Job: assign.Job{JobKey: assign.JobKey{Host: fmt.Sprint(i % tt.hosts)}, Entry: &assign.Entry{}}})
		}
		if got, errs := p.LimitLevels(tt.levels); !slices.Equal(got, tt.want) || len(errs) != tt.skipped {
			t.Errorf("%d sections on %d hosts, levels %v: got %v, %v; want %v", tt.sections, tt.hosts, tt.levels, got, errs, tt.want)
		}
	}
}

// TestApart: jobs that did not run together make rates too low, and hosts that began apart may have a wrong clock.
func TestApart(t *testing.T) {
	at := func(host string, start, end int64) *plan.Job { // milliseconds
		j := &plan.Job{Job: assign.Job{JobKey: assign.JobKey{Host: host}}, Ran: end - start}
		j.Start = time.UnixMilli(start)
		return j
	}
	for _, c := range []struct {
		name   string
		unsure time.Duration
		jobs   []*plan.Job
		want   string
		doubt  bool
	}{
		{"one host", 500, []*plan.Job{at("a", 0, 10000)}, "", false},
		{"together", 500, []*plan.Job{at("a", 0, 10000), at("b", 1000, 9000)}, "", false},
		{"one within another's, then a third", 10000, []*plan.Job{at("a", 0, 20000), at("b", 1000, 2000), at("c", 15000, 20000)}, "", false},
		{"no more apart than is known", 6000, []*plan.Job{at("a", 0, 10000), at("b", 12000, 20000)}, "", false},
		{"one after another", 500, []*plan.Job{at("a", 0, 10000), at("b", 0, 11000), at("c", 90000, 100000)}, `host "c" began 1m19s after`, false},
		{"jobs of one host", 100, []*plan.Job{at("a", 0, 20000), at("a", 5000, 20000)}, "", false},
		{"a little", 100, []*plan.Job{at("b", 0, 20000), at("a", 1500, 20000)}, "", false},
		{"seconds", 100, []*plan.Job{at("b", 0, 20000), at("a", 3000, 20000)}, `host "b" began 3.0 s before host "a": `, true},
		{"the last of several", 100, []*plan.Job{at("b", 0, 20000), at("c", 1000, 20000), at("b", 2000, 20000), at("a", 2500, 20000), at("c", 9000, 20000)}, "FIO2ES_OFFSET=b=2500 (milliseconds)", true},
	} {
		p := &plan.Plan{Jobs: c.jobs}
		p.Error = c.unsure * time.Millisecond
		got, isDoubt := p.Apart(func(*plan.Job) int64 { return 0 })
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) || isDoubt != c.doubt {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
