package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// written is when fio wrote the reports of these tests.
var written = time.UnixMilli(1_800_000_000_017)

// section is a job of a report: how long it ran, and what its options say.
type section struct {
	group   int
	ran     int64 // ms
	start   int64 // job_start, ms before the report; 0: none
	options map[string]string
	log     int64 // ms before the report at which its log was last written; -1: no log
}

// outputOf makes a report of sections, with a log each, as fio leaves them. elapsed is in
// seconds.
func outputOf(elapsed int64, sections ...section) (*assign.Output, []*assign.Entry) {
	out := &assign.Output{Report: assign.Report{File: evidence.Of(&source.File{Path: "out.json", Modified: source.Modified{ModTime: written}})}, Execution: evidence.Execution{Times: make([]int64, 1)}}
	out.Fio = &fiolog.Report{Timestamp: written.UnixMilli()}
	for i, s := range sections {
		j := fiolog.Job{Name: fmt.Sprint("job", i), GroupID: s.group, Elapsed: elapsed, Options: s.options}
		if s.start > 0 {
			j.Start = written.UnixMilli() - s.start
		}
		j.Directions[0] = fiolog.DirectionStats{TotalIOs: uint64(min(s.ran, 100)), Runtime: s.ran}
		out.Fio.Jobs = append(out.Fio.Jobs, j)
	}
	entries := assign.NewEntries(out)
	for i, e := range entries {
		if sections[i].log >= 0 {
			log := assign.Log{File: evidence.Of(&source.File{Modified: source.Modified{ModTime: written.Add(-time.Duration(sections[i].log) * time.Millisecond)}})}
			e.Jobs = []*assign.Job{{Log: &assign.JobLog{Log: log}, Source: assign.FromHist, Entry: e}}
		}
	}
	return out, entries
}

// startsOf are the starts of entries, in milliseconds before the report.
func startsOf(p placement, entries []*assign.Entry) []int64 {
	var starts []int64
	for _, e := range entries {
		if at := p.Starts[e].Start; at.IsZero() {
			starts = append(starts, -1) // unknown
		} else {
			starts = append(starts, written.Sub(at).Milliseconds())
		}
	}
	return starts
}

// near compares starts, which may differ by some milliseconds.
func near(a, b []int64, within int64) bool {
	for i := range a {
		if d := a[i] - b[i]; d > within || d < -within {
			return false
		}
	}
	return len(a) == len(b)
}

