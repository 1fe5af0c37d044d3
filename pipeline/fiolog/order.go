package fiolog

import "fmt"

const (
	// latestTime is the end of the year 9999 in ms since 1970.
	latestTime = 253402300799999

	// maxLeap is how far, in ms, a row may be ahead of the one before: a year. No
	// interval is that long, but a damaged digit makes it so.
	maxLeap = 366 * 24 * 3600 * 1000

	// relativeBelow tells times since a job's start from those since 1970 (which were
	// below it for four months).
	relativeBelow = 1e10

	defaultInterval = 1000 // ms, as long as nothing better is known
)

// order watches the times of a file's rows. fio writes a job's rows in the order of
// their times, so a time that falls has one of three causes:
//
//   - per_job_logs=0, and the next job begins: it falls, by half an interval at least,
//     to where the first row of the job before was, give or take half an interval;
//   - that row is damaged: the next one of its direction is as late as those before;
//   - the row before was damaged, and its time was too late: then the next one of the
//     direction falls as well.
//
// The first is passed on as a new job. Else the first row that falls is left out, and
// if a second one agrees with it, things go on from there.
type order struct {
	started  bool
	start    int64 // the job's first time
	newest   int64 // its latest one
	interval int64 // between the first two times of a direction that differ; 0: unknown
	last     [Directions]trail
	ahead    int64 // a time left out because it was too far ahead
}

// trail is one direction's times.
type trail struct {
	rows         int
	last, before int64 // the latest two
	held         int64 // a time left out because it fell
	holding      bool
}

// check tells whether a row begins a new job, and what its time should have been
// (empty: it is good).
func (o *order) check(t int64, d Direction) (newJob bool, want string) {
	switch {
	case t > latestTime:
		return false, "a time before the year 10000, in ms"
	case !o.started:
		o.begin(t, d)
		return false, ""
	case t > o.newest+maxLeap && (o.ahead == 0 || t < o.ahead || t > o.ahead+maxLeap):
		o.ahead = t
		return false, fmt.Sprintf("a time near that of the row before, %d", o.newest)
	case !o.opening(d) && o.newest-t >= max(o.step()/2, 1) && t <= o.start+o.step()/2:
		o.begin(t, d)
		return true, ""
	}
	trail := &o.last[d]
	if trail.rows > 0 && t < trail.last {
		return o.fallen(t, d)
	}
	o.accept(t, d)
	return false, ""
}

// opening tells whether a row of direction d may still be one of the first rows of the
// job, which are as far apart as its directions' first completions: nothing but the
// length of the intervals could say that this is too far, and times since 1970 tell it
// no sooner than a direction's second row does.
func (o *order) opening(d Direction) bool {
	return o.last[d].rows == 0 && o.interval == 0 && o.start >= relativeBelow
}

// begin starts a job with the row of time t.
func (o *order) begin(t int64, d Direction) {
	*o = order{started: true, start: t, newest: t, interval: o.interval}
	o.last[d] = trail{rows: 1, last: t}
}

// accept adds a row that is no earlier than the one before of its direction.
func (o *order) accept(t int64, d Direction) {
	trail := &o.last[d]
	if trail.rows > 0 && o.interval == 0 {
		o.interval = t - trail.last
	}
	if t > trail.last || trail.rows == 0 {
		trail.before = trail.last
	}
	trail.rows++
	trail.last, trail.holding = t, false
	o.newest, o.ahead = max(o.newest, t), 0
}

// fallen is a row earlier than the one before of its direction.
func (o *order) fallen(t int64, d Direction) (newJob bool, want string) {
	trail := &o.last[d]
	if !trail.holding || t < trail.held {
		trail.held, trail.holding = t, true
		return false, fmt.Sprintf("a time no earlier than the last one of its direction, %d", trail.last)
	}
	if trail.rows > 1 && trail.held < trail.before {
		// Two rows that rise, and both are earlier than the last two: not one row that
		// is damaged, but a job that begins late.
		o.begin(t, d)
		return true, ""
	}
	trail.last, trail.holding = t, false
	o.newest = t
	return false, ""
}

// step is how far apart rows of a direction are, as far as that is known, in ms. The
// first row of a job is as far from its start, unless that is unknown.
func (o *order) step() int64 {
	switch {
	case o.start < relativeBelow && o.interval > 0:
		return min(o.interval, o.start)
	case o.start < relativeBelow:
		return o.start
	case o.interval > 0:
		return o.interval
	}
	return defaultInterval
}
