package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/matrix"
	"github.com/fio2es/fio2es/internal/night"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// curvesHeight is the height of a panel of latencies over IOPS.
const curvesHeight = 180

// Curves returns a chart of latencies over IOPS for each mode and direction: a line for each workload, with a dot for each depth.
// Workloads with one depth alone are no line.
func (v *nightView) Curves() (view View) {
	var groups [][]*night.Row
	for _, r := range v.Rows {
		i := slices.IndexFunc(groups, func(g []*night.Row) bool {
			return g[0].Mode == r.Mode && g[0].Direction == r.Direction && len(g) < matrix.MostLines
		})
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	for _, rows := range groups {
		if f, ok := v.curve(rows); ok {
			view.Drawings = append(view.Drawings, f)
		}
	}
	if len(view.Drawings) > 0 {
		view.Notes = []string{"A dot is a test, and the number beside it is its depth. Both axes are logarithmic."}
		if v.before != nil && v.Part == "" {
			view.Notes[0] += " Dotted lines are those of " + v.before.Base.Name + "."
		}
	}
	return view
}

// dot is a test in a chart.
type dot struct {
	iops, latency float64
	title, depth  string
}

// dotsOf returns the tests whose IOPS and latency are known, or lie between near bounds.
func dotsOf(tests []*night.Test, m facts.Metric) (list []dot) {
	for _, t := range tests {
		iops, latency := t.Number(facts.IOPS), t.Number(m)
		if x, y := iops.N(), latency.N(); x > 0 && y > 0 {
			list = append(list, dot{x, y, fmt.Sprintf("%s: %s IOPS, %s %s", t.Name(), iops.ValueText(), m.Text(), latency.ValueText()), fmt.Sprint(t.Depth)})
		}
	}
	return list
}

// curve draws mean and p99 of workloads of one mode, below one another over the same axis of IOPS.
func (v *nightView) curve(rows []*night.Row) (f Figure, ok bool) {
	before := func(r *night.Row) (tests []*night.Test) {
		for _, t := range r.Tests {
			if v.before == nil || v.Part != "" {
				break
			}
			if p := v.before.Of(t); p != nil {
				tests = append(tests, p.Base)
			}
		}
		return tests
	}
	title := strings.TrimSpace(rows[0].Mode + " " + map[bool]string{true: "", false: mapping.Plural(rows[0].Direction)}[isOne(rows[0])])
	pic, top := &chart.Canvas{}, 0.0
	lowest, highest := math.Inf(1), 0.0
	for _, r := range rows {
		for _, d := range slices.Concat(dotsOf(r.Tests, facts.Mean), dotsOf(before(r), facts.Mean)) {
			lowest, highest = min(lowest, d.iops), max(highest, d.iops)
		}
		ok = ok || len(dotsOf(r.Tests, facts.Mean)) > 1
	}
	if !ok {
		return f, false
	}
	rates := chart.NewRates(lowest, highest)
	across := rates.Ticks(chart.AreaWidth / 60)
	var abouts []string
	for i, r := range rows {
		pic.Key(fmt.Sprintf("line run%d", i+1), strings.TrimSpace(strings.TrimPrefix(r.Title, r.Mode)))
		if best := r.Best(); best != nil {
			abouts = append(abouts, fmt.Sprintf("%s %s at %s", r.Title, best.Number(facts.IOPS).ValueText(), best.Number(facts.Mean).ValueText()))
		}
	}
	for _, m := range ofNights[1:] {
		low, high := math.Inf(1), 0.0
		for _, r := range rows {
			for _, d := range slices.Concat(dotsOf(r.Tests, m), dotsOf(before(r), m)) {
				low, high = min(low, d.latency), max(high, d.latency)
			}
		}
		if high == 0 {
			continue
		}
		axis := chart.LatencyAxis(low, high, top+titleHeight, curvesHeight)
		pic.Text(chart.Left, axis.Top-9, "name", title+": "+m.Text()+" latency over IOPS")
		pic.Axes(axis, across)
		for i, r := range rows {
			colour := fmt.Sprintf("run%d", i+1)
			points := func(dots []dot) (list []chart.Point) {
				for _, d := range dots {
					list = append(list, chart.Point{X: rates.X(d.iops), Y: axis.Y(d.latency), Title: d.title, Label: d.depth})
				}
				return list
			}
			if was := points(dotsOf(before(r), m)); len(was) > 1 {
				pic.Line("before "+colour, v.before.Base.Name+": "+r.Title, was)
			}
			pic.Line(colour, r.Title, points(dotsOf(r.Tests, m)))
			pic.Dots(colour, points(dotsOf(r.Tests, m)))
		}
		top += titleHeight + curvesHeight + betweenPanels
	}
	top -= betweenPanels
	pic.Below(across, top, "IOPS")
	label := fmt.Sprintf("Mean and p99 latency over IOPS, %s. Best throughput: %s", title, unit.List(abouts, matrix.MostLines, "; "))
	return Figure{SVG: picture(pic, "curves", top+chart.BelowHeight, label)}, true
}

// isOne reports whether the mode of a row says its direction.
func isOne(r *night.Row) bool {
	return strings.HasSuffix(r.Mode, r.Direction)
}