// TestPlace: each kind of evidence, and that the best one is used. fio takes some 0.3 s
// from the end of a job to the start of the next behind a stonewall.
func TestPlace(t *testing.T) {
	old := func(s section) section { s.log += 3_600_000; return s } // copied, or of another day
	waits := map[string]string{"wait_for": "a"}
	whole := func(at time.Time) time.Time { return at.Truncate(time.Second) }
	early := func(at time.Time) time.Time { return at.Add(-2 * time.Second) }
	delayed := func(by string) map[string]string { return map[string]string{"startdelay": by} }
	for _, c := range []struct {
		name     string
		elapsed  int64
		sections []section
		noTimes  bool                      // the files' times are those of a copy
		files    func(time.Time) time.Time // how their times were changed, as in archives; nil: not at all
		want     []int64
		by       Clock
		placed   bool
		doubt    bool
	}{
		{"one group", 11, []section{{ran: 10000, log: 30}, {ran: 6000, log: 30}}, false, nil, []int64{10000, 10000}, clockReport, false, false},
		{"job_start", 11, []section{{ran: 4000, start: 10000, log: 6000}, {group: 1, ran: 5500, start: 5600, log: 30}}, true, nil, []int64{10000, 5600}, clockStart, true, false},
		{"startdelay", 11, []section{{ran: 10000, log: 30}, {ran: 4000, options: delayed("3s"), log: 3000}}, true, nil, []int64{10000, 7000}, clockReport, true, false},
		{"ramp_time", 13, []section{{ran: 10000, options: map[string]string{"ramp_time": "2"}, log: 30}}, true, nil, []int64{10000}, clockReport, false, false},
		{"ramp_time of one", 13, []section{{ran: 12000, log: 30}, {ran: 10000, options: map[string]string{"ramp_time": "2"}, log: 30}}, true, nil, []int64{12000, 10000}, clockReport, false, false},
		{"stonewall, by the logs", 10, []section{{ran: 4000, log: 5640}, {group: 1, ran: 3000, log: 2300}, {group: 2, ran: 2000, log: 30}}, false, nil, []int64{9640, 5300, 2030}, clockMtime, true, false},
		{"stonewall, by a clock that is 2 s behind", 10, []section{{ran: 4000, log: 5640}, {group: 1, ran: 3000, log: 2300}, {group: 2, ran: 2000, log: 30}}, false, early, []int64{9640, 5300, 2030}, clockMtime, true, false},
		{"one log was changed later", 10, []section{{ran: 4000, log: 5640}, {group: 1, ran: 3000, log: 300}, {group: 2, ran: 2000, log: 30}}, false, nil, []int64{9500, 5250, 2000}, clockReport, true, false},
		{"stonewall, by run times", 10, []section{{ran: 4000, log: 0}, {group: 1, ran: 3000, log: 0}, {group: 2, ran: 2000, log: 0}}, true, nil, []int64{9500, 5250, 2000}, clockReport, true, false},
		{"stonewall, in an archive", 10, []section{{ran: 4000, log: 5640}, {group: 1, ran: 3000, log: 2300}, {group: 2, ran: 2000, log: 30}}, false, whole, []int64{9500, 5250, 2000}, clockReport, true, false},
		{"new_group", 7, []section{{ran: 6000, log: 30}, {group: 1, ran: 6000, log: 20}}, true, nil, []int64{6000, 6000}, clockReport, false, false},
		{"new_group, by the logs", 7, []section{{ran: 6000, log: 30}, {group: 1, ran: 3000, log: 3020}}, false, nil, []int64{6030, 6020}, clockMtime, false, false},
		{"wait_for", 7, []section{{ran: 3000, log: 3130}, {ran: 3000, options: waits, log: 30}}, false, nil, []int64{6130, 3030}, clockMtime, true, false},
		{"wait_for, and nothing says when", 7, []section{{ran: 3000, log: 0}, {ran: 3000, options: waits, log: 0}}, true, nil, []int64{7000, 7000}, clockReport, true, true},
		{"nothing says it", 60, []section{{ran: 4000, log: 0}, {group: 1, ran: 3000, log: 0}}, true, nil, []int64{60000, 60000}, clockReport, true, true},
		{"nothing says how long fio ran, as in its text", 0, []section{{ran: 4000, log: 0}, {group: 1, ran: 3000, options: delayed("1s"), log: 0}}, true, nil, []int64{8000, 7000}, clockReport, true, true},
		{"a group failed at once", 8, []section{{ran: 4000, log: 3330}, {group: 1, log: -1}, {group: 2, ran: 3000, log: 30}}, false, nil, []int64{7330, -1, 3030}, clockMtime, true, false},
		{"logs copied one after another", 8, []section{old(section{ran: 4000, log: 0}), old(section{group: 1, ran: 3000, log: 0})}, false, nil, []int64{7250, 3000}, clockReport, true, false},
		{"logs copied at once, within a second", 60, []section{{ran: 40000, log: 10}, {group: 1, ran: 3000, log: 5}}, false, nil, []int64{60000, 60000}, clockReport, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, entries := outputOf(c.elapsed, c.sections...)
			if c.noTimes {
				out.File.ModTime = written.Add(time.Hour)
			}
			changeTimes(out, entries, c.files)
			p := Place(out, entries)
			if got := startsOf(p, entries); !near(got, c.want, 20) {
				t.Errorf("starts %v, want %v", got, c.want)
			}
			if by := p.Starts[entries[0]].Clock; by != c.by {
				t.Errorf("by %v, want %v", by, c.by)
			}
			if (p.how != "") != c.placed || (p.doubt != "") != c.doubt {
				t.Errorf("placed %q, doubt %q", p.how, p.doubt)
			}
		})
	}
}

