// Package live draws the screen of a run while fio runs: the latencies of the last seconds, a scrolling heat map,
// the remaining time, and broken rules. The lines depend only on the windows so far, the present time and the size
// of the terminal. The package does not write them.
//
// All that shows a live run shows the windows that are stored. "run" and "follow" give each window to the view, the lines and the rules
// when they store it, because a history that is away or slow must not stop the view. "watch", pages of "serve" and Kibana's Live read them
// from the history; of a run of several hosts they add up those of its hosts.
package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// recent is the time that the table of latencies covers.
const recent = 10 * time.Second

// mostColumns bounds what is kept for the heat map: a column a second for a quarter of an hour, then longer ones.
const mostColumns = 128

// View is what is known of a live execution of fio, and of its stage that runs. Only one goroutine at a time may use it.
type View struct {
	Title   string
	Later   time.Duration // how long takes what the same command runs after this execution; 0: not known, or there is nothing
	Every   time.Duration // time between two reports of fio
	Message string        // last message of the program

	rules   []slo.Rule
	alerts  *slo.Live
	run     *mapping.RunInfo // the stage that runs, as a run; nil before its first window
	stage   Stage
	windows []*window.Window // of the last seconds of the stage, in the order in which they came
	began   time.Time        // start of the first stage
	cells   *heatmap.Builder // all windows of all stages
	came    time.Time        // when the newest window came
}

// New returns the view of a run that is checked against rules.
func New(rules []slo.Rule) *View {
	return &View{rules: rules, alerts: slo.NewLive(rules), cells: heatmap.NewBuilder(mostColumns)}
}

// Stage is what is known of a stage besides its windows.
type Stage struct {
	Title  string        // empty: as before
	Length time.Duration // most time that it takes; 0: not known
	ToEnd  time.Duration // most time from its start to the end of the last stage; 0: not known
}

// begin turns the view to the run of the next windows, which may be one of several stages. Numbers and rules are of one
// stage only.
func (v *View) begin(run *mapping.RunInfo, stage Stage) {
	if v.run == nil {
		v.began = run.Start
	}
	v.run, v.stage, v.alerts, v.windows = run, stage, slo.NewLive(v.rules), nil
	v.Title = cmp.Or(stage.Title, v.Title)
}

// Add adds a window of a stage that came at the time at.
func (v *View) Add(w *window.Window, stage Stage, at time.Time) error {
	if v.run == nil || v.run.ID != w.Run.ID {
		v.begin(w.Run, stage)
	}
	v.came = at
	isOld := func(old *window.Window) bool { return old.End.Before(w.Start.Add(-2 * recent)) }
	v.windows = append(slices.DeleteFunc(v.windows, isOld), w)
	h, err := w.Histogram()
	if err != nil {
		return err
	}
	if h != nil && w.Direction != mapping.Sync {
		inAll := *w // on an even grid, also if a stage began between two seconds
		inAll.ElapsedMS = w.Start.Sub(v.began).Round(time.Second).Milliseconds()
		v.cells.Add(&inAll, h)
	}
	_, err = v.alerts.Add(w, at)
	return err
}

// last returns the sums of the windows of the last seconds, for each direction and for all together, and the time
// that they span.
func (v *View) last() ([]*window.Window, time.Duration, error) {
	var sum window.Sum
	windows := v.settled()
	if len(windows) == 0 {
		return nil, 0, nil
	}
	end := windows[len(windows)-1].End
	for _, w := range windows {
		if middle := w.Start.Add(w.Length() / 2); middle.Before(end.Add(-recent)) {
			continue
		}
		if err := sum.Add(w); err != nil {
			return nil, 0, err
		}
	}
	return sum.Windows(), sum.Span.Length(), nil
}

// settled returns the windows. It leaves out those of the newest time until they have all directions of the time
// before. The directions of one time come one after another, so otherwise the number of requests per second would be
// too low.
func (v *View) settled() []*window.Window {
	older := func(than int) (end int) { // older returns the end of the windows before the time of windows[than-1]
		end = than
		for end > 0 && v.windows[end-1].ElapsedMS == v.windows[than-1].ElapsedMS {
			end--
		}
		return end
	}
	newest := older(len(v.windows))
	if before := older(newest); len(v.windows)-newest < newest-before {
		return v.windows[:newest]
	}
	return v.windows
}
