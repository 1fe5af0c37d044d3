package facts

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Metric is a number of requests: of a run, of one of its directions, or of windows. Columns, fields of conditions, rules,
// comparisons and changes over many runs are about metrics. Metrics with the same name are equal.
type Metric struct {
	Name     string    // in documents and columns, such as "p99_9"
	Kind     expr.Kind // of its values
	Quantile float64   // of a percentile, above 0 and below 1; 0 for other metrics
	within   float64   // in nanoseconds, for a share of requests
}

// Metrics that are neither percentiles nor shares.
var (
	Requests  = Metric{Name: "requests", Kind: expr.Count}
	Bytes     = Metric{Name: "bytes", Kind: expr.Size}
	IOPS      = Metric{Name: "iops", Kind: expr.Rate}
	Bandwidth = Metric{Name: "bandwidth", Kind: expr.Bandwidth}
	Min       = Metric{Name: "min", Kind: expr.Latency}
	Mean      = Metric{Name: "mean", Kind: expr.Latency}
	Max       = Metric{Name: "max", Kind: expr.Latency}
)

// OfTotals are the metrics of a run or a direction: numbers, rates, and the latencies from the lowest to the highest.
var OfTotals = func() []Metric {
	list := []Metric{Requests, Bytes, IOPS, Bandwidth, Min, Mean}
	for i := range mapping.Percentiles {
		p := &mapping.Percentiles[i]
		list = append(list, Metric{Name: p.Field, Kind: expr.Latency, Quantile: p.Quantile})
	}
	return append(list, Max)
}()

// Percentile returns the metric of a percentile above 0 and below 100. percent is text such as "99.90" or "99_9", for
// p99.9.
func Percentile(percent string) (m Metric, ok bool) {
	percent = strings.Replace(percent, "_", ".", 1)
	x, err := strconv.ParseFloat(percent, 64)
	if err != nil || strings.Trim(percent, "0123456789.") != "" || !(x > 0 && x < 100) {
		return Metric{}, false
	}
	name := strconv.FormatFloat(x, 'f', -1, 64)
	q, err := strconv.ParseFloat(name+"e-2", 64) // not 99.9/100, which is not exactly 0.999
	return Metric{Name: "p" + strings.Replace(name, ".", "_", 1), Quantile: q, Kind: expr.Latency}, err == nil
}

// Within returns the metric "share of requests that were served within ns nanoseconds". text is the latency as
// people write it.
func Within(ns float64, text string) Metric {
	return Metric{Name: "within " + text, within: ns, Kind: expr.Percent}
}

// ParseMetric parses the name of a metric of rules and comparisons, such as "iops", "p99.9" or "p99_9", in upper or
// lower case.
func ParseMetric(name string) (m Metric, ok bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, m := range []Metric{IOPS, Requests, Min, Mean, Max} {
		if name == m.Name {
			return m, true
		}
	}
	percent, ok := strings.CutPrefix(name, "p")
	if !ok {
		return Metric{}, false
	}
	return Percentile(percent)
}

// ReadSubject reads what a rule or a condition is about, up to an operator: a metric, such as "p99.9" or "within 100ms",
// and a direction before it ("write.p99"), or "" for any. Spaces do not matter. ok is false if there is none.
func ReadSubject(p *expr.Parser) (direction string, m Metric, ok bool) {
	text := strings.ToLower(strings.Join(strings.Fields(p.Until("<>=!~")), ""))
	for _, d := range mapping.Directions {
		if rest, ok := strings.CutPrefix(text, d+"."); ok {
			direction, text = d, rest
		}
	}
	if latency, ok := strings.CutPrefix(text, "within"); ok {
		ns, ok := expr.Latency.Parse(latency)
		return direction, Within(ns, expr.Latency.Text(latency)), ok && ns >= 0
	}
	m, ok = ParseMetric(text)
	return direction, m, ok
}

// String returns the metric as in rules: "p99.9", "within 100ms".
func (m Metric) String() string {
	if m.Kind == expr.Latency {
		return strings.Replace(m.Name, "_", ".", 1)
	}
	return m.Name
}

// Text returns the metric for people: "p99.9", "IOPS".
func (m Metric) Text() string {
	if m == IOPS {
		return "IOPS"
	}
	return m.String()
}

// Column returns the name of the metric's column for programs, with the unit of latencies: "p99_9_us", "iops".
func (m Metric) Column() string {
	if m.Kind != expr.Latency {
		return m.Name
	}
	return m.Name + "_" + UnitOf(m.Kind)
}

// LessIsBad reports whether a lower number is worse: it is a rate.
func (m Metric) LessIsBad() bool { return m.Kind == expr.Rate || m.Kind == expr.Bandwidth }

// IsOf reports whether a direction has the metric: syncs move no bytes, and are not in IOPS.
func (m Metric) IsOf(direction string) bool {
	return direction != mapping.Sync || m != Bytes && m != IOPS && m != Bandwidth
}

// IsOfHistogram reports whether the metric is computed from latencies. The others are counts.
func (m Metric) IsOfHistogram() bool { return m.Kind == expr.Latency || m.Kind == expr.Percent }