// TestTimesOfClone: large logs take fio some seconds to write, so stages that ran one after another may also have run side
// by side. Files that all have the time of a clone, in whole seconds, do not decide this.
func TestTimesOfClone(t *testing.T) {
	out, entries := outputOf(12, section{ran: 6000}, section{group: 1, ran: 5000})
	changeTimes(out, entries, func(time.Time) time.Time { return written.Truncate(time.Second) })
	for _, e := range entries {
		e.Jobs[0].Writing = 6 * time.Second
	}
	if p := Place(out, entries); p.doubt == "" || p.Starts[entries[0]].Error < 6*time.Second {
		t.Errorf("±%v, doubt %q", p.Starts[entries[0]].Error, p.doubt)
	}
}

// TestPlaceOfClients: fio --client starts the jobs of all hosts at once, and hosts end when they are done. It writes each log
// when its job ends. Its timestamp is in whole seconds, before it connects.
func TestPlaceOfClients(t *testing.T) {
	for _, c := range []struct {
		name     string
		sections []section
		began    int64         // ms before the report: the client's timestamp, before whole seconds
		copied   time.Duration // after fio ended
		want     []int64
		placed   bool
	}{
		{"hosts that ran for different times", []section{{ran: 4000, log: 8010}, {ran: 12000, log: 20}}, 12700, 0, []int64{12010, 12020}, false},
		{"a host that prepared for longer", []section{{ran: 4000, log: 5010}, {ran: 12000, log: 20}}, 12700, 0, []int64{9010, 12020}, true},
		{"copied at once", []section{{ran: 4000, log: 12}, {ran: 12000, log: 20}}, 12700, 0, []int64{12000, 12000}, false},
		{"copied later", []section{{ran: 4000, log: 8010}, {ran: 12000, log: 20}}, 12700, time.Hour, []int64{13017, 13017}, false},
		{"stages of more than half a minute", []section{{ran: 40000, log: 40010}, {group: 1, ran: 40000, log: 20}, {ran: 5000, log: 75000}}, 80700, 0, []int64{80010, 40020, 80000}, true},
	} {
		out, entries := outputOf(0, c.sections...)
		out.Fio.Timestamp = written.Add(-time.Duration(c.began) * time.Millisecond).Truncate(time.Second).UnixMilli()
		for i := range out.Fio.Jobs {
			out.Fio.Jobs[i].Host = []string{"a", "b", "c"}[min(i, len(c.sections)-1)]
			if c.sections[i].group > 0 {
				out.Fio.Jobs[i].Host = "a"
			}
			entries[i].Host = out.Fio.Jobs[i].Host
		}
		out.Client = true
		changeTimes(out, entries, func(at time.Time) time.Time { return at.Add(c.copied) })
		p := Place(out, entries)
		if got := startsOf(p, entries); !near(got, c.want, 20) || (p.how != "") != c.placed || p.doubt != "" {
			t.Errorf("%s: %v, want %v; placed %q, doubt %q", c.name, got, c.want, p.how, p.doubt)
		}
	}
}

// changeTimes changes the modification times of a report and of its logs.
func changeTimes(out *assign.Output, entries []*assign.Entry, change func(time.Time) time.Time) {
	out.Entries = entries
	files := []*evidence.File{out.File}
	for _, e := range entries {
		for _, j := range e.Jobs {
			files = append(files, j.Log.File)
		}
	}
	for _, f := range files {
		if change != nil {
			f.ModTime = change(f.ModTime)
		}
	}
}

// TestPlaceDelayed: fio may start jobs a little before or after their startdelay, as the times of their logs show.
func TestPlaceDelayed(t *testing.T) {
	delayed := map[string]string{"startdelay": "2"}
	for _, c := range []struct {
		first, second int64 // ms before the report at which their logs were written
		want          string
	}{{2000, 200, "[5000 3200]"}, {10, 10, "[5000 3000]"}, {-1, -1, "[5000 3000]"}} {
		out, entries := outputOf(6, section{ran: 3000, log: c.first}, section{ran: 3000, options: delayed, log: c.second})
		if got := fmt.Sprint(startsOf(Place(out, entries), entries)); got != c.want {
			t.Errorf("logs written %d and %d ms before the report: jobs began %s ms before it, want %s", c.first, c.second, got, c.want)
		}
	}
}

