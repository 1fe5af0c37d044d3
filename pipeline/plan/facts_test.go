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
	entries := func(sizes ...int) (list []*Entry) {
		report := &fiolog.Report{Jobs: make([]fiolog.Job, len(sizes))}
		for i, size := range sizes {
			report.Jobs[i] = fiolog.Job{UsrCPU: float64(10 * size), Options: map[string]string{"numjobs": string(rune('0' + size)), "rw": "read"}}
			list = append(list, &Entry{jobOptions: (&Output{Execution: evidence.Execution{Fio: report}}).Options(i), Job: &report.Jobs[i], Out: &Output{Execution: evidence.Execution{Fio: report}}, Size: size})
		}
		return list
	}
	for _, c := range []struct {
		name    string
		entries []*Entry
		logs    int // of each entry
		want    int
	}{
		{"no report", nil, 0, 2},
		{"a log for each job", entries(3), 3, 3},
		{"group_reporting, and one log", entries(3), 1, 3},
		{"two of three logs", entries(3, 1), 2, 5}, // the second has more logs than its report says
		{"one log of two groups", []*Entry{combine(entries(2, 3))}, 1, 5},
		{"a group of several sections", []*Entry{combine(entries(1, 1))}, 4, 4},
	} {
		p := &Plan{Entries: c.entries}
		for _, e := range c.entries {
			for range c.logs {
				j := NewJob(&Log{Log: assign.Log{Host: "a"}, Segment: -1})
				j.Entry, e.Jobs = e, append(e.Jobs, j)
				p.Jobs = append(p.Jobs, j)
			}
		}
		if c.entries == nil {
			p.Jobs = []*Job{NewJob(&Log{Log: assign.Log{Host: "a"}, Segment: -1}), NewJob(&Log{Log: assign.Log{Host: "a"}, Segment: -1})}
		}
		p.Run = &assign.Run{}
		got := 0
		for _, j := range p.Jobs {
			got += j.Stands()
		}
		if ofHost := p.Hosts()[0].Jobs; got != c.want || ofHost != c.want {
			t.Errorf("%s: %d jobs, %d of the host, want %d", c.name, got, ofHost, c.want)
		}
	}
	p := &Plan{Run: &assign.Run{}, Entries: []*Entry{combine(entries(2, 4))}}
	options, set := p.Options(), p.FioSettings()
	if !maps.Equal(options, map[string]string{"rw": "read", "numjobs": "2 | 4"}) || set.Mode != "read" || set.NumJobs != 0 {
		t.Errorf("%+v, %+v", options, set)
	}
}

// TestVerify: a job that reads what it has written runs for the time of both.
func TestVerify(t *testing.T) {
	for _, numjobs := range []int64{1, 3} {
		e := NewEntries(&Output{Execution: evidence.Execution{Fio: &fiolog.Report{Jobs: []fiolog.Job{{
			Runtime: numjobs * 10480, Directions: [3]fiolog.DirectionStats{{Runtime: 5304}, {Runtime: 5178}},
			Options: map[string]string{"verify": "crc32c", "numjobs": fmt.Sprint(numjobs)},
		}}}}})[0]
		if e.Ran != 10480 || e.Size != int(numjobs) || e.isGroup {
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
		entries := NewEntries(&Output{Execution: evidence.Execution{Fio: &fiolog.Report{
			GlobalOptions: map[string]string{"runtime": "3", "rw": "read"},
			Jobs: []fiolog.Job{{
				Name: "a", Runtime: c.runtime, Options: map[string]string{"rw": "write", "numjobs": "3"},
				Mixed: &fiolog.DirectionStats{Runtime: ran, TotalIOs: 10},
			}},
		}}})
		p := &Plan{Run: &assign.Run{}, Entries: entries}
		set, rw := p.FioSettings(), entries[0].option("rw")
		if e := entries[0]; e.Size != c.size || set.Mode != c.mode || rw != c.mode || set.RunSeconds != 3 || (e.Mixed != nil) != (c.mode == "") {
			t.Errorf("%s: %d jobs, mixed %v, settings %+v, rw=%s", c.name, e.Size, e.Mixed != nil, set, rw)
		}
	}
}

// TestPrefixesOfGroup: sections of a group may log to other prefixes than the one whose options the report lists. Otherwise
// a report that names logs is of these alone.
func TestPrefixesOfGroup(t *testing.T) {
	for _, c := range []struct {
		runtime int64
		option  string
		want    bool
	}{{8000, "write_hist_log", true}, {4000, "write_hist_log", false}, {4000, "write_lat_log", false}, {4000, "write_bw_log", true}} {
		of := fiolog.Job{Name: "a", Runtime: c.runtime, Options: options{c.option: "bb"}}
		of.Directions[fiolog.Read].Runtime = 4000
		out := &Output{Report: assign.Report{File: evidence.Of(&source.File{Path: "out.json"}), Found: assign.FoundFolder}, Execution: evidence.Execution{Fio: &fiolog.Report{Jobs: []fiolog.Job{of}}}}
		for prefix, want := range map[string]bool{"aa": c.want, "bb": true} {
			j := NewJob(&Log{Log: assign.Log{Prefix: prefix, File: evidence.Of(&source.File{Path: prefix + "_clat_hist.1.log"}), Job: 1}, Segment: -1})
			if got := out.mayCover(j, []*Job{j}); got != want {
				t.Errorf("job_runtime %d, %s: the log %s: %v, want %v", c.runtime, c.option, prefix, got, want)
			}
		}
	}
}

// TestPrefixesOfOldGroup: before fio 3.8 no run time shows that a group has several sections, but the numbers of logs do.
func TestPrefixesOfOldGroup(t *testing.T) {
	out := &Output{Report: assign.Report{File: evidence.Of(&source.File{Path: "out.json"}), Found: assign.FoundFolder}, Execution: evidence.Execution{Fio: &fiolog.Report{Jobs: []fiolog.Job{
		{Name: "a", Options: options{"write_hist_log": "bb"}},
	}}}}
	log := func(prefix string, number int) *Job {
		file := evidence.Of(&source.File{Path: fmt.Sprintf("%s_clat_hist.%d.log", prefix, number)})
		return NewJob(&Log{Log: assign.Log{Prefix: prefix, File: file, Job: number}, Segment: -1})
	}
	for _, c := range []struct {
		other *Job
		want  bool
	}{{log("bb", 2), true}, {log("bb", 1), false}, {log("cc", 2), false}} {
		if j := log("aa", 1); out.mayCover(j, []*Job{j, c.other}) != c.want {
			t.Errorf("beside %s: want %v", c.other.File(), c.want)
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
			e := &Entry{jobOptions: jobOptions{own: c.own, global: c.global, isGroup: isGroup}}
			if got := e.mayWait(c.file); got != (c.want && isGroup) {
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
		p := Output{Execution: evidence.Execution{Times: c.times}}
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
		out := &Output{Execution: evidence.Execution{Fio: &fiolog.Report{GlobalOptions: words("size=1g"), Jobs: c.jobs}}}
		out.Client = c.client
		p := &Plan{Run: &assign.Run{}, Outputs: []*Output{out}}
		p.Run.Benchmark = c.set
		for _, s := range c.sections {
			p.Run.Sections = append(p.Run.Sections, sectionOf(words(s)))
		}
		for i := range c.jobs {
			e := &Entry{jobOptions: out.Options(i), Job: &c.jobs[i], Out: out}
			e.isGroup = c.isGroup
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
