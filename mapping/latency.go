package mapping

import (
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/fio2es/fio2es/hist"
)

// MaxCount is the largest count and the largest _doc_count that Elasticsearch accepts.
const MaxCount = math.MaxInt32

// Latency is a histogram with its usual numbers, in microseconds. A document omits an empty Latency.
type Latency struct {
	Bins   Bins    `json:"histogram,omitzero"`
	Layout string  `json:"layout,omitempty"` // of the bins: "fio3/0" is fio 3, coarseness 0; "fio2/1/24" has 24 groups
	Min    float64 `json:"min"`
	Mean   float64 `json:"mean"`
	Max    float64 `json:"max"`
	StdDev float64 `json:"stddev"`
	P50    float64 `json:"p50"`
	P75    float64 `json:"p75"`
	P90    float64 `json:"p90"`
	P95    float64 `json:"p95"`
	P99    float64 `json:"p99"`
	P999   float64 `json:"p99_9"`
	P9999  float64 `json:"p99_99"`

	// Exact means that Min, Mean, Max and StdDev are fio's own, of all requests. A maximum in the open bin is then known.
	// Percentiles lie between Min and Max.
	Exact bool `json:"exact,omitempty"`
}

// Bins are a histogram in the form of Elasticsearch. A count above [MaxCount] becomes several equal values, whose
// counts add up.
type Bins struct {
	Values []float64 `json:"values"` // middles of the bins in microseconds, ascending
	Counts []int64   `json:"counts"` // requests: 1 … MaxCount
}

// IsZero reports whether there are no bins.
func (b Bins) IsZero() bool { return len(b.Values) == 0 && len(b.Counts) == 0 }

// Total is the number of requests.
func (b Bins) Total() int64 {
	sum := int64(0)
	for _, n := range b.Counts {
		sum += n
	}
	return sum
}

// NewLatency makes the latency of a document. It computes percentiles, mean and the other numbers from h, which has the
// exact weights, and rounds them to nanoseconds. counts are the rounded weights, by ascending index in h's layout. If
// counts is nil, NewLatency rounds each weight of h by itself. The result is zero if h is empty.
func NewLatency(h *hist.Histogram, counts []hist.Bin) Latency {
	if counts == nil {
		counts = WholeCounts(h)
	}
	lat := Figures(h)
	lat.SetBins(h.Layout(), counts)
	return lat
}

// Figures is [NewLatency] without bins.
func Figures(h *hist.Histogram) Latency {
	lat := Latency{}
	if h.IsEmpty() {
		return lat
	}
	lat.Layout = LayoutName(h.Layout())
	a := h.Percentiles(quantiles[:]...)
	for i := range Percentiles {
		*Percentiles[i].of(&lat) = micros(a[i+1].Value)
	}
	lat.Min, lat.Max = micros(a[0].Value), micros(a[len(a)-1].Value)
	mean := h.Mean().Value
	lat.Mean, lat.StdDev = micros(mean), micros(h.Deviation(mean))
	return lat
}

// SetBins sets the bins: whole counts by ascending index in a layout.
// It omits zeros and divides counts above MaxCount.
func (lat *Latency) SetBins(l hist.Layout, counts []hist.Bin) {
	lat.Bins = Bins{}
	if len(counts) == 0 {
		return
	}
	lat.Layout = LayoutName(l)
	b := Bins{Values: make([]float64, 0, len(counts)), Counts: make([]int64, 0, len(counts))}
	middles := tableOf(l).middles
	for _, c := range counts {
		for left := c.Count; left > 0; {
			n := min(left, MaxCount)
			b.Values, b.Counts = append(b.Values, middles[c.Index]), append(b.Counts, int64(n))
			left -= n
		}
	}
	if len(b.Values) > 0 {
		lat.Bins = b
	}
}

