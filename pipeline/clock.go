package pipeline

import (
	"errors"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// clock is where the absolute start of a job comes from, the best first.
type clock uint8

const (
	clockNone   clock = iota // nothing tells
	clockEpoch               // rows with absolute times (log_unix_epoch)
	clockStart               // job_start in fio's JSON, since fio 3.36
	clockReport              // when fio wrote its report, less the run time
	clockUser                // --start
	clockMtime               // when the log was last changed, less its last row's time
)

var clockNames = [...]string{"unknown", "log_unix_epoch", "job_start", "report", "user", "mtime"}

func (c clock) String() string { return clockNames[c] }

// epochTimes are those of log_unix_epoch: milliseconds since 1970. No job runs so long
// that times since its start reach them (1973).
const epochTimes = 1e11

// setClocks finds the start of each job and the run's, the earliest, and how much
// later each job began. Only sources that are true to the millisecond correct for
// hosts that started apart; jobs without one are taken to start with the run.
func (r *reader) setClocks() error {
	for _, j := range r.jobs {
		j.setClock()
		if j.start.IsZero() {
			continue
		}
		j.start = j.start.Add(r.opt.Offsets[j.log.Host])
		r.start = earlier(r.start, j.start)
		r.clock = max(r.clock, j.clock)
	}
	if r.start.IsZero() {
		if err := r.setFallback(); err != nil {
			return err
		}
	}
	for _, j := range r.jobs {
		if j.start.IsZero() {
			j.start, j.clock = r.start.Add(r.opt.Offsets[j.log.Host]), r.clock
		}
	}
	for _, j := range r.jobs {
		r.start = earlier(r.start, j.start)
	}
	r.start = r.start.UTC().Truncate(time.Millisecond)
	for _, j := range r.jobs {
		if r.opt.Align != AlignJob && !r.start.IsZero() {
			j.offset = j.start.Sub(r.start).Milliseconds()
		}
	}
	return nil
}

// setClock uses what the job's own log and report say.
func (j *job) setClock() {
	if j.hasRows && j.first > epochTimes {
		j.clock, j.start = clockEpoch, time.UnixMilli(j.first-j.interval)
		if e := j.entry; e != nil && !e.out.start.IsZero() && e.out.start.Before(j.start) && j.start.Sub(e.out.start) < time.Hour {
			j.start = e.out.start // the log began later, with its direction's first request
		}
		j.origin = j.start.UnixMilli()
		return
	}
	if j.entry == nil {
		return
	}
	switch {
	case j.entry.Start > 0:
		j.clock, j.start = clockStart, time.UnixMilli(j.entry.Start)
	case !j.entry.began.IsZero():
		j.clock, j.start = clockReport, j.entry.began
	case !j.entry.out.start.IsZero():
		j.clock, j.start = clockReport, j.entry.out.start
	}
}

// setFallback is for runs in which no file tells the time: what the user says, or what
// the file system does. Neither knows how far apart the hosts started.
func (r *reader) setFallback() error {
	if !r.opt.Start.IsZero() {
		r.start, r.clock = r.opt.Start, clockUser
		return nil
	}
	if !r.absolute {
		return nil
	}
	starts := make([]time.Time, len(r.jobs))
	r.each(len(r.jobs), func(i int) {
		j := r.jobs[i]
		if modified := j.log.File.ModTime; !modified.IsZero() {
			starts[i] = modified.Add(-time.Duration(j.lastRow()) * time.Millisecond)
		}
	})
	for _, start := range starts {
		r.start, r.clock = earlier(r.start, start), clockMtime
	}
	if r.start.IsZero() {
		return errors.New("nothing tells when the run started: say --start TIME")
	}
	r.problems.note("%s: start taken from the files' modification times: it is as true as they are", r.title())
	return nil
}

// lastRow is the time of the log's last row, read separately.
func (j *job) lastRow() int64 {
	in, err := j.log.File.Open()
	if err != nil {
		return 0 // told when it is read
	}
	defer in.Close()
	if _, ok := j.source.(*rawRows); ok {
		log := fiolog.NewRawReader(in, j.log.File.Name())
		return latest(func() (int64, error) { rec, err := log.Next(); return rec.Time, err })
	}
	log := fiolog.NewReader(in, j.log.File.Name())
	log.SetHint(j.hint())
	return latest(func() (int64, error) {
		rec, err := log.Next()
		if err != nil {
			return 0, err
		}
		return rec.Time, nil
	})
}

// latest is the latest time that next gives before it ends, over rows that are wrong.
func latest(next func() (int64, error)) int64 {
	last := int64(0)
	for {
		at, err := next()
		switch {
		case err == nil:
			last = min(max(last, at), maxRun)
		case !errors.As(err, new(*fiolog.SyntaxError)):
			return last
		}
	}
}

// setInterval finds the job's log_hist_msec: its options tell, or CBT's, or the rows.
func (j *job) setInterval() {
	if j.source == nil {
		return
	}
	if _, ok := j.source.(*histRows); ok && j.entry != nil {
		j.interval = milliseconds(j.entry.Options["log_hist_msec"])
	}
	if _, ok := j.source.(*histRows); ok && j.interval == 0 {
		var out *output
		if j.entry != nil {
			out = j.entry.out
		}
		j.interval = j.run.configuredInterval(out)
	}
	if j.interval == 0 {
		j.interval = j.source.measure()
	}
}

// configuredInterval is log_hist_msec as fio's options or CBT's have it, or 0; the
// shortest where jobs differ.
func (r *reader) configuredInterval(out *output) int64 {
	shortest := int64(0)
	for i := range out.fioJobs() {
		if ms := milliseconds(out.option(i, "log_hist_msec")); ms > 0 && (shortest == 0 || ms < shortest) {
			shortest = ms
		}
	}
	if shortest > 0 {
		return shortest
	}
	option, _ := r.config["cluster.log_hist_msec"].(string)
	return milliseconds(option)
}

func milliseconds(option string) int64 {
	ms, err := strconv.ParseInt(option, 10, 64)
	if err != nil || ms < 0 {
		return 0
	}
	return ms
}
