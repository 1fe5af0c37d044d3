package report

import (
	"html/template"

	"github.com/fio2es/fio2es/internal/matrix"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// matrixView shows p99 in one direction by the settings in which the runs of a page differ.
type matrixView struct {
	Title    string
	Drawings []template.HTML
	Notes    []string
}

// matrices returns a view for each direction. It returns none if the runs differ in more than two settings, or if the page
// has only parts of them, because documents have the numbers of whole runs.
func (p *Page) matrices() (list []matrixView) {
	var docs []*mapping.Run
	for _, r := range p.runs {
		if !r.Doc.Run.Live() {
			docs = append(docs, r.Doc)
		}
	}
	by := matrix.SettingsOf(docs)
	if len(by) == 0 || p.opt.Query.Times() != "" {
		return nil
	}
	metric := workload.MustNumbers("p99")[0]
	directions := p.opt.Query.Directions
	if len(directions) == 0 {
		directions = matrix.Directions(docs)
	}
	for _, direction := range directions {
		m := matrix.New(by, direction, docs)
		v := matrixView{Title: m.Title(metric)}
		if curve, err := m.Curve(metric); err == nil { // such as more lines than can be distinguished
			v.Drawings, v.Notes = append(v.Drawings, template.HTML(matrix.Fragment(curve))), curve.Notes() // safe, because Fragment escapes texts
		}
		if heat, err := m.Heat(metric); err == nil {
			v.Drawings, v.Notes = append(v.Drawings, template.HTML(matrix.Fragment(heat))), heat.Notes()
		}
		if len(v.Drawings) > 0 {
			list = append(list, v)
		}
	}
	return list
}
