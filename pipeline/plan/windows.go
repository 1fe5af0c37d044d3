package plan

import (
	"fmt"
	"time"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
)

// windows chooses the length of windows, and when they begin.
func (p *planner) windows() (err error) {
	for _, j := range p.Jobs {
		if j.Source == FromReports { // reports come at the same moments for all jobs
			j.First = j.Entry.Out.phase(j.Interval, j.Start.Add(-p.opt.Offsets[j.Host]))
		}
	}
	if p.Window, err = windowOf(p.Jobs, p.opt.Window); err == nil {
		p.Shift = shiftOf(p.Jobs, p.Window)
	}
	return err
}

// nominal returns the interval that people set, in milliseconds, for a measured one: rows and reports come a little late.
func nominal(ms int64) int64 {
	if hundreds := (ms + 50) / 100 * 100; max(ms-hundreds, hundreds-ms)*20 <= ms {
		return hundreds
	}
	return (ms + 5) / 10 * 10
}

// Modulo returns the remainder of a division, from 0 to n-1.
func Modulo(x, n int64) int64 { return (x%n + n) % n }

// windowOf returns the length of windows in milliseconds: the wanted length, or the usual one for the rows of the jobs.
// It fails if rows are too long for the wanted length.
func windowOf(jobs []*Job, wanted time.Duration) (int64, error) {
	rows := int64(0)
	for _, j := range jobs {
		rows = max(rows, j.Interval)
	}
	if rows == 0 {
		for _, j := range jobs { // logs with so few rows that their length is not known otherwise
			if j.Source == FromHist && j.HasRows {
				rows = max(rows, nominal(j.First-j.Origin))
			}
		}
	}
	if wanted <= 0 {
		return UsualWindow(rows), nil
	}
	window := max(wanted.Milliseconds(), 1)
	if window < rows-rows/20 {
		return 0, fmt.Errorf("windows of %v are shorter than its rows, which do not show when in %v a request "+
			"completed: give --interval %v or more",
			wanted, time.Duration(rows)*time.Millisecond, time.Duration(rows)*time.Millisecond)
	}
	return window, nil
}

// UsualWindow is the shortest multiple of the time between rows that is a second or more,
// because a window that is cut across rows is an estimate. Periodic reports have any spacing.
func UsualWindow(rows int64) int64 {
	const second = 1000
	if rows <= 0 {
		return second
	}
	return (second + rows - 1) / rows * rows
}

// shiftOf returns how long before the run its windows begin, in milliseconds. It is 0, unless all jobs have their rows at
// the same moments, which are not multiples of the window's length. Then shifted windows follow the rows. Periodic
// reports are such rows: the first one comes some time after the start. If it comes soon, the first window is longer.
func shiftOf(jobs []*Job, window int64) int64 {
	phase, ok := PhaseOf(jobs, window)
	switch {
	case !ok || phase == 0:
		return 0
	case jobs[0].Source == FromReports && phase < window/2:
		return -phase
	}
	return window - phase
}

// PhaseOf returns when the rows of all jobs begin, in milliseconds after multiples of their interval. It is 0 if they
// begin a few milliseconds after them, as fio writes rows. It is not ok if windows cannot follow the rows.
func PhaseOf(jobs []*Job, window int64) (phase int64, ok bool) {
	phase, near := int64(-1), int64(0)
	for _, j := range jobs {
		if !j.HasRows && j.Source == FromNothing {
			continue
		}
		if !j.HasRows || j.Interval <= 0 || window%j.Interval != 0 {
			return 0, false
		}
		var clocks []int64 // when that of each direction began, in milliseconds since the job's start, or its first report came
		for _, times := range j.FirstTimes() {
			if len(times) > 0 {
				zero, _ := align.Began(j.Interval, times)
				clocks = append(clocks, zero)
			}
		}
		if len(clocks) == 0 {
			clocks = []int64{j.First - j.Origin}
		}
		for _, began := range clocks {
			at := Modulo(began+j.Offset, j.Interval)
			apart := Modulo(at-phase, j.Interval)
			if near = j.Interval / 20; phase >= 0 && min(apart, j.Interval-apart) > near {
				return 0, false
			}
			if phase < 0 {
				phase = at
			}
		}
	}
	if phase <= near {
		phase = 0
	}
	return phase, true
}

// The largest numbers of hosts and jobs with their own documents. About twenty windows of each are in memory, with 15
// KB of bins in each direction.
const (
	mostHosts = 256
	mostJobs  = 5000
)

// limitLevels removes levels with too many hosts or jobs. It fails if no level remains.
func (p *planner) limitLevels() (err error) {
	hosts := len(HostNames(p.Jobs))
	for _, l := range p.opt.Levels {
		n, most := 1, 1
		switch l {
		case mapping.Host:
			n, most = hosts, mostHosts
		case mapping.Job:
			n, most = len(p.Jobs), mostJobs
		}
		if n <= most {
			p.Levels = append(p.Levels, l)
			continue
		}
		err = fmt.Errorf("%s: %d documents of level %s in each window, want at most %d: use --levels cluster, which has all requests, or ingest the folders of fewer hosts",
			p.Title(), n, l, most)
		p.problems.skip(err)
	}
	if len(p.Levels) > 0 {
		return nil
	}
	return err
}
