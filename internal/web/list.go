package web

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"slices"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// found are the runs on a page of the list.
type found struct {
	Runs  []*mapping.Run
	More  bool // on the next page
	Total int  // runs of the list; 0: not known, as they were not all read
}

// look reads the runs of a query. The history has the newest run first, so for that order look reads no more runs
// than it shows. Any other order needs all runs.
func (s *site) look(ctx context.Context, q listQuery) (*found, error) {
	leave, err := s.lists.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	filter := history.RunFilter{Text: q.Text, Brief: true}
	begin := (q.Page - 1) * pageRuns
	isHistorys := q.By.Column == nil && !q.Lowest
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
		f := &found{Runs: runs[:min(len(runs), pageRuns)], More: len(runs) > pageRuns}
		if !f.More {
			f.Total = n
		}
		return f, nil
	}
	q.By.Sort(runs, q.Lowest)
	end := min(begin+pageRuns, len(runs))
	return &found{Runs: runs[min(begin, end):end], More: end < len(runs), Total: len(runs)}, nil
}

// count is how many runs the history has.
func (s *site) count(ctx context.Context) (string, error) {
	leave, err := s.lists.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	n, err := query.Count(ctx, s.Store)
	return unit.Plural(n, "run"), err
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
	Name  string // of the history
	Query listQuery
	Found *found
	Count string // of all runs, if the page has none of those that match
}

// list answers with the list of runs.
func (s *site) list(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r.URL.Query())
	if err != nil {
		s.notify(w, r, http.StatusBadRequest, notice{Title: "No such list", Text: err.Error()})
		return
	}
	v := listView{Head: s.head("Runs", ""), Name: s.Name, Query: q}
	if v.Found, err = s.look(r.Context(), q); err == nil && len(v.Found.Runs) == 0 && (q.Text != "" || q.Page > 1) {
		v.Count, err = s.count(r.Context())
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, http.StatusOK, "list", v)
}

// Orders are the columns by which runs can be sorted.
func (listView) Orders() []facts.Order { return facts.Orders }

// Most is how many runs can be compared, and PageRuns how many are on a page.
func (listView) Most() int     { return mostCompared }
func (listView) PageRuns() int { return pageRuns }

// Trend is the picture of the runs.
func (v listView) Trend() template.HTML { return report.Trend(v.Found.Runs, runLink) }

// Notes are the notes below the list.
func (v listView) Notes() []string {
	return facts.Notes(slices.ContainsFunc(v.Found.Runs, func(run *mapping.Run) bool {
		return slices.ContainsFunc(facts.Lines(run), func(l *facts.Line) bool { return l.Latencies.ByFio })
	}))
}

// Range is which runs are on the page, such as "101 – 200 of 412".
func (v listView) Range() string {
	begin := (v.Query.Page - 1) * pageRuns
	text := fmt.Sprintf("%s – %s", unit.Count(int64(begin+1)), unit.Count(int64(begin+len(v.Found.Runs))))
	if v.Found.Total > 0 {
		text += " of " + unit.Count(int64(v.Found.Total))
	}
	return text
}
