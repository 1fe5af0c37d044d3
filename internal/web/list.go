package web

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/mapping"
)

// found has the runs on one page of the list.
type found struct {
	Runs  []*mapping.Run
	More  bool // there is a next page
	Total int  // number of runs in the list; 0 if it is not known, because not all were read

	Watched *query.Watched // says which runs were left out
}

// look finds the runs of a query. The history lists the newest run first, so for that order look reads only the runs
// that it shows. Any other order needs all runs.
func (s *site) look(ctx context.Context, q listQuery, met *where.Condition) (*found, error) {
	watched := query.Watch(history.RunFilter{Text: q.Text, Where: met, Light: true})
	begin := (q.Page - 1) * pageRuns
	isHistorys := q.By == where.Orders()[0] && !q.Lowest
	if isHistorys {
		watched.Filter.Limit = begin + pageRuns + 1
	}
	var runs []*mapping.Run
	top, n := where.Top{Order: &q.By, IsReversed: q.Lowest, Most: begin + pageRuns + 1, InAnyOrder: true}, 0
	if !isHistorys {
		watched.Filter.Wanted, watched.Filter.WantedMembers, watched.Filter.InAnyOrder = top.Wants, q.By.Members(), true
	}
	for run, err := range history.Readable(s.Store.Runs(ctx, watched.Filter), s.warn) {
		if err != nil {
			return nil, err
		}
		if !isHistorys {
			top.Add(run)
		} else if n++; n > begin {
			runs = append(runs, run)
		}
	}
	if !isHistorys {
		runs, n = top.Runs(), top.Len()
		runs = runs[min(begin, len(runs)):]
	}
	f := &found{Runs: runs[:min(len(runs), pageRuns)], More: len(runs) > pageRuns, Watched: watched}
	if isHistorys {
		facts.KeepTogether(f.Runs)
	}
	if !isHistorys || !f.More {
		f.Total = n
	}
	return f, nil
}

// listView is the data of the template.
type listView struct {
	Head
	Query    listQuery
	columns  []table.Column[*facts.Line]
	Found    *found // nil if the condition has a mistake
	Contents string // what the history has, if no run matches
}

func (s *site) list(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r.URL.Query())
	if err != nil {
		s.notify(w, r, http.StatusBadRequest, "No such list", err.Error())
		return
	}
	v := listView{Head: s.head(r, "Runs"), Query: q}
	v.columns, _ = q.columns() // parseQuery has returned the error
	if v.Condition.Problem != "" {
		s.show(w, r, http.StatusBadRequest, "list", v)
		return
	}
	v.Live = true
	if v.Found, err = s.look(r.Context(), q, v.Condition.met); err == nil && len(v.Found.Runs) == 0 && (q.IsSearch() || q.Page > 1) {
		v.Contents, err = query.Nothing(r.Context(), s.Store, v.Found.Watched.Filter)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, http.StatusOK, "list", v)
}

// Names returns all columns that can be chosen, and Usual the default ones.
func (listView) Names() string { return strings.Join(where.ColumnNames(), ", ") }
func (listView) Usual() string { return usual }

// Searched describes the search, such as "has “4K qd16” in its id, …, and meets “mode=randread”".
func (v listView) Searched() string {
	var parts []string
	if v.Query.Text != "" {
		parts = append(parts, "has “"+v.Query.Text+"” in its id, name, archive, path, benchmark, workload, mode, a label or the note")
	}
	if v.Condition.Text != "" {
		parts = append(parts, "meets “"+v.Condition.Text+"”")
	}
	return strings.Join(parts, ", and ")
}

// PageRuns returns how many runs are on a page.
func (listView) PageRuns() int { return pageRuns }