// Hist returns the histogram that the bins were made from. It fails with [ErrBins] if the layout is unknown or a
// value is not a latency.
func (lat *Latency) Hist() (*hist.Histogram, error) {
	l, err := ParseLayout(lat.Layout)
	if err != nil {
		return nil, err
	}
	if len(lat.Bins.Values) != len(lat.Bins.Counts) {
		return nil, fmt.Errorf("read histogram: %d values, %d counts: %w", len(lat.Bins.Values), len(lat.Bins.Counts), ErrBins)
	}
	h := hist.New(l)
	for i, v := range lat.Bins.Values {
		n := lat.Bins.Counts[i]
		if !(v >= 0 && v < math.MaxInt64/1000) || n < 0 {
			return nil, fmt.Errorf("read histogram: count %d of value %v: %w", n, v, ErrBins)
		}
		h.AddAt(indexOf(l, v), float64(n))
	}
	return h, nil
}

// SetExact sets the figures that fio has of the same requests. Each is within half a step of what fio printed.
func (lat *Latency) SetExact(f *FioLatency) {
	near := func(us *float64, name string, fio float64) {
		half := f.StepOf(name) / 2
		*us = min(max(*us, fio-half), fio+half)
	}
	near(&lat.Min, "min", f.Min)
	near(&lat.Mean, "mean", f.Mean)
	near(&lat.Max, "max", f.Max)
	near(&lat.StdDev, "mean", f.StdDev)
	lat.Exact = true
	lat.Limit(lat.Min, lat.Max)
}

// Limit moves figures that are below the fastest or above the slowest request, in microseconds, only because their bin is wider.
// Those of other bins stay: they are of other requests.
func (lat *Latency) Limit(fastest, slowest float64) {
	l, err := ParseLayout(lat.Layout)
	if err != nil {
		return
	}
	figures := lat.figures()
	for _, us := range figures[:len(quantiles)] {
		low, high := l.Bounds(indexOf(l, *us))
		switch {
		case *us > slowest && float64(low)/1000 <= slowest:
			*us = slowest
		case *us < fastest && float64(high)/1000 > fastest:
			*us = fastest
		}
	}
}

// OpenFrom returns the low edge of the layout's open bin in microseconds. It is infinite if the layout is unknown.
func (lat *Latency) OpenFrom() float64 {
	l, err := ParseLayout(lat.Layout)
	if err != nil {
		return math.Inf(1)
	}
	low, _ := l.Bounds(l.Len() - 1)
	return float64(low) / 1000
}

// IsOpen reports whether a percentile, minimum or maximum of lat, in microseconds, is not known because it lies in the open bin.
// Then the latency is [Latency.OpenFrom] or more, and the mean is a lower bound. IsOpen works without bins.
func (lat *Latency) IsOpen(us float64) bool {
	from := lat.OpenFrom()
	return us == from || us > from && !lat.Exact
}

// HasPercentiles reports whether the latencies come from a histogram, so that percentiles, minimum and maximum are
// known. Otherwise there is at most a mean, of fio's averages (log_avg_msec). HasPercentiles works without bins.
func (lat *Latency) HasPercentiles() bool { return lat.Layout != "" }

// IsZero reports whether a document omits the latency, because it has no bins, no layout and no mean. Averages have
// only the mean.
func (lat *Latency) IsZero() bool { return lat.Bins.IsZero() && lat.Layout == "" && lat.Mean == 0 }

// WholeCounts returns the weights of a histogram, each rounded by itself, without zeros.
func WholeCounts(h *hist.Histogram) []hist.Bin {
	counts := []hist.Bin{}
	for i, n := range h.All() {
		if n = math.Round(n); n > 0 {
			counts = append(counts, hist.Bin{Index: uint32(i), Count: uint64(n)})
		}
	}
	return counts
}

// micros converts nanoseconds to microseconds and rounds to a whole nanosecond. No bin is narrower, so more digits have
// no meaning.
func micros(ns float64) float64 { return math.Round(ns) / 1000 }

// LayoutName returns the version of fio and the coarseness, "fio3/0". If fio was rebuilt with another number of groups,
// the name ends in that number, "fio3/0/34".
func LayoutName(l hist.Layout) string {
	name := "fio3/"
	if l.Unit() == hist.Microseconds {
		name = "fio2/"
	}
	name += strconv.Itoa(l.Coarseness())
	if !l.IsUsual() {
		name += "/" + strconv.Itoa(l.Groups())
	}
	return name
}

