package follow

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/window"
)

// alerts reports when rules begin to be broken in the windows of a live run, and when they are met again. Only one
// goroutine may use it.
type alerts struct {
	log   *slog.Logger
	rules *slo.Evaluator
	title string
	even  bool // all windows should have the same length

	elapsed  int64         // nominal start of the latest windows, in milliseconds since the run's start
	shortest time.Duration // length of the shortest window before
	latest   []checked
	broken   map[breach]time.Time // end of the last window that broke the rule
}

// checked is one of the latest windows, with the rules that it breaks.
type checked struct {
	direction string
	end       time.Time
	length    time.Duration
	breaches  []slo.Breach
}

// breach is a rule that is broken in one direction.
type breach struct {
	rule      slo.Rule
	direction string
}

func newAlerts(log *slog.Logger, rules []slo.Rule) *alerts {
	return &alerts{log: log, rules: slo.New(rules), broken: map[breach]time.Time{}}
}

// window checks a window and reports on the windows before it. It reports late, because the last window of a run may
// be too short for a rate.
func (a *alerts) window(w *window.Window) error {
	a.title = w.Run.Archive + ":" + w.Run.Name
	if w.ElapsedMS != a.elapsed {
		a.report(func(*checked, slo.Breach) bool { return true })
		a.elapsed = w.ElapsedMS
		if length := w.Length(); a.even && a.shortest > 0 && length > a.shortest*7/4 {
			a.log.Warn(fmt.Sprintf("%s: no report of fio for %v until %s: it waited for jobs that hang or sleep; when in that time its requests "+
				"completed is unknown", a.title, length.Round(100*time.Millisecond), clock(w.End)))
		}
	}
	breaches, err := a.rules.Add(w)
	if err != nil {
		return err
	}
	a.latest = append(a.latest, checked{w.Direction, w.End, w.Length(), breaches})
	return nil
}

// end reports on the last windows. For rates it ignores windows of a tenth of the shortest other one or less.
func (a *alerts) end() {
	a.report(func(w *checked, b slo.Breach) bool {
		return b.Rule.Metric.Kind() != expr.Rate || w.length*10 > a.shortest
	})
}

// report reports on the latest windows. A new breach is reported only if counts returns true.
func (a *alerts) report(counts func(*checked, slo.Breach) bool) {
	for i := range a.latest {
		w := &a.latest[i]
		now := map[breach]bool{}
		for _, b := range w.breaches {
			key := breach{b.Rule, w.direction}
			now[key] = true
			switch _, open := a.broken[key]; {
			case open:
				a.broken[key] = w.end
			case counts(w, b):
				a.broken[key] = w.end
				a.log.Warn(fmt.Sprintf("sla %s: %s: %s %s is %s in the window until %s",
					b.Rule, a.title, w.direction, b.Rule.Metric, b.Text(), clock(w.end)))
			}
		}
		for key, last := range a.broken {
			if key.direction == w.direction && !now[key] {
				delete(a.broken, key)
				a.log.Info(fmt.Sprintf("sla %s: %s: %s is met again from %s on", key.rule, a.title, key.direction, clock(last)))
			}
		}
	}
	for _, w := range a.latest {
		if a.shortest == 0 || w.length < a.shortest {
			a.shortest = w.length
		}
	}
	a.latest = a.latest[:0]
}
