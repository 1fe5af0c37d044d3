package mapping

// Directions are the names of the directions of requests, in the order in which they are listed.
var Directions = [...]string{"read", "write", "trim"}

// DirectionTotals are the totals of a direction.
type DirectionTotals struct {
	Direction string // one of Directions
	*Totals
}

// ByDirection are the totals of the directions in which the run served requests.
func (r *Run) ByDirection() []DirectionTotals {
	var list []DirectionTotals
	for i, t := range []*Totals{r.Read, r.Write, r.Trim} {
		if t != nil {
			list = append(list, DirectionTotals{Directions[i], t})
		}
	}
	return list
}
