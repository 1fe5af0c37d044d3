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

	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/pipeline/source"
)

// late warns about windows of live runs that are much longer than the others, because fio's reports came late.
type late struct {
	log      *slog.Logger
	run      string        // id of the latest one: each stage of an execution is a run of its own
	elapsed  int64         // nominal start of the latest windows, in milliseconds since the run's start
	shortest time.Duration // length of the shortest window but for the first, which may be the rest of a cell
}

// window looks at a window, once for all directions.
func (l *late) window(w *window.Window) {
	if w.Run.ID != l.run {
		*l = late{log: l.log, run: w.Run.ID}
	}
	length := w.Length()
	if w.ElapsedMS != l.elapsed && l.shortest > 0 && length > l.shortest*7/4 {
		l.log.Warn(fmt.Sprintf("%s:%s: no report of fio for %v until %s: it waited for jobs that hang or sleep; when in that time its requests "+
			"completed is unknown", w.Run.Archive, w.Run.Name, length.Round(100*time.Millisecond), unit.Time(w.End, unit.OfDay)))
	}
	if l.elapsed = w.ElapsedMS; l.elapsed > 0 && (l.shortest == 0 || length < l.shortest) {
		l.shortest = length
	}
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
