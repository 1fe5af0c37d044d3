package web

import (
	"net/http"
	"strings"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/matrix"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/internal/workload"
)

// matrixView is the data of the template.
type matrixView struct {
	Head
	By, Show  string
	Problem   string // what is wrong with By or Show, or why there is no matrix
	Runs      int
	Matrices  []report.View
	Undecided string // says which runs were left out; empty if none were
}

// matrix answers with a number of many runs by settings. Without by, these are the settings in which the runs
// differ.
func (s *site) matrix(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := matrixView{Head: s.head(r, "Matrix"), By: strings.TrimSpace(q.Get("by")), Show: strings.TrimSpace(q.Get("show"))}
	if v.Condition.Problem != "" {
		s.show(w, r, http.StatusBadRequest, "matrix", v)
		return
	}
	if v.Show == "" {
		v.Show = "p99"
	}
	var by []matrix.Setting
	metrics, err := workload.NumbersOf(v.Show)
	if err == nil && v.By != "" {
		by, err = matrix.Settings(strings.Split(v.By, ","))
	}
	if err != nil {
		v.Problem = err.Error()
		s.show(w, r, http.StatusBadRequest, "matrix", v)
		return
	}
	watched := query.Watch(history.RunFilter{Where: v.Condition.met, Light: true, InAnyOrder: true, Members: matrix.Members(by)})
	collected := matrix.Collect(by, v.Condition.met.Matches)
	for run, err := range history.Readable(s.Store.Runs(r.Context(), watched.Filter), s.warn) {
		if err != nil {
			s.fail(w, r, err)
			return
		}
		collected.Add(run)
	}
	collected.Sort()
	runs, _ := collected.Runs()
	v.Runs, v.Undecided = len(runs), watched.Undecided()
	if by = matrix.Depths(by, runs); by == nil {
		by = matrix.SettingsOf(runs)
	}
	if by == nil && len(runs) > 0 {
		v.Problem = "These runs do not differ in one to three settings alone: name them, such as bs,iodepth, or choose runs with a condition."
	} else if len(runs) > 0 {
		v.Matrices = report.Matrices(by, metrics[0], matrix.Directions(runs), runs, 1)
		if len(v.Matrices) == 0 {
			v.Problem = "Nothing can be drawn: with one setting a latency such as p99, with two any number; cells of mixed workloads have none."
		}
	}
	s.show(w, r, http.StatusOK, "matrix", v)
}
