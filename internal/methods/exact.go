package methods

import (
	"cmp"
	"math"
	"slices"
)

// exact keeps all requests.
//
// Percentiles are those of numpy.percentile(…, method="linear"): of n latencies in order, number i from 0 is the quantile
// i/(n-1), and between two it is a straight line. With weights, a latency is in the middle of its weight, and the first and
// the last one are the quantiles 0 and 1. Of equal latencies the lighter one comes first. Equal weights give the same as none.
type exact struct {
	ns      []int64
	weights []float64 // nil while all are 1
}

func newExact() sketch { return &exact{} }

func (e *exact) add(p part) {
	if p.weight != 1 && e.weights == nil {
		for range e.ns {
			e.weights = append(e.weights, 1)
		}
	}
	e.ns = append(e.ns, p.ns)
	if e.weights != nil || p.weight != 1 {
		e.weights = append(e.weights, p.weight)
	}
}

func (e *exact) size() int64 { return 8 * int64(len(e.ns)+len(e.weights)) }

func (e *exact) percentiles(qs []float64) (list []float64) {
	if e.weights != nil {
		return e.weighted(qs)
	}
	slices.Sort(e.ns)
	last := len(e.ns) - 1
	for _, q := range qs {
		place := q * float64(last)
		i := int(place)
		low, high := float64(e.ns[i]), float64(e.ns[min(i+1, last)])
		list = append(list, low+(place-float64(i))*(high-low))
	}
	return list
}

func (e *exact) weighted(qs []float64) (list []float64) {
	type weighed struct {
		ns    int64
		place float64 // the weight before it, and half its own
	}
	all := make([]weighed, len(e.ns))
	for i, ns := range e.ns {
		all[i] = weighed{ns, e.weights[i]}
	}
	slices.SortFunc(all, func(a, b weighed) int { return cmp.Or(cmp.Compare(a.ns, b.ns), cmp.Compare(a.place, b.place)) })
	sum := 0.0
	for i, w := range all {
		all[i].place, sum = sum+w.place/2, sum+w.place
	}
	first, last := all[0], all[len(all)-1]
	for _, q := range qs {
		place := first.place + q*(last.place-first.place)
		i, isThere := slices.BinarySearchFunc(all, place, func(w weighed, at float64) int { return cmp.Compare(w.place, at) })
		if i = min(i, len(all)-1); isThere || i == 0 {
			list = append(list, float64(all[i].ns))
			continue
		}
		low, high := all[i-1], all[i]
		list = append(list, float64(low.ns)+(place-low.place)/(high.place-low.place)*float64(high.ns-low.ns))
	}
	return list
}

// nearest is exact by another rule: the request of rank ceil(q*n), as in [hist.Histogram.Percentile]. It shows how much the
// rule alone matters where windows have few requests.
type nearest struct{ exact }

func newNearest() sketch { return &nearest{} }

func (e *nearest) percentiles(qs []float64) (list []float64) {
	slices.Sort(e.ns)
	for _, q := range qs {
		rank := int(math.Ceil(q*float64(len(e.ns)) - 1e-9))
		list = append(list, float64(e.ns[max(rank, 1)-1]))
	}
	return list
}

// perJob is the mean of the exact percentiles of each job, weighted by its requests, and so by its IOPS. A percentile of
// all requests cannot be had from those of parts, so this is wrong, and people do it.
type perJob struct {
	jobs   []*exact
	wanted int64 // percentiles
}

func newPerJob() sketch { return &perJob{} }

func (m *perJob) add(p part) {
	for p.job >= len(m.jobs) {
		m.jobs = append(m.jobs, nil)
	}
	if m.jobs[p.job] == nil {
		m.jobs[p.job] = &exact{}
	}
	m.jobs[p.job].add(p)
}

func (m *perJob) percentiles(qs []float64) []float64 {
	mean, n := make([]float64, len(qs)), 0.0
	m.wanted = int64(len(qs))
	for _, e := range m.jobs {
		if e == nil {
			continue
		}
		weight := float64(len(e.ns))
		n += weight
		for i, ns := range e.percentiles(qs) {
			mean[i] += (ns - mean[i]) * weight / n
		}
	}
	return mean
}

// size is the wanted percentiles and a rate of each job.
func (m *perJob) size() (bytes int64) {
	for _, e := range m.jobs {
		if e != nil {
			bytes += 8 * (1 + m.wanted)
		}
	}
	return bytes
}
