package main

import (
	"fmt"
	"log/slog"
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

	elapsed int64         // nominal start of the latest windows
	usual   time.Duration // the shortest of the windows before
	latest  []judged
	broken  map[alertKey]time.Time // the end of the last window that broke it
}

// judged is a window of the latest, and the rules that are broken in it.
type judged struct {
	direction string
	end       time.Time
	length    time.Duration
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

// window judges a window, and reports on the ones before: the last of a run may be too short
// for a rate.
func (a *alerts) window(d *mapping.Interval) error {
	w, ok, err := slo.WindowOf(d)
	if err != nil || !ok {
		return err
	}
	a.title = d.Run.Archive + ":" + d.Run.Name
	if d.Window.ElapsedMS != a.elapsed {
		a.flush(func(*judged, slo.Breach) bool { return true })
		a.elapsed = d.Window.ElapsedMS
	}
	a.latest = append(a.latest, judged{d.Fio.Direction, d.Window.End, d.Window.End.Sub(d.Time), float64(max(w.Completed, 1)), a.rules.Add(w)})
	return nil
}

// end reports on the last windows. A rate in one is that of its own length, unless that is a
// tenth of the others' or less: then it says nothing of the run.
func (a *alerts) end() {
	a.flush(func(w *judged, b slo.Breach) bool {
		return b.Rule.Metric.Unit() != slo.PerSecond || w.length*10 > a.usual
	})
}

func (a *alerts) flush(counts func(*judged, slo.Breach) bool) {
	for i := range a.latest {
		w := &a.latest[i]
		now := make(map[alertKey]bool)
		for _, b := range w.breaches {
			key := alertKey{b.Rule, w.direction}
			now[key] = true
			switch _, open := a.broken[key]; {
			case open:
				a.broken[key] = w.end
			case counts(w, b):
				a.broken[key] = w.end
				a.log.Warn(fmt.Sprintf("sla %s: %s: %s %s is %s in the window until %s", b.Rule, a.title, w.direction, b.Rule.Metric,
					b.Text(w.requests), clockOf(w.end)))
			}
		}
		for key, last := range a.broken {
			if key.direction == w.direction && !now[key] {
				delete(a.broken, key)
				a.log.Info(fmt.Sprintf("sla %s: %s: %s holds again from %s on", key.rule, a.title, key.direction, clockOf(last)))
			}
		}
	}
	for _, w := range a.latest {
		if a.usual == 0 || w.length < a.usual {
			a.usual = w.length
		}
	}
	a.latest = a.latest[:0]
}

func clockOf(t time.Time) string { return t.UTC().Format("15:04:05") }
