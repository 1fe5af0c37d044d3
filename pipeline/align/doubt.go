package align

import "math"

// stretch is a row without its bins. The zero stretch is unknown.
type stretch struct {
	start, end int64
	n          float64 // requests
	whole      bool
}

// doubt notes at each edge that a row crosses how many of its requests may have completed on the other side of it. A cut
// row counts as even. If its rate is that of a row beside it, that is right. If its rate lies between those of both,
// the rate changed once within the row. So at most the part on one side had the rate of the row on that side. If
// its rate is higher or lower than both, such as after a hang of one of several jobs, either part may have been like the
// row beside it, and the other part has what remains.
func (w *worker) doubt(slot int, before, row, next stretch) {
	first, last := w.windows(w.snap(row.start), w.snap(row.end))
	if row.whole || first == last || last-first > maxWindows || first < w.floor {
		return
	}
	length := float64(row.end - row.start)
	// apart returns by how much the rate of the row differs from that beside it, in requests per millisecond. It is 0 if
	// that may be chance. In the gap between two rows nothing completed.
	apart := func(beside stretch, gap int64) (rate float64, known bool) {
		const enough = 0.25 // of the length of the row, for a rate
		share := float64(beside.end-beside.start+gap) / length
		if beside == (stretch{}) || share < enough {
			return 0, false
		}
		expected := beside.n / share
		if float64(gap) >= enough*length {
			expected = 0
		}
		if most := max(expected, row.n); math.Abs(row.n-expected) < max(most/3, 4*math.Sqrt(most)) {
			return 0, true
		}
		return (row.n - expected) / length, true
	}
	early, knowsEarly := apart(before, row.start-before.end)
	late, knowsLate := apart(next, next.start-row.end)
	for window := first; window < last; window++ {
		at := float64((window+1)*w.length - row.start)
		head, tail := row.n*at/length, row.n*(length-at)/length
		moved, more := math.Abs(early)*at, math.Abs(late)*(length-at)
		if early < 0 {
			moved = min(moved, tail)
		}
		if late < 0 {
			more = min(more, head)
		}
		if knowsEarly && knowsLate && early*late <= 0 {
			moved = min(moved, more)
		} else {
			moved = max(moved, more)
		}
		if moved = quantize(moved); moved > 0 {
			w.at(window, slot).end.unsure += moved
			w.at(window+1, slot).start.unsure += moved
		}
	}
}
