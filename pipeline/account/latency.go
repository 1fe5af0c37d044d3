package account

import (
	"math"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// FioLatency returns what fio itself computed of requests, or nil if it did not of all.
// Percentiles of several entries cannot be merged, so there are none; extremes, means and deviations can.
func FioLatency(list []*fiolog.DirectionStats) *mapping.FioLatency {
	us := func(ns float64) float64 { return mapping.Rounded(ns/1000, 1000) }
	var all mapping.Pool
	out := &mapping.FioLatency{Min: math.Inf(1)}
	for _, of := range list {
		l, weight := &of.Clat, max(float64(of.TotalIOs), uncountedOf(of))
		if l.Mean == 0 || of.FromSubmission { // completion latencies are disabled, or have no bins
			l = &of.Lat
		}
		if l.Mean == 0 {
			return nil
		}
		all.Add(weight, l.Mean, l.StdDev)
		out.Min, out.Max = min(out.Min, us(float64(l.Min))), max(out.Max, us(float64(l.Max)))
		out.Step, out.PercentileStep = max(out.Step, us(float64(l.Step))), max(out.PercentileStep, us(float64(l.PercentileStep)))
		for _, q := range l.Percentiles {
			if len(list) == 1 {
				out.Percentiles = append(out.Percentiles, mapping.FioPercentile{Rank: q.Rank, Value: us(float64(q.Value))})
			}
		}
	}
	if all.N() == 0 {
		return nil
	}
	out.Mean, out.StdDev = us(all.Mean()), us(all.StdDev())
	return out
}

// boundsOf returns between which latencies the percentiles of several entries without bins lie: a percentile of all requests lies
// between the lowest and the highest of those of the entries. It is nil if an entry lists none.
func boundsOf(reported []*fiolog.DirectionStats) *mapping.Bounds {
	out, half := &mapping.Bounds{Confidence: 1}, hist.Fio3(0).RelativeError() // fio prints middles of bins
	for i := range mapping.Percentiles {
		low, high := math.Inf(1), 0.0
		for _, of := range reported {
			k := slices.IndexFunc(of.Clat.Percentiles, func(p fiolog.Percentile) bool {
				return math.Abs(p.Rank-mapping.Percentiles[i].Rank) < 1e-9
			})
			if k < 0 {
				low = math.Inf(1)
				break
			}
			ns, step := float64(of.Clat.Percentiles[k].Value), float64(of.Clat.PercentileStep)/2
			low, high = min(low, ns*(1-half)-step), max(high, ns*(1+half)+step)
		}
		if !math.IsInf(low, 1) {
			out.Set(i, mapping.Between{Low: mapping.Rounded(max(low, 0)/1000, 1000), High: mapping.Rounded(high/1000, 1000)})
		}
	}
	if *out == (mapping.Bounds{Confidence: 1}) {
		return nil
	}
	return out
}

// uncountedOf returns about how many requests there were, if a report only has a rate.
func uncountedOf(s *fiolog.DirectionStats) float64 {
	if !s.Uncounted {
		return 0
	}
	return max(s.IOPS*float64(s.Runtime)/1000, 1)
}

// PerSecond returns the rate of n in so many milliseconds.
func PerSecond(n float64, ms int64) float64 {
	if ms <= 0 {
		return 0
	}
	return n * 1000 / float64(ms)
}

func seconds(ms int64) float64 { return float64(ms) / 1000 }
