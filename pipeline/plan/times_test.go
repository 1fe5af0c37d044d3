package plan

import (
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// placedByRows sets the starts of jobs by their rows. It returns how those that began apart were placed, and what is said.
func placedByRows(jobs ...*Job) (how string, said []error) {
	p := planning(&Plan{Jobs: jobs, Run: &assign.Run{}}, &assign.Evidence{})
	p.placeByRows()
	return p.Placed, p.problems.Notes
}

// TestEpochsAndReports: the times of rows are overruled only by precise evidence that the run time does not contradict.
func TestEpochsAndReports(t *testing.T) {
	epoch := written.UnixMilli()
	for _, c := range []struct {
		name         string
		by           Clock
		start, error time.Duration // by the other evidence, since the start by the rows
		ran          int64
		want         time.Duration
		contradicts  bool
	}{
		{"the same", clockStart, -3 * time.Millisecond, errorOfStart, 2000, -3 * time.Millisecond, false},
		{"a late first request", clockReport, -700 * time.Millisecond, errorOfReport, 2700, -700 * time.Millisecond, false},
		{"a clock 2 s behind", clockMtime, -2 * time.Second, errorOfMtime, 2000, 0, true},
		{"whole seconds", clockMtime, -900 * time.Millisecond, errorOfMtime + time.Second, 2500, 0, false},
		{"within the errors", clockReport, -200 * time.Millisecond, errorOfEnd, 2000, 0, false},
	} {
		j := rowsAt(1000, epoch+1000)[0]
		j.Source, j.Ran = assign.FromNothing, 1950 // its last row, without a log
		j.Entry = &assign.Entry{Out: &assign.Output{}, Ran: c.ran}
		j.moment = moment{written.Add(c.start), c.by, c.error}
		_, said := placedByRows(j)
		if got := j.Start.Sub(written); got != c.want || (len(said) > 0) != c.contradicts {
			t.Errorf("%s: %v later, %v", c.name, got, said)
		}
	}
}

// TestPlaceByEpochs: rows with absolute times are the best evidence, unless the report shows that a
// job began before its first request.
func TestPlaceByEpochs(t *testing.T) {
	epoch := written.UnixMilli()
	for _, c := range []struct {
		name    string
		first   []int64         // time of the first row of each job
		started []time.Duration // before the first row, by the report; 0: unknown
		want    []int64         // start, milliseconds since epoch
		apart   bool
	}{
		{"together", []int64{epoch + 1000, epoch + 1300}, []time.Duration{0, 0}, []int64{0, 300}, false},
		{"apart", []int64{epoch + 1000, epoch + 9000}, []time.Duration{0, 0}, []int64{0, 8000}, true},
		{"a report before", []int64{epoch + 1000}, []time.Duration{1700 * time.Millisecond}, []int64{-700}, false},
		{"a report after", []int64{epoch + 1000}, []time.Duration{200 * time.Millisecond}, []int64{0}, false},
		{"a report of another day", []int64{epoch + 1000}, []time.Duration{24 * time.Hour}, []int64{0}, false},
		{"times since the start", []int64{1000}, []time.Duration{0}, []int64{-epoch}, false},
	} {
		jobs := rowsAt(1000, c.first...)
		for i, j := range jobs {
			if c.started[i] > 0 {
				j.Entry = &assign.Entry{Out: &assign.Output{}}
				j.moment = moment{time.UnixMilli(j.First).Add(-c.started[i]), clockStart, errorOfStart}
			}
		}
		how, _ := placedByRows(jobs...)
		for i, j := range jobs {
			switch {
			case j.rowClock() != unixClock:
				if !j.Start.IsZero() || j.Origin != 0 {
					t.Errorf("%s: job %d began at %v", c.name, i, j.Start)
				}
			case j.Start.UnixMilli()-epoch != c.want[i] || j.Origin != j.Start.UnixMilli() || j.Clock != clockEpoch:
				t.Errorf("%s: job %d began at %d by %v, want %d", c.name, i, j.Start.UnixMilli()-epoch, j.Clock, c.want[i])
			}
		}
		if (how != "") != c.apart {
			t.Errorf("%s: %q", c.name, how)
		}
	}
}

// TestPlaceByOtherClock: rows that count from the machine's start show how far apart jobs began, and
// the report shows when the last one ended.
func TestPlaceByOtherClock(t *testing.T) {
	const boot = 86_400_000
	for _, c := range []struct {
		name  string
		first []int64
		want  []int64 // milliseconds before the report; 0: unknown
		apart bool
	}{
		{"together", []int64{boot, boot + 30}, []int64{5030, 5000}, false},
		{"one after another", []int64{boot, boot + 7000}, []int64{12000, 5000}, true},
		{"one by its own clock", []int64{1000, boot}, []int64{0, 5000}, false},
	} {
		out, entries := outputOf(6, section{ran: 5000, log: -1}, section{ran: 5000, log: -1})
		jobs := rowsAt(1000, c.first...)
		for i, j := range jobs {
			j.Entry, j.Ran = entries[i], 5000
		}
		how, without := placedByRows(jobs...)
		for i, j := range jobs {
			if got := written.Sub(j.Start).Milliseconds(); c.want[i] == 0 && !j.Start.IsZero() || c.want[i] != 0 && got != c.want[i] {
				t.Errorf("%s: job %d began %d ms before the report, want %d", c.name, i, got, c.want[i])
			}
		}
		if (how != "") != c.apart || len(without) > 0 || out.Entries != nil {
			t.Errorf("%s: %q, %v", c.name, how, without)
		}
	}
	alone := rowsAt(1000, boot)
	if _, without := placedByRows(alone...); len(without) != 1 || alone[0].Origin != boot-1000 {
		t.Errorf("without a report: %v, times count from %d", without, alone[0].Origin)
	}
}

// TestUntilFirst: rows with absolute times show when the first request completed. Before it the job may have waited for a
// slow one, or for a low rate.
func TestUntilFirst(t *testing.T) {
	l := hist.Fio3(0)
	for _, c := range []struct {
		slowest time.Duration
		n       uint64
		want    time.Duration // at least, and at most twice that
	}{
		{time.Millisecond, 1000, errorOfEpoch},
		{time.Millisecond, 4, 750 * time.Millisecond},
		{130 * time.Millisecond, 30, 230 * time.Millisecond},
		{1600 * time.Millisecond, 600, 1605 * time.Millisecond},
	} {
		j := rowsAt(1000, written.UnixMilli()+1000)[0]
		j.Log.Rows = evidence.FirstRows{{Time: j.First, Layout: l, Total: c.n, Bins: []hist.Bin{
			{Index: 100, Count: c.n - 1}, {Index: uint32(l.Index(c.slowest.Nanoseconds())), Count: 1},
		}}}
		placedByRows(j)
		if j.Error < c.want || j.Error > 2*c.want {
			t.Errorf("%d requests up to %v: ± %v, want %v", c.n, c.slowest, j.Error, c.want)
		}
	}
}

// TestGroupBegunApart: logs of a group that were written at other times than their rows say show that a section waited.
func TestGroupBegunApart(t *testing.T) {
	at := time.UnixMilli(1_700_000_010_123)
	for _, c := range []struct {
		written []time.Duration // before the report
		last    []int64         // rows, milliseconds since the start of each job
		want    bool
	}{
		{[]time.Duration{0, 0}, []int64{3000, 3000}, false},
		{[]time.Duration{2 * time.Second, 0}, []int64{2000, 4000}, false}, // a shorter section
		{[]time.Duration{2 * time.Second, 0}, []int64{3000, 3000}, true},
		{[]time.Duration{time.Second, 0}, []int64{3000, 3000}, false}, // within the length of a row
	} {
		out := &assign.Output{Report: assign.Report{File: evidence.Of(&source.File{Modified: source.Modified{ModTime: at}})}, Execution: evidence.Execution{Fio: &fiolog.Report{Timestamp: at.UnixMilli()}}}
		e := &assign.Entry{Out: out, Job: &fiolog.Job{}, JobOptions: assign.JobOptions{IsGroup: true}}
		var jobs []*Job
		for i, before := range c.written {
			file := evidence.Of(&source.File{Modified: source.Modified{ModTime: at.Add(-before)}})
			jobs = append(jobs, &Job{Ran: c.last[i], Job: assign.Job{
				Entry: e, Source: assign.FromHist, Head: evidence.Head{HasRows: true}, Interval: 1000, Log: &assign.JobLog{Log: assign.Log{File: file}},
			}})
		}
		p := planning(&Plan{Run: &assign.Run{}, Jobs: jobs}, &assign.Evidence{Rows: lastsOf(jobs)})
		if got := p.begunApart(e); got != c.want {
			t.Errorf("written %v before the report, rows until %v: %t", c.written, c.last, got)
		}
	}
}
