package workload

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/junit"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/trend"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Row is a line of a list of changes: a change in a series, or a series without changes.
type Row struct {
	*Series
	Change *Change // nil if the series has no change
}

// Rows returns a row for each change of a series, or one row without a change.
func (s *Series) Rows() (list []*Row) {
	for i := range s.Changes {
		list = append(list, &Row{s, &s.Changes[i]})
	}
	if len(list) == 0 {
		list = append(list, &Row{s, nil})
	}
	return list
}

// HasChange reports whether the row is a change.
func (r *Row) HasChange() bool { return r.Change != nil }

// Verdict returns the change in a few words. "no change" is said only where a change would have been seen.
func (r *Row) Verdict() string {
	switch {
	case r.Change != nil && r.IsWorse(r.Change):
		return "worse"
	case r.Change != nil:
		return "better"
	case r.known < 2*trend.LeastLevel && r.unknown > 0, math.IsInf(r.Median.High, 1):
		return "unknown"
	case r.known < 2*trend.LeastLevel:
		return "too few runs"
	case r.visible > mostVisible:
		return "unclear"
	}
	return "no change"
}

// Foremost returns of the series of a workload a row for each direction: that of the number that says most, with its latest change.
func Foremost(series []*Series) (rows []*Row) {
	for _, s := range series { // in the order of directions
		all := s.Rows()
		row := all[len(all)-1]
		if n := len(rows); n == 0 || rows[n-1].Direction != s.Direction {
			rows = append(rows, row)
		} else if row.isWorseThan(rows[n-1]) {
			rows[n-1] = row
		}
	}
	return rows
}

// isWorseThan reports whether a row says more about a workload than another one: what became worse before what became better, what
// changed before what did not, what is not known before no change, and the latest change, or else the largest.
func (r *Row) isWorseThan(b *Row) bool {
	rank := func(r *Row) int {
		return slices.Index([]string{"no change", "too few runs", "unclear", "unknown", "better", "worse"}, r.Verdict())
	}
	switch {
	case rank(r) != rank(b):
		return rank(r) > rank(b)
	case !r.HasChange():
		return false
	case !r.Change.After.Run.Start.Equal(b.Change.After.Run.Start):
		return r.Change.After.Run.Start.After(b.Change.After.Run.Start)
	}
	return r.Change.Size() > b.Change.Size()
}

