// Package shared is one run of several hosts: each sends the windows of its own fio, and readers add them up.
//
//	host a --Sender--+
//	host b --Sender--+--> the history: the run, its parts, windows of hosts --[Store]--> windows of the cluster
//	host c --Sender--+                                                     --[Finish]--> a run as any other
//
// A window of a host lies on the grid of the wall clock, so windows of all hosts with the same start belong together, and
// the sum of their histograms is exact. Where fio hung on a host, its window is as long as that, and so is the one of the cluster. Nothing
// waits for long: a window is read when all hosts that are heard of have sent theirs, and without those on which nothing completes.
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

	// stuckAfter is how much longer than two windows no window may come from a part that is heard of, before it is called stuck: fio hangs
	// there, or nothing completes.
	stuckAfter = 3 * Beat

	// Quiet is how long nothing may come from a run whose parts have all ended, before it is over: other hosts may begin
	// later.
	Quiet = time.Minute
)

// Silent says which parts have not ended and are not heard of, or send no windows, one sentence each.
func Silent(parts []*mapping.Part, now time.Time) (texts []string) {
	for _, p := range parts {
		if what, since := lackOf(p, now); what != "" {
			texts = append(texts, lackText(nameOf(p, parts), what, since))
		}
	}
	return texts
}

// lackOf says what has not come from a part for how long, or "".
func lackOf(p *mapping.Part, now time.Time) (what string, since time.Duration) {
	switch {
	case isSilent(p, now):
		return "nothing for", now.Sub(p.Seen)
	case isStuck(p, now):
		return "nothing completed for", now.Sub(p.Last)
	}
	return "", 0
}

func lackText(name, what string, since time.Duration) string {
	return fmt.Sprintf("%s: %s %s", name, what, unit.Short(since.Truncate(time.Second)))
}

// Silence says when parts begin to lack what [Silent] says, and when they send again.
type Silence struct{ lacks map[string]string } // what lacks, by the name of a part; nothing of others

// News returns what has changed since the last call, one sentence each.
func (s *Silence) News(parts []*mapping.Part, now time.Time) (texts []string) {
	was := s.lacks
	s.lacks = map[string]string{}
	for _, p := range parts {
		name := nameOf(p, parts)
		what, since := lackOf(p, now)
		if what != "" {
			s.lacks[name] = what
		}
		switch {
		case what == was[name]:
		case what != "":
			texts = append(texts, lackText(name, what, since))
		default:
			texts = append(texts, name+" sends again")
		}
	}
	return texts
}

// Lacks reports whether there is a part that is not heard of, or sends no windows.
func (s *Silence) Lacks() bool { return len(s.lacks) > 0 }

func isSilent(p *mapping.Part, now time.Time) bool {
	return p.Ended.IsZero() && now.Sub(p.Seen) >= SilentAfter
}

// isStuck reports whether windows of a part lack. Before its first one fio may still prepare.
func isStuck(p *mapping.Part, now time.Time) bool { return !p.Last.IsZero() && isLate(p, now) }

// isLate reports whether a part whose stage is not over has sent no window for some time.
func isLate(p *mapping.Part, now time.Time) bool {
	last := p.Last
	if last.IsZero() {
		last = p.Document.Run.Start
	}
	return p.Ended.IsZero() && !p.Over && now.Sub(last) >= stuckAfter+2*time.Duration(p.Document.IntervalMS)*time.Millisecond
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
