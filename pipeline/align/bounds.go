package align

import "github.com/fio2es/fio2es/hist"

// moves are what the latencies of a window would have more or less of each bin, if the requests of the rows that it cuts were the
// fastest of these rows, and if they were the slowest: see [Options].Bounds. They are multiples of [quantum], as shares of rows are, so
// sums do not depend on their order. The zero value is of a window that cuts none. Few bins of a row have requests, so lists of them
// take less memory than histograms.
type moves struct {
	layout hist.Layout
	bins   [2][]hist.Weight // by index, which is ascending
}

// movesOf returns the moves of a row that is cut: instead of its even shares a window has as many of its fastest requests, or of its
// slowest.
func movesOf(l hist.Layout, row []hist.Bin, shares []hist.Weight) moves {
	m, all := moves{layout: l}, 0.0
	for _, share := range shares {
		all += share.Count
	}
	for i := range m.bins {
		left := all
		m.bins[i] = make([]hist.Weight, len(row))
		for k := range row {
			if i == 1 {
				k = len(row) - 1 - k
			}
			n := min(left, float64(row[k].Count))
			left -= n
			m.bins[i][k] = hist.Weight{Index: int(row[k].Index), Count: n - shares[k].Count}
		}
	}
	return m
}

// add adds other moves.
func (m *moves) add(o moves) {
	switch {
	case o.bins[0] == nil:
		return
	case m.bins[0] == nil:
		*m = o
		return
	case m.layout != o.layout:
		all := m.layout.Merged(o.layout)
		*m, o = m.to(all), o.to(all)
	}
	for i, bins := range m.bins {
		sum, other := make([]hist.Weight, 0, len(bins)+len(o.bins[i])), o.bins[i]
		for len(bins) > 0 && len(other) > 0 {
			switch a, b := bins[0], other[0]; {
			case a.Index < b.Index:
				sum, bins = append(sum, a), bins[1:]
			case a.Index > b.Index:
				sum, other = append(sum, b), other[1:]
			default:
				sum, bins, other = append(sum, hist.Weight{Index: a.Index, Count: a.Count + b.Count}), bins[1:], other[1:]
			}
		}
		m.bins[i] = append(append(sum, bins...), other...)
	}
}

// to returns the moves in a coarser layout.
func (m *moves) to(l hist.Layout) moves {
	out := moves{layout: l}
	for i, bins := range m.bins {
		h := hist.New(m.layout)
		h.AddWeights(m.layout, bins)
		out.bins[i] = append([]hist.Weight{}, h.To(l).Weights()...) // never nil
	}
	return out
}

// in returns latencies with one of the moves, or nil if there are none. Bins of fio 2 do not nest in those of fio 3, so nothing is known
// of both together.
func (m *moves) in(latencies *hist.Histogram, i int) *hist.Histogram {
	if m.bins[0] == nil || latencies.Rebinned() {
		return nil
	}
	all := latencies.Clone()
	all.AddWeights(m.layout, m.bins[i])
	return all
}
