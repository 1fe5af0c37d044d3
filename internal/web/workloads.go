package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/export"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// mostRuns is how many runs the page of a workload lists.
const mostRuns = 100

// listingView is the data of the template.
type listingView struct {
	Head
	Page      string // its address
	Note      string // about the table
	Table     *report.Table
	Undecided string // says which runs were left out; empty if none were
}

// listing answers with a table that is made of the runs of a filter that meet the condition of the address.
func (s *site) listing(title, note string, f history.RunFilter, of func(query.Reader) (*report.Table, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := listingView{Head: s.head(r, title), Page: strings.ToLower(title), Note: note}
		if v.Condition.Problem != "" {
			s.show(w, r, http.StatusBadRequest, "listing", v)
			return
		}
		f := f
		f.Where, f.Light = v.Condition.met, true
		watched := query.Watch(f)
		var err error
		if v.Table, err = of(watched.Reader(r.Context(), s.Store, s.warn)); err != nil {
			s.fail(w, r, err)
			return
		}
		v.Undecided = watched.Undecided()
		s.show(w, r, http.StatusOK, "listing", v)
	}
}

const aboutWorkloads = "Runs with the same settings are a workload. A change is the worst of percentiles, mean, IOPS and bandwidth, by 3 % or more, over all runs. What became worse is first."

// ofWorkloads selects what workloadTable needs of all runs.
var ofWorkloads = history.RunFilter{InAnyOrder: true, Members: workload.Members}

// workloadTable returns the table of workloads. Each has a line for each direction, with its latest p99, and the latest change for
// the worse of all usual numbers; without one, the latest change, or why there is none. What became worse is first, and of that the
// latest.
func workloadTable(read query.Reader) (*report.Table, error) {
	type group struct {
		*workload.Trend
		rows []*workload.Row
		p99  map[string]string // by direction
	}
	p99 := workload.MustNumbers("p99")[0]
	found, err := workload.Find(read, workload.MustNumbers(workload.Usual()...), workload.LeastChange)
	if err != nil {
		return nil, err
	}
	var groups []*group
	for _, w := range found.Workloads {
		g := &group{w, nil, map[string]string{}}
		for _, s := range w.Series {
			if n := len(s.Values); s.Number == p99 && n > 0 {
				g.p99[s.Direction] = s.TextOf(s.Values[n-1])
			}
		}
		if g.rows = workload.Foremost(w.Series); len(g.rows) == 0 {
			g.rows = workload.Foremost([]*workload.Series{{Workload: w.Workload}})
		}
		groups = append(groups, g)
	}
	worseSince := func(g *group) (at time.Time) {
		for _, r := range g.rows {
			if r.Verdict() == "worse" && r.Change.After.Run.Start.After(at) {
				at = r.Change.After.Run.Start
			}
		}
		return at
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return worseSince(b).Compare(worseSince(a)) })
	of, isFirst, rows := map[*workload.Row]*group{}, map[*workload.Row]bool{}, []*workload.Row(nil)
	for _, g := range groups {
		isFirst[g.rows[0]] = true
		for _, row := range g.rows {
			of[row] = g
		}
		rows = append(rows, g.rows...)
	}
	text := func(name, heading string, of func(*workload.Row) string) []table.Column[*workload.Row] {
		return []table.Column[*workload.Row]{{Name: name, Heading: heading, Text: of}}
	}
	columns := slices.Concat(
		table.Where(func(r *workload.Row) bool { return isFirst[r] }, slices.Concat(
			text("workload", "Workload", func(r *workload.Row) string { return r.Title }),
			text("runs", ">Runs", func(r *workload.Row) string { return unit.Count(int64(of[r].Count)) }),
			text("latest", unit.Heading("Latest run"), func(r *workload.Row) string { return facts.Started(of[r].Latest()) }),
		)),
		table.Pick(workload.Columns(), "direction"),
		text("p99", ">p99", func(r *workload.Row) string { return cmp.Or(of[r].p99[r.Direction], "-") }),
		table.Where((*workload.Row).HasChange, table.Pick(workload.Columns(), "metric", "change", "since")),
		table.Pick(workload.Columns(), "verdict"),
	)
	return report.NewTable("list", "", columns, rows, func(r *workload.Row, column string, to *report.Cell) {
		switch {
		case column == "verdict":
			to.Class += " verdict " + to.Text
		case !isFirst[r]:
		case column == "workload":
			to.Class, to.Link = "text name", workloadLink(of[r].Latest())
		case column == "latest":
			to.Link = runLink(of[r].Latest())
		}
	}), nil
}

func (s *site) all(ctx context.Context, filter history.RunFilter) ([]*mapping.Run, error) {
	return history.Collect(s.Store.Runs(ctx, filter), s.warn)
}

func (s *site) warn(err error) { s.Log.Warn(err.Error()) }

// workloadView is the data of the template.
type workloadView struct {
	Head
	*workload.Workload
	series []*workload.Series
}

