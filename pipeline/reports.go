package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
	"github.com/fio2es/fio2es/pipeline/source"
)

// maxReports limits the memory for the reports of one run in bytes. It is enough for some thousand hosts and volumes
// with json+.
const maxReports = 96 << 20

// outputReader reads fio's outputs of a run.
type outputReader struct {
	run      *cbt.Run
	live     bool // fio still writes them
	problems *Problems
}

// all reads fio's output of all hosts and volumes. CBT stores each output twice: as printed, and its JSON alone. all
// uses the first of these files that has a report.
func (r outputReader) all(ctx context.Context) (outputs []*plan.Output) {
	type place struct{ host, volume string }
	have := map[place]bool{}
	memory := 0
	for i, f := range r.run.Reports {
		if memory > maxReports {
			r.problems.skip(fmt.Errorf("%s: from here on %d of %d reports are not read, because those before take %d MB: "+
				"run fio with group_reporting",
				f.File.Name(), len(r.run.Reports)-i, len(r.run.Reports), memory>>20))
			break
		}
		at := place{f.Host, f.Volume}
		if f.Named && have[at] {
			continue
		}
		if out := r.one(ctx, f); out != nil {
			have[at] = true
			outputs = append(outputs, out)
			memory += out.Fio.Memory()
		}
	}
	return outputs
}

// one reads the output in a file. It returns nil if the file has no usable report.
func (r outputReader) one(ctx context.Context, f cbt.Report) *plan.Output {
	in, err := f.File.Open()
	if err != nil {
		r.problems.skip(err)
		return nil
	}
	defer in.Close()
	out := &plan.Output{Report: f}
	for one, err := range reportsOf(in, f.File) {
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, source.ErrTooMuch):
			r.problems.skip(err)
			return nil
		case err != nil:
			if !r.mayIgnore(err, out) {
				r.problems.skip(err)
			}
		default:
			out.Take(one)
		}
	}
	if out.Fio == nil {
		return nil
	}
	if out.Impossible != "" {
		r.problems.note("%s: %s", f.File.Name(), out.Impossible)
	}
	if out.Others > 0 {
		r.problems.skip(fmt.Errorf("%s: it has reports of %d runs of fio, one after another (>>): only the last is used; "+
			"write each run's report to its own file", f.File.Name(), out.Others+1))
	}
	return out
}

// mayIgnore reports whether a damaged document in a file may be ignored. That is so if fio still writes it, or if
// nothing shows that fio wrote the file.
func (r outputReader) mayIgnore(err error, of *plan.Output) bool {
	var cut *fiolog.SyntaxError
	if r.live && errors.As(err, &cut) && cut.Partial {
		return true
	}
	alone := len(r.run.Logs)+len(r.run.Others) == 0 // without logs, the file was chosen because it begins like fio's output
	return !of.Named && !alone && of.Fio == nil && !of.IsFio()
}

// reportsOf iterates over the reports with jobs in a file. A report that is there once more, because files were joined,
// is left out: fio writes no two reports at the same moment.
func reportsOf(in io.Reader, f *source.File) iter.Seq2[*fiolog.Report, error] {
	return func(yield func(*fiolog.Report, error) bool) {
		var before *fiolog.Report
		for one, err := range cbt.ReadReports(in, f) {
			if err == nil {
				if len(one.Jobs) == 0 || before != nil && one.Timestamp > 0 && one.Timestamp == before.Timestamp &&
					slices.EqualFunc(one.Jobs, before.Jobs, plan.HaveSameTotals) {
					continue
				}
				before = one
			}
			if !yield(one, err) {
				return
			}
		}
	}
}