// TestCopiedAtOnce: logs that were copied right after fio ended do not say that all jobs ended with it, if none could have begun
// when fio did.
func TestCopiedAtOnce(t *testing.T) {
	delayed := map[string]string{"startdelay": "2"}
	for _, c := range []struct {
		elapsed int64
		isSaid  bool
	}{{9, true}, {5, false}} {
		out, entries := outputOf(c.elapsed, section{ran: 3000, options: delayed, log: 10}, section{group: 1, ran: 3000, log: 10}, section{group: 2, ran: 3000, log: 10})
		if p := Place(out, entries); c.isSaid != (p.contradiction != "" && p.doubt != "") {
			t.Errorf("fio ran for %d s: %q, %q", c.elapsed, p.contradiction, p.doubt)
		}
	}
}

// TestTextCopiedAtOnce: fio's text does not say how long fio ran. So times of logs that are all the same do not show that its groups ran
// side by side.
func TestTextCopiedAtOnce(t *testing.T) {
	for apart, isSaid := range map[int64]bool{0: true, 8: true, 2300: false} {
		out, entries := outputOf(0, section{group: 0, ran: 2000, log: 20 + apart}, section{group: 1, ran: 2000, log: 20})
		if out.Fio.IsLocal, out.HasZone = true, true; isSaid != (Place(out, entries).doubt != "") {
			t.Errorf("logs written %d ms apart: doubt %q", apart, Place(out, entries).doubt)
		}
	}
}

// TestTimesOfOneLog: a log of all jobs (per_job_logs=0) was last written by the last of them, which contradicts nothing.
func TestTimesOfOneLog(t *testing.T) {
	out, entries := outputOf(9, section{group: 0, ran: 4000, log: 20}, section{group: 1, ran: 4000, log: 20})
	if p := Place(out, entries); p.contradiction == "" {
		t.Error("two logs of one time: no contradiction")
	}
	for i, e := range entries {
		e.Jobs[0].Log.Segment = i
	}
	if p := Place(out, entries); p.contradiction != "" {
		t.Error("one log: ", p.contradiction)
	}
}

// TestErrorOfPlaces: of stages one after another, whose files have the times of some clock, fine or coarse, each begins
// within the error that is stated.
func TestErrorOfPlaces(t *testing.T) {
	draw := rand.New(rand.NewPCG(25, 6))
	between := func(low, high int64) int64 { return low + draw.Int64N(high-low) }
	for range 500 {
		var sections []section
		var truth []int64 // starts, milliseconds before the report
		at := between(10, 40)
		for range between(2, 6) {
			s := section{ran: between(300, 4000), log: at - between(0, 10)}
			at += s.ran
			sections, truth = append(sections, s), append(truth, at)
			at += between(120, 320)
		}
		slices.Reverse(sections)
		slices.Reverse(truth)
		for i := range sections {
			sections[i].group = i
		}
		out, entries := outputOf((at+999)/1000, sections...)
		shift, step := time.Duration(between(-5e9, 5e9)), []time.Duration{1, time.Second, 2 * time.Second}[draw.IntN(3)]
		up := time.Duration(draw.IntN(2)) * (step - 1)
		changeTimes(out, entries, func(at time.Time) time.Time { return at.Add(shift + up).Truncate(step) })
		p := Place(out, entries)
		for i, e := range entries {
			m := p.Starts[e]
			if off := written.Add(-time.Duration(truth[i]) * time.Millisecond).Sub(m.Start); off.Abs() > m.Error {
				t.Errorf("%+v, clock %v off in steps of %v: job %d began %v later, ± %v by %v", sections, shift, step, i, off, m.Error, m.Clock)
			}
		}
	}
}

// TestGroupWaited: of a group of several sections only the options of the last one are known, so fio's time shows that
// some jobs may have waited.
func TestGroupWaited(t *testing.T) {
	for _, c := range []struct {
		runtime, elapsed int64
		own, all         string // startdelay of the last section, ramp_time of all
		want             bool
	}{
		{3000, 6, "2", "", false}, // one job
		{6021, 4, "", "", false},
		{6021, 6, "2", "", true},
		{6021, 6, "", "", true},
		{6021, 6, "", "2", false},
	} {
		report := &fiolog.Report{
			Timestamp: written.UnixMilli(), GlobalOptions: map[string]string{"ramp_time": c.all},
			Jobs: []fiolog.Job{{Runtime: c.runtime, Elapsed: c.elapsed, Directions: [3]fiolog.DirectionStats{{Runtime: 3000}}, Options: map[string]string{"startdelay": c.own}}},
		}
		out := &assign.Output{Report: assign.Report{File: evidence.Of(&source.File{})}, Execution: evidence.Execution{Fio: report, Times: make([]int64, 1)}}
		entries := assign.NewEntries(out)
		if p := Place(out, entries); (p.doubt != "") != c.want {
			t.Errorf("%+v: %+v", c, p)
		}
	}
}

