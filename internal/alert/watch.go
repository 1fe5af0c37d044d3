package alert

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// States of a change.
const (
	fired     = "fired"
	resolved  = "resolved"
	forgotten = "forgotten"
)

// Watch checks the windows of a live execution against rules. Each of its stages is a run of its own. It logs what it finds
// and sends it.
type Watch struct {
	sender *Sender
	rules  []slo.Rule
	host   string // of all windows; empty: of several hosts
	log    *slog.Logger
	stop   func()

	mu   sync.Mutex // of the windows and the time
	run  *mapping.RunInfo
	live *slo.Live
}

// Watch begins to watch an execution, until [Watch.End].
func (s *Sender) Watch(rules []slo.Rule, host string, log *slog.Logger) *Watch {
	done := make(chan struct{})
	w := &Watch{
		sender: s, rules: rules, host: host, log: log, stop: sync.OnceFunc(func() { close(done) }),
		run: &mapping.RunInfo{}, live: slo.NewLive(rules),
	}
	if len(rules) == 0 {
		return w
	}
	go func() {
		const often = 500 * time.Millisecond
		tick := time.NewTicker(often)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				w.mu.Lock()
				w.report(w.live.Tick(now))
				w.mu.Unlock()
			case <-done:
				return
			}
		}
	}()
	return w
}

// Window checks a window of the highest level.
func (w *Watch) Window(one *window.Window) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one.Run.ID != w.run.ID { // the next stage has begun
		w.end(resolved)
		w.run, w.live = one.Run, slo.NewLive(w.rules)
	}
	changed, err := w.live.Add(one, time.Now())
	w.report(changed)
	return err
}

// End ends the watch. If the run is over, its alerts are resolved. Otherwise Alertmanager keeps them for some minutes, in which
// another watch may take them over.
func (w *Watch) End(isOver bool) {
	w.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	if isOver {
		w.end(resolved)
	} else {
		w.end(forgotten)
	}
	w.live = slo.NewLive(nil)
}

func (w *Watch) end(state string) {
	for _, a := range w.live.End() {
		w.send(state, &a)
	}
}

func (w *Watch) report(changed []slo.Alert) {
	for _, a := range changed {
		text := fmt.Sprintf("sla %s: %s:%s: ", a.Rule, w.run.Archive, w.run.Name)
		if a.Active {
			w.log.Warn(text + a.Text)
			w.send(fired, &a)
			continue
		}
		if text += a.Direction; a.Direction != "" {
			text += " "
		}
		w.log.Info(text + "is met again from " + unit.Time(a.Until, unit.OfDay) + " on")
		w.send(resolved, &a)
	}
}

// send sends a change of an alert. Its labels say nothing that differs between two programs that watch the run.
func (w *Watch) send(state string, a *slo.Alert) {
	if w.sender == nil {
		return
	}
	labels := map[string]string{"alertname": "ObjectiveBroken", "rule": a.Rule.String(), "run": w.run.Name}
	if a.Direction != "" {
		labels["direction"] = a.Direction
	}
	if labels["host"] = w.host; w.host == "" {
		delete(labels, "host")
		labels["level"] = "cluster"
	}
	m := message{
		Labels: labels, StartsAt: a.Since,
		Annotations: map[string]string{"summary": a.Rule.String() + ": " + a.Text, "run_id": w.run.ID, "archive": w.run.Archive},
	}
	now := time.Now()
	if !unit.IsKnown(m.StartsAt) {
		m.StartsAt = now
	}
	if state == resolved { // not before it began, if the clock of the run's host is ahead
		if m.EndsAt = now; now.Before(m.StartsAt) {
			m.EndsAt = m.StartsAt
		}
	}
	if link := w.sender.opt.Link; link != nil {
		m.GeneratorURL = link(w.run)
	}
	w.sender.send(change{state, m})
}
