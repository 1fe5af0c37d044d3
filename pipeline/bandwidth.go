package pipeline

import (
	"cmp"
	"context"
	"slices"

	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// setBandwidth finds the bytes per second of the run over time. Histogram logs do not have them: the block size in a
// row is the size of one request. If fio's report shows that all requests have one size, requests times size is exact.
// Otherwise the bandwidth comes from bw logs, if there are any.
func (r *reading) setBandwidth(ctx context.Context, docs *documents) (err error) {
	mixed := false
	for d := range docs.size {
		size, ok := r.RequestSize(fiolog.Direction(d))
		if !ok && r.live { // fio counts requests when they begin, and bytes when they end
			size = float64(cmp.Or(r.FioSettings().OpSize, r.Entries.UsualSize(fiolog.Direction(d))))
			ok = size > 0
		}
		docs.size[d] = size
		mixed = mixed || !ok
	}
	logs := slices.DeleteFunc(slices.Clone(r.Run.Others), func(l cbt.Log) bool { return l.Kind != fiolog.BW || l.Stored })
	if mixed && len(logs) > 0 && len(r.Averages) == 0 {
		docs.rates, err = r.readAverages(ctx, logs)
	}
	return err
}

// bandwidth returns the bytes per second of a window with iops requests per second over ms milliseconds. It returns 0
// if they are unknown.
func (d *documents) bandwidth(w *align.Window, iops float64, ms int64) float64 {
	if size := d.size[w.Key.Direction]; size > 0 {
		return rounded(iops*size, 1)
	}
	sum, length := 0.0, d.Window // length is that of windows before they are joined
	for at := w.Elapsed / length; at < (w.Elapsed+w.Length)/length; at++ {
		if s := d.rates[averageKey{at, w.Key}]; s != nil {
			if s.bandwidth.isPartial {
				return 0
			}
			sum += s.bandwidth.sum
		}
	}
	through := w.Length
	if ms < w.Length-w.Length/20 { // the window was clipped; rows that end early make it a few milliseconds shorter
		through = max(ms, 1)
	}
	return rounded(sum/float64(through), 1)
}
