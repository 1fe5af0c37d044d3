package doctor

import (
	"path"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
	"github.com/fio2es/fio2es/pipeline/source"
)

// simulated is what fio would leave if it ran a command: each job makes a request of 100 µs in each direction and
// millisecond.
type simulated struct {
	*command
	jobs []*simulatedJob
}

type simulatedJob struct {
	*section
	number     int // of fio
	group      int // behind stonewalls
	start, end time.Duration
	directions []fiolog.Direction
}

const (
	// latency is that of all requests, in nanoseconds.
	latency = 100_000
	// longEnough is how long a section runs whose options do not say it. Rows and reports may need more.
	longEnough = time.Minute
)

var began = time.UnixMilli(1_800_000_000_123)

// plan plans the run of a command. It returns nil if fio would leave nothing that can be used.
func (c *command) plan() *plan.Plan {
	s := simulated{command: c}
	s.run()
	ev := &plan.Evidence{Run: &cbt.Run{}, Reader: s}
	if c.hasJSON() {
		ev.Outputs = []*plan.Output{s.output()}
	}
	for _, j := range s.jobs {
		s.addLogs(j, ev)
	}
	p, err := plan.New(ev, plan.Options{}, &plan.Remarks{})
	if err != nil {
		return nil
	}
	return p
}

// run finds out when the jobs run. Of each section it runs at most two.
func (s *simulated) run() {
	var start, last time.Duration
	group := 0
	for i, of := range s.Command.Jobs {
		if i > 0 && of.IsOn("stonewall") {
			start, group = last+250*time.Millisecond, group+1
		}
		one := &section{s.command, of}
		runs := one.runs()
		if runs == 0 {
			runs = max(longEnough, 10*one.rows(), 10*s.status)
		}
		runs = min(runs, 30*24*time.Hour) // longer runs show nothing else
		mode, _ := of.Get("rw")
		_, directions := fiolog.ParseMode(mode.Value)
		for range min(of.Jobs(), most) {
			s.jobs = append(s.jobs, &simulatedJob{one, len(s.jobs) + 1, group, start, start + runs, directions})
		}
		last = max(last, start+runs)
	}
}

// most is the most jobs of a section that are simulated: more show nothing else.
const most = 2

// numbers returns the numbers of the first and the last simulated job of a section.
func (s *section) numbers() (first, last int) {
	for _, other := range s.Command.Jobs {
		first, last = last+1, last+min(other.Jobs(), most)
		if other == s.Section {
			break
		}
	}
	return first, last
}

// output returns fio's reports.
func (s *simulated) output() *plan.Output {
	const few = 4 // reports show how far they are apart, and after the start of a job, when that was
	end, at := time.Duration(0), []time.Duration{}
	for _, j := range s.jobs {
		end = max(end, j.end)
	}
	for _, j := range s.jobs {
		for i := time.Duration(1); i <= few && s.status > 0 && s.status <= end/i; i++ {
			at = append(at, min(j.start/s.status+i, end/s.status)*s.status)
		}
	}
	slices.Sort(at)
	out := &plan.Output{Report: cbt.Report{File: s.file("out.json", end)}}
	for _, at := range slices.Compact(at) {
		out.Take(s.report(at))
	}
	out.Take(s.report(end + 10*time.Millisecond))
	return out
}

// report returns what fio reports at a time.
func (s *simulated) report(at time.Duration) *fiolog.Report {
	rep := &fiolog.Report{Timestamp: began.Add(at).UnixMilli(), Unit: hist.Nanoseconds}
	for _, j := range s.jobs {
		ran := (min(at, j.end) - min(at, j.start)).Milliseconds()
		one := fiolog.Job{
			Name: j.Section.Name, GroupID: j.group, Elapsed: int64((at + time.Second - 1) / time.Second), Options: map[string]string{}, Runtime: ran,
		}
		for _, o := range j.Options {
			one.Options[o.Name] = o.Value
		}
		delete(one.Options, "numjobs") // each job has an entry
		if s.client {
			one.Host = "client"
		}
		for _, d := range j.directions {
			one.Directions[d] = j.stats(ran)
		}
		if j.IsOn("unified_rw_reporting") {
			one.Mixed, one.Directions = new(j.stats(ran)), [fiolog.Directions]fiolog.DirectionStats{}
		}
		rep.Jobs = append(rep.Jobs, one)
	}
	return rep
}

func (j *simulatedJob) stats(ran int64) fiolog.DirectionStats {
	stats := fiolog.DirectionStats{TotalIOs: uint64(ran), Runtime: ran}
	if _, isOff := j.NoLatencies(); !isOff {
		stats.Clat = fiolog.Latency{Mean: latency, Max: latency, N: uint64(ran)}
	}
	if j.hasBins() && j.whyNoBins().Name == "" {
		stats.Clat.Layout = hist.Fio3(0)
		stats.Clat.Bins = bins(stats.Clat.Layout, ran)
	}
	return stats
}

