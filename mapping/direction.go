package mapping

import "cmp"

// Directions are the names of the directions, in the order of all lists.
var Directions = [...]string{"read", "write", "trim"}

// DirectionTotals are the totals of one direction.
type DirectionTotals struct {
	Direction string // one of Directions
	*Totals
}

// ByDirection returns the totals of the directions in which requests completed.
func (r *Run) ByDirection() []DirectionTotals {
	var list []DirectionTotals
	for i, t := range []*Totals{r.Read, r.Write, r.Trim} {
		if t != nil {
			list = append(list, DirectionTotals{Directions[i], t})
		}
	}
	return list
}

// CompareJobs orders jobs at level Job. Numbers are ordered by length first, so job 2 comes before job 10.
func CompareJobs(a, b string) int {
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	if a != "" && b != "" && isDigit(a[0]) && isDigit(b[0]) {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	}
	return cmp.Compare(a, b)
}
