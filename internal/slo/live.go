package slo

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
)

// Alert is a rule that a live run breaks, or broke before.
type Alert struct {
	Rule      Rule
	Direction string    // empty: nothing completed in any direction
	Active    bool      // the rule is broken now, and has been for as long as it says
	Since     time.Time // start of the first window that broke it, since one met it
	Until     time.Time // end of the last one
	Text      string    // what the last one broke: "read p99 is 12ms in the window from 09:12:10 to 09:12:11"

	isBroken, wasActive bool
}

// Live checks a live run against rules, window by window. It is a value of the windows and the times at which they came.
type Live struct {
	rules    []Rule
	soFar    *Evaluator
	alerts   []*Alert
	shortest int64 // length of the shortest window but for the first, in milliseconds

	busy map[string]time.Time // by direction: end of the last window with requests

	// When windows come: the end of the latest one, when it came, and the times between windows. Several may come together.
	end, came time.Time
	planned   time.Time // end of the run, by the latest window; zero: unknown
	waits     [8]time.Duration
	waited    int
}

// NewLive returns a Live without windows.
func NewLive(rules []Rule) *Live {
	return &Live{rules: rules, soFar: New(rules), busy: map[string]time.Time{}}
}

// Alerts returns the alerts that are or were active, in the order in which their rules were broken.
func (l *Live) Alerts() (all []Alert) {
	for _, a := range l.alerts {
		if a.wasActive {
			all = append(all, *a)
		}
	}
	return all
}

// Add adds a window that came at a time. It returns the alerts that became active or ended.
func (l *Live) Add(w *window.Window, at time.Time) (changed []Alert, err error) {
	if err := l.soFar.Add(w); err != nil {
		return nil, err
	}
	l.soFar.addOpen()
	const together = 100 * time.Millisecond
	if wait := at.Sub(l.came); wait >= together && !l.came.IsZero() {
		l.waits[l.waited%len(l.waits)] = wait
		l.waited++
	}
	l.end, l.came, l.planned = w.End, at, w.Planned
	one, ok, err := sampleOf(w)
	if err != nil || !ok {
		return nil, err
	}
	for i := range l.rules {
		r := &l.rules[i]
		if !r.isAbout(w.Direction) {
			continue
		}
		if r.share != everyWindow {
			// How many requests there are at least is known when the run is over.
			if v := l.soFar.verdict(i, w.Direction, l.soFar.of(w.Direction)); r.Metric.Kind != expr.Count || r.isUpper() {
				l.judge(r, w.Direction, v.State == Broken, w.Start, w.End, "so far, "+v.text(w.Run.Start), &changed)
			}
			continue
		}
		isRate := r.Metric.Kind == expr.Rate
		if isRate && r.Direction == "" && w.Completed > 0 {
			l.judge(r, "", false, w.Start, w.End, "", &changed) // what Tick found
		}
		const usual = 1000
		if isRate && (one.end-one.start)*10 <= cmp.Or(l.shortest, usual) { // too short for a rate: the run begins or ends
			continue
		}
		if o, ok := r.in(&one); ok {
			value := unit.OrMore(facts.TextOf(r.Metric.Kind, o.Value, math.NaN(), float64(max(one.completed, 1))), o.Open)
			text := fmt.Sprintf("%s %s is %s in the window from %s to %s", w.Direction, r.Metric, value, unit.Time(w.Start, unit.OfDay), unit.Time(w.End, unit.OfDay))
			l.judge(r, w.Direction, !o.met && !o.isUnknown, w.Start, w.End, text, &changed)
		}
	}
	if length := one.end - one.start; w.ElapsedMS > 0 && (l.shortest == 0 || length < l.shortest) {
		l.shortest = length
	}
	if w.Completed > 0 {
		l.busy[w.Direction] = w.End
	}
	return changed, nil
}

// Tick returns the alerts that became active because no window came until now. A rule about requests per second "for" a time is
// broken if nothing is known to have completed for that time. It counts from when the next window should have come at the
// latest, which is known after some windows. After the time at which fio expected to end, silence says nothing: it may have ended.
func (l *Live) Tick(now time.Time) (changed []Alert) {
	if l.waited < 2 {
		return nil
	}
	// Windows come late, some only when no request can be in flight in them, so the time counts in which no news came.
	late, until := l.came.Sub(l.end), l.end.Add(now.Sub(l.came)-slices.Max(l.waits[:]))
	if end := l.planned.Add(-late); !l.planned.IsZero() && end.Before(until) {
		until = end
	}
	for i := range l.rules {
		r := &l.rules[i]
		if r.Metric.Kind != expr.Rate || r.lasts.value == 0 || r.met(0) {
			continue
		}
		var last time.Time
		for direction, end := range l.busy {
			if r.isAbout(direction) && end.After(last) {
				last = end
			}
		}
		if last.IsZero() || !r.hasLasted(until.Sub(last)) {
			continue
		}
		text := "nothing is known to have completed"
		if r.Direction != "" {
			text = "no " + r.Direction + " is known to have completed"
		}
		l.judge(r, r.Direction, true, last.Add(late), until.Add(late), text+" since "+unit.Time(last.Add(late), unit.OfDay), &changed)
	}
	return changed
}

// judge notes that a window, or the time since the last one, breaks or meets a rule.
func (l *Live) judge(r *Rule, direction string, isBroken bool, from, to time.Time, text string, changed *[]Alert) {
	i := slices.IndexFunc(l.alerts, func(a *Alert) bool { return a.Rule == *r && a.Direction == direction })
	if i < 0 {
		if !isBroken {
			return
		}
		i, l.alerts = len(l.alerts), append(l.alerts, &Alert{Rule: *r, Direction: direction})
	}
	a := l.alerts[i]
	wasActive := a.Active
	if isBroken {
		if !a.isBroken {
			a.Since = from
		}
		a.Until, a.Text = to, text
	}
	a.isBroken, a.Active = isBroken, isBroken && (wasActive || r.hasLasted(to.Sub(a.Since)))
	if a.Active != wasActive {
		a.wasActive = true
		*changed = append(*changed, *a)
	}
}

// End returns the alerts that were active at the end of the run.
func (l *Live) End() (changed []Alert) {
	for _, a := range l.alerts {
		if a.Active {
			a.Active = false
			changed = append(changed, *a)
		}
	}
	return changed
}
