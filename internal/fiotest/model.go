package fiotest

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// lump is a part of a latency distribution: a log-normal distribution, with its median in nanoseconds.
type lump struct {
	share, median, sigma float64
}

// shape is the mixture from which all logs draw: a device's cache, its medium, a queue in front of it, and outliers
// between half a second and two seconds.
var shape = []lump{
	{0.9, 220e3, 0.24},
	{0.0898, 1.6e6, 0.26},
	{0.01, 18e6, 0.3},
	{0.0002, 900e6, 0.35},
}

const (
	// quantiles is the size of a bin's table of counts: a random byte selects an entry.
	quantiles = 256
	// rareBelow is the expected count below which such a table would be too inaccurate. These bins are drawn together
	// instead.
	rareBelow = 0.04
)

// phase is a constant load, with everything from which rows are drawn.
type phase struct {
	common []int             // bins with their own table, ascending
	counts []uint64          // quantiles entries for each common bin
	rare   []int             // bins that are mostly empty
	cum    []float64         // cumulative expected counts of rare
	rareN  [quantiles]uint64 // number of requests in all rare bins together
}

// newPhase returns a phase of iops requests in each interval. Latencies are those of shape times scale.
func newPhase(edges []uint64, unit, iops, scale float64) *phase {
	p := &phase{}
	p.counts = make([]uint64, 0, 512*quantiles)
	var cum float64
	for i, share := range shares(edges, unit, scale) {
		switch want := share * iops; {
		case want < 1e-9:
		case want < rareBelow:
			cum += want
			p.rare = append(p.rare, i)
			p.cum = append(p.cum, cum)
		default:
			p.common = append(p.common, i)
			p.counts = appendPoisson(p.counts, want)
		}
	}
	copy(p.rareN[:], appendPoisson(nil, cum))
	return p
}

// shares returns the probability of each bin. Higher latencies are in the last bin.
func shares(edges []uint64, unit, scale float64) []float64 {
	out := make([]float64, len(edges)-1)
	var below float64
	for i := range out {
		upTo := 1.0
		if i < len(out)-1 {
			upTo = 0
			for _, l := range shape {
				z := (math.Log(float64(edges[i+1])*unit) - math.Log(l.median*scale)) / l.sigma
				upTo += l.share * 0.5 * math.Erfc(-z/math.Sqrt2)
			}
		}
		out[i] = max(0, upTo-below)
		below = upTo
	}
	return out
}

// appendPoisson appends the quantiles of a Poisson distribution in ascending order, so that a random byte as index
// draws from it.
func appendPoisson(dst []uint64, mean float64) []uint64 {
	if mean > 200 { // otherwise the loop below would start from a number that is too small
		for j := range quantiles {
			z := math.Sqrt2 * math.Erfinv(2*(float64(j)+0.5)/quantiles-1)
			dst = append(dst, uint64(math.Round(mean+z*math.Sqrt(mean))))
		}
		return dst
	}
	term := math.Exp(-mean)
	cum, k := term, uint64(0)
	for j := range quantiles {
		for u := (float64(j) + 0.5) / quantiles; cum < u && k < 1000; {
			k++
			term *= mean / float64(k)
			cum += term
		}
		dst = append(dst, k)
	}
	return dst
}

// draw appends the bins of a row that are not empty, ascending.
func (p *phase) draw(rng *rand.Rand, dst []BinCount) []BinCount {
	var bits uint64
	for i, bin := range p.common {
		if i%8 == 0 {
			bits = rng.Uint64()
		}
		if n := p.counts[i*quantiles+int(bits&(quantiles-1))]; n > 0 {
			dst = append(dst, BinCount{bin, n})
		}
		bits >>= 8
	}
	if len(p.rare) == 0 {
		return dst
	}
	for range p.rareN[rng.Uint64()&(quantiles-1)] {
		at := sort.SearchFloat64s(p.cum, rng.Float64()*p.cum[len(p.cum)-1])
		dst = addBin(dst, p.rare[min(at, len(p.rare)-1)], 1)
	}
	return dst
}

// addBin adds n requests to a bin and keeps the bins sorted.
func addBin(bins []BinCount, bin int, n uint64) []BinCount {
	at, found := slices.BinarySearchFunc(bins, bin, func(b BinCount, want int) int { return b.Bin - want })
	if found {
		bins[at].Count += n
		return bins
	}
	return slices.Insert(bins, at, BinCount{bin, n})
}

// modelKey identifies a model: logs with the same key draw from the same tables.
type modelKey struct {
	fio2, steady bool
	groups, iops int
	scale        float64
}

// models caches tables, because making them takes longer than a short log. It is not safe for concurrent use.
type models map[modelKey][]*phase

// wavePhases is the number of steps from the lowest to the highest load.
const wavePhases = 8

func (m models) get(k modelKey) []*phase {
	if ps, ok := m[k]; ok {
		return ps
	}
	axis := newAxis(k.fio2, k.groups)
	steps := wavePhases
	if k.steady {
		steps = 1
	}
	ps := make([]*phase, steps)
	for i := range ps {
		// A higher load is slower: latencies grow by half from the first step to the last.
		scale := k.scale * (1 + 0.5*float64(i)/wavePhases)
		ps[i] = newPhase(axis.edges, float64(axis.unit()), float64(k.iops)*(1-0.2*float64(i)/wavePhases), scale)
	}
	m[k] = ps
	return ps
}