// Of returns the value of the metric for a histogram, with its error bounds. The metric must be computed from
// latencies, and the histogram must not be empty.
func (m Metric) Of(h *hist.Histogram) hist.Answer {
	switch {
	case m == Min:
		return h.Min()
	case m == Max:
		return h.Max()
	case m == Mean:
		return h.Mean()
	case m.Kind == expr.Percent:
		n, low, high := h.CountWithin(m.within)
		total := h.Total()
		isOpen := high > low && h.Layout().Open(h.Layout().Index(int64(m.within)))
		return hist.Answer{Value: n / total, Low: low / total, High: high / total, Open: isOpen}
	}
	return h.Percentile(m.Quantile)
}

// OfTotals returns the number for totals, in the unit of documents.
func (m Metric) OfTotals(t *mapping.Totals) Number {
	value := 0.0
	switch m {
	case Requests:
		value = float64(t.Requests)
	case Bytes:
		value = float64(t.Bytes)
	case IOPS:
		value = t.IOPS
	case Bandwidth:
		value = t.Bandwidth
	default:
		if l := &t.Latency; l.HasPercentiles() && t.Unbinned == 0 && isBelowOpen(l) { // as most, and questions to histories need millions
			if us, ok := l.Figure(m.Name); ok {
				return Known(us)
			}
		}
		l := LatenciesOfTotals(t)
		return l.Number(m.Name)
	}
	if value == 0 { // documents leave it out: a direction has requests
		value = math.NaN()
	}
	return Known(value)
}

// InTotals returns the value for totals and the histogram of their bins, which may be nil, with its bounds: latencies in
// nanoseconds, shares from 0 to 1. Value is NaN if only bounds are known, because requests are in no bin; so are the bounds if
// nothing is known. The metric must be computed from latencies.
func (m Metric) InTotals(t *mapping.Totals, h *hist.Histogram) hist.Answer {
	nan, unbinned := math.NaN(), float64(t.Unbinned)
	hasBins := h != nil && !h.IsEmpty()
	if slices.Contains(LatencyNames, m.Name) {
		n := m.OfTotals(t)
		a := hist.Answer{Value: n.Value * 1000, Low: n.Low * 1000, High: n.High * 1000}
		switch {
		case n.ByFio && m.Quantile > 0: // the middle of a bin
			half := hist.Fio3(0).RelativeError()
			a.Low, a.High = a.Value*(1-half), a.Value*(1+half)
		case hasBins && unbinned == 0 && !(t.Latency.Exact && m.Quantile == 0):
			of := m.Of(h)
			a.Low, a.High, a.Open = of.Low, of.High, of.Open
			if !n.IsKnown() {
				a.Value = of.Value
			}
		}
		return a
	}
	switch {
	case !hasBins:
		return hist.Answer{Value: nan, Low: nan, High: nan}
	case unbinned == 0:
		return m.Of(h)
	case m.Kind == expr.Percent:
		a, n := m.Of(h), h.Total()
		return hist.Answer{Value: nan, Low: a.Low * n / (n + unbinned), High: (a.High*n + unbinned) / (n + unbinned)}
	}
	fastest, slowest := 0.0, math.Inf(1)
	if t.Latency.Exact {
		fastest, slowest = t.Latency.Min*1000, t.Latency.Max*1000
	}
	return h.PercentileAmong(m.Quantile, unbinned, fastest, slowest)
}

// UnitOf returns the name of the unit of a kind of metric in CSV and JSON.
func UnitOf(k expr.Kind) string {
	return map[expr.Kind]string{expr.Latency: "us", expr.Percent: "share", expr.Rate: "per_second", expr.Count: "requests", expr.Duration: "s"}[k]
}

// TextOf returns a value of a kind of metric for people. It has all digits if otherwise it would look equal to limit,
// which may be NaN. of is the number of requests that a share refers to.
func TextOf(k expr.Kind, value, limit, of float64) string {
	text := func(x float64) (short, exact string) {
		switch k {
		case expr.Percent:
			return unit.Percent(x, of), unit.Number(x*100) + " %"
		case expr.Count:
			return unit.Count(int64(x)), unit.Number(x)
		case expr.Duration:
			return unit.Elapsed(time.Duration(x)), time.Duration(x).String()
		}
		v := k.InDocuments(x)
		if exact = unit.Number(v); k == expr.Latency {
			exact += "µs"
		}
		return KindText(k, v, false), exact
	}
	short, exact := text(value)
	switch ofLimit, _ := text(limit); {
	case math.IsNaN(value):
		return "-"
	case value == limit || short != ofLimit:
		return short
	}
	return exact
}

// KindText returns a number of a kind, in the unit of documents, for people. A lower bound has a mark: "≥17.0s".
func KindText(k expr.Kind, value float64, isBound bool) string {
	text := unit.Number(value)
	switch k {
	case expr.Size:
		text = unit.WholeBytes(int64(value))
	case expr.KiB:
		text = unit.WholeBytes(int64(value) * 1024)
	case expr.Rate:
		text = unit.Rate(value)
	case expr.Bandwidth:
		text = unit.Bandwidth(value)
	case expr.Latency:
		text = unit.Latency(value)
	case expr.Duration:
		text = unit.Short(time.Duration(math.Round(value * float64(time.Second))))
	}
	return unit.OrMore(text, isBound)
}
