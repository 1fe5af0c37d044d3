package doctor

import (
	"cmp"
	"path"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
	"github.com/fio2es/fio2es/pipeline/source"
)

// job is a job as fio would run it: it makes a request in each direction and millisecond.
type job struct {
	*section
	group      int           // behind stonewalls
	start, end time.Duration // since fio was started
	directions []fiolog.Direction
	every      int64 // milliseconds between rows of its histogram log
	rows       int64 // number of these rows in each direction
	logs       []*plan.Log
}

const (
	latency = 100_000 // of all requests, in nanoseconds
	longest = 30 * 24 * time.Hour
)

var began = time.UnixMilli(1_800_000_000_123)

// simulate plans the run of the command from what fio would leave: evidence as [pipeline] gathers it from real files. If
// there would be nothing to use, the plan has no jobs. The fio is older than 3.36: later ones report the start of jobs.
func (c *command) simulate() {
	host := ""
	if c.isClient {
		host = "client"
	}
	// When the jobs run. A section that names no runtime runs long enough for rows and reports. More than two jobs of
	// a section, and longer runs, show nothing else.
	var runs []time.Duration
	for _, s := range c.sections {
		runs = append(runs, min(cmp.Or(s.runs, max(time.Minute, 10*min(s.rows, longest), 10*min(c.status, longest))), longest))
	}
	var end time.Duration
	for i, span := range fioargs.Spans(c.Jobs, runs) {
		s, between := c.sections[i], time.Duration(span.Stage)*250*time.Millisecond // as fio takes to start the next stage
		one := job{section: s, group: span.Stage, start: span.Start + between, end: span.End + between}
		mode, _ := s.Get("rw")
		_, one.directions = fioargs.ParseMode(mode.Value)
		if _, isOff := s.NoLatencies(); !isOff && s.packed.Name == "" && s.rows > 0 {
			one.every = s.rows.Milliseconds()
			one.rows = max((one.end-one.start).Milliseconds()-1, 0) / one.every
		}
		for range min(s.Section.Jobs(), 2) {
			c.jobs = append(c.jobs, new(one))
		}
		end = max(end, one.end)
	}
	file := func(at time.Duration) *source.File {
		return &source.File{Path: "file", Size: -1, Modified: source.Modified{ModTime: began.Add(at)}}
	}
	ev := &plan.Evidence{Run: &cbt.Run{}, Reader: c}

	// The reports: the last one, and the first periodic ones after the start of each job.
	if c.hasJSON {
		const few = 4 // show how far they are apart
		var times []time.Duration
		for _, j := range c.jobs {
			for i := time.Duration(1); i <= few && c.status > 0 && c.status <= end/i; i++ {
				times = append(times, min(j.start/c.status+i, end/c.status)*c.status)
			}
		}
		slices.Sort(times)
		out := &plan.Output{Report: cbt.Report{File: file(end)}}
		for _, at := range append(slices.Compact(times), end+10*time.Millisecond) {
			rep := &fiolog.Report{Timestamp: began.Add(at).UnixMilli(), Unit: hist.Nanoseconds}
			if c.isClient {
				rep.Timestamp = began.UnixMilli()
			}
			for _, j := range c.jobs {
				one := fiolog.Job{
					Name: j.Section.Name, Host: host, GroupID: j.group, Elapsed: int64((at + time.Second - 1) / time.Second),
					Options: map[string]string{}, Runtime: (min(at, j.end) - min(at, j.start)).Milliseconds(),
				}
				for _, o := range j.Options {
					one.Options[o.Name] = o.Value
				}
				delete(one.Options, "numjobs") // each job has an entry
				stats := fiolog.DirectionStats{TotalIOs: uint64(one.Runtime), Runtime: one.Runtime}
				if _, isOff := j.NoLatencies(); !isOff {
					stats.Clat = fiolog.Latency{Mean: latency, Max: latency, N: stats.TotalIOs}
				}
				if c.hasBins && j.unmeasured.Name == "" && one.Runtime > 0 {
					l := hist.Fio3(0)
					stats.Clat.Layout, stats.Clat.Bins = l, []hist.Bin{{Index: uint32(l.Index(latency)), Count: stats.TotalIOs}}
				}
				if mixed := one.Options["unified_rw_reporting"]; mixed == "1" || mixed == "mixed" {
					one.Mixed = &stats
				} else {
					for _, d := range j.directions {
						one.Directions[d] = stats
					}
				}
				rep.Jobs = append(rep.Jobs, one)
			}
			out.Take(rep)
		}
		ev.Outputs = []*plan.Output{out}
	}

	// The logs. With per_job_logs=0 a file has the rows of all jobs, and each is a segment of it.
	const few = 8 // first rows
	segments := map[fiolog.Name][]*plan.Log{}
	for i, j := range c.jobs {
		origin := int64(0)
		if j.IsOn("log_unix_epoch") {
			origin = began.Add(j.start).UnixMilli()
		}
		add := func(kind fiolog.Kind, prefix string, rows plan.FirstRows) {
			log := &plan.Log{Segment: -1, Rows: rows, Log: cbt.Log{
				Kind: kind, Host: host, Job: i + 1, Prefix: path.Base(prefix), Stored: j.IsOn("log_store_compressed"), File: file(j.end),
			}}
			if o, isSet := j.Get("per_job_logs"); isSet && !o.IsOn() {
				of := fiolog.Name{Prefix: prefix, Kind: kind}
				if log.Segment, log.Job = len(segments[of]), 0; log.Segment > 0 {
					log.File = segments[of][0].File
				}
				log.File.ModTime = began.Add(j.end)
				segments[of] = append(segments[of], log)
			}
			if log.HasRows = len(rows) > 0; log.HasRows {
				log.First, log.Layout, log.IsZero = rows[0].Time, rows[0].Layout, kind.IsHistogram() && rows[0].Total == 0
			}
			j.logs = append(j.logs, log)
			if !kind.IsHistogram() {
				ev.Others, ev.Run.Others = append(ev.Others, log), append(ev.Run.Others, log.Log)
				return
			}
			log.IsJunk = j.packed.Name != ""
			if log.Segment >= 0 {
				log.Parts = j.sums(0)
			}
			ev.Logs, ev.Run.Logs = append(ev.Logs, log), append(ev.Run.Logs, log.Log)
		}
		if prefix, ok := j.HistogramLog(); ok {
			var rows plan.FirstRows
			for n := int64(1); n <= min(j.rows, few); n++ {
				for _, d := range j.directions {
					row := j.row(d, uint64(j.every))
					if c.isClient && row.Total > 0 { // which adds the row before the last one: neighbouring rows have other bins
						row.Total *= uint64(n+1) / 2
						row.Bins = nil
						for i := uint32(n % 2); i < 16; i += 2 {
							row.Bins = append(row.Bins, hist.Bin{Index: i, Count: row.Total / 8})
						}
					}
					row.Time = origin + n*j.every
					rows = append(rows, row)
				}
			}
			add(fiolog.ClatHist, prefix, rows)
		}
		for _, of := range []struct {
			kind   fiolog.Kind
			option string
			isOff  []string
		}{
			{fiolog.Clat, "write_lat_log", []string{"gtod_reduce", "disable_clat"}}, {fiolog.Lat, "write_lat_log", []string{"gtod_reduce", "disable_lat"}},
			{fiolog.BW, "write_bw_log", nil}, {fiolog.IOPS, "write_iops_log", nil},
		} {
			o, ok := j.Get(of.option)
			if !ok || slices.ContainsFunc(of.isOff, j.IsOn) {
				continue
			}
			prefix, every, size := o.Value, int64(j.Int("log_avg_msec", 0)), uint64(0)
			if prefix == "" {
				prefix = j.Section.Name
			}
			if every <= 0 {
				every, size = 1, 4096
			}
			var rows plan.FirstRows
			for n := int64(1); n <= few && n*every <= max((j.end-j.start).Milliseconds(), every); n++ { // averages have a last row at the end
				rows = append(rows, &fiolog.Record{Time: origin + n*every, Direction: j.directions[0], Value: latency, BlockSize: size, IsFio3: true})
			}
			add(of.kind, prefix, rows)
		}
	}
	var err error
	if c.stages, err = plan.New(ev, plan.Options{}, &c.remarks); err != nil {
		c.stages = []*plan.Plan{{}}
	}
}

