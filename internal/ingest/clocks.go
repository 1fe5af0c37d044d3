package ingest

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

// clockOffsets are what must be added to times of the clocks of hosts, by name, to have those of the history. It measured them while the
// run was live ([mapping.RunHost].ClockOffsetMS).
type clockOffsets map[string]time.Duration

// errClocks means that a run must be planned again, because the clocks of its hosts were wrong.
var errClocks = errors.New("clocks of its hosts were wrong")

// offsetsOf returns those that the run that was found has of these hosts. What the user gives is taken instead.
func offsetsOf(have *mapping.Run, hosts []mapping.RunHost, given map[string]time.Duration) clockOffsets {
	of := clockOffsets{}
	if have == nil {
		return of
	}
	for _, h := range have.Hosts {
		_, isGiven := given[h.Name]
		if h.ClockOffsetMS != 0 && !isGiven && slices.ContainsFunc(hosts, func(o mapping.RunHost) bool { return o.Name == h.Name }) {
			of[h.Name] = time.Duration(h.ClockOffsetMS) * time.Millisecond
		}
	}
	return of
}

// with returns all offsets of clocks.
func (c clockOffsets) with(given map[string]time.Duration) map[string]time.Duration {
	all := map[string]time.Duration{}
	maps.Copy(all, given)
	maps.Copy(all, c)
	return all
}

// note keeps them in the document of the run, for the next ingest of its files.
func (c clockOffsets) note(hosts []mapping.RunHost) {
	for i := range hosts {
		hosts[i].ClockOffsetMS = c[hosts[i].Name].Milliseconds()
	}
}
