package pipeline

import (
	"context"
	"slices"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// bandwidth is the bytes per second of windows. Histogram logs do not have them: the block
// size in a row is the size of one request. If all requests of fio's report have one size,
// that is exact. Otherwise it comes from the bw logs, if there are any.
type bandwidth struct {
	size [fiolog.Directions]float64 // of every request, bytes; 0 if they differ or it is unknown
	logs averages                   // nil if not needed
}

// readBandwidth finds the run's bandwidth over time.
func (r *reading) readBandwidth(ctx context.Context) (b *bandwidth, err error) {
	b = &bandwidth{}
	mixed := false
	for d := range b.size {
		size, ok := r.requestSize(fiolog.Direction(d))
		b.size[d] = size
		mixed = mixed || !ok
	}
	var logs []cbt.Log
	for _, log := range r.run.Others {
		if log.Kind == fiolog.BW && !log.Stored {
			logs = append(logs, log)
		}
	}
	if mixed && len(logs) > 0 && len(r.averages) == 0 {
		b.logs, err = r.readAverages(ctx, logs)
	}
	return b, err
}

// requestSize is the size of all requests of a direction. It returns false if they differ or
// a job has no report.
func (p *plan) requestSize(d fiolog.Direction) (float64, bool) {
	if slices.ContainsFunc(p.jobs, func(j *job) bool { return j.entry == nil }) {
		return 0, false
	}
	size := uint64(0)
	for _, e := range p.entries {
		s := &e.Directions[d]
		if e.mixed {
			s = e.Mixed
		}
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

// of is the bandwidth of a window in bytes per second; 0 if it is unknown. length is the
// length of windows before they are joined.
func (b *bandwidth) of(w *align.Window, d *mapping.Interval, length int64) float64 {
	if size := b.size[w.Key.Direction]; size > 0 {
		return rounded(d.IOPS*size, 1)
	}
	sum := 0.0
	for at := w.Elapsed / length; at < (w.Elapsed+w.Length)/length; at++ {
		if s := b.logs[averageKey{at, w.Key}]; s != nil {
			sum += s.bandwidth
		}
	}
	through := w.Length
	if d.Window.MS < w.Length-w.Length/20 { // it was clipped; else rows end some milliseconds off
		through = max(d.Window.MS, 1)
	}
	return rounded(sum/float64(through), 1)
}
