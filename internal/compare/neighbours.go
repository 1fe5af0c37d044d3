package compare

import (
	"math"

	"github.com/fio2es/fio2es/internal/window"
)

// maxNeighbours limits the correlation of neighbouring blocks. So intervals get at most twice as wide, even for a
// run that slows down all the time, where all neighbours are alike.
const maxNeighbours = 0.6

// stretches returns for each metric a factor for the distance between replicates and the value of the side. It
// corrects that replicates have independent blocks, although neighbouring blocks of the run are alike.
func (p *pool) stretches(metrics []window.Metric) []float64 {
	return p.stretchesOf(func() []float64 { return p.sum(metrics, nil) })
}

// stretchesOf returns these factors for the values that a function computes of drawn blocks. The number of a block
// is the value of all other blocks (the jackknife).
func (p *pool) stretchesOf(values func() []float64) []float64 {
	for i := range p.times {
		p.times[i] = 1
	}
	without := make([][]float64, len(p.times)) // by block, then by value
	for i := range p.times {
		p.times[i] = 0
		without[i] = values()
		p.times[i] = 1
	}
	list := make([]float64, len(without[0]))
	for i := range list {
		r := min(neighbours(p.runs, func(block int) float64 { return without[block][i] }), maxNeighbours)
		list[i] = math.Sqrt((1 + r) / (1 - r))
	}
	return list
}

// neighbours returns the correlation (0 … 1) of the numbers of consecutive blocks of a run.
func neighbours(runs []span, of func(block int) float64) float64 {
	var together, alone float64
	for _, run := range runs {
		mean := 0.0
		for i := run.from; i < run.to; i++ {
			mean += of(i) / float64(run.to-run.from)
		}
		for i := run.from; i < run.to; i++ {
			alone += (of(i) - mean) * (of(i) - mean)
			if i > run.from {
				together += (of(i) - mean) * (of(i-1) - mean)
			}
		}
	}
	if r := together / alone; r > 0 { // false for NaN, if all numbers are equal
		return r
	}
	return 0
}

// farther stretches the distance of a replicate from the value of the side, on the scale of ratios.
func farther(value, drawn, stretch float64) float64 {
	if value == 0 {
		return drawn
	}
	return value * math.Pow(drawn/value, stretch)
}
