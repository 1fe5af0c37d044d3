package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Undoubler undoes an error of fio --client, which adds to each row that it writes the counts
// of an earlier row of its direction, as written. fio 3.33 and 3.42 add the row before the
// last one (lag 2), versions of 2016 the last one (lag 1).
type Undoubler struct {
	Lag  int
	last [fiolog.Directions][][]hist.Bin // the latest rows of a direction as written, oldest first
}

// errNotDoubled is a row that has fewer requests in a bin than the row that should be part of
// it.
var errNotDoubled = errors.New("the row lacks requests of an earlier one, which fio --client should have added")

// Row subtracts the earlier row from rec's bins.
func (u *Undoubler) Row(rec *fiolog.Record) error {
	if u.Lag == 0 {
		return nil
	}
	last := &u.last[rec.Direction]
	*last = append(*last, slices.Clone(rec.Bins))
	if len(*last) <= u.Lag {
		return nil
	}
	others := (*last)[0]
	*last = (*last)[1:]
	var own []hist.Bin
	total := uint64(0)
	for _, b := range rec.Bins { // both are in ascending order
		if len(others) > 0 && others[0].Index <= b.Index {
			if others[0].Index < b.Index || others[0].Count > b.Count {
				return errNotDoubled
			}
			b.Count -= others[0].Count
			others = others[1:]
		}
		if b.Count > 0 {
			own = append(own, b)
			total += b.Count
		}
	}
	if len(others) > 0 {
		return errNotDoubled
	}
	rec.Bins, rec.Total = own, total
	return nil
}

// proveLag finds the lag of the rows that fio --client wrote, by the bins of its report: 0 if
// they are not doubled. It fails if the bins prove nothing.
func proveLag(j *Job, logs reader) (int, error) {
	hasBins := slices.ContainsFunc(j.Entry.Directions[:], func(s fiolog.DirectionStats) bool { return len(s.Clat.Bins) > 0 })
	for _, lag := range []int{0, 2, 1} {
		sums, err := logs.Sums(j.Log, lag)
		switch {
		case err == nil && sums.fit([]*Entry{j.Entry}) && (lag == 0 || hasBins):
			return lag, nil
		case err != nil && lag == 0:
			return 0, err
		}
	}
	return 0, fmt.Errorf("%s: fio --client adds earlier rows to later ones, and the report's bins do not prove how: "+
		"the log is not used; run fio with --output-format=json+, or separately on each host", j.Log.File.Name())
}

// looksDoubled reports whether each row contains an earlier one, bin by bin, and adds about as many requests as the
// first row has. A load that really grows does not fill the same bins.
func looksDoubled(rows FirstRows) bool {
	const least = 4 // rows that contain another
	return slices.ContainsFunc([]int{2, 1}, func(lag int) bool {
		undo := Undoubler{Lag: lag}
		var first, own [fiolog.Directions]uint64
		var n [fiolog.Directions]int
		for _, rec := range rows {
			rec, d := *rec, rec.Direction
			if undo.Row(&rec) != nil {
				return false
			}
			if n[d]++; n[d] == 1 {
				first[d] = rec.Total
			} else if n[d] > lag {
				own[d] += rec.Total
			}
		}
		for d := range n {
			if contain := n[d] - lag; contain >= least && first[d] > 0 && own[d] > uint64(contain)*first[d]/4 {
				return true
			}
		}
		return false
	})
}
