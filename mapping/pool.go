package mapping

import "math"

// Rounded rounds x to a multiple of 1/per, because further digits have no meaning.
func Rounded(x, per float64) float64 { return math.Round(x*per) / per }

// Pool is the mean and the standard deviation of groups of requests together. Both can be merged, unlike percentiles: the mean of
// squares of a group is mean² + stddev².
type Pool struct {
	n, sum, squares float64
	groups          int
	stddev          float64 // of the last group: that of a single one stays as it is
}

// Add adds a group of n requests.
func (p *Pool) Add(n, mean, stddev float64) {
	p.n, p.sum, p.squares = p.n+n, p.sum+n*mean, p.squares+n*(mean*mean+stddev*stddev)
	p.groups, p.stddev = p.groups+1, stddev
}

// N returns the number of requests.
func (p *Pool) N() float64 { return p.n }

// Mean returns the mean of all. It is not a number without requests.
func (p *Pool) Mean() float64 { return p.sum / p.n }

// StdDev returns the standard deviation of all.
func (p *Pool) StdDev() float64 {
	if p.groups == 1 {
		return p.stddev
	}
	return math.Sqrt(max(p.squares/p.n-p.Mean()*p.Mean(), 0))
}
