package plan_test

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
	"github.com/fio2es/fio2es/pipeline/source"
)

// written is when fio wrote the reports of these tests.
var written = time.UnixMilli(1_800_000_000_017)

// newPlan plans until nothing is needed.
func newPlan(of sums, ev *assign.Evidence, opt plan.Options, said *assign.Remarks) ([]*plan.Plan, error) {
	ev.Rows = map[assign.Need]assign.Rows{}
	for {
		stages, needs, err := plan.New(ev, opt, said)
		if len(needs) == 0 {
			return stages, err
		}
		for n := range needs {
			ev.Rows[n] = assign.Rows{Sums: of.rows()}
		}
	}
}

// sums is how many requests the rows of each log have.
type sums struct{ requests uint64 }

func (s sums) rows() *evidence.Sums {
	all := &evidence.Sums{}
	all.Add(&fiolog.Record{Layout: hist.Fio3(0), Bins: []hist.Bin{{Index: 7, Count: s.requests}}, Total: s.requests})
	return all
}

// drawEvidence makes evidence of any reports and logs, also such as no fio leaves together.
func drawEvidence(r *rand.Rand) (*assign.Evidence, sums) {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	is := func(percent int) bool { return r.IntN(100) < percent }
	at := func() time.Time {
		if is(10) {
			return time.Time{}
		}
		return written.Add(time.Duration(r.IntN(20000)-10000) * time.Millisecond)
	}
	file := func(name string) *evidence.File {
		return evidence.Of(&source.File{Path: name, Modified: source.Modified{ModTime: at(), ModLocal: is(5)}})
	}
	of := sums{uint64(r.IntN(9000))}
	ev := &assign.Evidence{Run: &assign.Run{}, Live: is(10)}
	for i := range r.IntN(4) {
		out := &assign.Output{Report: assign.Report{File: file(fmt.Sprint("out", i, ".json")), Found: assign.FoundFolder, Host: pick("", "", "a", "b"), Candidate: is(20), Named: is(20)}}
		n := 1 + r.IntN(3)
		isClient, bins, start := is(15), is(60), written.UnixMilli()-int64(r.IntN(8000))
		var options []map[string]string
		for range n {
			of := map[string]string{}
			for _, o := range []string{"write_hist_log=out", "write_hist_log=other", "log_hist_msec=1000", "numjobs=2", "numjobs=3", "startdelay=1", "startdelay=1-3",
				"wait_for=a", "ramp_time=1", "rw=write", "rw=randrw", "verify=crc32c", "log_unix_epoch=1", "clat_percentiles=0", "log_avg_msec=500"} {
				if is(20) {
					for name, value := range words(o) {
						of[name] = value
					}
				}
			}
			options = append(options, of)
		}
		var all []*evidence.Execution
		for k := range 1 + r.IntN(5) {
			rep := &fiolog.Report{Unit: hist.Nanoseconds, Version: pick("fio-3.33", "fio-3.7", ""), Timestamp: start + int64(1000*(k+1)), GlobalOptions: map[string]string{"direct": "1"}}
			if is(5) {
				rep.Timestamp = int64(r.Uint64() >> 1)
			}
			for j := range n {
				ran := int64(max(1000*(k+1)-r.IntN(500), 0))
				of := fiolog.Job{Name: pick("out", "other"), GroupID: j * r.IntN(2), Elapsed: int64(k + 1), Runtime: ran * int64(1+r.IntN(3)), Options: options[j]}
				if isClient {
					of.Host = pick("a", "b")
				}
				if is(10) {
					of.Start = start + int64(r.IntN(1000))
				}
				d := &of.Directions[r.IntN(3)]
				*d = fiolog.DirectionStats{TotalIOs: uint64(ran), Runtime: ran, Clat: fiolog.Latency{Mean: 1, N: uint64(ran)}}
				if bins {
					d.Clat.Layout, d.Clat.Bins = hist.Fio3(0), []hist.Bin{{Index: 7, Count: uint64(ran)}}
				}
				if is(10) {
					of.Mixed = &fiolog.DirectionStats{TotalIOs: uint64(ran), Runtime: ran}
				}
				rep.Jobs = append(rep.Jobs, of)
			}
			all = evidence.Join(all, rep, out.File.Modified, 0)
		}
		out.Execution = *all[len(all)-1]
		ev.Outputs = append(ev.Outputs, out)
	}
	log := func(kind fiolog.Kind, prefix, host string, number, segment int) *assign.JobLog {
		l := &assign.JobLog{Log: assign.Log{Kind: kind, Job: number, Prefix: prefix, Host: host, File: file(fmt.Sprint(prefix, "_", kind, ".", number, ".log"))}, Segment: segment}
		l.Hint = ev.HintFor(l.Log, hist.Hint{})
		if segment >= 0 {
			l.Parts = of.rows()
		}
		first := int64(900 + r.IntN(300))
		if is(15) {
			first += written.UnixMilli()
		} else if is(5) {
			first += 90_000_000
		}
		for k := range int64(r.IntN(6)) {
			rec := &fiolog.Record{Time: first + 1000*k, Direction: fiolog.Direction(r.IntN(2)), Layout: hist.Fio3(0), Total: 1000, Bins: []hist.Bin{{Index: 7, Count: 1000}}, IsFio3: is(50), Value: 5}
			if is(50) {
				rec.BlockSize = 4096
			}
			l.Rows = append(l.Rows, rec)
		}
		if l.HasRows = len(l.Rows) > 0; l.HasRows {
			l.First, l.Layout, l.IsZero = l.Rows[0].Time, hist.Fio3(0), is(5)
		} else if is(20) {
			l.Damage = fmt.Errorf("damaged")
		}
		return l
	}
	for range r.IntN(5) {
		prefix, host := pick("out", "other"), pick("", "", "a", "b")
		if is(15) {
			for segment := range 1 + r.IntN(3) {
				ev.Logs = append(ev.Logs, log(fiolog.ClatHist, prefix, host, 0, segment))
			}
			continue
		}
		ev.Logs = append(ev.Logs, log(fiolog.ClatHist, prefix, host, 1+r.IntN(4), -1))
	}
	for range r.IntN(3) {
		kind := []fiolog.Kind{fiolog.Clat, fiolog.Lat, fiolog.BW, fiolog.IOPS}[r.IntN(4)]
		ev.Others = append(ev.Others, log(kind, pick("out", "other"), pick("", "a"), 1+r.IntN(3), -1))
	}
	for _, l := range ev.Logs {
		ev.Run.Logs = append(ev.Run.Logs, l.Log)
	}
	for _, l := range ev.Others {
		ev.Run.Others = append(ev.Run.Others, l.Log)
	}
	return ev, of
}