// Choice returns the table of the list.
func (v listView) Choice() choice {
	c := newChoice(v.Home, v.Found.Runs, v.columns, v.Found.Watched.Undecided())
	first := len(c.Table.Headings) - len(v.columns)
	for i := range c.Table.Headings {
		h, by := &c.Table.Headings[i], (*where.Order)(nil)
		if i >= first {
			by = where.ColumnOrder(v.columns[i-first].Name)
		} else if h.Text == startHeading() {
			by = &where.Orders()[0]
		}
		if by != nil {
			h.Link, h.Sort = v.Query.Sorted(*by).Address(), v.Query.Sort(*by)
		}
	}
	return c
}

// choice is a table of runs in which some can be chosen, to be compared.
type choice struct {
	Home  string // address of the list of runs
	Table *report.Table
	Notes []string // below it
	Most  int      // how many can be chosen
}

// startHeading is the heading of the column by which lists are sorted at first.
func startHeading() string { return unit.Heading("Start") }

// chosenColumns returns the columns that every table of runs has, before those that can be chosen.
func chosenColumns() []table.Column[*facts.Line] {
	list := []table.Column[*facts.Line]{{Name: "choose", Heading: "✓", Text: func(*facts.Line) string { return "" }}}
	for _, c := range facts.Columns() {
		if slices.Contains(always[:3], c.Heading) {
			c.Name = c.Heading
			if c.Heading == "Start" {
				c.Heading = startHeading()
			}
			list = append(list, c)
		}
	}
	return list
}

// newChoice returns the table of runs with these columns. home is the address of the list of runs.
func newChoice(home string, runs []*mapping.Run, columns []table.Column[*facts.Line], notes ...string) choice {
	var lines []*facts.Line
	for _, run := range runs {
		lines = append(lines, facts.LinesFor(columns, run)...)
	}
	c := choice{Home: home, Most: mostCompared}
	c.Table = report.NewTable("list", "", slices.Concat(chosenColumns(), columns), lines, func(l *facts.Line, column string, to *report.Cell) {
		if !l.IsFirst {
			return
		}
		switch column {
		case "choose":
			to.Box, to.Title = l.Run.Run.ID, facts.Title(l.Run)
		case "Run":
			to.Link = home + runLink(l.Run)
		case "Name":
			to.Class, to.Link, to.Note, to.Labels = "text name", home+runLink(l.Run), l.Run.Run.Note, labelsOf(l.Run, home)
		}
	})
	var marks facts.Marks
	for _, l := range lines {
		marks.Add(&l.Latencies)
	}
	c.Notes = slices.DeleteFunc(append(marks.Notes(), notes...), func(note string) bool { return note == "" })
	return c
}

// labelsOf returns the stage, the labels and the state of a run.
func labelsOf(run *mapping.Run, home string) (list []report.Cell) {
	if stage := facts.StageText(run); stage != "" {
		list = append(list, report.Cell{Text: "stage " + stage, Link: home + executionLink(run)})
	}
	for _, name := range slices.Sorted(maps.Keys(run.Run.Labels)) {
		list = append(list, report.Cell{Text: name + "=" + run.Run.Labels[name]})
	}
	if state := facts.StateText(run); state != "" {
		class := "state"
		if _, isBad := run.State(); isBad {
			class = "state bad"
		}
		list = append(list, report.Cell{Text: state, Class: class})
	}
	return list
}

// Range says which runs are on the page, such as "101 – 200 of 412".
func (v listView) Range() string {
	begin := (v.Query.Page - 1) * pageRuns
	text := fmt.Sprintf("%s – %s", unit.Count(int64(begin+1)), unit.Count(int64(begin+len(v.Found.Runs))))
	if v.Found.Total > 0 {
		text += " of " + unit.Count(int64(v.Found.Total))
	}
	return text
}

const pageRuns = 100

// listQuery says which runs the list shows, with which columns, and in which order.
type listQuery struct {
	Text    string
	Where   string // condition as the user wrote it
	Columns string // names joined by commas; empty for the usual columns
	By      where.Order
	Lowest  bool // the lowest value comes first
	Page    int  // from 1
}

