package plan

import (
	"maps"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestNominal: measured intervals become those that people set, also in short runs.
func TestNominal(t *testing.T) {
	for measured, want := range map[int64]int64{986: 1000, 1010: 1000, 1980: 2000, 510: 500, 250: 250, 123: 120, 100: 100, 3: 0, 10_040: 10_000} {
		if got := nominal(measured); got != want {
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
		p := Periodic{Times: c.times}
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
		{name: "stonewall", want: "groupid=0 | 1 rw=read size=1g", jobs: []fiolog.Job{job(1, "rw=read"), job(2, "rw=read")}},
		{name: "new names", want: "rwmixwrite=30 size=1g", jobs: []fiolog.Job{job(0, "rwmixwrite=30")}},
		{name: "group", want: "rw=write | ? size=1g", jobs: []fiolog.Job{job(0, "rw=write")}, isGroup: true},
		{name: "job file", want: "rw=read | write size=1g", jobs: []fiolog.Job{job(0, "rw=write")}, isGroup: true, sections: []string{"rw=read", "rw=write"}},
		{name: "plain", want: "filename=/a | /b size=1g", jobs: []fiolog.Job{job(0, "filename=/a"), job(0, "filename=/b")}},
		{name: "client", want: "filename=/a | /b size=1g", jobs: []fiolog.Job{job(0, "filename=/b"), job(0, "filename=/a")}, client: true},
		{name: "CBT", want: "size=1g", jobs: []fiolog.Job{job(0, "filename=/a"), job(0, "filename=/b")}, set: "librbdfio"},
	} {
		out := &Output{Fio: &fiolog.Report{GlobalOptions: words("size=1g"), Jobs: c.jobs}}
		out.Client = c.client
		p := &Plan{Run: &cbt.Run{}, Outputs: []*Output{out}}
		p.Run.Benchmark = c.set
		for _, s := range c.sections {
			p.Run.Sections = append(p.Run.Sections, fiolog.JobSection{Options: words(s)})
		}
		for i := range c.jobs {
			e := &Entry{jobOptions: out.Options(i), Job: &c.jobs[i], Out: out}
			e.isGroup = c.isGroup
			p.Entries = append(p.Entries, e)
		}
		want := map[string]string{}
		for _, option := range strings.Fields(strings.ReplaceAll(c.want, fiolog.Between, "#")) {
			name, value, _ := strings.Cut(option, "=")
			want[name] = strings.ReplaceAll(value, "#", fiolog.Between)
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