// TestPlaceByReports: a job's counts begin to grow when it begins; until then fio counts
// for how long it has waited, and with group_reporting for all jobs of the group.
func TestPlaceByReports(t *testing.T) {
	report := func(ms int64, ran ...int64) *fiolog.Report {
		rep := &fiolog.Report{Timestamp: written.UnixMilli() + ms}
		for i, r := range ran {
			j := fiolog.Job{Name: fmt.Sprint("job", i), Elapsed: ms/1000 + 1, Runtime: 4 * ms}
			if r > 0 {
				j.Runtime = 4 * r
				j.Directions[1] = fiolog.DirectionStats{TotalIOs: uint64(r), Runtime: r}
			}
			rep.Jobs = append(rep.Jobs, j)
		}
		return rep
	}
	out := &assign.Output{Report: assign.Report{File: evidence.Of(&source.File{})}}
	for _, rep := range []*fiolog.Report{report(1020, 1000, 0), report(2010, 2000, 0), report(3050, 3000, 0), report(4030, 3000, 700), report(5040, 3000, 1700)} {
		take(out, rep)
	}
	entries := assign.NewEntries(out)
	p := Place(out, entries)
	if got := startsOf(p, entries); !near(got, []int64{-10, -3330}, 20) || p.how == "" {
		t.Errorf("starts %v, placed %q", got, p.how)
	}
}

// TestPlaceInHang: a report that fio wrote late, in a hang, has the run time of its beginning. Jobs of a group began together.
func TestPlaceInHang(t *testing.T) {
	out := &assign.Output{Report: assign.Report{File: evidence.Of(&source.File{})}}
	for _, ran := range [][2]int64{{2700, 2000}, {4010, 3000}} { // of two jobs; the second ends before the other
		rep := &fiolog.Report{Timestamp: written.UnixMilli() + ran[0]}
		for i, ms := range ran {
			j := fiolog.Job{Name: fmt.Sprint("job", i), Elapsed: ran[0]/1000 + 1, Runtime: ms}
			j.Directions[0] = fiolog.DirectionStats{TotalIOs: uint64(ms), Runtime: ms}
			rep.Jobs = append(rep.Jobs, j)
		}
		take(out, rep)
	}
	entries := assign.NewEntries(out)
	if p := Place(out, entries); !p.Starts[entries[1]].Start.Equal(p.Starts[entries[0]].Start) || p.how != "" {
		t.Errorf("starts %v, placed %q", startsOf(p, entries), p.how)
	}
}

