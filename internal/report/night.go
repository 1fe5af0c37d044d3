package report

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/ahead"
	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/night"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// Against is what the nights of a page are compared with. The zero value is nothing.
type Against struct {
	History  []*mapping.Run // runs of the history, without histograms: the night before is among them
	Name     string         // of the baseline
	Baseline []*mapping.Run // its runs; none: there is no baseline
	// Read reads the windows of one of these runs. Several goroutines may call it.
	Read func(context.Context, *mapping.Run) (*compare.Run, error)
}

// nightView is a night for the template.
type nightView struct {
	*night.Night
	home     string
	before   *against // the night before, or nil
	baseline *against
	levels   map[*night.Test]*workload.Row // nil: no history is known
}

// against is another night, and what tables call it.
type against struct {
	*night.Comparison
	what string
}

// ofNights are the numbers that are compared.
var ofNights = []facts.Metric{facts.IOPS, facts.Mean, workload.MustNumbers("p99")[0]}

// Nights returns the nights of a page, the first first: see [Page.IsOfNights].
func (p *Page) Nights() []*night.Night {
	var docs []*mapping.Run
	for _, r := range p.runs {
		docs = append(docs, r.counted(&p.opt.Query))
	}
	return night.Divide(docs)
}

// Compare compares each night of the page with the one before it, which is on the page or, of a single one, in the history, and with
// the baseline.
func (p *Page) Compare(ctx context.Context, with Against) error {
	var nights []*night.Night
	sides := map[*mapping.Run]*compare.Run{}
	for _, r := range p.runs {
		sides[r.Doc] = r.side
	}
	nights = p.Nights()
	for i, n := range nights {
		v := &nightView{Night: n, home: p.opt.Home}
		var base *night.Night
		switch {
		case i > 0:
			base = nights[i-1]
		case len(nights) == 1:
			base = night.Before(n, with.History)
		}
		if base != nil {
			v.before = &against{n.Against(base), "before"}
		}
		if len(with.Baseline) > 0 {
			v.baseline = &against{n.Against(night.New(with.Name, with.Baseline)), "baseline"}
		}
		if len(with.History) > 0 {
			v.levels = night.Levels(n, with.History)
		}
		p.nights = append([]*nightView{v}, p.nights...)
	}
	if err := p.readBases(ctx, with, sides); err != nil {
		return err
	}
	read := func(run *mapping.Run) *compare.Run { return sides[run] }
	for _, v := range p.nights {
		for _, a := range v.against() {
			a.Compare(read, compare.Options{Metrics: ofNights, Confidence: confidence, Within: compare.Within})
		}
	}
	return nil
}

// readBases reads the runs of other nights that are on no table.
func (p *Page) readBases(ctx context.Context, with Against, sides map[*mapping.Run]*compare.Run) error {
	var runs []*mapping.Run
	isNeeded := map[*mapping.Run]bool{}
	for _, v := range p.nights {
		for _, a := range v.against() {
			for _, pair := range a.Pairs() {
				for _, run := range slices.Concat(pair.Base.Runs, pair.Runs) {
					if _, isKnown := sides[run]; !isKnown && !isNeeded[run] {
						isNeeded[run], runs = true, append(runs, run)
					}
				}
			}
		}
	}
	const atOnce = 8 // in a cluster each needs several requests
	n := 0
	for one, err := range ahead.Map(ctx, atOnce, runs, func(ctx context.Context, run *mapping.Run) (*compare.Run, error) {
		if len(run.Sections) == 1 || with.Read == nil { // a section of a run of the page
			return ofTotals(run)
		}
		return with.Read(ctx, run)
	}) {
		if err != nil {
			return err
		}
		sides[runs[n]] = one
		n++
	}
	return nil
}

// ofTotals returns a run to compare of which only the totals are known.
func ofTotals(run *mapping.Run) (*compare.Run, error) {
	one := &compare.Run{Name: run.Run.Name}
	one.End(run)
	return one, one.AddTotals(run, nil)
}

