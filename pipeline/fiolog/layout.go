package fiolog

import (
	"bytes"
	"fmt"

	"github.com/fio2es/fio2es/hist"
)

const (
	wantBins = "1856 or 1216 bins, or one of these divided by 2, 4, 8, 16, 32 or 64"

	// voters is how many rows are asked for their number of columns when a file's
	// layout is decided, and voterLines in how many lines they are looked for.
	voters     = 3
	voterLines = 8
)

// checkColumns tells what is wrong with the number of the row's columns, if anything.
// The first row decides the file's layout, together with those that follow it.
func (r *Reader) checkColumns(whole bool, end int) *SyntaxError {
	n := r.row.columns
	if !r.layout.known {
		if _, err := hist.ForColumns(n); err != nil {
			return r.bad(end, binCount(n), wantBins, !whole)
		}
		if !whole && n != hist.MaxColumns {
			// The only row, and it may have lost any number of columns.
			return r.bad(end, "the end of the file", "the end of the line", true)
		}
		r.decideLayout(n)
	}
	if want := r.layout.Len(); n != want {
		text := fmt.Sprintf("%s as in line %d", binCount(want), r.layout.line)
		if !whole {
			return r.bad(end, "the end of the file after "+binCount(n), text, true)
		}
		return r.bad(end, binCount(n), text, false)
	}
	if used := r.row.used; !whole && used > 0 && int(r.bins[used-1].Index) == n-1 {
		// A last count of 0 can not be the beginning of another number; all others can.
		return r.bad(end, "the end of the file", "the end of the line: the last count may be cut off", true)
	}
	return nil
}

// decideLayout sets the layout that most of the first three rows have, of which the
// current one has n bins; if there are two and they differ, the larger one, because
// damage loses columns and hardly ever adds any.
func (r *Reader) decideLayout(n int) {
	counts, lines := []int{n}, []int{r.in.line}
	from, seen := r.in.pos, 0
	for seen < voterLines && len(counts) < voters {
		i := bytes.IndexByte(r.in.buf[from:r.in.end], '\n')
		if i < 0 {
			from -= r.in.pos // fill moves what is left to the front
			if !r.in.fill() {
				break
			}
			continue
		}
		seen++
		line := r.in.buf[from : from+i]
		from += i + 1
		columns := bytes.Count(line, []byte{','}) + 1 - headFields
		if _, err := hist.ForColumns(columns); err == nil {
			counts, lines = append(counts, columns), append(lines, r.in.line+seen)
		}
	}
	best := 0
	for i, c := range counts {
		votes, most := count(counts, c), count(counts, counts[best])
		if votes > most || votes == most && c > counts[best] {
			best = i
		}
	}
	l, err := hist.ForColumns(counts[best])
	if err != nil {
		return
	}
	r.layout.known, r.layout.Layout, r.layout.line = true, l, lines[best]
}

func count(all []int, one int) int {
	n := 0
	for _, x := range all {
		if x == one {
			n++
		}
	}
	return n
}
