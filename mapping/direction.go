package mapping

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