// TestReportsOfStart: what periodic reports show of the start of a job, in milliseconds.
func TestReportsOfStart(t *testing.T) {
	type seen struct{ at, job, direction, requests int64 } // when the report was written, run times, requests
	ramp := map[string]string{"ramp_time": "1"}
	for name, c := range map[string]struct {
		options map[string]string
		reports []seen
		start   int64
		error   time.Duration
	}{
		"from the beginning":                 {nil, []seen{{1000, 900, 900, 360}, {2003, 1900, 1900, 760}, {3120, 3000, 3000, 1200}}, 100, errorOfReport},
		"written late, for a hang":           {nil, []seen{{1000, 900, 900, 360}, {6804, 2899, 2899, 400}, {7140, 7000, 7000, 2800}}, 100, errorOfReport},
		"after another job":                  {nil, []seen{{1000, 1000, 0, 0}, {2000, 2000, 0, 0}, {3000, 700, 700, 280}, {4000, 1700, 1700, 700}}, 2300, errorOfReport},
		"after a ramp of 3 s":                {ramp, []seen{{1000, 891, 891, 358}, {2000, 1891, 1891, 758}, {3000, 2891, 2891, 1158}, {4112, 1000, 1000, 402}, {5110, 2000, 2000, 802}}, 3110, errorOfReport},
		"after a ramp of 1 s":                {ramp, []seen{{1000, 885, 885, 357}, {2001, 886, 886, 356}, {3000, 1885, 1885, 756}}, 1115, errorOfReport},
		"a ramp of 1 s, and it ends":         {ramp, []seen{{1000, 885, 885, 357}, {2001, 886, 886, 356}, {3000, 1885, 1885, 756}, {4000, 1890, 1890, 758}, {5000, 1890, 1890, 758}}, 1115, errorOfReport},
		"time since the machine was started": {nil, []seen{{1000, 2148635, 0, 1}, {1261, 260, 260, 522}, {2260, 1259, 1259, 2520}}, 1001, errorOfReport},
		"time since fio was started":         {nil, []seen{{1000, 1033, 0, 1}, {1273, 265, 265, 536}, {2265, 1265, 1265, 2532}}, 1000, errorOfReport},
		"it cannot be":                       {nil, []seen{{1000, 3960000, 3960000, 12}, {2000, 1000, 1000, 400}, {3000, 2000, 2000, 800}}, 1000, errorOfReport},
		"ended, and its run time grows":      {nil, []seen{{1000, 900, 900, 360}, {2003, 1900, 1900, 600}, {3003, 2900, 2900, 600}, {3500, 1500, 1500, 600}}, 100, errorOfReport},
		"between two reports":                {nil, []seen{{1000, 1000, 0, 0}, {2000, 400, 400, 160}, {3000, 400, 400, 160}}, 1100, errorOfReport + 500*time.Millisecond},
	} {
		out := &assign.Output{Report: assign.Report{File: evidence.Of(&source.File{})}}
		for _, r := range c.reports {
			j := fiolog.Job{Name: "a", Elapsed: r.at/1000 + 1, Runtime: r.job, Options: c.options}
			j.Directions[0] = fiolog.DirectionStats{TotalIOs: uint64(r.requests), Runtime: r.direction}
			take(out, &fiolog.Report{Timestamp: written.UnixMilli() + r.at, Jobs: []fiolog.Job{j}})
		}
		entries := assign.NewEntries(out)
		m := placeByReports(out, entries).Starts[entries[0]]
		if start := m.Start.Sub(written).Milliseconds(); start < c.start-10 || start > c.start+10 || m.Error != c.error {
			t.Errorf("%s: it began at %d ± %v, want %d ± %v", name, start, m.Error, c.start, c.error)
		}
		if name == "it cannot be" != (out.Impossible != "") {
			t.Errorf("%s: %q", name, out.Impossible)
		}
	}
}

// TestForks: each of the jobs that were started together has its own start in periodic reports.
func TestForks(t *testing.T) {
	out := &assign.Output{Report: assign.Report{File: evidence.Of(&source.File{})}}
	for at := int64(1000); at < 4000; at += 1000 {
		rep := &fiolog.Report{Timestamp: written.UnixMilli() + at}
		for i, ran := range []int64{at - 100, at - 281} {
			j := fiolog.Job{Name: fmt.Sprint("job", i), Elapsed: at/1000 + 1, Runtime: ran}
			j.Directions[0] = fiolog.DirectionStats{TotalIOs: uint64(ran), Runtime: ran}
			rep.Jobs = append(rep.Jobs, j)
		}
		take(out, rep)
	}
	entries := assign.NewEntries(out)
	if got := startsOf(Place(out, entries), entries); !near(got, []int64{-100, -281}, 0) {
		t.Errorf("they began at %v", got)
	}
}

