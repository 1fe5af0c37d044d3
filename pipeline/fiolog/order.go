package fiolog

import (
	"cmp"
	"fmt"
)

const (
	// latestTime is the end of the year 9999 in ms since 1970.
	latestTime = 253402300799999

	// maxLeap is the longest plausible time between two rows, in milliseconds: a year. A damaged digit may look like a
	// longer one.
	maxLeap = 366 * 24 * 3600 * 1000

	// relativeBelow separates times since the start of a job from times since 1970. Times since 1970 passed it in April
	// 1970.
	relativeBelow = 1e10

	defaultInterval int64 = 1000 // ms, until the rows show it
)

// order checks the times of a file's rows. fio writes a job's rows in the order of
// their times, so a time that falls has one of three causes:
//
//   - per_job_logs=0, and the next job begins: it falls by at least half an interval, to
//     the time of the first row of the job before, give or take half an interval;
//   - that row is damaged: the next one of its direction is as late as the rows before;
//   - the row before was damaged, and its time was too late: then the next one of the
//     direction falls as well.
//
// In the first case a new job begins. Otherwise the first row that falls is skipped. If a
// second one agrees with it, the times continue from there.
type order struct {
	started  bool
	start    int64 // the job's first time
	newest   int64 // its latest one
	interval int64 // between the first two times of a direction that differ; 0: unknown
	last     [Directions]trail
	ahead    int64 // a time skipped because it was too far ahead
}

type trail struct {
	rows         int
	last, before int64 // the latest two
	held         int64 // a time skipped because it fell
	holding      bool
}

// check reports whether a row begins a new job. want says what the time should be. It is empty if the time is good.
func (o *order) check(t int64, d Direction) (isNewJob bool, want string) {
	of := &o.last[d]
	// How far apart the rows of a direction are, as known so far. The first row of a job is the same time after the
	// start of the job, unless the start is unknown.
	step := cmp.Or(o.interval, defaultInterval)
	if o.start < relativeBelow {
		step = min(cmp.Or(o.interval, o.start), o.start)
	}
	// The first rows of directions are as far apart as the first completions. Only the length of intervals can show that
	// this is too far. With times since 1970 the length is unknown before the second row of a direction.
	mayBeFirst := of.rows == 0 && o.interval == 0 && o.start >= relativeBelow
	switch {
	case t > latestTime:
		return false, "a time before the year 10000, in ms"
	case o.started && t > o.newest+maxLeap && (o.ahead == 0 || t < o.ahead || t > o.ahead+maxLeap):
		o.ahead = t
		return false, fmt.Sprintf("a time near that of the row before, %d", o.newest)
	case o.started && !mayBeFirst && o.newest-t >= max(step/2, 1) && t <= o.start+step/2:
		isNewJob = true
	case of.rows > 0 && t < of.last && (!of.holding || t < of.held):
		of.held, of.holding = t, true
		return false, fmt.Sprintf("a time no earlier than the last one of its direction, %d", of.last)
	case of.rows > 1 && t < of.last && of.held < of.before:
		// Two rows in ascending order, both earlier than the last two, are not damaged rows. A job begins here.
		isNewJob = true
	case of.rows > 0 && t < of.last: // the row before both was damaged
		of.last, of.holding, o.newest = t, false, t
		return false, ""
	}
	if !o.started || isNewJob {
		*o = order{started: true, start: t, newest: t, interval: o.interval}
		o.last[d] = trail{rows: 1, last: t}
		return isNewJob, ""
	}
	if of.rows > 0 && o.interval == 0 {
		o.interval = t - of.last
	}
	if t > of.last || of.rows == 0 {
		of.before = of.last
	}
	of.rows++
	of.last, of.holding = t, false
	o.newest, o.ahead = max(o.newest, t), 0
	return false, ""
}
