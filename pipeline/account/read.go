package account

import (
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// Read is what was read of a run, all of it or what is there so far.
type Read struct {
	Plan   *plan.Plan
	Counts map[*plan.Job]*Counts // of all jobs
	Live   bool                  // fio still writes the files

	Windowed [fiolog.WithSync]hist.Histogram    // sums of all windows of the highest level
	Averaged [fiolog.Directions]*mapping.Totals // by windows of averages, which have no counts; nil if there are none
	Unsure   Unsure
	Late     float64 // requests that count in a later window

	Coarseness int  // the least of totals
	ByJob      bool // each job counts from its own start
	Alone      bool // the logs were named one by one
}

// Unsure are windows that may have requests of the windows beside them.
type Unsure struct {
	Windows     int     // at different times
	First, Last int64   // their starts, in milliseconds since the start of the first window
	Share       float64 // of the requests of a window, the largest
}

// Add counts a window, of whose requests a share may belong to those beside it, if that is much.
func (u *Unsure) Add(start int64, share float64) {
	const few = 0.05
	if share <= few {
		return
	}
	if u.Windows == 0 {
		u.First = start
	}
	if u.Windows == 0 || start > u.Last {
		u.Windows, u.Last = u.Windows+1, start
	}
	u.Share = max(u.Share, share)
}

// Report returns the latest report of an entry. While fio runs, newer reports follow.
func (r *Read) Report(e *assign.Entry) *fiolog.Job {
	for _, j := range r.Plan.JobsOf[e] {
		if c := r.Counts[j]; c.Report != nil {
			return c.Report
		}
	}
	return e.Job
}

// ServedFor returns how long a job of an entry may have served a direction. In a group, jobs of one direction may end before
// others.
func (r *Read) ServedFor(j *plan.Job, d fiolog.Direction) int64 {
	e := j.Entry
	ran := max(e.Ran, j.Ran)
	if of := r.Report(e).Of(d).Runtime; of > 0 && max(e.Size, len(e.Jobs)) > 1 && !e.HasOption("verify") {
		return min(ran, of)
	}
	return ran
}

// ServesOther reports whether a job of a group, whose report has the directions of all its jobs, has no requests of a
// direction: its log is read and has none, and those of others have some.
func (r *Read) ServesOther(j *plan.Job, d fiolog.Direction) bool {
	return j.Entry != nil && r.Counts[j].Ended && r.Counts[j].Directions[d].Requests == 0 &&
		slices.ContainsFunc(r.Plan.JobsOf[j.Entry], func(o *plan.Job) bool { return r.Counts[o].Directions[d].Requests > 0 })
}

// EndOf returns when a job ended, in milliseconds since the start of the run.
func (r *Read) EndOf(j *plan.Job) int64 { return j.Offset + max(j.Ran, r.Counts[j].End()) }

// End returns when the last job ended, in milliseconds since the start of the run.
func (r *Read) End() (end int64) {
	for _, j := range r.Plan.Jobs {
		end = max(end, r.EndOf(j))
	}
	return end
}

// hasRows reports whether a job has rows. If none has, the run has totals, and no windows.
func (r *Read) hasRows() bool {
	return slices.ContainsFunc(r.Plan.Jobs, func(j *plan.Job) bool { return j.HasRows })
}
