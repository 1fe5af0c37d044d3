package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Row says how a metric of a direction differs between two sides. It is a row of a table.
type Row struct {
	Workload string // its title, if there are several
	From, To *Side
	Line
}

// Columns returns the columns of a comparison for tables. confidence is that of its intervals, 0 … 1.
func Columns(confidence float64) []table.Column[*Row] {
	return slices.Concat(
		sideColumns("base", func(r *Row) *Side { return r.From }),
		sideColumns("other", func(r *Row) *Side { return r.To }),
		[]table.Column[*Row]{
			{Name: "direction", Heading: "DIR", Value: func(r *Row) any { return r.Direction }},
			{
				Name: "metric", Heading: "METRIC",
				Value: func(r *Row) any { return r.Metric.Column() },
				Text:  func(r *Row) string { return r.Metric.String() },
			},
			{
				Name: "base_value", Heading: ">BASE",
				Value: func(r *Row) any { return machine(r.Metric, r.Base) },
				Text:  (*Row).BaseText,
			},
			{
				Name: "other_value", Heading: ">OTHER",
				Value: func(r *Row) any { return machine(r.Metric, r.Other) },
				Text:  (*Row).OtherText,
			},
			{
				Name: "change", Unit: "percent", Heading: ">CHANGE",
				Value: func(r *Row) any { return inPercent(r.Change.Change) },
				Text:  (*Row).Text,
			},
			{
				Heading: fmt.Sprintf(">%s%% INTERVAL", unit.Number(confidence*100)),
				Text:    (*Row).IntervalText,
			},
			{Name: "low", Unit: "percent", Value: func(r *Row) any { return inPercent(r.Low) }},
			{Name: "high", Unit: "percent", Value: func(r *Row) any { return inPercent(r.High) }},
			{Name: "confidence", Value: func(*Row) any { return confidence }},
			{Name: "base_low", Sparse: true, Value: func(r *Row) any { return bound(r.Metric, r.base, r.base.Low) }}, // of a value between bounds
			{Name: "base_high", Sparse: true, Value: func(r *Row) any { return bound(r.Metric, r.base, r.base.High) }},
			{Name: "other_low", Sparse: true, Value: func(r *Row) any { return bound(r.Metric, r.other, r.other.Low) }},
			{Name: "other_high", Sparse: true, Value: func(r *Row) any { return bound(r.Metric, r.other, r.other.High) }},
			{
				Name: "verdict", Heading: "VERDICT",
				Value: func(r *Row) any { return string(r.Verdict) },
				Text:  (*Row).VerdictText,
			},
			{Name: "open", Sparse: true, Value: func(r *Row) any { // the values that are lower bounds
				var names []string
				if r.BaseOpen {
					names = append(names, "base_value")
				}
				if r.OtherOpen {
					names = append(names, "other_value")
				}
				return names
			}},
			{Name: "workload", Sparse: true, Value: func(r *Row) any { return r.Workload }},
		})
}

// sideColumns returns the columns for programs that identify a side: its name as the user wrote it, and its runs,
// joined by commas. Runs in files have no id.
func sideColumns(name string, of func(*Row) *Side) []table.Column[*Row] {
	joined := func(s *Side, text func(*mapping.RunInfo) string) string {
		var texts []string
		for _, r := range s.Runs {
			texts = append(texts, text(&r.Document.Run))
		}
		return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), ",")
	}
	return []table.Column[*Row]{
		{Name: name, Value: func(r *Row) any { return of(r).Name }},
		{Name: name + "_run", Sparse: true, Value: func(r *Row) any { return joined(of(r), func(i *mapping.RunInfo) string { return i.ID }) }},
		{Name: name + "_name", Value: func(r *Row) any {
			return joined(of(r), func(i *mapping.RunInfo) string { return i.Archive + ":" + i.Name })
		}},
	}
}

// mostNamed is how many runs of a side a heading names.
const mostNamed = 4

