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
func (s *site) look(ctx context.Context, q listQuery, where *where.Condition) (*found, error) {
	_, beyond, err := q.columns()
	if err != nil {
		return nil, err
	}
	watched := query.Watch(history.RunFilter{Text: q.Text, Where: where, Brief: true, Also: beyond})
	begin := (q.Page - 1) * pageRuns
	isHistorys := q.By == facts.Orders[0] && !q.Lowest
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
	v.Columns, _, _ = q.columns() // parseQuery has returned the error
	var parsed *where.Condition
	if v.Condition, parsed = parseCondition(q.Where); v.Condition.Problem != "" {
		s.show(w, r, http.StatusBadRequest, "list", v)
		return
	}
	v.Live = true
	if v.Found, err = s.look(r.Context(), q, parsed); err == nil && len(v.Found.Runs) == 0 && (q.IsSearch() || q.Page > 1) {
		v.Contents, err = query.Nothing(r.Context(), s.Store, v.Found.Watched.Filter)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, http.StatusOK, "list", v)
}

// Lines returns the lines of a run.
func (v listView) Lines(run *mapping.Run) []*facts.Line { return linesOf(v.Columns, run) }

// Start returns the order by start.
func (listView) Start() facts.Order { return facts.Orders[0] }

// Names returns all columns that can be chosen, and Usual the default ones.
func (listView) Names() string { return strings.Join(facts.ColumnNames(), ", ") }
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

// Trend returns the picture of the runs.
func (v listView) Trend() template.HTML { return report.Trend(v.Found.Runs, runLink) }

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
