package web

import (
	"bytes"
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"

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

// workloadsView is the data of the template.
type workloadsView struct {
	Head
	Name      string // name of the history
	Condition condition
	Workloads []*workloadRow
	Undecided string // says which runs were left out; empty if none were
}

// workloadRow is a workload in the list.
type workloadRow struct {
	*workload.Workload
	series []*workload.Series // p99 of each direction
}

// Latest returns the newest run.
func (w *workloadRow) Latest() *mapping.Run { return w.Runs[len(w.Runs)-1] }

// P99 returns the p99 of the newest run, by direction.
func (w *workloadRow) P99() (texts []string) {
	for _, s := range w.series {
		texts = append(texts, s.Direction+" "+s.TextOf(s.Values[len(s.Values)-1]))
	}
	return texts
}

// Changed returns the latest change of p99 in each direction.
func (w *workloadRow) Changed() (list []*workload.Row) {
	for _, s := range w.series {
		if rows := s.Rows(); rows[0].HasChange() {
			list = append(list, rows[len(rows)-1])
		}
	}
	return list
}

func (s *site) workloads(w http.ResponseWriter, r *http.Request) {
	v := workloadsView{Head: s.head("Workloads", "./"), Name: s.Name}
	if v.Condition = parseCondition(r.URL.Query().Get("where")); v.Condition.Problem != "" {
		s.show(w, r, http.StatusBadRequest, "workloads", v)
		return
	}
	watched := query.Watch(history.RunFilter{Where: v.Condition.met, Light: true})
	runs, err := s.all(r.Context(), watched.Filter)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	v.Undecided = watched.Undecided()
	for _, one := range workload.Group(facts.Parts(runs...)) {
		v.Workloads = append(v.Workloads, &workloadRow{one, one.Series(workload.MustNumbers("p99"), workload.LeastChange)})
	}
	s.show(w, r, http.StatusOK, "workloads", v)
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
		s.missing(w, r, r.PathValue("id"), "../", err)
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
	s.show(w, r, http.StatusOK, "workload", workloadView{s.head(one.Title, "../"), one, series})
}

// Count returns the number of runs.
func (v workloadView) Count() string { return unit.Plural(len(v.Runs), "run") }

// Charts returns the charts of each direction: latencies, and requests per second.
func (v workloadView) Charts() (list []template.HTML) {
	link := func(run *mapping.Run) string { return "../" + runLink(run) }
	for _, direction := range mapping.Directions {
		for _, isRate := range []bool{false, true} {
			var series []*workload.Series
			for _, s := range v.series {
				if s.Direction == direction && s.Number.LessIsBad() == isRate {
					series = append(series, s)
				}
			}
			if chart := report.OverRuns(series, link); chart != "" {
				list = append(list, chart)
			}
		}
	}
	return list
}

// Changes returns the changes of all numbers, the latest first.
func (v workloadView) Changes() (list []*workload.Row) {
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

// Columns returns the columns of changes.
func (workloadView) Columns() []table.Column[*workload.Row] {
	return table.Pick(workload.Columns(), "direction", "metric", "since", "before_value", "after_value", "change", "verdict")
}

// Circumstances returns how the runs around changes differ, without repetitions.
func (v workloadView) Circumstances() (list []string) {
	for _, row := range v.Changes() {
		if text := row.Circumstances(); text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// Newest returns the newest runs, the latest first.
func (v workloadView) Newest() []*mapping.Run {
	runs := slices.Clone(v.Runs[max(len(v.Runs)-mostRuns, 0):])
	slices.Reverse(runs)
	return runs
}

// metrics answers with numbers of the latest complete run of each workload, for Prometheus.
func (s *site) metrics(w http.ResponseWriter, r *http.Request) {
	runs, err := s.all(r.Context(), history.RunFilter{Light: true})
	if err != nil {
		s.Log.Error("cannot answer", "page", r.URL.RequestURI(), "err", err)
		http.Error(w, "cannot read the history", http.StatusInternalServerError)
		return
	}
	var b bytes.Buffer
	_ = export.Gauges(&b, workload.Group(facts.Parts(runs...))) // cannot fail: b is a buffer
	w.Header().Set("Content-Type", export.GaugesType)
	_, _ = b.WriteTo(w) // an error means a closed connection, which is logged
}