// Heading names the runs of a side, one on each line. If there are many, it says how many, and names the first and
// the last.
func Heading(label string, side *Side) (lines []string) {
	if n := len(side.Runs); n > mostNamed {
		first, last := side.Runs[0], side.Runs[n-1]
		return []string{fmt.Sprintf("%-5s  %s: %s, %s (%s) to %s (%s)", label, term.Clean(side.Name), unit.Plural(n, "run"),
			term.Clean(first.Name), facts.StartedInZone(first.Document), term.Clean(last.Name), facts.StartedInZone(last.Document))}
	}
	width := 0
	for _, r := range side.Runs {
		width = max(width, term.Width(term.Clean(r.Name)))
	}
	for _, r := range side.Runs {
		title := facts.Title(r.Document)
		if title == r.Name {
			title = ""
		} else {
			title = facts.Started(r.Document) + "  " + title
		}
		if info := &r.Document.Run; !info.Complete && !info.Live() {
			words, _ := r.Document.State()
			title = strings.TrimLeft(title+"  ("+strings.Join(words, ", ")+")", " ")
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%-5s  %s%*s  %s", label, term.Clean(r.Name), width-term.Width(term.Clean(r.Name)), "", title), " "))
		label = ""
	}
	return lines
}

// machine returns a metric's value with the digits of documents: latencies are in microseconds, rounded to the
// nanosecond.
func machine(m facts.Metric, v float64) float64 {
	if m.Kind == expr.Latency {
		return math.Round(v) / 1000
	}
	return math.Round(v*1000) / 1000
}

// inPercent returns a share in percent, with four decimals.
func inPercent(share float64) float64 { return math.Round(share*1e6) / 1e4 }

// valueText returns a value for people. A bound has a mark, and so has what fio computed.
func (c *Change) valueText(v float64, isOpen bool, of figure) string {
	text := func(x float64) string { return facts.TextOf(c.Kind, finite(x), math.NaN(), 0) }
	if of.IsBound() || of.ByFio {
		return of.TextBy(text)
	}
	return unit.OrMore(text(v), isOpen)
}

// BaseText and OtherText return the values of the sides for people.
func (c *Change) BaseText() string  { return c.valueText(c.Base, c.BaseOpen, c.base) }
func (c *Change) OtherText() string { return c.valueText(c.Other, c.OtherOpen, c.other) }

// Text returns the change for people, such as "+3.1 %". It is "-" if both values are lower
// bounds.
func (c *Change) Text() string {
	if c.Bound() == "?" || math.IsNaN(c.Change) {
		return "-"
	}
	return c.Bound() + signed(c.Change) + " %"
}

// IntervalText returns the confidence interval for people, such as "-1.2 … +3.1 %".
func (c *Change) IntervalText() string {
	switch {
	case !c.HasInterval() || math.IsNaN(c.Low+c.High):
		return "-"
	case math.IsInf(c.High, 1):
		return signed(c.Low) + " % or more"
	}
	return signed(c.Low) + " … " + signed(c.High) + " %"
}

// VerdictText returns the verdict for people. If no change was shown, it names the largest change in the interval,
// rounded up: "no change > 2.9 %".
func (c *Change) VerdictText() string {
	if c.Verdict != Same {
		return string(c.Verdict)
	}
	percent := math.Ceil(c.reach()*1000-1e-9) / 10
	if percent == 0 {
		return "no change"
	}
	return fmt.Sprintf("no change > %.1f %%", percent)
}

func signed(share float64) string {
	x := math.Round(share*1000) / 10
	switch {
	case x == 0:
		return "0.0"
	case math.Abs(x) >= 100:
		return fmt.Sprintf("%+.0f", x)
	}
	return fmt.Sprintf("%+.1f", x)
}

// Conclusion says in a line what a comparison found, such as "slower: p99 of reads +75.1 % (1.94ms to 3.40ms) and 2 more". It says how
// many lines are not known as well. With one run on a side, it says that runs may differ as much from one another.
func Conclusion(base, other *Side, lines []Line) string {
	of, reach := map[Verdict][]*Line{}, 0.0
	for i := range lines {
		l := &lines[i]
		if of[l.Verdict] = append(of[l.Verdict], l); l.Verdict == Same {
			reach = max(reach, l.reach())
		}
	}
	var parts []string
	for _, v := range []Verdict{Worse, Better} {
		if list := of[v]; len(list) > 0 {
			parts = append(parts, v.word()+": "+foremost(list).headline()+andMore(len(list)-1))
		}
	}
	isChanged := len(parts) > 0
	if list := of[Unclear]; len(list) > 0 && !isChanged {
		parts = append(parts, fmt.Sprintf("unclear: %s of %s (%s)%s", foremost(list).Metric, mapping.Plural(foremost(list).Direction), foremost(list).IntervalText(), andMore(len(list)-1)))
	} else if len(list) > 0 {
		parts = append(parts, fmt.Sprintf("%d unclear", len(list)))
	}
	if n := len(of[Same]); n > 0 && !isChanged {
		parts = append(parts, fmt.Sprintf("%s in %d of %d numbers", (&Change{Verdict: Same, Low: -reach, High: reach}).VerdictText(), n, len(lines)))
	}
	if n := len(of[NoInterval]) + len(of[Unknown]); n == len(lines) {
		return "no verdict: no number has an interval"
	} else if n > 0 {
		parts = append(parts, fmt.Sprintf("%d without an interval", n))
	}
	text := strings.Join(parts, "; ")
	if isChanged && min(len(base.Runs), len(other.Runs)) == 1 {
		text += "; one run may differ as much from the next"
	}
	return text
}

// word returns what a verdict means for whoever waits for requests.
func (v Verdict) word() string {
	switch v {
	case Worse:
		return "slower"
	case Better:
		return "faster"
	}
	return string(v)
}

func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// foremost returns the line of p99, or else that with the largest change.
func foremost(lines []*Line) *Line {
	return slices.MaxFunc(lines, func(a, b *Line) int {
		if is, isToo := a.Quantile == 0.99, b.Quantile == 0.99; is != isToo {
			if is {
				return 1
			}
			return -1
		}
		return cmp.Compare(math.Abs(math.Log1p(a.Change.Change)), math.Abs(math.Log1p(b.Change.Change)))
	})
}

// headline returns a change in a few words: "p99 of reads +75.1 % (1.94ms to 3.40ms)".
func (l *Line) headline() string {
	return fmt.Sprintf("%s of %s %s (%s to %s)", l.Metric, mapping.Plural(l.Direction), l.Text(), l.BaseText(), l.OtherText())
}

// Summary counts comparisons by what they found: "8 workloads: 2 slower, 1 slower and faster, 5 no change".
func Summary(what string, all [][]Line) string {
	order := []string{"slower", "slower and faster", "faster", "unclear", "no change", "no verdict"}
	counts := map[string]int{}
	for _, lines := range all {
		has := map[Verdict]bool{}
		for i := range lines {
			has[lines[i].Verdict] = true
		}
		switch {
		case has[Worse] && has[Better]:
			counts[order[1]]++
		case has[Worse]:
			counts[order[0]]++
		case has[Better]:
			counts[order[2]]++
		case has[Unclear]:
			counts[order[3]]++
		case has[Same]:
			counts[order[4]]++
		default:
			counts[order[5]]++
		}
	}
	var parts []string
	for _, word := range order {
		if counts[word] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[word], word))
		}
	}
	return unit.Plural(len(all), what) + ": " + strings.Join(parts, ", ")
}
