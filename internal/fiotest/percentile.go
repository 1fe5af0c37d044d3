package fiotest

import "math/big"

// fioPercentileList are fio's default percentiles.
var fioPercentileList = []float64{1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99}

// longDouble is the precision in bits of the type in which fio compares.
const longDouble = 64

// fioPercentiles returns the bin of each of fio's default percentiles: the first whose cumulative count reaches
// f/100*n. Here f is the double nearest to the percentile, and the rest is computed in fio's precision. So 99.95 is
// slightly more than 99.95, and a bin that ends exactly at the rank is not enough.
func fioPercentiles(bins []uint64, n uint64) []int {
	out := make([]int, len(fioPercentileList))
	count := new(big.Float).SetPrec(longDouble).SetUint64(n)
	at, cum := 0, bins[0]
	for i, f := range fioPercentileList {
		rank := new(big.Float).SetPrec(longDouble).SetFloat64(f)
		rank.Quo(rank, new(big.Float).SetPrec(longDouble).SetInt64(100))
		rank.Mul(rank, count)
		need, _ := rank.Uint64()
		if !rank.IsInt() {
			need++ // counts are whole, so reaching the rank means reaching the next whole number
		}
		for at < len(bins)-1 && cum < need {
			at++
			cum += bins[at]
		}
		out[i] = at
	}
	return out
}
