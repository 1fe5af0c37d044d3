// Package methods compares ways to get percentiles of latency with the exact ones, over one run whose every completion was
// logged beside its histograms. It does no I/O: completions and the windows of fio2es come in, and a table and a picture
// come out.
//
//	Add      completions  --+--> exact percentiles   --+
//	                        +--> bins, sketches      --+--> Compare --> a Row for each method and percentile
//	AddOurs  windows of fio2es ------------------------+
//
// A method counts a request where it completed, or in flight: in each window by the share of its life that it spent there.
// Its errors are from the exact percentiles that count in the same way.
package methods

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Options say what is compared.
type Options struct {
	Percentiles []mapping.Percentile
	// Window is the length of windows in milliseconds. Shift is how long before the run they begin, because those of fio2es
	// follow its rows.
	Window, Shift int64
	SpreadAll     bool // in flight, short requests count in several windows, too, and not only those longer than a window
	Log           LogBins
}

// Names of methods that pictures show in colours of their own.
const (
	ours     = "fio2es's answer"
	averaged = "mean of jobs' percentiles"
)

// Comparison collects the data of one run. The zero value of Options is of no use.
type Comparison struct {
	Options
	jobs     [directions][][]request // as they come: one list for each job
	requests [directions][]request   // of all jobs, in order of time
	answers  []*answers              // of fio2es
}

const directions = len(mapping.Directions)

// request is a completion. Its time is in milliseconds since the start of the run. Both numbers together, because a run may
// have millions.
type request struct {
	ns         int64
	timeAndJob int64
}

const jobBits = 16

func (r request) at() int64 { return r.timeAndJob >> jobBits }
func (r request) job() int  { return int(r.timeAndJob & (1<<jobBits - 1)) }

// Add adds a completion of a direction of [mapping.Directions] and of a job, which is a number below 65536: its time in
// milliseconds since the start of the run, and its latency in nanoseconds. Jobs come one after another.
func (c *Comparison) Add(direction, job int, at, ns int64) {
	jobs := &c.jobs[direction]
	if n := len(*jobs); n == 0 || (*jobs)[n-1][0].job() != job {
		*jobs = append(*jobs, nil)
	}
	last := &(*jobs)[len(*jobs)-1]
	*last = append(*last, request{ns, at<<jobBits | int64(job)})
}

// AddOurs adds the answer of fio2es: windows of level Cluster, and the document of the run. took is the time for reading
// the logs, too.
func (c *Comparison) AddOurs(inFlight bool, windows []*window.Window, run *mapping.Run, took time.Duration) {
	a := newAnswers(ours, inFlight, &edges{c.Window, c.Shift, map[place]int64{}})
	for _, w := range windows {
		if w.Latency.HasPercentiles() {
			at := place{slices.Index(mapping.Directions[:], w.Direction), (w.ElapsedMS + c.Shift) / c.Window}
			if late := w.EndMS() - a.edges.end(at); max(late, -late) <= c.Window/20 { // it follows whole rows
				a.edges.rows[at] = w.EndMS()
			}
			a.windows[at] = c.figures(w.Latency.Figure)
			for _, b := range w.Counts {
				a.bytes += sizeOfBin(float64(b.Count))
			}
		}
	}
	for _, t := range run.ByDirection() {
		if i := slices.Index(mapping.Directions[:], t.Direction); i >= 0 { // else nothing separates reads and writes
			a.whole[i] = c.figures(t.Latency.Figure)
		}
	}
	a.took = took
	c.answers = append(c.answers, a)
}

// figures returns the wanted percentiles in nanoseconds.
func (c *Comparison) figures(figure func(name string) (us float64, ok bool)) (list []float64) {
	for _, p := range c.Percentiles {
		us, _ := figure(p.Name)
		list = append(list, us*1e3)
	}
	return list
}

func (c *Comparison) quantiles() (list []float64) {
	for _, p := range c.Percentiles {
		list = append(list, p.Quantile)
	}
	return list
}

// answers are the percentiles of one method, in nanoseconds.
type answers struct {
	method   string
	inFlight bool // how it counts, and the exact percentiles, too
	edges    *edges
	windows  map[place][]float64
	whole    [directions][]float64 // of the run; nil without requests
	bytes    int64                 // kept for all windows
	took     time.Duration         // for all windows
}

func newAnswers(method string, inFlight bool, e *edges) *answers {
	return &answers{method: method, inFlight: inFlight, edges: e, windows: map[place][]float64{}}
}

// sort puts the requests of each direction in order of time. Those of a job nearly are, so jobs are sorted and merged: the
// context ends that soon, also with millions of requests.
func (c *Comparison) sort(ctx context.Context) error {
	byTime := func(a, b request) int { return cmp.Compare(a.timeAndJob, b.timeAndJob) }
	for d, lists := range c.jobs {
		for _, list := range lists {
			if !slices.IsSortedFunc(list, byTime) {
				slices.SortStableFunc(list, byTime)
			}
		}
		for len(lists) > 1 {
			if err := ctx.Err(); err != nil {
				return err
			}
			lists = append(lists[2:], merge(lists[0], lists[1]))
		}
		if c.jobs[d] = nil; len(lists) == 1 {
			c.requests[d] = lists[0]
		}
	}
	return nil
}

// merge merges two sorted lists.
func merge(a, b []request) []request {
	all := make([]request, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		from := &a
		if b[0].timeAndJob < a[0].timeAndJob {
			from = &b
		}
		all, *from = append(all, (*from)[0]), (*from)[1:]
	}
	return append(append(all, a...), b...)
}
