package align

import "github.com/fio2es/fio2es/hist"

// addMoves adds what a window would have more or less of each bin, if the requests of a row that it cuts were the fastest of the row,
// and if they were the slowest: instead of its even shares, those of w, as many of these. See [Options].Bounds. Moves are multiples of [quantum], as
// shares of rows are, so sums do not depend on their order.
func (w *worker) addMoves(s *sum, l hist.Layout, row []hist.Bin) {
	s.cuts = true
	all := 0.0
	for _, share := range w.shares {
		all += share.Count
	}
	for i := range s.moves {
		w.moves = append(w.moves[:0], w.shares...)
		left := all
		for k := range row {
			if i == 1 {
				k = len(row) - 1 - k
			}
			n := min(left, float64(row[k].Count))
			left -= n
			w.moves[k].Count = n - w.shares[k].Count
		}
		s.moves[i].AddWeights(l, w.moves)
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
