package report

import (
	"html/template"
	"slices"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/matrix"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// Matrices returns views of a number of runs by settings: the curve of a latency, and a heat map, for each direction that can be
// drawn, and has at least least cells.
func Matrices(by []matrix.Setting, metric facts.Metric, directions []string, runs []*matrix.Run, least int) (list []View) {
	for _, direction := range directions {
		for _, m := range matrix.New(by, direction, runs) {
			if len(m.Cells()) < least {
				continue
			}
			v := View{Title: m.Title(metric)}
			add := func(p *matrix.Picture) {
				v.Drawings, v.Notes = append(v.Drawings, Figure{SVG: template.HTML(p.Fragment())}), p.Notes // safe, because Fragment escapes texts
			}
			curve, noCurve := m.Curve(metric)
			if noCurve == nil {
				add(curve.Picture())
			}
			if heat, err := m.Heat(metric); err == nil {
				add(heat)
				if noCurve != nil && metric.Kind == expr.Latency { // such as more lines than can be distinguished
					v.Notes = append(v.Notes, "No curve: "+noCurve.Error()+".")
				}
			}
			if len(v.Drawings) > 0 {
				list = append(list, v)
			}
		}
	}
	return list
}

// matrices shows p99 by the settings in which the stages of an execution differ. There is none if they differ in more than three, or
// if the page has only parts of them, because documents have the numbers of whole runs.
func (p *Page) matrices() []View {
	runs := matrix.RunsOf(facts.Parts(slices.DeleteFunc(documents(p.runs), func(run *mapping.Run) bool { return run.Run.Live() })...))
	by := matrix.SettingsOf(runs)
	if len(by) == 0 || p.opt.Query.Times() != "" {
		return nil
	}
	directions := p.opt.Query.Directions
	if len(directions) == 0 {
		directions = matrix.Directions(runs)
	}
	const least = 3 // of fewer, a table has all
	return Matrices(by, workload.MustNumbers("p99")[0], directions, runs, least)
}