func bins(l hist.Layout, requests int64) []hist.Bin {
	if requests == 0 {
		return nil
	}
	return []hist.Bin{{Index: uint32(l.Index(latency)), Count: uint64(requests)}}
}

// file is a file that fio wrote at a time.
func (s *simulated) file(name string, at time.Duration) *source.File {
	return &source.File{Path: name, Size: -1, Modified: source.Modified{ModTime: began.Add(at)}}
}

// addLogs adds the logs that a job writes.
func (s *simulated) addLogs(j *simulatedJob, ev *plan.Evidence) {
	log := func(kind fiolog.Kind, prefix string) *plan.Log {
		return &plan.Log{Segment: -1, Log: cbt.Log{Kind: kind, Prefix: path.Base(prefix), Job: j.number, File: s.file(string(rune('a'+len(ev.Logs)%26))+".log", j.end)}}
	}
	if prefix, ok := j.HistogramLog(); ok {
		l := log(fiolog.ClatHist, prefix)
		if o, isSet := j.Get("per_job_logs"); isSet && !o.IsOn() {
			l.Job, l.Segment, l.Parts = 0, j.number-1, j.sums(0)
		}
		l.Rows, l.IsJunk = j.histogramRows(), j.whyPacked().Name != ""
		if l.HasRows = len(l.Rows) > 0; l.HasRows {
			l.First, l.Layout, l.IsZero = l.Rows[0].Time, l.Rows[0].Layout, l.Rows[0].Total == 0
		}
		ev.Logs = append(ev.Logs, l)
	}
	other := func(kind fiolog.Kind, name string) {
		o, ok := j.Get(name)
		if !ok {
			return
		}
		l := log(kind, o.Value)
		if o.Value == "" {
			l.Prefix = j.Section.Name
		}
		row := &fiolog.Record{Time: j.origin() + max(int64(j.average()), 1), Direction: j.directions[0], Value: latency, IsFio3: true}
		if j.average() == 0 {
			row.BlockSize = 4096
		}
		l.Rows, l.HasRows, l.First = plan.FirstRows{row}, true, row.Time
		ev.Others, ev.Run.Others = append(ev.Others, l), append(ev.Run.Others, l.Log)
	}
	if !j.IsOn("gtod_reduce") {
		if _, isOff := j.NoLatencies(); !isOff {
			other(fiolog.Clat, "write_lat_log")
		}
		other(fiolog.Lat, "write_lat_log")
	}
	other(fiolog.BW, "write_bw_log")
	other(fiolog.IOPS, "write_iops_log")
}

// origin returns the time of the job's start in its logs.
func (j *simulatedJob) origin() int64 {
	if j.IsOn("log_unix_epoch") {
		return began.Add(j.start).UnixMilli()
	}
	return 0
}

// histogramRows returns the first rows of the job's histogram log.
func (j *simulatedJob) histogramRows() (rows plan.FirstRows) {
	every := j.rows().Milliseconds()
	if _, isOff := j.NoLatencies(); isOff || every <= 0 || j.whyPacked().Name != "" {
		return nil
	}
	const few = 8
	l := hist.Fio3(j.coarseness())
	for i := int64(1); i <= few && i*every < (j.end-j.start).Milliseconds(); i++ {
		for _, d := range j.directions {
			requests := every
			if j.client { // which adds the row before the last one
				requests *= (i + 1) / 2
			}
			row := &fiolog.Record{Time: j.origin() + i*every, Direction: d, Layout: l, Bins: bins(l, requests), Total: uint64(requests)}
			if j.whyNoBins().Name != "" {
				row.Bins, row.Total = nil, 0
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// sums returns the sums of the rows of a job's histogram log, less those that fio --client adds to a row after lag rows.
func (j *simulatedJob) sums(lag int) *plan.Sums {
	sums, every := &plan.Sums{}, max(j.rows().Milliseconds(), 1)
	requests := (j.end - j.start).Milliseconds() / every * every
	if j.client && lag != 2 {
		requests *= 3
	}
	l := hist.Fio3(j.coarseness())
	for _, d := range j.directions {
		sums.Add(&fiolog.Record{Direction: d, Layout: l, Bins: bins(l, requests), Total: uint64(requests)})
	}
	return sums
}

// Sums implements [plan.Reader].
func (s simulated) Sums(l *plan.Log, lag int) (*plan.Sums, error) {
	return s.jobs[max(l.Job, l.Segment+1)-1].sums(lag), nil
}

// Last implements [plan.Reader].
func (s simulated) Last(jobs []*plan.Job) []int64 {
	times := make([]int64, len(jobs))
	for i, of := range jobs {
		j := s.jobs[of.Number-1]
		times[i] = j.origin() + (j.end - j.start).Milliseconds()
	}
	return times
}

// runs returns how long fio runs a section, or 0 if its options do not say it.
func (s *section) runs() time.Duration {
	o, _ := s.Get("runtime")
	return o.Time()
}
