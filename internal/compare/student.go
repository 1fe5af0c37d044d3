package compare

import "math"

// studentT returns the t for which Student's distribution lies between -t and t with probability confidence (0 … 1):
// t(1-alpha/2) for confidence 1-alpha. It finds the angle theta = atan(t/sqrt(freedom)) by bisection, to the last
// bit.
func studentT(confidence float64, freedom int) float64 {
	low, high := 0.0, math.Pi/2
	for range 60 {
		if middle := (low + high) / 2; studentWithin(middle, freedom) < confidence {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Sqrt(float64(freedom)) * math.Tan((low+high)/2)
}

// studentWithin returns the probability of |t| < sqrt(freedom)*tan(theta). For whole degrees of freedom it is a
// finite sum (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4).
func studentWithin(theta float64, freedom int) float64 {
	sin, cos := math.Sincos(theta)
	term, first := 1.0, 2
	if freedom%2 == 1 {
		term, first = cos, 3
	}
	sum := term
	for i := first; i <= freedom-2; i += 2 {
		term *= cos * cos * float64(i-1) / float64(i)
		sum += term
	}
	switch {
	case freedom == 1:
		return 2 / math.Pi * theta
	case freedom%2 == 1:
		return 2 / math.Pi * (theta + sin*sum)
	}
	return sin * sum
}

// tailOf returns the share of replicates beyond each end of the interval for a number of blocks: alpha'/2 in the
// package comment.
func tailOf(confidence float64, blocks int) float64 {
	k := float64(blocks)
	return math.Erfc(math.Sqrt(k/(k-1))*studentT(confidence, blocks-1)/math.Sqrt2) / 2
}
