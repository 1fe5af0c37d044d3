package export

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// ErrMicroseconds means that bins of fio 2 were written as json+ of fio 3, whose bins are nanoseconds.
var ErrMicroseconds = errors.New("json+ has the bins of fio 3, and these are those of fio 2, which do not nest in them")

// JSONPlus writes the histogram of one run in the form of fio's own json+ report, with an entry for each host and job. fio's
// tools read it, and so does fio2es, as a report alone.
type JSONPlus struct {
	w    io.Writer
	run  *mapping.RunInfo
	jobs []*plusJob
}

// plusJob is a host or a job, and the sums of its windows by direction.
type plusJob struct {
	host, name string
	of         map[string]*plusSum
}

type plusSum struct {
	hist.Histogram
	span window.Span
	iops float64 // of the whole run; 0 for windows, and if it is unknown
}

// NewJSONPlus returns a writer of one run to w. At a second run it fails with [ErrOneRun].
func NewJSONPlus(w io.Writer) *JSONPlus { return &JSONPlus{w: w} }

// Begin implements [Writer].
func (p *JSONPlus) Begin(run *mapping.RunInfo, _ bool) error {
	if p.run != nil {
		return ErrOneRun
	}
	p.run = run
	return nil
}

// Add adds the requests of a window to those of its host, job and direction.
func (p *JSONPlus) Add(w *window.Window, requests *hist.Histogram) error {
	if requests.Layout().Unit() != hist.Nanoseconds {
		return ErrMicroseconds
	}
	i := slices.IndexFunc(p.jobs, func(j *plusJob) bool { return j.host == w.Host && j.name == w.Job })
	if i < 0 {
		i, p.jobs = len(p.jobs), append(p.jobs, &plusJob{w.Host, w.Job, map[string]*plusSum{}})
	}
	sum := p.jobs[i].of[w.Direction]
	if sum == nil {
		sum = &plusSum{}
		p.jobs[i].of[w.Direction] = sum
	}
	if sum.iops = 0; sum.IsEmpty() {
		sum.iops = w.IOPS
	}
	sum.Merge(requests)
	sum.span.Add(w)
	return nil
}

// Close writes the report. Bins have the latencies that fio prints for them; those of a coarse bin are of the fine bin in its
// middle, because fio's reports have fine bins.
func (p *JSONPlus) Close() error {
	ms := func(ns float64) float64 { return math.Round(ns*1000) / 1000 }
	var jobs []map[string]any
	var all window.Span
	for _, j := range p.jobs {
		job := map[string]any{"jobname": cmp.Or(j.name, p.run.Name), "groupid": 0, "error": 0}
		for _, direction := range mapping.Directions { // fio's report has all, and its tools read all
			job[direction] = map[string]any{"total_ios": 0, "runtime": 0}
		}
		if j.host != "" {
			job["hostname"] = j.host
		}
		for direction, sum := range j.of {
			bins, n := map[string]int64{}, int64(0)
			for i, count := range sum.All() {
				bins[strconv.FormatInt(sum.Layout().Representative(i), 10)] = int64(math.Round(count))
				n += int64(math.Round(count))
			}
			lasted := float64(sum.span.End.Sub(sum.span.Start).Milliseconds())
			if sum.iops > 0 { // the jobs of a direction need not last as long as the run
				lasted = math.Round(float64(n) * 1000 / sum.iops)
			}
			mean := sum.Mean().Value
			if direction == mapping.AllDirections {
				direction = "mixed" // as fio calls it
			}
			if unit.IsKnown(sum.span.Start) {
				job["job_start"] = sum.span.Start.UnixMilli()
			}
			job[direction] = map[string]any{
				"total_ios": n, "runtime": lasted, "iops": ms(float64(n) * 1000 / max(lasted, 1)),
				"clat_ns": map[string]any{
					"min": math.Round(sum.Min().Value), "max": math.Round(sum.Max().Value), "mean": ms(mean), "stddev": ms(sum.Deviation(mean)), "N": n, "bins": bins,
				},
			}
			all.Join(sum.span)
		}
		jobs = append(jobs, job)
	}
	report := map[string]any{"fio version": "fio-3", "jobs": jobs}
	if unit.IsKnown(all.Start) {
		report["timestamp_ms"], report["timestamp"] = all.End.UnixMilli(), all.End.Unix()
	}
	out := json.NewEncoder(p.w)
	out.SetIndent("", "  ")
	return out.Encode(report)
}
