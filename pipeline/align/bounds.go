package align

import "github.com/fio2es/fio2es/hist"

// addMoves adds what a window would have more or less of each bin, if the requests of a row that it cuts were the fastest of the row,
// and if they were the slowest: instead of its even shares as many of these. See [Options].Bounds. Moves are multiples of [quantum], as
// shares of rows are, so sums do not depend on their order.
func (s *sum) addMoves(l hist.Layout, row []hist.Bin, shares []hist.Weight) {
	s.cuts = true
	all := 0.0
	for _, share := range shares {
		all += share.Count
	}
	for i := range s.moves {
		left := all
		for k := range row {
			if i == 1 {
				k = len(row) - 1 - k
			}
			n := min(left, float64(row[k].Count))
			left -= n
			s.moves[i].AddWeights(l, []hist.Weight{{Index: int(row[k].Index), Count: n - shares[k].Count}})
		}
	}
}

// moved returns the latencies with the moves, in these, or nil if the window cuts no row. Bins of fio 2 do not nest in those of fio 3,
// so nothing is known of both together.
func (s *sum) moved(i int) *hist.Histogram {
	if !s.cuts || s.latencies.Rebinned() {
		return nil
	}
	s.moves[i].Merge(&s.latencies)
	return &s.moves[i]
}
