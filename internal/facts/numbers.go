package facts

import (
	"slices"

	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Numbers are the columns of requests, rates and latencies of a direction.
var Numbers = slices.Concat([]table.Column[*Line]{
	{
		Name: "requests", Heading: ">Requests",
		Value: func(l *Line) any { return unlessZero(l.Requests) },
		Text:  func(l *Line) string { return Requests(&l.Latency, l.Requests) },
	},
	{
		Name: "iops", Heading: ">IOPS",
		Value: func(l *Line) any { return unlessZero(l.IOPS) },
		Text:  func(l *Line) string { return orDash(l.IOPS, unit.Rate) },
	},
	{
		Name: "bandwidth", Heading: ">Bandwidth",
		Value: func(l *Line) any { return l.KnownBandwidth() }, // in bytes per second
		Text:  func(l *Line) string { return unit.Bandwidth(l.Bandwidth) },
	},
}, LatencyColumns(func(l *Line) *Latencies { return &l.Latencies }))

// unlessZero returns a number of a direction, or nil for 0, which stands for an unknown one: a direction has requests.
func unlessZero[N int64 | float64](n N) any {
	if n == 0 {
		return nil
	}
	return n
}

func orDash(n float64, text func(float64) string) string {
	if n == 0 {
		return "-"
	}
	return text(n)
}

// Requests returns the number of requests as text, or "-" for averages, which do not have it.
func Requests(l *mapping.Latency, n int64) string {
	if !l.HasPercentiles() && n == 0 {
		return "-"
	}
	return unit.Count(n)
}