// Conclusion says in a line what the latest changes of series came to: "slower: p99 of reads of randread 4K qd16 +75.0 % (1.94ms to
// 3.40ms) since 2026-11-07 and 3 more". It is empty if nothing changed.
func Conclusion(series []*Series) string {
	isOne := !slices.ContainsFunc(series, func(s *Series) bool { return s.Workload != series[0].Workload })
	var parts []string
	for _, word := range [][2]string{{"worse", "slower"}, {"better", "faster"}} {
		var list []*Row
		for _, s := range series {
			if all := s.Rows(); all[len(all)-1].Verdict() == word[0] {
				list = append(list, all[len(all)-1])
			}
		}
		if len(list) == 0 {
			continue
		}
		first := slices.MinFunc(list, func(a, b *Row) int {
			if a.isWorseThan(b) {
				return -1
			}
			return 1
		})
		text := fmt.Sprintf("%s: %s of %s", word[1], first.Number.Text(), mapping.Plural(first.Direction))
		if !isOne {
			text += " of " + first.Title
		}
		if text += fmt.Sprintf(" %s (%s to %s) since %s", first.Change.Text(), first.TextOf(first.Change.Level.Before), first.TextOf(first.Change.Level.After),
			first.since()); len(list) > 1 {
			text += fmt.Sprintf(" and %d more", len(list)-1)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// since returns the day of the first run after the change, with the time if another run of the series is of that day.
func (r *Row) since() string {
	if r.Change.isOfDay {
		return unit.Time(r.Change.After.Run.Start, "2006-01-02 15:04")
	}
	return Day(r.Change.After)
}

// mostVisible is the size of a change, as a share, that a series must show before no change means something.
const mostVisible = 0.25

// mostDiffer is how many differences a text lists.
const mostDiffer = 6

// Circumstances says when the change was, and how the runs before and after it differ. It is empty if they do
// not differ.
func (r *Row) Circumstances() string {
	if r.Change == nil {
		return ""
	}
	list := Differences(r.Change.Before, r.Change.After)
	if len(list) == 0 {
		return ""
	}
	return "since " + r.since() + ": " + unit.List(list, mostDiffer, "; ")
}

// level returns the level after the change, or the median of a series without changes.
func (r *Row) level() trend.Value {
	if r.Change == nil {
		return r.Median
	}
	return r.Change.Level.After
}

// open returns the names of the columns whose values are only bounds.
func (r *Row) open() (list []string) {
	if r.Change != nil && !r.Change.Level.Before.IsKnown() {
		list = append(list, "before_value")
	}
	if !r.level().IsKnown() {
		list = append(list, "after_value")
	}
	if r.Change != nil && !r.Change.Level.Ratio.IsKnown() {
		list = append(list, "change_percent")
	}
	return list
}

// digits rounds a value as in documents: latencies in microseconds to the nanosecond.
func digits(v float64) float64 { return math.Round(v*1000) / 1000 }

func percent(ratio float64) float64 { return digits((ratio - 1) * 100) }

func percentText(ratio float64) string { return fmt.Sprintf("%+.1f", (ratio-1)*100) }

// Columns returns the columns of lists of changes.
func Columns() []table.Column[*Row] {
	return slices.Concat(
		[]table.Column[*Row]{
			{Name: "workload", Heading: "Workload", Value: func(r *Row) any { return r.Title }},
			{Name: "direction", Heading: "Dir", Value: func(r *Row) any { return r.Direction }},
			{
				Name: "metric", Heading: "Metric",
				Value: func(r *Row) any {
					if r.Number.LessIsBad() {
						return r.Number.Name
					}
					return r.Number.Name + "_us"
				},
				Text: func(r *Row) string { return r.Number.Text() },
			},
			{Name: "runs", Heading: ">Runs", Value: func(r *Row) any { return r.known }},
		},
		table.Where((*Row).HasChange, []table.Column[*Row]{
			{
				Name: "since", Heading: "Since",
				Value: func(r *Row) any { return r.Change.After.Run.Start },
				Text:  (*Row).since,
			},
			{Name: "before_run", Value: func(r *Row) any { return r.Change.Before.Run.ID }},
			{
				Name: "after_run", Heading: "Run",
				Value: func(r *Row) any { return r.Change.After.Run.ID },
				Text:  func(r *Row) string { return facts.ShortID(r.Change.After.Run.ID) },
			},
			{
				Name: "before_value", Heading: ">Was",
				Value: func(r *Row) any { return digits(r.Change.Level.Before.Middle()) },
				Text:  func(r *Row) string { return r.TextOf(r.Change.Level.Before) },
			},
		}),
		[]table.Column[*Row]{
			{
				Name: "after_value", Heading: ">Is",
				Value: func(r *Row) any { return digits(r.level().Middle()) },
				Text:  func(r *Row) string { return r.TextOf(r.level()) },
			},
		},
		table.Where((*Row).HasChange, []table.Column[*Row]{
			{
				Name: "change", Unit: "percent", Heading: ">Change",
				Value: func(r *Row) any { return percent(r.Change.ratio()) },
				Text:  func(r *Row) string { return r.Change.Text() },
			},
			{
				Heading: ">99% interval",
				Text:    func(r *Row) string { return r.Change.interval() },
			},
			{Name: "low", Unit: "percent", Value: func(r *Row) any { return percent(r.Change.Level.Low) }},
			{Name: "high", Unit: "percent", Value: func(r *Row) any { return percent(r.Change.Level.High) }},
		}),
		[]table.Column[*Row]{
			{
				Name: "visible", Unit: "percent", Heading: ">Visible", Sparse: true,
				Value: func(r *Row) any {
					if v := r.visible; r.Change == nil && !math.IsInf(v, 1) {
						return digits(v * 100)
					}
					return nil
				},
				Text: func(r *Row) string {
					if v := r.visible; r.Change == nil && !math.IsInf(v, 1) {
						return fmt.Sprintf("≥%.0f %%", v*100)
					}
					return ""
				},
			},
			{Name: "unknown", Sparse: true, Value: func(r *Row) any { return r.unknown }}, // runs whose number is not known
		},
		[]table.Column[*Row]{{Name: "verdict", Heading: "Verdict", Value: func(r *Row) any { return r.Verdict() }}},
		table.Where((*Row).HasChange, []table.Column[*Row]{
			{Name: "differs", Value: func(r *Row) any { return strings.Join(Differences(r.Change.Before, r.Change.After), "; ") }},
		}),
		[]table.Column[*Row]{{Name: "open", Sparse: true, Value: func(r *Row) any { return r.open() }}},
	)
}

// Gate checks --fail-last: none of the last runs of a workload may be on a level that is worse than the one before.
type Gate struct {
	Last  int // number of runs; 0: nothing is checked
	Cases []junit.Case
}

// Add checks a series.
func (g *Gate) Add(s *Series) {
	if g.Last == 0 {
		return
	}
	c := junit.Case{Class: s.Title, Name: s.Direction + " " + s.Number.Text()}
	row := &Row{s, nil}
	switch verdict, n := row.Verdict(), s.known; verdict {
	case "unknown":
		c.Result, c.Text = junit.Errored, fmt.Sprintf("%s: %s of %s is not known in %s", s.Title, s.Number.Text(), mapping.Plural(s.Direction), unit.Plural(max(s.unknown, 1), "run"))
	case "too few runs":
		c.Result, c.Text = junit.Skipped, fmt.Sprintf("%s: %s, but finding a change needs at least %d", s.Title, unit.Plural(n, "run"), 2*trend.LeastLevel)
	default:
		c.Text = fmt.Sprintf("%s: no change for the worse of %.0f %% or more in the last %d", unit.Plural(n, "run"), 100*row.visible, g.Last)
	}
	for i := range s.Changes {
		until := s.known // the level lasts up to this run
		if i+1 < len(s.Changes) {
			until = s.Changes[i+1].Level.At
		}
		if change := &s.Changes[i]; s.IsWorse(change) && until > s.known-g.Last {
			c.Result = junit.Failed
			c.Text = fmt.Sprintf("%s: %s of %s is worse since run %s (%s): from %s to %s, %s", s.Title, s.Number.Text(), mapping.Plural(s.Direction),
				facts.ShortID(change.After.Run.ID), Day(change.After), s.TextOf(change.Level.Before), s.TextOf(change.Level.After), change.Text())
		}
	}
	g.Cases = append(g.Cases, c)
}

// Log logs what failed, what is not known, and how many series are too short. isMet reports whether the gate fails, and isUnknown
// whether it may fail.
func (g *Gate) Log(log *slog.Logger) (isMet, isUnknown bool) {
	short := 0
	for _, c := range g.Cases {
		switch c.Result {
		case junit.Failed:
			isMet = true
			log.Error(fmt.Sprintf("--fail-last %d: %s", g.Last, c.Text))
		case junit.Errored:
			isUnknown = true
			log.Warn(fmt.Sprintf("--fail-last %d: %s", g.Last, c.Text))
		case junit.Skipped:
			short++
		}
	}
	if short > 0 {
		log.Info(fmt.Sprintf("note: --fail-last %d: %d of %s not checked: they have fewer than %d runs", g.Last, short, unit.Plural(len(g.Cases), "number"), 2*trend.LeastLevel))
	}
	return isMet, isUnknown
}
