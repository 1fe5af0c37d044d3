package pipeline

import (
	"fmt"
	"maps"
	"path/filepath"
	"testing"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// TestCountJobs: a run has the jobs that its reports count, also where logs are missing or one log is of all jobs, and
// no settings in which the entries behind such a log differ.
func TestCountJobs(t *testing.T) {
	entries := func(sizes ...int) (list []*entry) {
		report := &fiolog.Report{Jobs: make([]fiolog.Job, len(sizes))}
		for i, size := range sizes {
			report.Jobs[i] = fiolog.Job{UsrCPU: float64(10 * size), Options: map[string]string{"numjobs": string(rune('0' + size)), "rw": "read"}}
			list = append(list, &entry{jobOptions: (&output{fio: report}).options(i), jobStats: jobStats{Job: &report.Jobs[i]}, out: &output{fio: report}, size: size})
		}
		return list
	}
	for _, c := range []struct {
		name    string
		entries []*entry
		logs    int // of each entry
		want    int
	}{
		{"no report", nil, 0, 2},
		{"a log for each job", entries(3), 3, 3},
		{"group_reporting, and one log", entries(3), 1, 3},
		{"two of three logs", entries(3, 1), 2, 5}, // the second has more logs than its report says
		{"one log of two groups", []*entry{combine(entries(2, 3))}, 1, 5},
		{"a group of several sections", []*entry{combine(entries(1, 1))}, 4, 4},
	} {
		p := &plan{entries: c.entries}
		for _, e := range c.entries {
			for range c.logs {
				j := newJob(&logHead{Log: cbt.Log{Host: "a"}, segment: -1})
				j.entry, e.jobs = e, append(e.jobs, j)
				p.jobs = append(p.jobs, j)
			}
		}
		if c.entries == nil {
			p.jobs = []*job{newJob(&logHead{Log: cbt.Log{Host: "a"}, segment: -1}), newJob(&logHead{Log: cbt.Log{Host: "a"}, segment: -1})}
		}
		p.run = &cbt.Run{}
		if got, ofHost := p.fio().Jobs, p.hosts()[0].Jobs; got != c.want || ofHost != c.want {
			t.Errorf("%s: %d jobs, %d of the host, want %d", c.name, got, ofHost, c.want)
		}
	}
	p := &plan{run: &cbt.Run{}, entries: []*entry{combine(entries(2, 4))}}
	info, set := p.fio(), p.fioSettings()
	if !maps.Equal(info.Options, map[string]string{"rw": "read", "numjobs": "2 | 4"}) || set.Mode != "read" || set.NumJobs != 0 || info.UsrCPU != 30 {
		t.Errorf("%+v, %+v", info, set)
	}
}

// TestVerify: a job that reads what it has written runs for the time of both.
func TestVerify(t *testing.T) {
	for _, numjobs := range []int64{1, 3} {
		e := newEntries(&output{fio: &fiolog.Report{Jobs: []fiolog.Job{{
			Runtime: numjobs * 10480, Directions: [3]fiolog.DirectionStats{{Runtime: 5304}, {Runtime: 5178}},
			Options: map[string]string{"verify": "crc32c", "numjobs": fmt.Sprint(numjobs)},
		}}}})[0]
		if e.ran != 10480 || e.size != int(numjobs) || e.isGroup {
			t.Errorf("%d jobs: ran %d, size %d", numjobs, e.ran, e.size)
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
		entries := newEntries(&output{fio: &fiolog.Report{
			GlobalOptions: map[string]string{"runtime": "3", "rw": "read"},
			Jobs: []fiolog.Job{{
				Name: "a", Runtime: c.runtime, Options: map[string]string{"rw": "write", "numjobs": "3"},
				Mixed: &fiolog.DirectionStats{Runtime: ran, TotalIOs: 10},
			}},
		}})
		p := &plan{run: &cbt.Run{}, entries: entries}
		set, options := p.fioSettings(), p.entries.options()
		if e := entries[0]; e.size != c.size || set.Mode != c.mode || options["rw"] != c.mode || set.RunSeconds != 3 || e.mixed != (c.mode == "") {
			t.Errorf("%s: %d jobs, mixed %v, settings %+v, options %v", c.name, e.size, e.mixed, set, options)
		}
	}
}

// TestPrefixesOfGroup: sections of a group may log to other prefixes than the one whose options the report lists. Otherwise
// a report that names logs is of these alone.
func TestPrefixesOfGroup(t *testing.T) {
	for runtime, want := range map[int64]bool{8000: true, 4000: false} {
		of := fiolog.Job{Name: "a", Runtime: runtime, Options: options{"write_hist_log": "bb"}}
		of.Directions[fiolog.Read].Runtime = 4000
		out := &output{Report: cbt.Report{File: &source.File{Path: "out.json"}, Found: cbt.FoundFolder}, fio: &fiolog.Report{Jobs: []fiolog.Job{of}}}
		for prefix, want := range map[string]bool{"aa": want, "bb": true} {
			j := newJob(&logHead{Log: cbt.Log{Prefix: prefix, File: &source.File{Path: prefix + "_clat_hist.1.log"}, Job: 1}, segment: -1})
			if got := out.mayCover(j, []*job{j}); got != want {
				t.Errorf("job_runtime %d: the log %s: %v, want %v", runtime, prefix, got, want)
			}
		}
	}
}

// TestMayWait: jobs of a group are placed together, which is wrong if one of them waits. A job file has the options of all
// sections, a report of one.
func TestMayWait(t *testing.T) {
	section := func(delay string) fiolog.JobSection {
		return fiolog.JobSection{Options: options{"startdelay": delay, "rw": "read"}}
	}
	for _, c := range []struct {
		name        string
		own, global options
		file        []fiolog.JobSection
		want        bool
	}{
		{"no delay", options{"rw": "read"}, nil, nil, false},
		{"a delay of all", nil, options{"startdelay": "2"}, nil, false},
		{"a delay of one", options{"startdelay": "2"}, nil, nil, true},
		{"a ramp of one", options{"ramp_time": "2"}, nil, nil, true},
		{"the same delay in each section", options{"startdelay": "2"}, nil, []fiolog.JobSection{section("2"), section("2")}, false},
		{"a delay of another section", nil, nil, []fiolog.JobSection{section("2"), section("")}, true},
	} {
		for _, isGroup := range []bool{true, false} {
			e := &entry{jobOptions: jobOptions{own: c.own, global: c.global, isGroup: isGroup}}
			if got := e.mayWait(c.file); got != (c.want && isGroup) {
				t.Errorf("%s, group %v: %v", c.name, isGroup, got)
			}
		}
	}
}

// TestVerifyWindows: periodic reports of real fio with verify. The last one has the longest run time of a direction,
// which is less than how long the job ran before.
func TestVerifyWindows(t *testing.T) {
	docs, res := readRun(t, filepath.Join("..", "testdata", "corpus", "verify"), "out", Options{Levels: []mapping.Level{mapping.Cluster}})
	for _, d := range docs {
		if d.Requests.Completed > 610 {
			t.Errorf("%d %s requests at %d ms", d.Requests.Completed, d.Fio.Direction, d.Window.ElapsedMS)
		}
	}
	if ms := res.Run.All.DurationMS; ms != 7504 || res.Run.Read.Requests != 2048 || res.Run.Write.Requests != 2048 {
		t.Errorf("%d ms, %+v, %+v", ms, res.Run.Read, res.Run.Write)
	}
}
