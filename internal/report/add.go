package report

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// Add reads a run and adds it to the page. A page with several runs compares each with the first. Stages of one execution,
// which are meant to differ, are compared only as a [Options.Pair]; those of others are compared with the stage of this name in the first one. name is the run as
// the user named it. If no request of the run matches the page's query, the run is left out, and [Page.Empty] says
// why. The returned document is nil if the files have nothing of a run.
func (p *Page) Add(ctx context.Context, run *query.Run, name string, several bool) (*mapping.Run, error) {
	q := p.opt.Query
	q.Levels = Levels(run)
	r, side := p.begin(), &compare.Run{Name: name}
	doc, err := run.Read(ctx, &q, func(w *window.Window) error {
		requests, err := w.Histogram()
		if err != nil {
			return err
		}
		r.add(w, requests)
		if several && w.Level == mapping.Cluster {
			side.Add(w, requests)
		}
		return nil
	})
	if err != nil || doc == nil {
		return doc, err
	}
	one, err := r.end(doc)
	if err != nil {
		return doc, err
	}
	if one == nil {
		p.empty = append(p.empty, run.NoMatch(doc))
		return doc, nil
	}
	p.put(one, r)
	if several {
		if side.End(doc); q.WantsAll() {
			err = side.AddTotals(doc, q.Directions)
		}
		if err != nil {
			return doc, err
		}
		p.compare(&compare.Side{Name: run.Name, Runs: []*compare.Run{side}})
	}
	return doc, nil
}

func (p *Page) begin() *runSums {
	columns := mapColumns
	if len(p.runs) >= MaxSections {
		columns = 0
	}
	return newRunSums(&p.opt.Query, columns)
}

// put puts a run on the page, and draws its section.
func (p *Page) put(one *run, r *runSums) {
	p.runs = append(p.runs, one)
	one.Number = len(p.runs)
	for _, t := range one.Totals {
		if t.histogram != nil && !t.histogram.IsEmpty() {
			one.curves = append(one.curves, newCurve(t.Direction, t.Direction, t.histogram))
		}
	}
	if r.cells != nil {
		one.Section = r.section(one)
	}
}

// confidence of all intervals, as the default of fio2es compare.
const confidence = 0.95

// base is a run with which others are compared, and its number.
type base struct {
	*compare.Side
	number int
}

// compare compares the last added run with its base.
func (p *Page) compare(side *compare.Side) {
	other := side.Runs[0]
	if len(p.bases) == 0 || !p.opt.Pair && facts.IsExecution([]*mapping.Run{p.bases[0].Runs[0].Document, other.Document}) {
		p.bases = append(p.bases, &base{side, len(p.runs)})
		return
	}
	from := p.bases[0]
	for _, b := range p.bases {
		if facts.StageName(b.Runs[0].Document) == facts.StageName(other.Document) {
			from = b
			break
		}
	}
	first := from.Runs[0]
	c := &comparison{Base: from.number, Other: len(p.runs), Title: facts.Title(other.Document)}
	p.comparisons = append(p.comparisons, c)
	switch {
	case other.IsEmpty():
		c.Why = other.Name + ": nothing to compare: " + WhyEmpty(other)
	case first.IsEmpty():
		c.Why = fmt.Sprintf("run %d: nothing to compare: ", c.Base) + WhyEmpty(first)
	default:
		c.Differ = workload.Doubt(first.Document, other.Document)
	}
	if c.Why != "" {
		return
	}
	metrics, err := compare.ParseMetrics(compare.Defaults...)
	if err == nil {
		c.Changes, _, err = compare.Compare(from.Side, side, compare.Options{Metrics: metrics, Confidence: confidence, Within: compare.Within})
	}
	if err != nil {
		c.Why = err.Error()
	}
}

// WhyEmpty returns why a run has nothing to compare.
func WhyEmpty(r *compare.Run) string {
	return cmp.Or(query.NoWindows(r.Document), query.NothingInTime)
}

// comparison says how a run differs from its base, or why the two are not compared.
type comparison struct {
	Base    int    // number of the base on the page, from 1
	Other   int    // number of the run
	Title   string // title of the run
	Changes []compare.Line
	Differ  string // how the settings differ, such as "direct 1, not 0"
	Why     string // why there is no comparison, such as a run without requests
}

// Table returns the table of the changes, or nil.
func (c *comparison) Table() *Table {
	text := func(name, heading string, of func(*compare.Line) string) table.Column[*compare.Line] {
		return table.Column[*compare.Line]{Name: name, Heading: heading, Text: of}
	}
	columns := []table.Column[*compare.Line]{
		text("", "Direction", func(l *compare.Line) string { return l.Direction }), text("metric", "Metric", func(l *compare.Line) string { return l.Metric.String() }),
		text("", fmt.Sprint(">Run ", c.Base), func(l *compare.Line) string { return l.BaseText() }), text("", fmt.Sprint(">Run ", c.Other), func(l *compare.Line) string { return l.OtherText() }),
		text("", ">Change", func(l *compare.Line) string { return l.Text() }), text("", ">"+share(confidence)+" interval", func(l *compare.Line) string { return l.IntervalText() }),
		text("picture", "half … twice as much", func(*compare.Line) string { return "" }), text("verdict", "Verdict", func(l *compare.Line) string { return l.VerdictText() }),
	}
	var rows []*compare.Line
	for i := range c.Changes {
		rows = append(rows, &c.Changes[i])
	}
	return NewTable("changes", "", columns, rows, func(l *compare.Line, column string, to *Cell) {
		switch column {
		case "picture":
			to.Picture = drawChange(l.Change)
		case "verdict":
			to.Class, to.Title = "text verdict "+string(l.Verdict), l.Why
		}
	})
}

// A change is drawn on a logarithmic line from half as much to twice as much.
const (
	changeWidth  = 160
	changeHeight = 16
	changeMiddle = changeWidth / 2
)

// changeX returns the x of a change on this line; 0.1 is ten percent more.
func changeX(change float64) float64 {
	return changeMiddle + min(max(math.Log2(1+change), -1), 1)*(changeMiddle-6)
}

// drawChange draws a change and its interval, and a mark for no change.
func drawChange(c compare.Change) template.HTML {
	if math.IsNaN(c.Change) {
		return ""
	}
	pic := &chart.Canvas{}
	pic.Printf(`<path class="grid" d="M%d 0v%d"/>`, changeMiddle, changeHeight)
	if c.Verdict != compare.Unknown && !math.IsNaN(c.Low+c.High) {
		from, to := changeX(c.Low), changeX(c.High)
		pic.Printf(`<path class="range" d="M%s %dH%s"/>`, chart.Number(from), changeHeight/2, chart.Number(max(to, from+1)))
	}
	switch x, y := changeX(c.Change), changeHeight/2; {
	case c.Change > 1:
		pic.Printf(`<path class="beyond" d="M%s %dl7 4 -7 4z"/>`, chart.Number(x-1), y-4)
	case c.Change < -0.5:
		pic.Printf(`<path class="beyond" d="M%s %dl-7 4 7 4z"/>`, chart.Number(x+1), y-4)
	default:
		pic.Printf(`<circle cx="%s" cy="%d" r="3"/>`, chart.Number(x), y)
	}
	attributes := fmt.Sprintf(`class="change %s" viewBox="0 0 %d %d" width="%d" height="%d"`, strings.Fields(string(c.Verdict))[0], changeWidth, changeHeight, changeWidth, changeHeight)
	return template.HTML(pic.SVG(attributes, "")) // no label, because the numbers are beside it
}