// parseQuery parses the parameters of the list's address.
func parseQuery(v url.Values) (listQuery, error) {
	q := listQuery{Text: v.Get("text"), Where: v.Get("where"), Columns: v.Get("columns"), By: where.Orders()[0], Page: 1}
	const mostText = 4000 // characters of columns
	if len(q.Columns) > mostText {
		return q, fmt.Errorf("columns has %d characters: want %d at most", len(q.Columns), mostText)
	}
	if _, err := q.columns(); err != nil {
		return q, fmt.Errorf("columns=%s: %w", q.Columns, err)
	}
	if key := v.Get("sort"); key != "" {
		order := where.ColumnOrder(key)
		if order == nil {
			return q, fmt.Errorf("sort=%s: want start, requests, p99 or another column", key)
		}
		q.By = *order
	}
	switch order := v.Get("order"); order {
	case "", "highest":
	case "lowest":
		q.Lowest = true
	default:
		return q, fmt.Errorf("order=%s: want highest or lowest", order)
	}
	if text := v.Get("page"); text != "" {
		const most = 1e6
		page, err := strconv.Atoi(text)
		if err != nil || page < 1 || page > most {
			return q, fmt.Errorf("page=%s: want a number from 1", text)
		}
		q.Page = page
	}
	return q, nil
}

// Parameters returns the parameters that a new search keeps.
func (q listQuery) Parameters() url.Values {
	v := url.Values{}
	if q.By != where.Orders()[0] {
		v.Set("sort", q.By.Name)
	}
	if q.Lowest {
		v.Set("order", "lowest")
	}
	return v
}

// Address returns the address of this list.
func (q listQuery) Address() string {
	v := q.Parameters()
	for name, text := range map[string]string{"text": q.Text, "where": q.Where, "columns": q.Columns} {
		if text != "" {
			v.Set(name, text)
		}
	}
	if q.Page > 1 {
		v.Set("page", strconv.Itoa(q.Page))
	}
	if len(v) == 0 {
		return "./"
	}
	return "./?" + v.Encode()
}

// IsSearch reports whether the query may leave out runs.
func (q listQuery) IsSearch() bool { return q.Text != "" || strings.TrimSpace(q.Where) != "" }

// Turn returns the query of the page that is pages further on.
func (q listQuery) Turn(pages int) listQuery { q.Page += pages; return q }

// Sorted returns the query of the same list in another order, or reversed.
func (q listQuery) Sorted(by where.Order) listQuery {
	q.Lowest, q.By, q.Page = q.By == by && !q.Lowest, by, 1
	return q
}

// Sort says how the list is sorted by an order; empty if it is not.
func (q listQuery) Sort(by where.Order) string {
	switch {
	case q.By != by:
		return ""
	case q.Lowest:
		return "ascending"
	}
	return "descending"
}

// usual are the default columns of the list, in addition to always.
const usual = "hosts,jobs,direction,requests,iops,p50,p95,p99,p99_9,max"

// always are the columns that every list has.
var always = []string{"Run", "Start", "Name", "State", "Note"}

func (q listQuery) columns() ([]table.Column[*facts.Line], error) {
	names := q.Columns
	if strings.TrimSpace(names) == "" {
		names = usual
	}
	chosen, err := where.Columns(strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' }))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(chosen, func(c table.Column[*facts.Line]) bool { return c.Heading == "" || slices.Contains(always, c.Heading) }), nil
}

// condition is the condition of a search as the user wrote it.
type condition struct {
	Text    string
	Problem string // the mistake; empty if there is none
	Before  string // text before the mistake
	Rest    string // text from the mistake on

	met *where.Condition // nil if there is a mistake
}

func parseCondition(text string) condition {
	met, err := where.Parse(text, time.Now())
	if err == nil {
		return condition{Text: text, met: met}
	}
	c := condition{Text: text, Problem: err.Error()}
	if at := (*expr.Error)(nil); errors.As(err, &at) {
		characters := []rune(text)
		place := min(max(at.Column-1, 0), len(characters))
		c.Before, c.Rest = string(characters[:place]), string(characters[place:])
	}
	return c
}
