package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// lastsOf knows that the last row of each job came at its end.
func lastsOf(jobs []*Job) map[assign.Need]assign.Rows {
	known := map[assign.Need]assign.Rows{}
	for _, j := range jobs {
		known[assign.Need{Log: j.Log, What: assign.LastRow}] = assign.Rows{Last: j.Ran}
	}
	return known
}

// TestStages: groups that ran one after another are stages, those side by side are one. In a stage, jobs with the same
// options are a section.
func TestStages(t *testing.T) {
	outs := map[string]*assign.Output{"a": {Execution: evidence.Execution{Fio: &fiolog.Report{}}}, "b": {Execution: evidence.Execution{Fio: &fiolog.Report{}}}}
	at := func(host string, group int, rw string, start, ran int64) *Job { // milliseconds
		own := map[string]string{"rw": rw}
		if name, waits, ok := strings.Cut(rw, " after "); ok {
			rw, own = name, map[string]string{"rw": name, "wait_for": waits}
		}
		if name, ok := strings.CutPrefix(rw, "delayed "); ok {
			rw, own = name, map[string]string{"rw": name, "startdelay": "2"}
		}
		e := &assign.Entry{Out: outs[host], Job: &fiolog.Job{Name: rw, GroupID: group}, JobOptions: assign.JobOptions{Own: own}}
		j := &Job{
			Job: assign.Job{JobKey: assign.JobKey{Host: host}, Entry: e, Log: &assign.JobLog{Log: assign.Log{File: evidence.Of(&source.File{})}}}, Ran: ran,
			moment: moment{time.UnixMilli(start), clockReport, errorOfEnd},
		}
		return j
	}
	unsure := func(j *Job) *Job {
		j.Error = 10 * time.Second
		return j
	}
	bare := func(host string, start, last int64) *Job { // without a report, whose rows have absolute times
		return &Job{
			Job: assign.Job{
				JobKey: assign.JobKey{Host: host}, Source: assign.FromHist, Interval: 1000, Log: &assign.JobLog{Log: assign.Log{File: evidence.Of(&source.File{})}},
				Head: evidence.Head{HasRows: true, First: evidence.EpochTimes + 1},
			},
			Ran: last, moment: moment{time.UnixMilli(start), clockEpoch, errorOfEpoch},
		}
	}
	ended := func(host string, at int64) *Job { // without a report, by when its log was last written
		j := bare(host, at-1000, 1000)
		j.First, j.Log.File.ModTime = 1000, time.UnixMilli(at)
		return j
	}
	file := []*fioargs.Section{
		{Name: "read", Options: []fioargs.Option{{Name: "rw", Value: "read"}}},
		{Name: "write", Options: []fioargs.Option{{Name: "stonewall"}, {Name: "rw", Value: "write"}}},
		{Name: "trim", Options: []fioargs.Option{{Name: "new_group"}, {Name: "rw", Value: "trim"}}},
	}
	delayed := slices.Clone(file[:2])
	delayed[1] = &fioargs.Section{Name: "write", Options: append(slices.Clone(file[1].Options), fioargs.Option{Name: "startdelay", Value: "2"})}
	for _, c := range []struct {
		name string
		file []*fioargs.Section
		jobs []*Job
		want string // stages with their name and start, the numbers of the jobs of their sections, and whether that is unsure
	}{
		{"one section", nil, []*Job{at("a", 0, "read", 0, 4000), at("a", 0, "read", 0, 4000)}, " 0 [1 2]"},
		{"two sections", nil, []*Job{at("a", 0, "read", 0, 4000), at("a", 0, "write", 0, 5000)}, " 0 [1] [2]"},
		{"stonewall", nil, []*Job{at("a", 1, "write", 4250, 3000), at("a", 0, "read", 0, 4000)}, "read 0 [2], write 4250 [1]"},
		{"stonewall, within the errors", nil, []*Job{at("a", 0, "read", 0, 4000), at("a", 1, "write", 3900, 3000)}, "read 0 [1], write 4000 [2]"},
		{"the same section again", nil, []*Job{at("a", 0, "read", 0, 4000), at("a", 1, "read", 4250, 3000)}, "read 0 [1], read-2 4250 [2]"},
		{"new_group", nil, []*Job{at("a", 0, "read", 0, 6000), at("a", 1, "write", 10, 6000)}, " 0 [1] [2]"},
		{"behind the longer of two", nil, []*Job{at("a", 0, "read", 0, 4000), at("a", 1, "read", 0, 9000), at("a", 2, "read", 5000, 3000)}, " 0 [1 2 3]"},
		{
			"hosts", nil, []*Job{at("a", 0, "read", 0, 4000), at("b", 0, "read", 60, 4000), at("a", 1, "trim", 4300, 3000), at("b", 1, "trim", 4350, 3000)},
			"read 0 [1 2], trim 4300 [3 4]",
		},
		{ // the stage of a slow host ends after the next stage of the other has begun
			"a slow host", nil, []*Job{at("a", 0, "read", 0, 4000), at("b", 0, "read", 0, 9000), at("a", 1, "trim", 4300, 3000), at("b", 1, "trim", 9300, 3000)},
			"read 0 [1 2], trim 4300 [3 4]",
		},
		{"a host without the last stage", nil, []*Job{at("a", 0, "read", 0, 4000), at("b", 0, "read", 0, 4000), at("a", 1, "trim", 4300, 3000)}, "read 0 [1 2], trim 4300 [3]"},
		{"hosts whose clocks differ", nil, []*Job{at("a", 0, "read", 0, 4000), at("b", 0, "read", 7200_000, 4000)}, " 0 [1 2]"},
		{"an unknown end", nil, []*Job{at("a", 0, "read", 0, 0), at("a", 1, "write", 4250, 3000), at("a", 2, "trim", 8000, 3000)}, "read 0 [1], write 4250 [2], trim 8000 [3]; unsure"},
		{"unknown times", nil, []*Job{unsure(at("a", 0, "read", 0, 4000)), unsure(at("a", 1, "write", 0, 4000))}, "read 0 [1], write 4000 [2]; unsure"},
		{"unknown times, and a job file", file, []*Job{unsure(at("a", 0, "read", 0, 4000)), unsure(at("a", 1, "write", 0, 4000)), unsure(at("a", 2, "trim", 0, 4000))}, "read 0 [1], write+trim 4000 [2] [3]"},
		{"wait_for", nil, []*Job{at("a", 0, "read", 0, 4000), at("a", 0, "trim after read", 4100, 3000)}, "read 0 [1], trim 4100 [2]"},
		{"wait_for, beside another", nil, []*Job{at("a", 0, "read", 0, 4000), at("a", 0, "trim after read", 4100, 3000), at("a", 0, "write", 0, 9000)}, " 0 [1] [2] [3]"},
		{"wait_for, unknown times", nil, []*Job{unsure(at("a", 0, "read", 0, 4000)), unsure(at("a", 0, "trim after read", 0, 3000))}, "read 0 [1], trim 4000 [2]"},
		{"wait_for in a new group, behind a short stage", file, []*Job{at("a", 0, "read", 0, 20), at("a", 1, "trim after read", 240, 600)}, "read 0 [1], trim 240 [2]"},
		{
			"wait_for, beside another, unknown times", nil,
			[]*Job{unsure(at("a", 0, "read", 0, 4000)), unsure(at("a", 0, "trim after read", 0, 3000)), unsure(at("a", 0, "write", 0, 4000))}, " 0 [1] [2] [3]",
		},
		{"stages of wrong order by coarse times", nil, []*Job{unsure(at("a", 0, "read", 900, 40)), unsure(at("a", 1, "write", 0, 60)), unsure(at("a", 2, "trim", 300, 50))}, "read 900 [1], write 940 [2], trim 1000 [3]; unsure"},
		{ // fio skips a job whose startdelay is not over, with its stonewall, and starts those behind it
			"a stonewall with a startdelay", delayed, []*Job{at("a", 0, "read", 0, 4000), at("a", 1, "delayed write", 4900, 3000), at("a", 1, "trim", 0, 4000)},
			"read+trim 0 [1] [3], write 4900 [2]",
		},
		{
			"a startdelay, no job file", nil, []*Job{at("a", 0, "read", 0, 4000), at("a", 1, "delayed write", 4900, 3000), at("a", 1, "trim", 0, 4000)},
			"read+trim 0 [1] [3], write 4900 [2]",
		},
		{
			"a startdelay, and a new group behind it", nil,
			[]*Job{at("a", 0, "read", 0, 4000), at("a", 1, "delayed write", 4900, 3000), at("a", 2, "trim", 0, 2000)}, "read+trim 0 [1] [3], write 4900 [2]",
		},
		{"a startdelay behind all", nil, []*Job{at("a", 0, "read", 0, 4000), at("a", 1, "delayed write", 4900, 3000), at("a", 1, "trim", 4900, 4000)}, "read 0 [1], write+trim 4900 [2] [3]"},
		{"no report", nil, []*Job{bare("a", 0, 4000), bare("a", 5200, 4000), bare("a", 5300, 4000)}, "1 0 [1], 2 5200 [2 3]"},
		{"no report, side by side", nil, []*Job{bare("a", 0, 4000), bare("a", 1500, 4000)}, " 0 [1 2]"},
		{"no report, one row of each", nil, []*Job{bare("a", 0, 0), bare("a", 8, 0)}, " 0 [1 2]"},
		{"logs that ended together", nil, []*Job{ended("a", 6000), ended("a", 6900), ended("a", 8100)}, " 5000 [1 2 3]"},
		{"logs that ended one after another", nil, []*Job{ended("a", 12000), ended("a", 6000), ended("a", 6100)}, "1 5000 [2 3], 2 11000 [1]"},
		{"logs of hosts", nil, []*Job{ended("a", 6000), ended("b", 90000), ended("a", 12000), ended("b", 99000)}, "1 5000 [1 2], 2 11000 [3 4]"},
		{"logs beside those of a report", nil, []*Job{at("a", 0, "read", 0, 4000), ended("b", 9000)}, " 0 [1] [2]"},
		{"logs beside those of a report with stages", nil, []*Job{at("a", 0, "read", 0, 4000), at("a", 1, "trim", 4300, 3000), ended("b", 9000)},
			"read 0 [1], trim 4300 [2], 1 8000 [3]"},
	} {
		for i, j := range c.jobs {
			j.Number = i + 1
		}
		p := planning(&Plan{Run: &assign.Run{Sections: c.file}, Jobs: c.jobs}, &assign.Evidence{Rows: lastsOf(c.jobs)})
		for _, j := range c.jobs {
			if j.Entry != nil {
				p.Entries = append(p.Entries, j.Entry)
			}
		}
		var got []string
		for _, s := range p.stages() {
			if len(c.jobs) > 0 && s.Stages <= 1 {
				s.Start = c.jobs[0].Start
			}
			text := fmt.Sprint(s.Name, " ", s.Start.UnixMilli())
			for _, section := range s.sections() {
				var numbers []int
				for _, j := range section.Jobs {
					numbers = append(numbers, j.Number)
				}
				text += fmt.Sprint(" ", numbers)
				if j := section.Jobs[0]; j.Entry != nil && (section.Settings.Mode != j.Entry.Own["rw"] || section.Name != j.Entry.Job.Name) {
					t.Errorf("%s: %+v", c.name, section)
				}
			}
			got = append(got, text)
		}
		text := strings.Join(got, ", ")
		for _, note := range p.problems.Notes {
			if strings.Contains(note.Error(), "or side by side (new_group)") {
				text += "; unsure"
			}
		}
		if text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}
