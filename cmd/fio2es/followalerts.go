package main

import (
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/mapping"
)

// alerts tells when objectives begin to be broken in the windows of a run that goes on,
// and when they hold again. It is for one goroutine.
type alerts struct {
	log   *slog.Logger
	rules *slo.Evaluator
	title string

	elapsed int64 // nominal start of the latest windows
	latest  []judged
	broken  map[alertKey]time.Time // the end of the last window that broke it
}

// judged is a window of the latest, and the rules that are broken in it.
type judged struct {
	direction string
	end       time.Time
	requests  float64
	breaches  []slo.Breach
}

// alertKey is a rule and a direction.
type alertKey struct {
	rule      slo.Rule
	direction string
}

func newAlerts(log *slog.Logger, rules []slo.Rule) *alerts {
	return &alerts{log: log, rules: slo.New(rules), broken: make(map[alertKey]time.Time)}
}

// window judges a window. It tells of the ones before: the last of a run may be cut by its
// end, so that fewer requests completed in it.
func (a *alerts) window(d *mapping.Interval) error {
	w, tells, err := sloWindow(d)
	if err != nil || !tells {
		return err
	}
	a.title = d.Run.Archive + ":" + d.Run.Name
	if d.Window.ElapsedMS != a.elapsed {
		a.flush(func(slo.Breach) bool { return true })
		a.elapsed = d.Window.ElapsedMS
	}
	a.latest = append(a.latest, judged{d.Fio.Direction, d.Window.End, float64(max(w.Completed, 1)), a.rules.Add(w)})
	return nil
}

// end tells of the last windows, but for rates.
func (a *alerts) end() {
	a.flush(func(b slo.Breach) bool { return b.Rule.Metric.Unit() != slo.PerSecond })
}

func (a *alerts) flush(counts func(slo.Breach) bool) {
	for _, w := range a.latest {
		now := make(map[alertKey]bool)
		for _, b := range w.breaches {
			key := alertKey{b.Rule, w.direction}
			now[key] = true
			switch _, open := a.broken[key]; {
			case open:
				a.broken[key] = w.end
			case counts(b):
				a.broken[key] = w.end
				a.log.Warn(fmt.Sprintf("sla %s: %s: %s %s is %s in the window until %s", b.Rule, a.title, w.direction, b.Rule.Metric,
					orMore(slaText(b.Rule.Metric.Unit(), b.Value, math.NaN(), w.requests), b.Open), clockOf(w.end)))
			}
		}
		for key, last := range a.broken {
			if key.direction == w.direction && !now[key] {
				delete(a.broken, key)
				a.log.Info(fmt.Sprintf("sla %s: %s: %s holds again from %s on", key.rule, a.title, key.direction, clockOf(last)))
			}
		}
	}
	a.latest = a.latest[:0]
}

func clockOf(t time.Time) string { return t.UTC().Format("15:04:05") }
