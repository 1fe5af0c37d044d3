package evidence

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Prices of reading reports, for [source.Budget]. A job or a report of ten bytes of text costs as much time and memory
// as one of fio, which has 5 KB.
const (
	fullText        = 1 << 10 // bytes: a job, or a report, of more text than that costs what its text does
	priceOfLacking  = 256     // for each byte that it has less
	priceOfText     = 2       // for each byte of packed text
	priceOfCount    = 1 << 10 // for each document that a count takes in Elasticsearch
	longestJobsName = 1000    // bytes; documents and their ids have it
)

// readReports reads the reports of a file from in, as [fiolog.ReadReports] does, and charges them to the file's budget.
func readReports(in io.Reader, f *source.File) iter.Seq2[*fiolog.Report, error] {
	return func(yield func(*fiolog.Report, error) bool) {
		for r, err := range fiolog.ReadReports(in, f.Name()) {
			lacking, text, many := 0, 0, int64(0)
			switch {
			case err == nil:
				lacking, text = max((len(r.Jobs)+1)*fullText-r.Bytes, 0), r.Bytes
				for i := range r.Jobs {
					for _, s := range r.Jobs[i].All() {
						bins := s.TotalIOs
						for _, b := range s.Clat.Bins {
							bins = max(bins, b.Count)
						}
						many += int64(bins / mapping.MaxCount)
					}
				}
			case errors.As(err, new(*fiolog.SyntaxError)):
				lacking = fullText
			}
			if !f.Packed {
				text = 0
			}
			if why := f.Budget().Spend(int64(priceOfLacking*lacking+priceOfText*text) + priceOfCount*many); why != nil {
				yield(nil, fmt.Errorf("%s: %w", f.Name(), why))
				return
			}
			if err == nil {
				isLong := func(j fiolog.Job) bool { return max(len(j.Name), len(j.Host)) > longestJobsName }
				if i := slices.IndexFunc(r.Jobs, isLong); i >= 0 {
					r, err = nil, fmt.Errorf("%s:%d: the name of job %d has more than %d bytes: not read", f.Name(), r.Line, i+1, longestJobsName)
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// isRepeated reports whether a report is there once more, because files were joined: fio writes no two reports at the same moment.
func isRepeated(r, before *fiolog.Report) bool {
	haveSameTotals := func(a, b fiolog.Job) bool {
		return a.Name == b.Name && a.Host == b.Host && a.Runtime == b.Runtime && a.Requests() == b.Requests()
	}
	return before != nil && r.Timestamp > 0 && r.Timestamp == before.Timestamp && slices.EqualFunc(r.Jobs, before.Jobs, haveSameTotals)
}

// Reports iterates over the reports with jobs that were read from in, the content of the file. A report that is there once more is
// left out, as [File.Printed] does.
func (f *File) Reports(in io.Reader) iter.Seq2[*fiolog.Report, error] {
	return func(yield func(*fiolog.Report, error) bool) {
		var before *fiolog.Report
		for r, err := range readReports(in, f.File) {
			if err == nil {
				if len(r.Jobs) == 0 || isRepeated(r, before) {
					continue
				}
				before = r
			}
			if !yield(r, err) {
				return
			}
		}
	}
}