// TestMayWait: jobs of a group are placed together, which is wrong if one of them waits. A job file has the options of all
// sections, a report of one.
func TestMayWait(t *testing.T) {
	section := func(name, value string) *fioargs.Section {
		return &fioargs.Section{Options: []fioargs.Option{{Name: name, Value: value}}}
	}
	for _, c := range []struct {
		name        string
		own, global map[string]string
		file        []*fioargs.Section
		want        bool
	}{
		{"no delay", map[string]string{"rw": "read"}, nil, nil, false},
		{"a delay of all", nil, map[string]string{"startdelay": "2"}, nil, false},
		{"a delay of one", map[string]string{"startdelay": "2"}, nil, nil, true},
		{"a ramp of one", map[string]string{"ramp_time": "2"}, nil, nil, true},
		{"one waits for another", nil, nil, []*fioargs.Section{section("startdelay", ""), section("wait_for", "a")}, true},
		{"the same delay in each section", map[string]string{"startdelay": "2"}, nil, []*fioargs.Section{section("startdelay", "2"), section("startdelay", "2")}, false},
		{"a delay of another section", nil, nil, []*fioargs.Section{section("startdelay", "2"), section("startdelay", "")}, true},
	} {
		for _, isGroup := range []bool{true, false} {
			e := &assign.Entry{JobOptions: assign.JobOptions{Own: c.own, Global: c.global, IsGroup: isGroup}}
			if got := mayWait(e, c.file); got != (c.want && isGroup) {
				t.Errorf("%s, group %v: %v", c.name, isGroup, got)
			}
		}
	}
}

// TestLocalTime: normal output has local time. The time of the file says the zone, unless the file is a copy.
func TestLocalTime(t *testing.T) {
	printed := time.Date(2026, 11, 21, 3, 15, 56, 0, time.UTC) // on the host's clock
	for _, c := range []struct {
		name    string
		written time.Time
		zone    time.Duration
		isKnown bool
		err     time.Duration
	}{
		{"UTC", printed.Add(300 * time.Millisecond), 0, true, time.Second + errorOfEnd},
		{"another zone", printed.Add(300*time.Millisecond - 5*time.Hour - 45*time.Minute), -(5*time.Hour + 45*time.Minute), true, time.Second + errorOfEnd},
		{"a copy", printed.Add(7 * time.Minute), 0, false, ErrorOfZone},
		{"a copy of years later", printed.AddDate(3, 0, 0), 0, false, ErrorOfZone},
		{"no time", time.Time{}, 0, false, ErrorOfZone},
	} {
		out := &assign.Output{Report: assign.Report{File: evidence.Of(&source.File{Modified: source.Modified{ModTime: c.written}})}}
		take(out, &fiolog.Report{Format: fiolog.Normal, Timestamp: printed.UnixMilli(), IsLocal: true, Jobs: []fiolog.Job{{
			Name: "a", Members: 1, Process: 1, Directions: [fiolog.Directions]fiolog.DirectionStats{{TotalIOs: 10, Runtime: 5000}},
		}}})
		entries := assign.NewEntries(out)
		got := Place(out, entries).Starts[entries[0]]
		if want := printed.Add(c.zone - 5*time.Second); out.HasZone != c.isKnown || !got.Start.Equal(want) || got.Error != c.err || got.Clock != clockReport {
			t.Errorf("%s: known %v, %v by %v ± %v, want %v ± %v", c.name, out.HasZone, got.Start.UTC(), got.Clock, got.Error, want, c.err)
		}
	}
}

// TestOtherClock: rows may count from 1970, from the machine's start, or from the job's.
func TestOtherClock(t *testing.T) {
	_, entries := outputOf(6, section{ran: 5000, log: -1})
	for _, c := range []struct {
		name  string
		first int64
		want  bool
	}{{"the job's start", 1002, false}, {"a late start", 4900, false}, {"1970", 1_800_000_000_000, false}, {"the machine's start", 86_400_000, true}} {
		j := laterJob(entries[0], c.first)
		if got := j.rowClock() == otherClock; got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	entries[0].Own = map[string]string{"log_alternate_epoch": "1", "log_alternate_epoch_clock_id": "1"}
	if j := laterJob(entries[0], 1500); j.rowClock() != otherClock {
		t.Error("the options were not looked at")
	}
}

// laterJob is a job of an entry that ran for 5 s, and whose first row has a time.
func laterJob(e *assign.Entry, first int64) *Job {
	return &Job{Job: assign.Job{Entry: e, Source: assign.FromHist, Head: evidence.Head{HasRows: true, First: first}, Interval: 1000}, Ran: 5000}
}

// take adds a report to an output.
func take(out *assign.Output, r *fiolog.Report) {
	var all []*evidence.Execution
	if out.Fio != nil {
		all = append(all, new(out.Execution))
	}
	all = evidence.Join(all, r, out.File.Modified, 0)
	out.Execution = *all[len(all)-1]
}