// TestAnyEvidence: any evidence has a plan or an error, and jobs, stages and entries of a plan agree.
func TestAnyEvidence(t *testing.T) {
	for seed := range uint64(800) {
		func() {
			defer func() {
				if why := recover(); why != nil {
					t.Fatalf("seed %d: %v\n%s", seed, why, debug.Stack())
				}
			}()
			var said assign.Remarks
			ev, rows := drawEvidence(rand.New(rand.NewPCG(seed, 1)))
			opt := plan.Options{Absent: seed%2 == 0, Options: assign.Options{Completions: seed%5 == 0}}
			stages, err := newPlan(rows, ev, opt, &said)
			var again assign.Remarks
			if _, _, err2 := plan.New(ev, opt, &again); fmt.Sprint(err, said) != fmt.Sprint(err2, again) {
				t.Fatalf("seed %d: the evidence has changed: planned again, it says %v, %v, not %v, %v", seed, err2, again, err, said)
			}
			if err != nil {
				return
			}
			ofStage, names := map[*assign.Entry]int{}, map[string]bool{}
			for i, p := range stages {
				if p.Stage != i+1 || p.Stages != len(stages) || names[p.Name] {
					t.Errorf("seed %d: stage %d is %d of %d, %q", seed, i+1, p.Stage, p.Stages, p.Name)
				}
				names[p.Name] = true
				if i > 0 && p.Start.Before(stages[i-1].Start) {
					t.Errorf("seed %d: stage %d begins before the one before", seed, p.Stage)
				}
				var jobs []*plan.Job
				for _, section := range p.Sections {
					jobs = append(jobs, section.Jobs...)
				}
				for _, j := range p.Jobs {
					if i := slices.Index(jobs, j); i >= 0 {
						jobs = slices.Delete(jobs, i, i+1)
					} else {
						t.Errorf("seed %d: %v is in no section", seed, j)
					}
					if j.Entry != nil && (!slices.Contains(p.JobsOf[j.Entry], j) || !slices.Contains(p.Entries, j.Entry)) {
						t.Errorf("seed %d: %v is not of its entry", seed, j)
					}
					if !p.Start.IsZero() && j.Offset != j.Start.Sub(p.Start).Milliseconds() || j.Offset < 0 {
						t.Errorf("seed %d: %v begins %d ms after the run", seed, j, j.Offset)
					}
				}
				for _, e := range p.Entries {
					if at := ofStage[e]; at != 0 {
						t.Errorf("seed %d: %s is in stages %d and %d", seed, e.Describe(), at, p.Stage)
					}
					ofStage[e] = p.Stage
				}
				if len(jobs) > 0 || p.Window <= 0 {
					t.Errorf("seed %d: sections have %d more jobs, windows %d ms", seed, len(jobs), p.Window)
				}
				p.Options()
				p.Settings()
				p.NoWindows()
				p.Hosts()
			}
		}()
	}
}

