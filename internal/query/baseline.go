package query

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// Baseline selects the runs of the history that other runs are compared with: the last runs before them with the
// same settings, or all such runs that meet a condition.
type Baseline struct{ *Selector }

// ParseBaseline parses the selector "last:N", or a condition. Times in conditions such as 7d count back from now. An
// error is a [UsageError].
func ParseBaseline(text string, now time.Time) (*Baseline, error) {
	s, err := ParseSelector(text, now)
	if err == nil && !s.newest && s.condition == nil {
		err = usagef("%s: want last:N, or a condition on runs such as label.release=quincy", text)
	}
	return &Baseline{s}, err
}

// Filter returns the filter of the runs that [Baseline.Of] needs for runs. Without runs it selects also those of other workloads.
func (b *Baseline) Filter(runs []*mapping.Run) history.RunFilter {
	f := history.RunFilter{Light: true}
	if b.condition != nil {
		f.Where = b.condition
	}
	if len(runs) > 0 {
		f.Where = Both(f.Where, SameSettings(runs...))
	}
	return f
}

// Of returns the runs that runs, which are of one workload, are compared with, the newest first. from are the runs
// that Filter selects, the newest first. The notes say which runs were left out. It fails if no run remains.
func (b *Baseline) Of(runs, from []*mapping.Run) (list []*mapping.Run, notes []string, err error) {
	key := workload.Key(runs[0])
	start := slices.MinFunc(runs, func(a, b *mapping.Run) int { return a.Run.Start.Compare(b.Run.Start) }).Run.Start
	var others, candidates []*mapping.Run
	for _, run := range from {
		switch {
		case b.count > 0 && !run.Run.Start.Before(start) || slices.ContainsFunc(runs, func(r *mapping.Run) bool { return isSame(r, run) }):
		case workload.Key(run) != key:
			others = append(others, run)
		default:
			candidates = append(candidates, run)
		}
	}
	usable := func(runs []*mapping.Run) (list []*mapping.Run, notes []string) {
		list, notes = Usable(runs)
		lacks := func(run *mapping.Run) bool { return NoWindows(run) != "" }
		if with := slices.DeleteFunc(slices.Clone(list), lacks); len(with) > 0 && len(with) < len(list) { // those allow no interval
			notes = append(notes, unit.Plural(len(list)-len(with), "run")+" left out: no percentiles over time")
			list = with
		}
		return list, notes
	}
	list, notes = usable(candidates)
	// only the last runs are taken, and notes are about these alone
	for n := b.count; b.count > 0 && n <= len(candidates) && len(list) > b.count; n++ {
		if last, of := usable(candidates[:n]); len(last) == b.count {
			list, notes = last, of
		}
	}
	what := facts.Title(runs[0])
	switch {
	case len(candidates) > 0 && len(list) == 0:
		return nil, notes, fmt.Errorf("%s: no run with the settings of %s can be compared with it", b.text, what)
	case b.count > 0 && len(list) == 0:
		return nil, notes, fmt.Errorf("%s: no run before %s has its settings%s", b.text, what, nearest(runs[0], others))
	case len(list) == 0:
		return nil, notes, fmt.Errorf("%s: no run has the same settings as %s%s", b.text, what, nearest(runs[0], others))
	case len(list) < b.count:
		notes = append(notes, fmt.Sprintf("%s: only %s of the settings of %s before it", b.text, unit.Plural(len(list), "run"), what))
	}
	return list, notes, nil
}

// nearest describes the run in list whose settings differ least from those of run, and how they differ.
func nearest(run *mapping.Run, list []*mapping.Run) string {
	var best *mapping.Run
	var differ []string
	for _, other := range list {
		if d := workload.SettingsApart(run, other); best == nil || len(d) < len(differ) {
			best, differ = other, d
		}
	}
	if best == nil {
		return ""
	}
	return fmt.Sprintf("; the nearest, %s, has %s", facts.Title(best), strings.Join(differ, ", "))
}

// Usable returns the runs that can be compared. The notes say how many cannot, and why.
func Usable(runs []*mapping.Run) (list []*mapping.Run, notes []string) {
	for _, run := range runs {
		if !run.Run.Partial && !run.Run.Live() {
			list = append(list, run)
		}
	}
	if left := len(runs) - len(list); left > 0 {
		notes = append(notes, unit.Plural(left, "run")+" left out: live, or without some of their files")
	}
	return list, notes
}

// isSame reports whether two run documents are of one run. A run read from files has no id.
func isSame(a, b *mapping.Run) bool {
	if a.Run.ID != "" && b.Run.ID != "" {
		return a.Run.ID == b.Run.ID
	}
	return a.Run.Start.Equal(b.Run.Start) && a.Run.Name == b.Run.Name
}
