package workload

import (
	"slices"

	"github.com/fio2es/fio2es/mapping"
)

// Matched has the runs of one workload on two sides. One side may have none.
type Matched struct {
	Title       string
	Base, Other []*mapping.Run // sorted by start
}

// Match groups the runs of two sides by workload. A run that is on both sides counts only for other.
func Match(base, other []*mapping.Run) (list []Matched) {
	isOther := map[string]bool{}
	for _, run := range other {
		isOther[run.Run.ID] = run.Run.ID != ""
	}
	base = slices.DeleteFunc(slices.Clone(base), func(run *mapping.Run) bool { return isOther[run.Run.ID] })
	ofOther := map[*mapping.Run]bool{}
	for _, run := range other {
		ofOther[run] = true
	}
	for _, w := range Group(slices.Concat(base, other)) {
		m := Matched{Title: w.Title}
		for _, run := range w.Runs {
			if ofOther[run] {
				m.Other = append(m.Other, run)
			} else {
				m.Base = append(m.Base, run)
			}
		}
		list = append(list, m)
	}
	return list
}