// row returns a row of the job's histogram log, without its time.
func (j *job) row(d fiolog.Direction, requests uint64) *fiolog.Record {
	l := hist.Fio3(j.coarseness)
	if j.unmeasured.Name != "" { // by clat_percentiles=0
		return &fiolog.Record{Direction: d, Layout: l}
	}
	return &fiolog.Record{Direction: d, Layout: l, Total: requests, Bins: []hist.Bin{{Index: uint32(l.Index(latency)), Count: requests}}}
}

// sums returns the sums of the rows of the job's histogram log. With lag, those that fio --client added are subtracted.
func (j *job) sums(lag int) *plan.Sums {
	sums, requests := &plan.Sums{}, j.rows*j.every
	if j.isClient && lag == 0 {
		requests = (j.rows + 1) / 2 * ((j.rows + 2) / 2) * j.every
	}
	parts := min(j.rows, 5) // a few rows prove less than many, and five as much as more
	for range parts {
		for _, d := range j.directions {
			sums.Add(j.row(d, uint64(requests/parts)))
		}
	}
	return sums
}

// jobOf returns the job that wrote a log, or that an entry of the report is of.
func (c *command) jobOf(l *plan.Log, e *plan.Entry) *job {
	i := slices.IndexFunc(c.jobs, func(j *job) bool { return slices.Contains(j.logs, l) })
	if i < 0 {
		i = e.Index
	}
	return c.jobs[i]
}

// Sums implements the reader of [plan.Evidence].
func (c *command) Sums(l *plan.Log, undo *plan.Undoubler) (*plan.Sums, error) {
	return c.jobOf(l, nil).sums(undo.Lag), nil
}

// Last implements the reader of [plan.Evidence].
func (c *command) Last(jobs []*plan.Job) (times []int64) {
	for _, of := range jobs {
		j := c.jobOf(of.Log, of.Entry)
		last := (j.end - j.start).Milliseconds()
		if j.IsOn("log_unix_epoch") {
			last += began.Add(j.start).UnixMilli()
		}
		times = append(times, last)
	}
	return times
}