var layouts = sync.OnceValue(func() map[string]hist.Layout {
	all := map[string]hist.Layout{}
	for groups := hist.MinGroups; groups <= hist.MaxGroups; groups++ {
		for _, unit := range []hist.Unit{hist.Nanoseconds, hist.Microseconds} {
			for c := 0; ; c++ {
				l, err := hist.NewLayout(unit, groups, c)
				if err != nil {
					break
				}
				all[LayoutName(l)] = l
			}
		}
	}
	return all
})

// ParseLayout is the inverse of [LayoutName]. It fails with [ErrBins].
func ParseLayout(name string) (hist.Layout, error) {
	if l, ok := layouts()[name]; ok {
		return l, nil
	}
	return hist.Layout{}, fmt.Errorf("read histogram: layout %q: %w", name, ErrBins)
}

// Percentile is one of the percentiles in documents.
type Percentile struct {
	Field    string  // in documents, such as "p99_9"
	Name     string  // for people: "p99.9"
	Quantile float64 // 0 to 1
	Rank     float64 // 0 to 100, as fio lists it
	of       func(*Latency) *float64
}

// Percentiles are all percentiles, in ascending order. Documents, columns of tables and reports are made from this
// list. Tests compare templates and dashboards with it.
var Percentiles = [...]Percentile{
	{"p50", "p50", 0.50, 50, func(l *Latency) *float64 { return &l.P50 }},
	{"p75", "p75", 0.75, 75, func(l *Latency) *float64 { return &l.P75 }},
	{"p90", "p90", 0.90, 90, func(l *Latency) *float64 { return &l.P90 }},
	{"p95", "p95", 0.95, 95, func(l *Latency) *float64 { return &l.P95 }},
	{"p99", "p99", 0.99, 99, func(l *Latency) *float64 { return &l.P99 }},
	{"p99_9", "p99.9", 0.999, 99.9, func(l *Latency) *float64 { return &l.P999 }},
	{"p99_99", "p99.99", 0.9999, 99.99, func(l *Latency) *float64 { return &l.P9999 }},
}

// Of returns the percentile from l, in microseconds.
func (p *Percentile) Of(l *Latency) float64 { return *p.of(l) }

// quantiles are 0 (minimum), the quantiles of [Percentiles], and 1 (maximum).
var quantiles = func() (q [len(Percentiles) + 2]float64) {
	for i := range Percentiles {
		q[i+1] = Percentiles[i].Quantile
	}
	q[len(q)-1] = 1
	return q
}()

// Figure returns a number of the document, in microseconds, by its name for people or by its field: "min", "mean",
// "max", or one of [Percentiles]. ok is false for any other name, and for percentiles that are not known.
func (lat *Latency) Figure(name string) (us float64, ok bool) {
	return figure(name, lat.Min, lat.Mean, lat.Max, func(p *Percentile) (float64, bool) { return p.Of(lat), !lat.lacksPercentiles() })
}

// lacksPercentiles reports whether percentiles are not known although bins are, because requests are in no bin: see
// [Totals.SetUnbinned].
func (lat *Latency) lacksPercentiles() bool { return lat.P9999 == 0 && lat.Max > 0 && lat.Layout != "" }

// figure returns a number by its name. It gets percentiles from of.
func figure(name string, least, mean, most float64, of func(*Percentile) (us float64, ok bool)) (us float64, ok bool) {
	switch name {
	case "min":
		return least, true
	case "mean":
		return mean, true
	case "max":
		return most, true
	}
	for i := range Percentiles {
		if p := &Percentiles[i]; name == p.Field || name == p.Name {
			return of(p)
		}
	}
	return 0, false
}

// figures are the minimum, the percentiles, the maximum and the mean.
func (lat *Latency) figures() (list [len(quantiles) + 1]*float64) {
	list[0], list[len(quantiles)-1], list[len(quantiles)] = &lat.Min, &lat.Max, &lat.Mean
	for i := range Percentiles {
		list[i+1] = Percentiles[i].of(lat)
	}
	return list
}
