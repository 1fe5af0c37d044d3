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
		size, ok := r.requestSize(fiolog.Direction(d))
		if !ok && r.live { // fio counts requests when they begin, and bytes when they end
			size = float64(cmp.Or(r.fioSettings().OpSize, r.entries.usualSize(fiolog.Direction(d))))
			ok = size > 0
		}
		docs.size[d] = size
		mixed = mixed || !ok
	}
	logs := slices.DeleteFunc(slices.Clone(r.run.Others), func(l cbt.Log) bool { return l.Kind != fiolog.BW || l.Stored })
	if mixed && len(logs) > 0 && len(r.averages) == 0 {
		docs.rates, err = r.readAverages(ctx, logs)
	}
	return err
}

// requestSize returns the size of all requests of a direction in bytes. It returns false if sizes differ or a job has
// no report.
func (p *plan) requestSize(d fiolog.Direction) (float64, bool) {
	if slices.ContainsFunc(p.jobs, func(j *job) bool { return j.entry == nil }) {
		return 0, false
	}
	size := uint64(0)
	for _, e := range p.entries {
		s := e.in(d)
		if s.TotalIOs == 0 {
			continue
		}
		if s.IOBytes%s.TotalIOs != 0 || size != 0 && s.IOBytes/s.TotalIOs != size || e.mixesSizes() {
			return 0, false
		}
		size = s.IOBytes / s.TotalIOs
	}
	return float64(size), true
}

// usualSize returns fio's default block size if no option of any job sets another one and the bytes so far agree. They
// agree if they are a multiple of that size, and at most that size for each request. Otherwise it returns 0.
func (list entryList) usualSize(d fiolog.Direction) int64 {
	setting := []string{"bs", "bssplit", "bsrange", "bs_unaligned", "read_iolog", "replay"}
	for _, e := range list {
		s := e.in(d)
		if slices.ContainsFunc(setting, e.hasOption) || !e.hasOption("name") && !e.hasOption("rw") ||
			s.IOBytes%usual != 0 || s.IOBytes/usual > s.TotalIOs {
			return 0
		}
	}
	return usual
}

// bandwidth returns the bytes per second of a window with iops requests per second over ms milliseconds. It returns 0
// if they are unknown.
func (d *documents) bandwidth(w *align.Window, iops float64, ms int64) float64 {
	if size := d.size[w.Key.Direction]; size > 0 {
		return rounded(iops*size, 1)
	}
	sum, length := 0.0, d.window // length is that of windows before they are joined
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
