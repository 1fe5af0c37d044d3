package methods

import (
	"math"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
)

// Columns are the columns of a table of rows of one percentile.
func Columns() []table.Column[*Row] {
	percent := func(name, heading string, of func(*Row) float64) table.Column[*Row] {
		return table.Column[*Row]{
			Name: name, Unit: "percent", Heading: ">" + heading,
			Value: func(r *Row) any { return of(r) },
			Text:  func(r *Row) string { return percentText(of(r)) },
		}
	}
	return []table.Column[*Row]{
		{Name: "percentile", Value: func(r *Row) any { return r.Percentile.Field }},
		{Name: "method", Heading: "METHOD", Value: func(r *Row) any { return r.Method }, Text: (*Row).name},
		{Name: "counts", Value: func(r *Row) any { return r.Counts }},
		{
			Name: "windows", Heading: ">WINDOWS",
			Value: func(r *Row) any { return r.Windows },
			Text: func(r *Row) string {
				if r.Windows == r.Of {
					return strconv.Itoa(r.Of)
				}
				return strconv.Itoa(r.Windows) + "/" + strconv.Itoa(r.Of)
			},
		},
		{Name: "of_windows", Value: func(r *Row) any { return r.Of }},
		percent("median", "MEDIAN", func(r *Row) float64 { return r.Median }),
		percent("p95", "95TH", func(r *Row) float64 { return r.P95 }),
		percent("worst", "WORST", func(r *Row) float64 { return r.Worst }),
		percent("bias", "BIAS", func(r *Row) float64 { return r.Bias }),
		percent("whole", "RUN", func(r *Row) float64 { return r.Whole }),
		{
			Name: "bytes", Heading: ">KEPT",
			Value: func(r *Row) any { return r.Bytes },
			Text:  func(r *Row) string { return unit.Bytes(r.Bytes) },
		},
		{
			Name: "took", Unit: "us", Heading: ">TIME",
			Value: func(r *Row) any { return float64(r.Took) / float64(time.Microsecond) },
			Text:  func(r *Row) string { return unit.Latency(float64(r.Took) / float64(time.Microsecond)) },
		},
	}
}

// name is the method and how it counts.
func (r *Row) name() string {
	if r.Counts == counts(true) {
		return r.Method + ", " + r.Counts
	}
	return r.Method
}

// percentText returns a number of percent with two significant digits, and at least one before the point.
func percentText(x float64) string {
	switch size := math.Abs(x); {
	case math.IsNaN(x):
		return "-"
	case x == 0:
		return "0"
	case size < 0.0005:
		return "<0.001"
	case size < 0.1:
		return strconv.FormatFloat(x, 'f', 3, 64)
	case size < 10:
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}
