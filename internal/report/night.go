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
	"github.com/fio2es/fio2es/internal/query"
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
	Part     string   // which part of each run it is; empty: all of it. What is known of other nights is of whole runs
	before   *against // the night before, or nil
	baseline *against
	levels   map[*night.Test]*workload.Row // nil: no history is known
}

// against is another night, and what tables call it.
type against struct {
	*night.Comparison
	what string
}

var p99 = workload.MustNumbers("p99")[0]

// ofNights are the numbers that are compared.
var ofNights = []facts.Metric{facts.IOPS, facts.Mean, p99}

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
	nights, sides := p.Nights(), map[*mapping.Run]*compare.Run{}
	for _, r := range p.runs {
		sides[r.Doc] = r.side
	}
	for i, n := range nights {
		v := &nightView{Night: n, home: p.opt.Home, Part: p.opt.Query.Times()}
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
		if len(with.History) > 0 && v.Part == "" {
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

// ofTotals returns a run to compare that has only totals.
func ofTotals(run *mapping.Run) (*compare.Run, error) {
	one := &compare.Run{Name: run.Run.Name}
	one.End(run)
	return one, one.AddTotals(run, nil)
}

// counted returns the document of a run with the totals that a query wants, if these are not those of the whole run.
func (r *run) counted(q *query.Query) *mapping.Run {
	have := map[string]**mapping.Totals{
		"read": &r.Doc.Read, "write": &r.Doc.Write, "trim": &r.Doc.Trim, mapping.Sync: &r.Doc.Sync, mapping.AllDirections: &r.Doc.All,
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
	if r.Doc.Sections = nil; !q.WantsAll() {
		r.Doc.SLA = nil
	}
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

// Lead returns when the night was, how many runs it has, and the versions of fio and Ceph.
func (v *nightView) Lead() string {
	parts := []string{unit.Time(v.Start(), unit.Second) + " to " + unit.Time(v.End(), unit.Second+unit.InZone), unit.Plural(len(v.Runs), "run")}
	var versions []string
	for _, run := range v.Runs {
		for _, text := range []string{run.Fio.Version, strings.TrimSuffix("Ceph "+run.CBT.CephVersion, "Ceph ")} {
			if text != "" && !slices.Contains(versions, text) {
				versions = append(versions, text)
			}
		}
	}
	return strings.Join(append(parts, versions...), between)
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
			text = strings.TrimSuffix("incomplete, "+run.Run.Lacks, ", ")
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

// Notes returns which runs are in no table, and what runs say about their numbers, each note once, with the runs that have it.
func (v *nightView) Notes() (list []string) {
	if v.Note != "" {
		list = append(list, v.Note)
	}
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
