package web

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// found are the runs on a page of the list.
type found struct {
	runs  []*mapping.Run
	more  bool // on the next page
	total int  // runs of the list; 0: not known, as they were not all read
}

// look reads the runs of a query. The history has the newest run first, so for that order look reads no more runs
// than it shows. Any other order needs all runs.
func (s *site) look(ctx context.Context, q listQuery) (*found, error) {
	leave, err := s.lists.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	filter := history.RunFilter{Text: q.text, Light: true}
	begin := (q.page - 1) * pageRuns
	isHistorys := q.by.Column == nil && !q.lowest
	if isHistorys {
		filter.Limit = begin + pageRuns + 1
	}
	var runs []*mapping.Run
	n := 0
	for run, err := range s.Store.Runs(ctx, filter) {
		if history.IsSkipped(err) {
			s.Log.Warn(err.Error())
			continue
		}
		if err != nil {
			return nil, err
		}
		if n++; !isHistorys || n > begin {
			runs = append(runs, lean(run))
		}
	}
	if isHistorys {
		f := &found{runs: runs[:min(len(runs), pageRuns)], more: len(runs) > pageRuns}
		if !f.more {
			f.total = n
		}
		return f, nil
	}
	q.by.Sort(runs, q.lowest)
	end := min(begin+pageRuns, len(runs))
	return &found{runs: runs[min(begin, end):end], more: end < len(runs), total: len(runs)}, nil
}

// count is how many runs the history has.
func (s *site) count(ctx context.Context) (n int, err error) {
	leave, err := s.lists.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	return query.Count(ctx, s.Store)
}

// lean is a run without what the list does not show.
func lean(run *mapping.Run) *mapping.Run {
	c := *run
	c.Config, c.Warnings = nil, nil
	return &c
}

// listView is the data of the template.
type listView struct {
	Head
	Name           string // of the history
	Text           string
	Sort, Order    string // as parameters; empty as by default
	Columns        []columnView
	Rows           []row
	Range          string // which runs, such as "101 – 200 of 412"
	Previous, Next string // addresses
	All            string
	Runs           string // how many the history has, where none is shown
	Matches        int    // runs of the list, where none is on this page
	Page, PageRuns int
	Trend          template.HTML
	Most           int      // that can be compared
	Notes          []string // below the list
}

type columnView struct{ Name, Link, Sorted string }

// row is a run's line of a direction. The first one has what is the same for all directions.
type row struct {
	First       bool
	Lines       int // of the run
	Link        string
	ID, Short   string
	Start       string
	Title       string
	Hosts, Jobs int
	Direction   string
	Cells       []string
	State       string
	IsBad       bool
}

// list answers with the list of runs.
func (s *site) list(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r.URL.Query())
	if err != nil {
		s.notify(w, r, http.StatusBadRequest, notice{Title: "No such list", Text: err.Error()})
		return
	}
	f, err := s.look(r.Context(), q)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	v := listView{Head: s.head("Runs", ""), Name: s.Name, Text: q.text, Most: mostCompared, Trend: report.Trend(s.points(f.runs))}
	if q.by != &facts.Orders[0] {
		v.Sort = q.by.Name
	}
	if q.lowest {
		v.Order = "lowest"
	}
	for i := range facts.Orders {
		order := &facts.Orders[i]
		c := columnView{Name: "Start (UTC)", Link: q.sorted(order).address()}
		if order.Column != nil {
			c.Name = order.Column.Title()
		}
		if q.by == order {
			c.Sorted = "descending"
			if q.lowest {
				c.Sorted = "ascending"
			}
		}
		v.Columns = append(v.Columns, c)
	}
	byFio := false
	for _, run := range f.runs {
		v.Rows = append(v.Rows, s.rows(run)...)
		byFio = byFio || slices.ContainsFunc(facts.Lines(run), func(l *facts.Line) bool { return l.Latencies.ByFio })
	}
	v.Notes = facts.Notes(byFio)
	v.pages(q, f)
	if len(f.runs) == 0 && (q.text != "" || q.page > 1) {
		n, err := s.count(r.Context())
		if err != nil {
			s.fail(w, r, err)
			return
		}
		v.Runs, v.Matches, v.Page, v.PageRuns = unit.Plural(n, "run"), f.total, q.page, pageRuns
	}
	s.show(w, r, http.StatusOK, "list", v)
}

// pages sets the range of the page and the addresses of the others.
func (v *listView) pages(q listQuery, f *found) {
	if q.page > 1 {
		v.Previous = q.at(q.page - 1).address()
	}
	if f.more {
		v.Next = q.at(q.page + 1).address()
	}
	v.All = listQuery{by: &facts.Orders[0], page: 1}.address()
	if len(f.runs) == 0 {
		return
	}
	begin := (q.page - 1) * pageRuns
	v.Range = fmt.Sprintf("%s – %s", unit.Count(int64(begin+1)), unit.Count(int64(begin+len(f.runs))))
	if f.total > 0 {
		v.Range += " of " + unit.Count(int64(f.total))
	}
}

// rows are a run's lines.
func (s *site) rows(run *mapping.Run) []row {
	state, isBad := run.State()
	one := row{
		First: true, Link: runLink(run), ID: run.Run.ID, Short: facts.ShortID(run.Run.ID), Start: facts.Started(run), Title: facts.Title(run),
		Hosts: len(run.Hosts), Jobs: run.Fio.Jobs, State: strings.Join(state, ", "), IsBad: isBad,
	}
	lines := facts.Lines(run)
	one.Lines = max(1, len(lines))
	var rows []row
	for _, line := range lines {
		one.Direction, one.Cells = line.Direction, nil
		for _, o := range facts.Orders[1:] {
			one.Cells = append(one.Cells, o.Column.TextOf(line))
		}
		rows = append(rows, one)
		one = row{}
	}
	if len(rows) == 0 {
		one.Cells = make([]string, len(facts.Orders)-1)
		rows = append(rows, one)
	}
	return rows
}

// points are the p99 of runs, in order of their start.
func (s *site) points(runs []*mapping.Run) []report.TrendRun {
	inTime := slices.Clone(runs)
	slices.SortStableFunc(inTime, func(a, b *mapping.Run) int { return a.Run.Start.Compare(b.Run.Start) })
	var list []report.TrendRun
	for _, run := range inTime {
		one := report.TrendRun{Title: facts.Title(run), Start: facts.Started(run), Link: runLink(run), Kind: kindOf(run)}
		for _, d := range run.ByDirection() {
			if d.Latency.HasPercentiles() {
				one.P99 = append(one.P99, report.TrendPoint{Direction: d.Direction, US: d.Latency.P99, OrMore: d.Latency.IsOpen(d.Latency.P99)})
			}
		}
		if len(one.P99) > 0 {
			list = append(list, one)
		}
	}
	return list
}

// kindOf is equal for runs with the same settings, as far as they are known.
func kindOf(run *mapping.Run) string {
	c := &run.CBT
	return fmt.Sprintf("%q %q %q %d %d %d %d %d %q %q %q", c.Benchmark, c.Workload, c.Mode, c.RWMixRead, c.OpSize, c.IODepth,
		len(run.Hosts), run.Fio.Jobs, run.Fio.Options["rw"], run.Fio.Options["bs"], run.Fio.Options["iodepth"])
}