// TestPlaceSeveral: a log of all jobs (per_job_logs=0) begins with fio, whose stages ran one after another.
func TestPlaceSeveral(t *testing.T) {
	for _, c := range []struct{ elapsed, start, slack int64 }{{10, 10_000, 1650}, {0, 9000, 9150}} { // text does not say how long fio ran
		at := source.Modified{ModTime: written}
		report := &fiolog.Report{Timestamp: written.UnixMilli()}
		for i, ran := range []int64{4000, 5000} {
			j := fiolog.Job{Name: fmt.Sprint("job", i), GroupID: i, Elapsed: c.elapsed}
			j.Directions[0] = fiolog.DirectionStats{TotalIOs: 100, Runtime: ran}
			report.Jobs = append(report.Jobs, j)
		}
		out := &assign.Output{Report: assign.Report{File: evidence.Of(&source.File{Path: "out.json", Modified: at})}, Execution: evidence.Execution{Fio: report}}
		at.ModTime = written.Add(-20 * time.Millisecond)
		log := &assign.JobLog{Log: assign.Log{File: evidence.Of(&source.File{Modified: at})}, Parts: &evidence.Sums{}, Opening: evidence.Opening{Head: evidence.Head{HasRows: true, First: 1000}}}
		log.Kind = fiolog.ClatHist
		ev := &assign.Evidence{Run: &assign.Run{}, Outputs: []*assign.Output{out}, Logs: []*assign.JobLog{log}}
		stages, err := newPlan(sums{}, ev, plan.Options{}, &assign.Remarks{})
		if err != nil || len(stages) != 1 {
			t.Fatal(err, len(stages))
		}
		j := stages[0].Jobs[0]
		if start := written.Sub(j.Start).Milliseconds(); !j.Entry.Several || start != c.start || j.Error.Milliseconds() != c.slack {
			t.Errorf("fio ran for %d s: it began %d ms before the report ± %v", c.elapsed, start, j.Error)
		}
	}
}
