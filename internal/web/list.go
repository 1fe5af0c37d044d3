package web

import (
	"context"
	"errors"
	"fmt"
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
	n := 0
	for run, err := range history.Readable(s.Store.Runs(ctx, watched.Filter), s.warn) {
		if err != nil {
			return nil, err
		}
		if n++; !isHistorys || n > begin {
			runs = append(runs, run)
		}
	}
	if isHistorys {
		f := &found{Runs: runs[:min(len(runs), pageRuns)], More: len(runs) > pageRuns, Watched: watched}
		facts.KeepTogether(f.Runs)
		if !f.More {
			f.Total = n
		}
		return f, nil
	}
	q.By.Sort(runs, q.Lowest)
	end := min(begin+pageRuns, len(runs))
	return &found{Runs: runs[min(begin, end):end], More: end < len(runs), Total: len(runs), Watched: watched}, nil
}

// listView is the data of the template.
type listView struct {
	Head
	Name      string // name of the history
	Query     listQuery
	Condition condition
	Columns   []column
	Found     *found // nil if the condition has a mistake
	Contents  string // what the history has, if no run matches
}

func (s *site) list(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r.URL.Query())
	if err != nil {
		s.notify(w, r, http.StatusBadRequest, notice{Title: "No such list", Text: err.Error()})
		return
	}
	v := listView{Head: s.head("Runs", ""), Name: s.Name, Query: q}
	v.Columns, _ = q.columns() // parseQuery has returned the error
	if v.Condition = parseCondition(q.Where); v.Condition.Problem != "" {
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

// Lines returns the lines of a run.
func (v listView) Lines(run *mapping.Run) []*facts.Line {
	var list []table.Column[*facts.Line]
	for _, c := range v.Columns {
		list = append(list, c.Column)
	}
	return facts.LinesFor(list, run)
}

// Start returns the order by start.
func (listView) Start() where.Order { return where.Orders()[0] }

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

// Most returns how many runs can be compared, and PageRuns how many are on a page.
func (listView) Most() int     { return mostCompared }
func (listView) PageRuns() int { return pageRuns }

// Notes returns the notes below the list.
func (v listView) Notes() []string {
	notes := facts.Notes(slices.ContainsFunc(v.Found.Runs, func(run *mapping.Run) bool {
		return slices.ContainsFunc(v.Lines(run), func(l *facts.Line) bool { return l.Latencies.ByFio })
	}))
	if note := v.Found.Watched.Undecided(); note != "" {
		notes = append(notes, note)
	}
	return notes
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

// pageRuns is how many runs are on a page of the list.
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

// column is a column of the list that users can choose.
type column struct {
	table.Column[*facts.Line]
	Order *where.Order // nil if the list cannot be sorted by it
}

// IsText reports whether the column has texts, which are aligned left.
func (c column) IsText() bool { return !strings.HasPrefix(c.Heading, ">") }

// columns returns the columns that the query chooses.
func (q listQuery) columns() (list []column, err error) {
	names := q.Columns
	if strings.TrimSpace(names) == "" {
		names = usual
	}
	chosen, err := where.Columns(strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' }))
	if err != nil {
		return nil, err
	}
	for _, c := range chosen {
		if c.Heading == "" || slices.Contains(always, c.Heading) {
			continue
		}
		list = append(list, column{c, where.ColumnOrder(c.Name)})
	}
	return list, nil
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
