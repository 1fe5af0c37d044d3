// Package shared is one run of several hosts: each sends the windows of its own fio, and readers add them up.
//
//	host a --Sender--+
//	host b --Sender--+--> the history: the run, its parts, windows of hosts --[Store]--> windows of the cluster
//	host c --Sender--+                                                     --[Finish]--> a run as any other
//
// A window of a host lies on the grid of the wall clock, so windows of all hosts with the same start belong together, and
// the sum of their histograms is exact. Nothing waits for a host: a window is read when all hosts that are heard of have sent
// theirs.
package shared

import (
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

const (
	// Beat is the longest time between two signs of life of a part.
	Beat = 5 * time.Second

	// SilentAfter is how long nothing may come from a part before it is called silent: a sign of life was missed.
	SilentAfter = 7 * time.Second

	// Quiet is how long nothing may come from a run whose parts have all ended, before it is over: other hosts may begin
	// later.
	Quiet = time.Minute
)

// Silent says which parts nothing has come from for some time, though they have not ended, one sentence each.
func Silent(parts []*mapping.Part, now time.Time) (texts []string) {
	for _, p := range parts {
		if isSilent(p, now) {
			texts = append(texts, fmt.Sprintf("%s: nothing for %s", nameOf(p, parts), unit.Short(now.Sub(p.Seen).Truncate(time.Second))))
		}
	}
	return texts
}

// Silence says when parts become silent, and when they send again.
type Silence struct{ silent map[string]bool }

// News returns what has changed since the last call, one sentence each.
func (s *Silence) News(parts []*mapping.Part, now time.Time) (texts []string) {
	was := s.silent
	s.silent = map[string]bool{}
	for _, p := range parts {
		name := nameOf(p, parts)
		if isSilent(p, now) {
			if s.silent[name] = true; !was[name] {
				texts = append(texts, Silent([]*mapping.Part{p}, now)...)
			}
		} else if was[name] {
			texts = append(texts, name+" sends again")
		}
	}
	return texts
}

func isSilent(p *mapping.Part, now time.Time) bool {
	return p.Ended.IsZero() && now.Sub(p.Seen) >= SilentAfter
}

// nameOf returns the host of a part, with the name of its fio if the host has several.
func nameOf(p *mapping.Part, among []*mapping.Part) string {
	if slices.ContainsFunc(among, func(o *mapping.Part) bool { return o.Host == p.Host && o.Unit != p.Unit }) {
		return p.Host + " (" + p.Unit + ")"
	}
	return p.Host
}

// isOver reports whether all parts have ended, and nothing has come for some time.
func isOver(parts []*mapping.Part, now time.Time) bool {
	return Ended(parts) && now.Sub(lastSeen(parts)) >= Quiet
}

// Ended reports whether there are parts, and all have ended.
func Ended(parts []*mapping.Part) bool {
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p *mapping.Part) bool { return p.Ended.IsZero() })
}

func lastSeen(parts []*mapping.Part) (last time.Time) {
	for _, p := range parts {
		if p.Seen.After(last) {
			last = p.Seen
		}
	}
	return last
}

// shared returns whether a run is one that hosts send.
func shared(run *mapping.Run) bool { return run != nil && run.Run.IsShared() }

var _ history.Store = Store{}
