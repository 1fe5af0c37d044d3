package query

import (
	"fmt"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Undecided has the ids of runs that a list leaves out because its condition cannot be decided for them.
type Undecided map[string]bool

// WatchUndecided collects these runs of a filter while a store lists runs.
func WatchUndecided(f *history.RunFilter) Undecided {
	u := Undecided{}
	f.Undecided = func(run *mapping.Run) { u[run.Run.ID] = true }
	return u
}

// Note says how many there are, and why; it is empty if there are none.
func (u Undecided) Note() string {
	if len(u) == 0 {
		return ""
	}
	return fmt.Sprintf("left out %s: a latency in the condition lies in fio's last bin, which has no upper end, "+
		"so whether the condition is met is unknown", unit.Plural(len(u), "run"))
}
