package fiolog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/fio2es/fio2es/hist"
)

const (
	wantBins = "1856 or 1216 bins, or one of these divided by 2, 4, 8, 16, 32 or 64"

	// voters is the number of rows whose number of columns decides the layout of a file. voterLines is the number of
	// lines in which they are searched.
	voters     = 3
	voterLines = 8
)

// checkColumns returns an error if the number of columns of the row is wrong. The first rows decide the layout of the
// file. If they fit several layouts, it sets r.err.
func (r *Reader) checkColumns(whole bool, end int) *SyntaxError {
	n := r.row.columns
	if !r.layout.known {
		l, err := hist.Resolve(n, r.hint)
		switch {
		case errors.Is(err, hist.ErrColumns):
			return r.bad(end, binCount(n), wantBins, !whole)
		case !whole && (err != nil || !r.isLargest(l)):
			// This is the only row, and any number of columns may be missing.
			return r.bad(end, "the end of the file", "the end of the line", true)
		}
		r.decideLayout(n)
		switch {
		case r.err != nil:
			return nil
		case err != nil: // later rows have a known layout
			want := fmt.Sprintf("%s as in line %d", binCount(r.layout.columns), r.layout.line)
			return r.bad(end, binCount(n), want, !whole)
		}
	}
	if want := r.layout.columns; n != want {
		text := fmt.Sprintf("%s as in line %d", binCount(want), r.layout.line)
		if !whole {
			return r.bad(end, "the end of the file after "+binCount(n), text, true)
		}
		return r.bad(end, binCount(n), text, false)
	}
	if used := r.row.used; !whole && used > 0 && int(r.bins[used-1].Index) == n-1 {
		// A last count of 0 cannot be the beginning of another number; all others can.
		return r.bad(end, "the end of the file", "the end of the line: the last count may be cut off", true)
	}
	return nil
}

// isLargest reports whether no layout with more columns than l is possible for the log.
func (r *Reader) isLargest(l hist.Layout) bool {
	if r.hint.Groups != 0 {
		return l.Groups() == r.hint.Groups && l.Coarseness() == 0
	}
	return l == hist.Fio3(0)
}

// fileLayout is the layout of all rows of a histogram log.
type fileLayout struct {
	known bool
	hist.Layout
	columns int
	real    int // bins that can have requests
	line    int // the first line that has it
}

// decideLayout sets the layout of most of the first three rows. The current row has n bins. If two layouts are equally
// frequent, it sets the larger one, because damage removes columns and hardly ever adds any. If the layout of no row is
// known, reading ends.
func (r *Reader) decideLayout(n int) {
	votes := r.votes(n)
	known := slices.DeleteFunc(slices.Clone(votes), func(v vote) bool { return v.err != nil })
	if len(known) == 0 {
		r.err = fmt.Errorf("%s:%d: %w", r.in.name, most(votes).line, most(votes).err)
		return
	}
	best := most(known)
	r.layout = fileLayout{true, best.layout, best.layout.Len(), best.layout.Real(), best.line}
}

// vote is a row whose number of columns is possible for some fio.
type vote struct {
	columns, line int
	layout        hist.Layout
	err           error // why the layout is unknown
}

// votes returns the votes of the first rows. The current row has n bins.
func (r *Reader) votes(n int) []vote {
	var all []vote
	known := 0
	take := func(columns, line int) {
		l, err := hist.Resolve(columns, r.hint)
		if !errors.Is(err, hist.ErrColumns) {
			all = append(all, vote{columns, line, l, err})
		}
		if err == nil {
			known++
		}
	}
	take(n, r.in.line)
	from, seen := r.in.pos, 0
	for seen < voterLines && known < voters {
		i := bytes.IndexByte(r.in.buf[from:r.in.end], '\n')
		if i < 0 {
			from -= r.in.pos // fill moves unread bytes to the front
			if !r.in.fill() {
				break
			}
			continue
		}
		seen++
		line := r.in.buf[from : from+i]
		from += i + 1
		take(bytes.Count(line, []byte{','})+1-headFields, r.in.line+seen)
	}
	return all
}

// most returns the first of the most frequent votes. If several layouts are equally frequent, it returns the one with
// the most columns.
func most(votes []vote) vote {
	count := func(one vote) (n int) {
		for _, v := range votes {
			if v.columns == one.columns {
				n++
			}
		}
		return n
	}
	return slices.MaxFunc(votes, func(a, b vote) int {
		return cmp.Or(cmp.Compare(count(a), count(b)), cmp.Compare(a.columns, b.columns))
	})
}
