package evidence

import (
	"errors"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Opening is what the first rows of a job in a log show: [EnoughRows], or all.
type Opening struct {
	Head
	Rows   FirstRows
	Damage error // why it cannot be read at all
}

// EnoughRows are enough to measure the interval and when rows are due.
const EnoughRows = 16

// See adds a row, which is kept, or the error in its place. Only the first row keeps a bin, its slowest. A log that is only damaged can be read.
func (o *Opening) See(row *fiolog.Record, err error) {
	switch {
	case err == nil && len(o.Rows) == EnoughRows:
	case err == nil:
		if len(o.Rows) == 0 {
			o.Head, o.Damage = Head{HasRows: true, IsZero: row.Total == 0, First: row.Time, Layout: row.Layout}, nil
		}
		if n := len(row.Bins); len(o.Rows) > 0 || n == 0 {
			row.Bins = nil
		} else {
			row.Bins = slices.Clone(row.Bins[n-1:])
		}
		o.Rows = append(o.Rows, row)
	case len(o.Rows) > 0:
	case errors.As(err, new(*fiolog.SyntaxError)):
		o.IsJunk = true
	default:
		o.Damage = err
	}
}

// IsAveraged reports whether a log has averages. A log without rows counts as one of completions. Reading it then
// reports what is wrong.
func (o *Opening) IsAveraged() bool {
	return len(o.Rows) > 0 && (o.Rows[0].BlockSize == 0 || o.Rows[0].Averaged)
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

// Measure returns the time between the rows of a direction, in milliseconds: the median for a part of 2, the lower
// quartile for 4. It replaces the log's interval if no option has it. It is 0 if there are too few rows.
func (rows FirstRows) Measure(part int) int64 {
	var steps []int64
	var last [fiolog.Directions]int64
	for _, rec := range rows {
		if last[rec.Direction] > 0 && rec.Time > last[rec.Direction] { // after a stall fio writes several at one time
			steps = append(steps, rec.Time-last[rec.Direction])
		}
		last[rec.Direction] = rec.Time
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return max(Nominal(steps[(len(steps)-1)/part]), 1)
}

// Sums are the sums of a log's rows in each direction.
type Sums [fiolog.Directions]hist.Histogram

// Add adds a row.
func (s *Sums) Add(rec *fiolog.Record) {
	s[rec.Direction].AddBins(rec.Layout, rec.Bins)
}

// Merge adds all rows of other logs.
func (s *Sums) Merge(o *Sums) {
	for d := range o {
		s[d].Merge(&o[d])
	}
}
