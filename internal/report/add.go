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
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// Add reads a run and adds it to the page. name is the run as the user named it; several says that the page may get others, too. If
// no request of the run matches the page's query, the run is left out, and [Page.Empty] says why. The returned document is nil if
// the files have nothing of a run.
func (p *Page) Add(ctx context.Context, run *query.Run, name string, several bool) (*mapping.Run, error) {
	q := p.opt.Query
	hasSection := !several || len(p.runs) < 2 || isStage(run)
	if q.Levels = Levels(run); !hasSection {
		q.Levels = q.Levels[:1]
	}
	r, side, rules := p.begin(hasSection), &compare.Run{Name: name}, slo.New(p.opt.Rules)
	doc, err := run.Read(ctx, &q, func(w *window.Window) error {
		requests, err := w.Histogram()
		if err != nil {
			return err
		}
		r.add(w, requests)
		if several && w.Level == mapping.Cluster {
			side.Add(w, requests)
			return rules.Add(w)
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
	if !several {
		return doc, nil
	}
	if len(p.opt.Rules) > 0 && run.Stored == nil {
		if err := rules.SetRun(doc, nil); err != nil {
			return doc, err
		}
		one.Doc.SLA = slo.InDocuments(rules.Verdicts())
	}
	if side.End(doc); q.WantsAll() {
		err = side.AddTotals(doc, q.Directions)
	}
	one.side = side
	return doc, err
}

// isStage reports whether a run may be a stage of an execution, whose page has a section for each.
func isStage(run *query.Run) bool {
	if run.Stored != nil {
		return run.Stored.Run.Stages > 1
	}
	return run.IsOnly
}

// Side adds the windows of a run, if it has any, to one that is compared, and returns it.
func Side(ctx context.Context, run *query.Run, q *query.Query, one *compare.Run) (*compare.Run, error) {
	doc, err := run.Read(ctx, q, func(w *window.Window) error {
		requests, err := w.Histogram()
		if err == nil {
			one.Add(w, requests)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return nil, fmt.Errorf("%s: nothing to compare", one.Name)
	}
	one.End(doc)
	if q.WantsAll() {
		err = one.AddTotals(doc, q.Directions)
	}
	if err == nil && one.IsEmpty() && q.String() != "" {
		err = run.NoMatch(doc)
	}
	return one, err
}

// StoredSide is [Side] of a run in a history whose document has no histograms.
func StoredSide(ctx context.Context, store history.Store, run *query.Run, q *query.Query, one *compare.Run) (*compare.Run, error) {
	doc, err := store.Run(ctx, run.Stored.Run.ID) // its totals have the bins of the whole run
	if err != nil {
		return nil, err
	}
	if run.Stored = doc; run.Section != "" {
		run.Stored = facts.Part(doc, run.Section)
	}
	return Side(ctx, run, q, one)
}

func (p *Page) begin(hasSection bool) *runSums {
	columns := mapColumns
	if !hasSection || len(p.runs) >= MaxSections {
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

// comparePair compares the second of two runs with the first.
func comparePair(base, other *run) *comparison {
	c := &comparison{}
	switch {
	case other.side == nil || other.side.IsEmpty():
		c.Why = "run 2: nothing to compare: " + WhyEmpty(other.Doc)
		return c
	case base.side == nil || base.side.IsEmpty():
		c.Why = "run 1: nothing to compare: " + WhyEmpty(base.Doc)
		return c
	}
	c.Differ = workload.Doubt(base.Doc, other.Doc)
	metrics, err := compare.ParseMetrics(compare.Defaults...)
	if err == nil {
		from, to := &compare.Side{Name: base.side.Name, Runs: []*compare.Run{base.side}}, &compare.Side{Name: other.side.Name, Runs: []*compare.Run{other.side}}
		c.Changes, _, err = compare.Compare(from, to, compare.Options{Metrics: metrics, Confidence: confidence, Within: compare.Within})
	}
	if err != nil {
		c.Why = err.Error()
	}
	return c
}

// WhyEmpty returns why a run has nothing to compare.
func WhyEmpty(run *mapping.Run) string { return cmp.Or(query.NoWindows(run), query.NothingInTime) }

// comparison says how the second run of a page differs from the first, or why the two are not compared.
type comparison struct {
	Changes []compare.Line
	Differ  string // how the settings differ, such as "direct 1, not 0"
	Why     string // why there is no comparison, such as a run without requests
}

// Table returns the table of the changes, or nil.
func (c *comparison) Table() *Table {
	var rows []*change
	for i := range c.Changes {
		rows = append(rows, &change{Line: &c.Changes[i]})
	}
	return changesTable("Run 1", "Run 2", rows)
}

// change is a row of a table of changes.
type change struct {
	*compare.Line
	Test string // what changed; empty on the page of two runs
}

// changesTable returns the table of changes between two sides, or nil.
func changesTable(base, other string, rows []*change) *Table {
	text := func(name, heading string, of func(*change) string) table.Column[*change] {
		return table.Column[*change]{Name: name, Heading: heading, Text: of}
	}
	columns := []table.Column[*change]{
		text("test", "Test", func(c *change) string { return c.Test }),
		text("", "Direction", func(c *change) string { return c.Direction }), text("metric", "Metric", func(c *change) string { return c.Metric.String() }),
		text("", ">"+base, func(c *change) string { return c.BaseText() }), text("", ">"+other, func(c *change) string { return c.OtherText() }),
		text("", ">Change", func(c *change) string { return c.Text() }), text("", ">"+share(confidence)+" interval", func(c *change) string { return c.IntervalText() }),
		text("picture", "half … twice as much", func(*change) string { return "" }), text("verdict", "Verdict", func(c *change) string { return c.VerdictText() }),
	}
	if len(rows) > 0 && rows[0].Test == "" {
		columns = columns[1:]
	}
	return NewTable("changes", "", columns, rows, func(c *change, column string, to *Cell) {
		switch column {
		case "test":
			to.Class += " name"
		case "picture":
			to.Picture = drawChange(c.Change)
		case "verdict":
			to.Class, to.Title = "text verdict "+string(c.Verdict), c.Why
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