// workloadLink returns the address of the page of a run's workload, relative to the list.
func workloadLink(run *mapping.Run) string {
	address := "workloads/" + url.PathEscape(run.Run.ID)
	if len(run.Sections) == 1 {
		address += "?section=" + url.QueryEscape(run.Sections[0].Name)
	}
	return address
}

// workload answers with the page of the workload that a run, or a section of it, belongs to.
func (s *site) workload(w http.ResponseWriter, r *http.Request) {
	run, err := query.Find(r.Context(), s.Store, r.PathValue("id"))
	if err != nil {
		s.missing(w, r, r.PathValue("id"), err)
		return
	}
	for _, part := range facts.Parts(run) {
		if name := r.URL.Query().Get("section"); len(part.Sections) == 1 && part.Sections[0].Name == name {
			run = part
		}
	}
	runs, err := s.all(r.Context(), history.RunFilter{Where: query.SameSettings(run), Light: true})
	if key := workload.Key(run); len(run.Sections) == 1 {
		runs = slices.DeleteFunc(facts.Parts(runs...), func(part *mapping.Run) bool { return workload.Key(part) != key })
	}
	if err == nil && len(runs) == 0 {
		err = errors.New("the run was removed meanwhile")
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	one := workload.Group(runs)[0]
	series := one.Series(workload.MustNumbers("p50", "p99", "p99.9", "iops"), workload.LeastChange)
	s.show(w, r, http.StatusOK, "workload", workloadView{s.head(r, one.Title), one, series})
}

// Count returns the number of runs.
func (v workloadView) Count() string { return unit.Plural(len(v.Runs), "run") }

// Charts returns the charts of each direction: latencies, and requests per second.
func (v workloadView) Charts() (all report.View) {
	link := func(run *mapping.Run) string { return v.Home + runLink(run) }
	for _, direction := range mapping.Directions {
		for _, isRate := range []bool{false, true} {
			var series []*workload.Series
			for _, s := range v.series {
				if s.Direction == direction && s.Number.LessIsBad() == isRate {
					series = append(series, s)
				}
			}
			if chart := report.OverRuns(series, link); chart.SVG != "" {
				all.Drawings = append(all.Drawings, chart)
			}
		}
	}
	all.Notes = []string{"Each dot is a run. Vertical lines are changes, red for the worse."}
	if len(all.Drawings) == 0 {
		all.Notes = []string{"Charts and changes need two runs that are over."}
	}
	return all
}

// changes returns the changes of all numbers, the latest first.
func (v workloadView) changes() (list []*workload.Row) {
	for _, s := range v.series {
		for _, row := range s.Rows() {
			if row.HasChange() {
				list = append(list, row)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *workload.Row) int { return b.Change.After.Run.Start.Compare(a.Change.After.Run.Start) })
	return list
}

// Changed returns the table of changes, or nil.
func (v workloadView) Changed() *report.Table {
	columns := append(table.Pick(workload.Columns(), "direction", "metric", "since", "before_value", "after_value", "change", "verdict"),
		table.Column[*workload.Row]{Name: "compare", Heading: "Runs", Text: func(*workload.Row) string { return "compare" }})
	return report.NewTable("list", "", columns, v.changes(), func(row *workload.Row, column string, to *report.Cell) {
		switch column {
		case "verdict":
			to.Class += " verdict " + row.Verdict()
		case "compare":
			to.Link = v.Home + "compare?" + url.Values{"run": {row.Change.Before.Run.ID, row.Change.After.Run.ID}}.Encode()
		}
	})
}

// Circumstances returns how the runs around changes differ, without repetitions.
func (v workloadView) Circumstances() (list []string) {
	for _, row := range v.changes() {
		if text := row.Circumstances(); text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// Choice returns the table of the newest runs, the latest first.
func (v workloadView) Choice() choice {
	runs := slices.Clone(v.Runs[max(len(v.Runs)-mostRuns, 0):])
	slices.Reverse(runs)
	columns, _ := listQuery{}.columns() // the usual ones
	return newChoice(v.Home, runs, columns)
}

// metrics answers with numbers of the latest complete run of each workload, and with the rules of live runs, for Prometheus.
func (s *site) metrics(w http.ResponseWriter, r *http.Request) {
	runs, err := s.all(r.Context(), history.RunFilter{Light: true})
	var live []*mapping.Run
	for _, run := range runs {
		if run.Run.Live() && len(run.SLA) > 0 {
			one, unread := *run, error(nil)
			if one.SLA, unread = query.LiveVerdicts(r.Context(), s.Store, run, time.Now()); unread != nil { // such as removed meanwhile
				s.warn(unread)
				continue
			}
			live = append(live, &one)
		}
	}
	if err != nil {
		s.Log.Error("cannot answer", "page", r.URL.RequestURI(), "err", err)
		http.Error(w, "cannot read the history", http.StatusInternalServerError)
		return
	}
	var b bytes.Buffer
	_ = export.Gauges(&b, workload.Group(facts.Parts(runs...)), live) // cannot fail: b is a buffer
	w.Header().Set("Content-Type", export.GaugesType)
	_, _ = b.WriteTo(w) // an error means a closed connection, which is logged
}
