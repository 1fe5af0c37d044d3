package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// TestStages: groups that ran one after another are stages, those side by side are one. In a stage, jobs with the same
// options are a section.
func TestStages(t *testing.T) {
	outs := map[string]*Output{"a": {}, "b": {}}
	at := func(host string, group int, rw string, start, ran int64) *Job { // milliseconds
		e := &Entry{Out: outs[host], Job: &fiolog.Job{Name: rw, GroupID: group}, jobOptions: jobOptions{own: options{"rw": rw}}}
		return &Job{
			JobKey: JobKey{Host: host}, Entry: e, Ran: ran, Log: &Log{Log: cbt.Log{File: &source.File{}}},
			moment: moment{time.UnixMilli(start), clockReport, errorOfEnd},
		}
	}
	for _, c := range []struct {
		name string
		jobs []*Job
		want string // stages with their start and end, and the numbers of the jobs of their sections
	}{
		{"one section", []*Job{at("a", 0, "read", 0, 4000), at("a", 0, "read", 0, 4000)}, "0-4000 [1 2]"},
		{"two sections", []*Job{at("a", 0, "read", 0, 4000), at("a", 0, "write", 0, 5000)}, "0-5000 [1] [2]"},
		{"stonewall", []*Job{at("a", 1, "write", 4250, 3000), at("a", 0, "read", 0, 4000)}, "0-4000 [2], 4250-7250 [1]"},
		{"stonewall, within the errors", []*Job{at("a", 0, "read", 0, 4000), at("a", 1, "write", 3900, 3000)}, "0-4000 [1], 3900-6900 [2]"},
		{"new_group", []*Job{at("a", 0, "read", 0, 6000), at("a", 1, "write", 10, 6000)}, "0-6010 [1] [2]"},
		{"behind the longer of two", []*Job{at("a", 0, "read", 0, 4000), at("a", 1, "read", 0, 9000), at("a", 2, "read", 5000, 3000)}, "0-9000 [1 2 3]"},
		{"hosts", []*Job{at("a", 0, "read", 0, 4000), at("b", 0, "read", 60, 4000), at("a", 1, "trim", 4300, 3000), at("b", 1, "trim", 4350, 3000)}, "0-4060 [1 2], 4300-7350 [3 4]"},
		{"an unknown end", []*Job{at("a", 0, "read", 0, 0), at("a", 1, "write", 4250, 3000), at("a", 2, "trim", 8000, 3000)}, "0-? [1] [2] [3]"},
	} {
		for i, j := range c.jobs {
			j.Number = i + 1
		}
		var got []string
		for _, s := range (&Plan{Run: &cbt.Run{}, Jobs: c.jobs}).stages() {
			text := fmt.Sprint(s.Start.UnixMilli(), "-", s.End.UnixMilli())
			if s.End.IsZero() {
				text = fmt.Sprint(s.Start.UnixMilli(), "-?")
			}
			for _, section := range s.Sections {
				var numbers []int
				for _, j := range section.Jobs {
					numbers = append(numbers, j.Number)
				}
				text += fmt.Sprint(" ", numbers)
				if j := section.Jobs[0]; section.Settings.Mode != j.Entry.own["rw"] || section.Names[0] != j.Entry.Job.Name {
					t.Errorf("%s: %+v", c.name, section)
				}
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestApart: jobs that did not run together make rates too low, and hosts that began apart may have a wrong clock.
func TestApart(t *testing.T) {
	at := func(host string, start, end int64) *Job { // milliseconds
		return &Job{JobKey: JobKey{Host: host}, moment: moment{Start: time.UnixMilli(start)}, Ran: end - start}
	}
	for _, c := range []struct {
		name   string
		unsure time.Duration
		jobs   []*Job
		want   string
		doubt  bool
	}{
		{"one host", 500, []*Job{at("a", 0, 10000)}, "", false},
		{"together", 500, []*Job{at("a", 0, 10000), at("b", 1000, 9000)}, "", false},
		{"one within another's, then a third", 10000, []*Job{at("a", 0, 20000), at("b", 1000, 2000), at("c", 15000, 20000)}, "", false},
		{"no more apart than is known", 6000, []*Job{at("a", 0, 10000), at("b", 12000, 20000)}, "", false},
		{"one after another", 500, []*Job{at("a", 0, 10000), at("b", 0, 11000), at("c", 90000, 100000)}, `host "c" began 1m19s after`, false},
		{"jobs of one host", 100, []*Job{at("a", 0, 20000), at("a", 5000, 20000)}, "", false},
		{"a little", 100, []*Job{at("b", 0, 20000), at("a", 1500, 20000)}, "", false},
		{"seconds", 100, []*Job{at("b", 0, 20000), at("a", 3000, 20000)}, `host "b" began 3.0 s before host "a": `, true},
		{"the last of several", 100, []*Job{at("b", 0, 20000), at("c", 1000, 20000), at("b", 2000, 20000), at("a", 2500, 20000), at("c", 9000, 20000)}, "FIO2ES_OFFSET=b=2500 (milliseconds)", true},
	} {
		p := &Plan{Jobs: c.jobs, moment: moment{Error: c.unsure * time.Millisecond}}
		got, isDoubt := p.Apart(func(*Job) int64 { return 0 })
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) || isDoubt != c.doubt {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
