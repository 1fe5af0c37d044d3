package plan

import (
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Evidence is what the files of a run show before their rows are read.
type Evidence struct {
	Run     *cbt.Run
	Config  map[string]any   // of CBT
	Outputs []*Output        // what fio printed
	Logs    []*Log           // of histograms: one for each job, also if a file has several jobs
	Others  []*Log           // the same of all other kinds, if needsOthers
	Written map[JobKey]int64 // bytes that fio wrote into all logs of a job, about
	Reader  reader
	Live    bool // fio still writes the files
}

// Reader reads whole logs. Few runs need that before their rows are read.
type reader interface {
	// Sums adds up the rows of a log. lag is that of the rows that fio --client adds. It fails if a row is damaged.
	Sums(l *Log, lag int) (*Sums, error)
	// Last returns the time of the last row of the log of each job, as written. Rows with impossible times do not count.
	Last(jobs []*Job) []int64
}

// planner is a plan in the making. Its methods are the steps.
type planner struct {
	*Plan
	ev       *Evidence
	problems *Remarks
}

// Log is a log and what its first rows show.
type Log struct {
	cbt.Log
	Segment int       // of a log of several jobs, from 0; else -1
	Hint    hist.Hint // of its bins
	Parts   *Sums     // sums of all rows of its segment, if the log is of several jobs
	Rows    FirstRows
	Head
	Damage error // why it cannot be read at all
}

// Head is what the first row of a log shows.
type Head struct {
	HasRows bool
	IsJunk  bool        // there are lines, and none of them is a row
	IsZero  bool        // the first row has no requests: fio writes such rows with clat_percentiles=0, and no others
	Layout  hist.Layout // of histograms
	First   int64       // time of the first row, as written
}

// FirstRows are the first rows of a job in a log: enough to measure the interval and when rows are due.
type FirstRows []*fiolog.Record

// times returns the times of the rows of each direction, as written.
func (rows FirstRows) times() (times [fiolog.Directions][]int64) {
	for _, rec := range rows {
		times[rec.Direction] = append(times[rec.Direction], rec.Time)
	}
	return times
}

// late returns how many milliseconds the first row came after it was due, by the next rows. It is 0 if the interval is
// unknown.
func (rows FirstRows) late(interval int64) (late int64) {
	if interval == 0 {
		return 0
	}
	for _, times := range rows.times() {
		if len(times) > 0 {
			_, latest := align.Began(interval, times)
			late = max(late, rows[0].Time-interval-latest)
		}
	}
	return late
}

// measure returns the median time between the rows of a direction, in milliseconds. It replaces the log's interval if no
// option has it. It is 0 if there are too few rows.
func (rows FirstRows) measure() int64 {
	var steps []int64
	var last [fiolog.Directions]int64
	for _, rec := range rows {
		if last[rec.Direction] > 0 {
			steps = append(steps, rec.Time-last[rec.Direction])
		}
		last[rec.Direction] = rec.Time
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return max(nominal(steps[(len(steps)-1)/2]), 1)
}

// IsAveraged reports whether a log has averages. A log without rows counts as one of completions. Reading it then
// reports what is wrong.
func (l *Log) IsAveraged() bool {
	return len(l.Rows) > 0 && (l.Rows[0].BlockSize == 0 || l.Rows[0].Averaged)
}

// Options are the settings of users that decide how a run is planned.
type Options struct {
	Title       string                   // of the run, in messages
	Completions bool                     // logs of completions come before histogram logs
	Window      time.Duration            // 0: the usual length
	Levels      []mapping.Level          // of documents
	Bins        hist.Hint                // what the user says about the bins and the unit of logs
	Start       time.Time                // of the run, if its files do not show it
	Absent      bool                     // the start may stay unknown
	Offsets     map[string]time.Duration // corrections of the clocks of hosts: they are added to the starts of jobs
	ByJob       bool                     // each job counts from its own start
}

// Sums are the sums of a log's rows in each direction.
type Sums [fiolog.Directions]struct {
	hist.Histogram
	rows int
}

func (s *Sums) Add(rec *fiolog.Record) {
	of := &s[rec.Direction]
	of.AddBins(rec.Layout, rec.Bins)
	of.rows++
}

// fit reports whether a report's bins contain all rows of some logs, so that the logs can be
// of the jobs of that report. The other requests of the report were not logged.
func (s *Sums) fit(jobs []*Entry) bool {
	for d := range fiolog.Direction(fiolog.Directions) {
		if s[d].IsEmpty() {
			continue
		}
		all, total := &hist.Histogram{}, uint64(0)
		for _, e := range jobs {
			all.Merge(e.Histogram(&e.Directions[d]))
			total += e.Directions[d].TotalIOs
		}
		// Without bins there is only a total. Of three or four rows, doubling adds so few requests that the last part of
		// an interval may have as many. Then the total proves nothing.
		if all.IsEmpty() && s[d].Total() <= float64(total) && s[d].rows != 3 && s[d].rows != 4 {
			continue
		}
		layout := s[d].Layout().Merged(all.Layout())
		if !all.To(layout).Subtract(s[d].Histogram.To(layout)) {
			return false
		}
	}
	return true
}
