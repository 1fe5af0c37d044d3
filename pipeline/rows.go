package pipeline

import (
	"errors"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/account"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// rowSource reads the rows of a job from one kind of file.
type rowSource interface {
	// next returns the next rows, in milliseconds since the job's start, or what is wrong in place of some. They are valid until
	// the next call. It returns false at the end, maybe with the last rows. After an error later rows follow.
	next() ([]align.Row, error, bool)
	close()
}

// jobRows reads the rows of a job one after another, in the time of the windows, and counts them: the rows of its source
// and, if the job alone has a part in it, the tail that fio did not log. All results are made from the counts of all jobs
// after the last row. One goroutine at a time uses it.
type jobRows struct {
	job      *plan.Job
	source   rowSource // nil without rows
	counts   *account.Counts
	read     *account.Read // of all jobs
	levels   int           // of windows
	problems *problems

	queue []align.Row // read and not returned yet; valid until more rows are read
	last  bool        // no rows follow those of the queue
}

// next returns the next row, which is valid until the next call. It returns false at the end.
func (in *jobRows) next() (align.Row, bool) {
	j, p := in.job, in.read.Plan
	for len(in.queue) == 0 {
		if in.last || in.source == nil {
			in.counts.Ended = in.source != nil
			return align.Row{}, false
		}
		rows, err, ok := in.source.next()
		if err != nil {
			in.skip(err)
		}
		for i := range rows {
			if err := in.spend(&rows[i]); err != nil {
				in.problems.skip("%s: a row of job %s: %w", in.file().Name(), j.Name(), err)
				rows, ok, in.counts.Damaged, in.counts.Cut = rows[:i], false, true, true
				break
			}
			if rows[i].Total > 0 {
				in.counts.Add(&rows[i], j.Interval, len(p.Entries) > 0)
			}
		}
		if in.queue, in.last = rows, !ok; in.last && j.Entry != nil && len(j.Entry.Jobs) == 1 && j.ReadsLog() {
			in.queue = append(in.queue, in.read.Entry(j.Entry).Tail...)
		}
	}
	row := in.queue[0]
	in.queue = in.queue[1:]
	row.Start += j.Offset + p.Shift
	row.End += j.Offset + p.Shift
	return row, true
}

// skip says what is wrong with a row.
func (in *jobRows) skip(err error) {
	if in.job.Entry != nil && in.job.Source == assign.FromHist { // totals are those of its report
		in.problems.lack("%w", err)
	} else {
		in.problems.skip("%w", err)
	}
	if isMissing(err) {
		bad, isBad := errors.AsType[*fiolog.SyntaxError](err)
		in.counts.Damaged, in.counts.Cut = true, in.counts.Cut || isBad && bad.Partial || !isBad && !errors.As(err, new(rowError))
	}
}

// file returns the file of the rows.
func (in *jobRows) file() *evidence.File {
	if in.job.Source == assign.FromReports {
		return in.job.Entry.Out.File
	}
	return in.job.Log.File
}

// Prices of a row, for [source.Budget]: of a bin in a window, and of each document that the row's time or its count takes, which
// is as long as unpacking that many bytes.
const (
	priceOfBin      = 8
	priceOfDocument = 1 << 10
)

// spend spends the price of a row from the budget of its file.
func (in *jobRows) spend(row *align.Row) error {
	f := in.file()
	if in.read.Live || f == nil { // files that the scan found grow
		return nil
	}
	price, window := int64(0), max(in.read.Plan.Window, 1)
	if row.Total > 0 {
		documents := (row.End-row.Start)/window + int64(row.Total/mapping.MaxCount)
		price = priceOfDocument * documents * int64(max(in.levels, 1))
	}
	// Requests in flight are added to each window of their time.
	for b := len(row.Bins) - 1; b >= 0; b-- {
		low, _ := row.Layout.Bounds(int(row.Bins[b].Index))
		windows := int64(min(low, 600e9)/1e6) / window // align looks no further back
		if windows == 0 {
			break
		}
		price += priceOfBin * windows
	}
	return f.Budget().Spend(price)
}