// counted returns the document of a run with the totals that a query wants, if these are not those of the whole run.
func (r *run) counted(q interface{ WantsAll() bool }) *mapping.Run {
	have := map[string]**mapping.Totals{
		"read": &r.Doc.Read, "write": &r.Doc.Write, "trim": &r.Doc.Trim, mapping.AllDirections: &r.Doc.All,
	}
	if q.WantsAll() && len(r.Totals) == len(r.Doc.ByDirection()) {
		return r.Doc
	}
	for _, to := range have {
		*to = nil
	}
	for _, t := range r.Totals {
		*have[t.Direction] = t.Totals
	}
	r.Doc.Sections = nil
	return r.Doc
}

func (v *nightView) against() (list []*against) {
	for _, a := range []*against{v.before, v.baseline} {
		if a != nil {
			list = append(list, a)
		}
	}
	return list
}

// Lead returns when the night was, how many tests it has, and on what.
func (v *nightView) Lead() string {
	parts := []string{
		unit.Time(v.Start(), unit.Second) + " to " + unit.Time(v.End(), unit.Second+unit.InZone), unit.Plural(len(v.Runs), "run"),
	}
	for _, of := range []func(*mapping.Run) string{
		func(run *mapping.Run) string { return run.Fio.Version },
		func(run *mapping.Run) string {
			if run.CBT.CephVersion == "" {
				return ""
			}
			return "Ceph " + run.CBT.CephVersion
		},
	} {
		var texts []string
		for _, run := range v.Runs {
			if text := of(run); text != "" && !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
		if len(texts) > 0 {
			parts = append(parts, unit.List(texts, 3, ", "))
		}
	}
	return strings.Join(parts, between)
}

// Summary says in sentences what the tables show.
func (v *nightView) Summary() (list []string) {
	for _, a := range v.against() {
		name := map[string]string{"before": "the night before", "baseline": "the baseline"}[a.what]
		counts := map[compare.Verdict]int{}
		for _, p := range a.Pairs() {
			counts[p.Verdict()]++
		}
		var parts []string
		for _, verdict := range []compare.Verdict{compare.Worse, compare.Better, compare.Same, compare.Unclear, compare.NoInterval, compare.Unknown} {
			if counts[verdict] > 0 {
				text := string(verdict)
				switch verdict {
				case compare.Same:
					text = "no change"
				case compare.NoInterval:
					text = "without an interval"
				}
				parts = append(parts, fmt.Sprintf("%d %s", counts[verdict], text))
			}
		}
		text := "no test of it has the same settings"
		if len(parts) > 0 {
			text = strings.Join(parts, ", ")
		}
		list = append(list, fmt.Sprintf("Against %s, %s (%s, %s): %s.", name, a.Base.Name, facts.StartedInZone(a.Base.Runs[0]), unit.Plural(len(a.Base.Runs), "run"), text))
	}
	checked, broken := 0, 0
	for _, run := range v.Runs {
		for _, verdict := range run.SLA {
			if checked++; !verdict.Holds {
				broken++
			}
		}
	}
	if checked > 0 {
		list = append(list, fmt.Sprintf("%d of %s broken.", broken, unit.Plural(checked, "objective")))
	}
	return list
}

// Broken returns the table of objectives that are broken, or nil.
func (v *nightView) Broken() *Table {
	type row struct {
		run *mapping.Run
		mapping.Verdict
	}
	var rows []row
	for _, run := range v.Runs {
		for _, verdict := range run.SLA {
			if !verdict.Holds {
				rows = append(rows, row{run, verdict})
			}
		}
	}
	text := func(name, heading string, of func(row) string) table.Column[row] {
		return table.Column[row]{Name: name, Heading: heading, Text: of}
	}
	return NewTable("list", "", []table.Column[row]{
		text("test", "Test", func(r row) string { return v.nameOf(r.run) }), text("", "Rule", func(r row) string { return r.Rule }),
		text("", ">Value", func(r row) string { return slo.NumberText(&r.Verdict, r.Value) }), text("", ">Limit", func(r row) string { return slo.NumberText(&r.Verdict, r.Limit) }),
	}, rows, func(r row, column string, to *Cell) {
		if column == "test" {
			to.Class, to.Link = to.Class+" name", v.link(r.run)
		}
	})
}

// nameOf names a run by its test, without the archive.
func (v *nightView) nameOf(run *mapping.Run) string {
	for _, t := range v.Tests() {
		if slices.Contains(t.Runs, run) {
			return t.Name()
		}
	}
	return strings.TrimSpace(run.ShortName() + " " + facts.ShortSettings(run))
}

// link returns the address of the page of a run, or nothing in a file.
func (v *nightView) link(run *mapping.Run) string {
	if v.home == "" || run.Run.ID == "" {
		return ""
	}
	return v.home + "runs/" + url.PathEscape(run.Run.ID)
}

// Missing returns what the night lacks: parts of runs, runs that are not over, and tests of the night before.
func (v *nightView) Missing() (list []Cell) {
	for _, run := range v.Runs {
		text := ""
		switch {
		case run.Run.Live():
			text = "live, so it is in no table"
		case len(run.ByDirection()) == 0:
			text = "no requests"
			if run.NoWindows != "" {
				text += ": " + run.NoWindows
			}
		case !run.Run.Complete:
			text = "incomplete"
			if run.Missing.Requests > 0 {
				text += fmt.Sprintf(", %s without a known latency", unit.Plural(int(run.Missing.Requests), "request"))
			}
			if len(run.Warnings) > 0 {
				text += ": " + unit.List(run.Warnings, 3, "; ")
			}
		}
		if text != "" {
			list = append(list, Cell{Text: v.nameOf(run), Link: v.link(run), Note: text})
		}
	}
	if v.before != nil && len(v.before.Absent) > 0 {
		var names []string
		for _, t := range v.before.Absent {
			if !slices.Contains(names, t.Name()) {
				names = append(names, t.Name())
			}
		}
		list = append(list, Cell{Text: "Only in " + v.before.Base.Name, Note: strings.Join(names, ", ")})
	}
	return list
}

// Worse and Better return the tables of what changed against other nights.
func (v *nightView) Worse() []*Table  { return v.changes(compare.Worse) }
func (v *nightView) Better() []*Table { return v.changes(compare.Better) }

func (v *nightView) changes(verdict compare.Verdict) (list []*Table) {
	for _, a := range v.against() {
		var rows []*change
		for _, p := range a.Pairs() {
			for i := range p.Lines {
				if p.Lines[i].Verdict == verdict {
					rows = append(rows, &change{&p.Lines[i], p.Name()})
				}
			}
		}
		if t := changesTable(strings.ToUpper(a.what[:1])+a.what[1:], "Now", rows); t != nil {
			t.Caption = "Against " + a.Base.Name
			list = append(list, t)
		}
	}
	return list
}

// Best returns the table of the best throughput of each workload. It is nil if no workload has several tests: then the table of all
// has it.
func (v *nightView) Best() *Table {
	if !slices.ContainsFunc(v.Rows, func(r *night.Row) bool { return len(r.Tests) > 1 }) {
		return nil
	}
	var rows []*night.Test
	for _, r := range v.Rows {
		if best := r.Best(); best != nil {
			rows = append(rows, best)
		}
	}
	columns := append(v.testColumns("best", "Workload", func(t *night.Test) string { return t.Title }), v.levelColumn()...)
	for _, a := range v.against() {
		columns = append(columns, table.Column[*night.Test]{Name: "best " + a.what, Heading: "Best " + a.what, Text: func(t *night.Test) string {
			if best := a.best(t); best != nil {
				return best.Number(facts.IOPS).ValueText() + " at " + best.Number(facts.Mean).ValueText()
			}
			return "-"
		}})
	}
	return v.testTable("list tests best", append(columns, v.changeColumns()...), rows)
}

// best returns the best test of the other night of the workload of a test, or nil.
func (a *against) best(t *night.Test) *night.Test {
	if i := slices.IndexFunc(a.Base.Rows, t.IsSame); i >= 0 {
		return a.Base.Rows[i].Best()
	}
	return nil
}

// All returns the table of all tests, with links to their runs.
func (v *nightView) All() *Table {
	rows := v.Tests()
	isFirst := map[*night.Test]bool{}
	for _, r := range v.Rows {
		isFirst[r.Tests[0]] = true
	}
	title := func(t *night.Test) string {
		if isFirst[t] {
			return t.Title
		}
		return ""
	}
	columns := v.testColumns("workload", "Workload", title)
	depth := table.Column[*night.Test]{Name: "depth", Heading: "Depth", Text: (*night.Test).DepthText}
	columns = slices.Insert(columns, slices.IndexFunc(columns, func(c table.Column[*night.Test]) bool { return c.Name == "direction" })+1, depth)
	columns = append(columns, number(workload.MustNumbers("p99.9")[0]), number(facts.Max))
	columns = slices.Concat(columns, v.levelColumn(), v.changeColumns())
	columns = append(columns, table.Column[*night.Test]{Name: "run", Heading: "Run", Text: func(t *night.Test) string { return runText(t.Runs[0]) }})
	return v.testTable("list tests", columns, rows)
}

// runText names a run: its id or, in files, its path.
func runText(run *mapping.Run) string {
	if run.Run.ID != "" {
		return facts.ShortID(run.Run.ID)
	}
	return run.ShortName()
}

func number(m facts.Metric) table.Column[*night.Test] {
	heading := strings.ToUpper(m.Text()[:1]) + m.Text()[1:]
	if m.Quantile > 0 {
		heading = m.Text()
	}
	return table.Column[*night.Test]{Name: m.Name, Heading: ">" + heading, Text: func(t *night.Test) string { return t.Number(m).ValueText() }}
}

// testColumns returns the columns that all tables of tests have. title is the text of the first one.
func (v *nightView) testColumns(name, heading string, title func(*night.Test) string) []table.Column[*night.Test] {
	columns := []table.Column[*night.Test]{
		{Name: name, Heading: heading, Text: title},
		{Name: "direction", Heading: "Dir", Text: func(t *night.Test) string { return t.Direction }},
	}
	if slices.ContainsFunc(v.Tests(), func(t *night.Test) bool { return len(t.Runs) > 1 }) {
		columns = append(columns, table.Column[*night.Test]{Name: "runs", Heading: ">Runs", Text: func(t *night.Test) string { return fmt.Sprint(len(t.Runs)) }})
	}
	for _, m := range append([]facts.Metric{facts.IOPS, facts.Bandwidth}, ofNights[1:]...) {
		columns = append(columns, number(m))
	}
	return columns
}

// levelColumn returns the column of the level in the history, or none without a history.
func (v *nightView) levelColumn() (columns []table.Column[*night.Test]) {
	if v.levels != nil {
		columns = append(columns, table.Column[*night.Test]{Name: "level", Heading: "Level", Text: func(t *night.Test) string {
			if row := v.levels[t]; row != nil {
				return row.Verdict()
			}
			return "-"
		}})
	}
	return columns
}

// changeColumns returns a column for the change of throughput and one for that of a latency against each other night.
func (v *nightView) changeColumns() (columns []table.Column[*night.Test]) {
	for _, a := range v.against() {
		for _, m := range v.compared(a) {
			columns = append(columns, table.Column[*night.Test]{Name: "change", Heading: v.changeHeading(a, m), Text: func(t *night.Test) string {
				p := a.Of(t)
				if p == nil || p.Line(m) == nil {
					return "-"
				}
				return p.Line(m).Text()
			}})
		}
	}
	return columns
}

// changeHeading is the heading of the changes of a number.
func (v *nightView) changeHeading(a *against, m facts.Metric) string {
	if len(v.against()) > 1 {
		return ">" + m.Text() + ", " + a.what
	}
	return ">" + m.Text() + " change"
}

// compared returns the numbers whose changes have columns: IOPS and p99, or the mean where no p99 is known, as of averages.
func (v *nightView) compared(a *against) []facts.Metric {
	p99 := ofNights[2]
	isKnown := func(p *night.Pair) bool { l := p.Line(p99); return l != nil && l.Verdict != compare.Unknown }
	if slices.ContainsFunc(a.Pairs(), isKnown) {
		return []facts.Metric{facts.IOPS, p99}
	}
	return []facts.Metric{facts.IOPS, facts.Mean}
}

func (v *nightView) testTable(class string, columns []table.Column[*night.Test], rows []*night.Test) *Table {
	// a column of changes is found by its heading, because several have one name
	for i := range columns {
		if columns[i].Name == "change" {
			columns[i].Name = "change" + columns[i].Heading
		}
	}
	changes := map[string]func(*night.Test) *compare.Line{}
	whys, depths := map[string]func(*night.Test) string{}, map[string]*against{}
	for _, a := range v.against() {
		depths["best "+a.what] = a
		for _, m := range v.compared(a) {
			name := "change" + v.changeHeading(a, m)
			changes[name] = func(t *night.Test) *compare.Line {
				if p := a.Of(t); p != nil {
					return p.Line(m)
				}
				return nil
			}
			whys[name] = func(t *night.Test) string {
				if p := a.Of(t); p != nil {
					return p.Why
				}
				return "not in " + a.Base.Name
			}
		}
	}
	var marks facts.Marks
	for _, t := range rows {
		for _, run := range t.Runs {
			for _, d := range run.ByDirection() {
				if l := facts.LatenciesOfTotals(d.Totals); d.Direction == t.Direction {
					marks.Add(&l)
				}
			}
		}
	}
	to := NewTable(class, "", columns, rows, func(t *night.Test, column string, to *Cell) {
		switch {
		case column == "workload":
			to.Class = "text name"
		case column == "best":
			to.Class, to.Note = "text name", "at "+t.DepthText()
		case column == "depth":
			to.Class = "text"
		case depths[column] != nil:
			if best := depths[column].best(t); best != nil {
				to.Note = "at " + best.DepthText()
			}
		case changes[column] != nil:
			l := changes[column](t)
			if l == nil {
				to.Note = whys[column](t)
				return
			}
			to.Class, to.Note = "verdict "+string(l.Verdict), string(l.Verdict)
			if to.Title = l.Why; l.HasInterval() {
				to.Title = fmt.Sprintf("from %s to %s; %s interval %s", l.BaseText(), l.OtherText(), share(confidence), l.IntervalText())
			}
		case column == "level":
			if row := v.levels[t]; row != nil && row.HasChange() {
				to.Class = "text verdict " + row.Verdict()
				to.Note = fmt.Sprintf("%s %s since %s", row.Number.Text(), row.Change.Text(), workload.Day(row.Change.After))
				to.Title = row.Circumstances()
			}
		case column == "run":
			to.Link = v.link(t.Runs[0])
			for _, run := range t.Runs[1:] {
				to.Labels = append(to.Labels, Cell{Text: runText(run), Link: v.link(run)})
			}
			if state := facts.State(t.Runs[0]); state != "" {
				to.Note = state
			}
		}
	})
	if to != nil {
		to.Note = strings.Join(marks.Notes(), ". ")
	}
	return to
}

// Circumstances returns how the runs around changes of level differ, without repetitions.
func (v *nightView) Circumstances() (list []string) {
	for _, t := range v.Tests() {
		if row := v.levels[t]; row != nil {
			if text := row.Circumstances(); text != "" && !slices.Contains(list, text) {
				list = append(list, text)
			}
		}
	}
	return list
}

// Notes returns what runs say about their numbers, each note once, with the runs that have it.
func (v *nightView) Notes() (list []string) {
	var texts []string
	of := map[string][]string{}
	for _, run := range v.Runs {
		if !run.Run.Complete { // they are missing something: see Missing
			continue
		}
		for _, text := range run.Warnings {
			if of[text] == nil {
				texts = append(texts, text)
			}
			of[text] = append(of[text], v.nameOf(run))
		}
	}
	for _, text := range texts {
		list = append(list, text+" ("+unit.List(of[text], 3, ", ")+")")
	}
	return list
}
