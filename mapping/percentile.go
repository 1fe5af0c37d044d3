package mapping

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
// "max", or one of [Percentiles]. ok is false for any other name.
func (lat *Latency) Figure(name string) (us float64, ok bool) {
	return figure(name, lat.Min, lat.Mean, lat.Max, func(p *Percentile) (float64, bool) { return p.Of(lat), true })
}

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
