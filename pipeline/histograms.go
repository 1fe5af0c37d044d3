package pipeline

import (
	"fmt"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/account"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// histogramRows are the rows of a histogram log.
type histogramRows struct {
	job    *plan.Job
	log    *logFile
	undo   evidence.Undoubler
	split  *align.Splitter
	counts *account.Counts
}

func newHistogramRows(j *plan.Job, log *logFile, counts *account.Counts) *histogramRows {
	s := align.NewSplitter(j.Interval)
	s.Exact = j.Exact && j.Lag == 0
	s.Stages = j.Log.Job == 0 && j.Entry != nil && j.Entry.Several
	for d, times := range j.FirstTimes() {
		s.Begin(fiolog.Direction(d), times)
	}
	return &histogramRows{j, log, evidence.Undoubler{Lag: j.Lag}, s, counts}
}

func (in *histogramRows) close() { in.log.close() }

// next returns the rows that the next row of the log becomes.
func (in *histogramRows) next() ([]align.Row, error, bool) {
	rec, err, ok := in.log.next()
	if !ok {
		return nil, nil, false
	}
	if err == nil {
		err = in.check(rec)
	}
	if isMissing(err) {
		in.split.Gap()
	}
	if err != nil || len(rec.Bins) == 0 {
		return nil, err, true
	}
	j, d, at := in.job, rec.Direction, rec.Time-in.job.Origin
	following := func() (uint64, bool) {
		rec = rec.Clone() // before the next row is read
		return in.log.following(d)
	}
	// Where fio itself was stopped until its run ended, the last row looks like one after missing rows. If rows were missing,
	// the report would have more requests.
	isAll := false
	if e := j.Entry; e != nil && len(e.Jobs) == 1 && e.Mixed == nil {
		isAll = int64(in.counts.Directions[d].Requests+rec.Total) == e.Measured(&e.Directions[d])
	}
	if !isAll && in.split.Misses(at, d, rec.Layout, rec.Bins, rec.Total, following) {
		err = in.log.wrong(fmt.Errorf("%s rows are missing before this one: fio writes one every %d ms, and what is late at the next completion; "+
			"windows lack the requests of the missing rows, so their rates are too low there; if the log is a copy, compare it with the original",
			d, j.Interval), rec)
	}
	rows := in.split.Split(at, d, rec.Layout, rec.Bins, rec.Total)
	for d := range in.counts.Directions {
		in.counts.Directions[d].Tail = in.split.Tail(fiolog.Direction(d))
	}
	return rows, err, true
}

// check returns what is wrong with a row, without what fio --client adds to it.
func (in *histogramRows) check(rec *fiolog.Record) (err error) {
	const fastest = 100_000 // requests of a job in a millisecond
	j := in.job
	took := max(j.Interval, 1000)
	if j.Interval == 0 {
		took = max(rec.Time-j.Origin, took) // of the only row
	}
	switch {
	case rec.Total > hist.MaxCount:
		err = fmt.Errorf("%d requests in a row: count above 2^53, more than any device can serve", rec.Total)
	case rec.Total/fastest > uint64(took):
		err = fmt.Errorf("%d requests in a row of %d ms, more than any job can make", rec.Total, took)
	}
	if err != nil && j.Entry == nil { // no report says which version of fio it was
		err = fmt.Errorf("%w; fio 3.6 to 3.16 write such numbers: add its report", err)
	}
	if err == nil {
		err = j.CheckTime(rec.Time)
	}
	if err == nil {
		err = in.undo.Row(rec)
	}
	if err != nil {
		return in.log.wrong(err, rec)
	}
	return nil
}
