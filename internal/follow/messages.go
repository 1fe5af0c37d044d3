package follow

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/pipeline/source"
)

// alerts reports when rules begin to be broken in the windows of a live run, and when they are met again. Only one
// goroutine may use it.
type alerts struct {
	log   *slog.Logger
	rules []slo.Rule
	even  bool // all windows should have the same length

	// Of the latest run: each stage of an execution is a run of its own.
	run   string // its id
	title string

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
	return &alerts{log: log, rules: rules, broken: map[breach]time.Time{}}
}

// window checks a window and reports on the windows before it. It reports late, because the last window of a run may
// be too short for a rate.
func (a *alerts) window(w *window.Window) error {
	if w.Run.ID != a.run { // the next stage has begun
		a.end()
		even := a.even
		*a = *newAlerts(a.log, a.rules)
		a.even, a.run, a.title = even, w.Run.ID, w.Run.Archive+":"+w.Run.Name
	}
	if w.ElapsedMS != a.elapsed {
		a.report(func(*checked, slo.Breach) bool { return true })
		a.elapsed = w.ElapsedMS
		if length := w.Length(); a.even && a.shortest > 0 && length > a.shortest*7/4 {
			a.log.Warn(fmt.Sprintf("%s: no report of fio for %v until %s: it waited for jobs that hang or sleep; when in that time its requests "+
				"completed is unknown", a.title, length.Round(100*time.Millisecond), unit.Time(w.End, unit.OfDay)))
		}
	}
	breaches, err := slo.Breaches(a.rules, w)
	if err != nil {
		return err
	}
	a.latest = append(a.latest, checked{w.Direction, w.End, w.Length(), breaches})
	return nil
}

// end reports on the last windows. For rates it ignores windows of a tenth of the shortest other one or less.
func (a *alerts) end() {
	a.report(func(w *checked, b slo.Breach) bool {
		return b.Rule.Metric.Kind != expr.Rate || w.length*10 > a.shortest
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
					b.Rule, a.title, w.direction, b.Rule.Metric, b.Text(), unit.Time(w.end, unit.OfDay)))
			}
		}
		for key, last := range a.broken {
			if key.direction == w.direction && !now[key] {
				delete(a.broken, key)
				a.log.Info(fmt.Sprintf("sla %s: %s: %s is met again from %s on", key.rule, a.title, key.direction, unit.Time(last, unit.OfDay)))
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

// windows passes on each window of live runs once, even if a file is renamed, emptied or put back and then read
// again from its start. Several goroutines may use it.
type windows struct {
	mu    sync.Mutex
	log   *slog.Logger
	give  func(*window.Window) error
	given map[series]stretch
	noted map[string]bool // versions for which a message said that windows are not printed again
}

// series is a series of a run, which is named by its id or its place.
type series struct {
	run string
	window.Series
}

// stretch is what was given of a series: start is that of the run, until the end of the last window.
type stretch struct{ start, until time.Time }

func newWindows(log *slog.Logger, give func(*window.Window) error) *windows {
	return &windows{log: log, give: give, given: map[series]stretch{}, noted: map[string]bool{}}
}

// take passes on a window if it is new. A window of whole rows may begin some milliseconds before the end of the window
// before, so its middle decides. A run whose file is renamed keeps its id. A run whose file is emptied while fio runs
// gets another id, but has the same place and nearly the same start.
func (w *windows) take(d *window.Window) (isNew bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	const apart = 2 * time.Second // between the starts of one run in different reports
	name := d.Run.Archive + ":" + d.Run.Name
	byID := series{d.Run.ID, d.Series()}
	byPlace := series{name, d.Series()}
	middle := d.Start.Add(d.Length() / 2)
	for _, key := range []series{byID, byPlace} {
		have, ok := w.given[key]
		if !ok || d.Run.Start.Sub(have.start).Abs() > apart || !middle.Before(have.until) {
			continue
		}
		if !w.noted[d.Run.Ingest] {
			w.noted[d.Run.Ingest] = true
			w.log.Info(fmt.Sprintf("note: %s: its files have changed and are read again: "+
				"windows until %s are not printed again; the history has them as the files are now", name, unit.Time(have.until, unit.OfDay)))
		}
		return false, nil
	}
	w.given[byID] = stretch{d.Run.Start, d.End}
	w.given[byPlace] = w.given[byID]
	return true, w.give(d)
}

// problems reports files that cannot be read, each once. A file that is being copied may be incomplete for a while,
// so a problem is reported after it has lasted for quiet.
type problems struct {
	log      *slog.Logger
	quiet    time.Duration
	since    map[string]time.Time // when each problem of the last look was first seen
	reported map[string]bool
}

// report reports the problems of a look that have lasted long enough. It returns whether there are any.
func (p *problems) report(found []*source.Problem, now time.Time) (lasting bool) {
	before := p.since
	p.since = map[string]time.Time{}
	for _, problem := range found {
		if errors.Is(problem, fs.ErrNotExist) { // the file was renamed or removed after its folder was listed
			continue
		}
		text := problem.Error()
		since, ok := before[text]
		if !ok {
			since = now
		}
		p.since[text] = since
		if now.Sub(since) >= p.quiet {
			p.once(text)
			lasting = true
		}
	}
	return lasting
}

// reportRest reports the problems that are left at the end. It returns whether there are any.
func (p *problems) reportRest() bool {
	for _, text := range slices.Sorted(maps.Keys(p.since)) {
		p.once(text)
	}
	return len(p.since) > 0
}

func (p *problems) once(text string) {
	if !p.reported[text] {
		p.reported[text] = true
		p.log.Warn(text)
	}
}
