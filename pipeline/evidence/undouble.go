package evidence

import (
	"errors"
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
