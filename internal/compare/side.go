package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Run is one run of a side.
type Run struct {
	Name     string       // as the user named it: a path, or an id
	Document *mapping.Run // set by End; without histograms

	series   map[string]*Series // by direction
	averages bool               // some windows have only a mean
}

// Add adds a window of level Cluster and the histogram of its requests, or nil without requests. Windows come in
// order of time.
func (r *Run) Add(w *window.Window, requests *hist.Histogram) {
	if requests == nil && w.Latency.Mean > 0 {
		r.averages = true
		return
	}
	if r.series == nil {
		r.series = map[string]*Series{}
	}
	if r.series[w.Direction] == nil {
		r.series[w.Direction] = &Series{}
	}
	r.series[w.Direction].Add(w, requests)
}

// End sets the run document, after all windows are added. A direction with all of its requests in windows lasts as long as
// in the document, so that its IOPS are those of the run, to the last digit.
func (r *Run) End(doc *mapping.Run) {
	r.Document = doc.Light()
	lasted := map[string]int64{}
	for _, t := range doc.ByDirection() {
		if s := r.series[t.Direction]; s != nil && s.completed() == t.Requests {
			lasted[t.Direction] = t.DurationMS
		}
	}
	for d, s := range r.series {
		s.EndBy(doc.Run.End.Sub(doc.Run.Start).Milliseconds(), lasted[d])
	}
}

// IsEmpty reports whether the run has no windows to compare.
func (r *Run) IsEmpty() bool { return len(r.series) == 0 }

// OnlyAverages reports whether the run has no windows to compare because its logs have only averages.
func (r *Run) OnlyAverages() bool { return r.IsEmpty() && r.averages }

// Side is a run, or several repetitions of a test.
type Side struct {
	Name string // as the user named it: the names of runs, joined by commas
	Runs []*Run
}

// of returns the series of a direction, one for each run that has it.
func (s *Side) of(direction string) (list []*Series) {
	for _, r := range s.Runs {
		if one := r.series[direction]; one != nil {
			list = append(list, one)
		}
	}
	return list
}

// directions lists the directions of the side.
func (s *Side) directions() string {
	var names []string
	for _, d := range mapping.Directions {
		if s.of(d) != nil {
			names = append(names, d+"s")
		}
	}
	return strings.Join(names, ", ")
}

// Line is the change of a metric in one direction.
type Line struct {
	Direction string
	Change
}

// Compare compares the directions that both sides have. The notes say what was not compared, and what makes the
// answers less certain. It fails if the sides have no direction in common.
func Compare(base, other *Side, opt Options) (lines []Line, notes []string, err error) {
	note := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(notes, text) {
			notes = append(notes, text)
		}
	}
	for _, direction := range mapping.Directions {
		from, to := base.of(direction), other.of(direction)
		switch {
		case from == nil && to == nil:
			continue
		case from == nil || to == nil:
			with := base
			if from == nil {
				with = other
			}
			note("only %s has %ss: not compared", with.Name, direction)
			continue
		}
		for _, side := range []*Side{base, other} {
			if has := len(side.of(direction)); has < len(side.Runs) {
				note("only %d of the %d runs of %s have %ss", has, len(side.Runs), side.Name, direction)
			}
		}
		for _, c := range Sides(from, to, opt) {
			if c.Why != "" {
				note("%s and %s: %s: %s", base.Name, other.Name, direction, c.Why)
			} else if c.Bound() != "" {
				note("%s and %s: %s: %s rests on fio's last bin, which has no upper end: %s to %s, %s",
					base.Name, other.Name, direction, c.Metric, c.BaseText(), c.OtherText(), c.Text())
			}
			lines = append(lines, Line{direction, c})
		}
	}
	if len(lines) == 0 {
		return nil, notes, fmt.Errorf("%s and %s have no direction in common: the first has %s, the second %s",
			base.Name, other.Name, base.directions(), other.directions())
	}
	return lines, notes, nil
}
