package compare

import (
	"math"

	"github.com/fio2es/fio2es/internal/window"
)

// maxNeighbours is the largest correlation of neighbouring blocks that counts, so intervals get at most twice as wide: in
// a run that slows down all the time, all neighbours are alike.
const maxNeighbours = 0.6

// stretches returns for each metric how many times farther from the value of the side the values of replicates have to be
// than those of independent blocks.
func (p *pool) stretches(metrics []window.Metric) []float64 {
	return p.stretchesOf(func() []float64 { return p.sum(metrics, nil) })
}

// stretchesOf returns those of what values returns of the blocks that are drawn. Each block counts by the values of all
// others (the jackknife).
func (p *pool) stretchesOf(values func() []float64) []float64 {
	for i := range p.times {
		p.times[i] = 1
	}
	without := make([][]float64, len(p.times)) // by block, then as metrics
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

// neighbours is the correlation (0 … 1) of the numbers of blocks that follow one another in a run.
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
	if r := together / alone; r > 0 { // and a number: some blocks differ
		return r
	}
	return 0
}

// farther is a value of a replicate, its distance from the value of the side stretched on the scale of ratios.
func farther(value, drawn, stretch float64) float64 {
	if value == 0 {
		return drawn
	}
	return value * math.Pow(drawn/value, stretch)
}
