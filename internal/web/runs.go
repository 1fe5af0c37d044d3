package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// mostCompared is how many runs a report may have. Each has a section.
const mostCompared = report.MaxSections

func (s *site) run(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, []string{r.PathValue("id")}, false)
}

// execution answers with the report of all stages of a call of fio.
func (s *site) execution(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	ids, err := s.idsOf(r.Context(), query.OfExecution+id)
	switch {
	case err != nil:
		s.missing(w, r, query.OfExecution+id, err)
	case len(ids) > mostCompared:
		s.notify(w, r, http.StatusBadRequest, "Too many stages", fmt.Sprintf(
			"A report has at most %d stages, and this call of fio has %d: fio2es report execution:%s makes one of all.", mostCompared, len(ids), id))
	default:
		s.answer(w, r, ids, false)
	}
}

// stageLinks returns links to the execution of a run, and to the stages before and after it, as far as the history has them.
func (s *site) stageLinks(ctx context.Context, run *mapping.Run, home string) (list []report.Link, err error) {
	of := &run.Run
	if of.Stages < 2 || of.Execution == "" {
		return nil, nil
	}
	list = append(list, report.Link{Text: "all stages", Address: home + executionLink(run)})
	for _, n := range []int{of.Stage - 1, of.Stage + 1} {
		if n < 1 || n > of.Stages {
			continue
		}
		other, err := s.Store.Run(ctx, mapping.StageID(of.Execution, n, of.Stages))
		if errors.Is(err, history.ErrNotFound) {
			continue // it was removed, or is not stored yet
		}
		if err != nil {
			return nil, err
		}
		list = append(list, report.Link{Text: fmt.Sprintf("%d: %s", n, facts.StageName(other)), Address: home + runLink(other)})
	}
	return list, nil
}

// compareView is the data of the page that asks for two runs.
type compareView struct {
	Head
	Runs []string // those that are known
	Most int
}

func (s *site) compare(w http.ResponseWriter, r *http.Request) {
	values := r.URL.Query()
	if chosen := values["run"]; len(chosen) == 0 || slices.Contains(chosen, "") {
		s.show(w, r, http.StatusOK, "compare", compareView{s.head(r, "Compare"), append(chosen, "", "")[:2], mostCompared})
		return
	}
	var ids []string
	for _, text := range values["run"] {
		some, err := s.idsOf(r.Context(), text)
		if err != nil {
			s.missing(w, r, text, err)
			return
		}
		ids = append(ids, some...)
	}
	if n := len(ids); n > mostCompared {
		s.notify(w, r, http.StatusBadRequest, "Too many runs", fmt.Sprintf("A report has at most %d runs, and you chose %d: choose fewer.", mostCompared, n))
		return
	}
	s.answer(w, r, ids, values.Get("base") == "earliest")
}

// idsOf returns the ids of the runs that a selector selects. If it selects a single run, its text is returned.
func (s *site) idsOf(ctx context.Context, text string) (ids []string, err error) {
	selector, err := query.ParseSelector(text, time.Now())
	if err != nil || selector.IsOne() {
		return []string{text}, err
	}
	chosen, err := query.Choose(ctx, s.Store, history.RunFilter{Light: true}, selector)
	if err != nil {
		return nil, err
	}
	for _, note := range chosen.Notes {
		s.Log.Warn(note)
	}
	for _, run := range chosen.Runs {
		ids = append(ids, run.Run.ID)
	}
	return ids, nil
}

// answer answers with the report of runs, in the order of ids, or with the earliest first.
func (s *site) answer(w http.ResponseWriter, r *http.Request, ids []string, earliest bool) {
	var runs []*mapping.Run
	for _, id := range ids {
		run, err := query.Find(r.Context(), s.Store, id)
		if err != nil {
			s.missing(w, r, id, err)
			return
		}
		if !slices.ContainsFunc(runs, func(other *mapping.Run) bool { return other.Run.ID == run.Run.ID }) {
			runs = append(runs, run)
		}
	}
	if earliest {
		slices.SortStableFunc(runs, func(a, b *mapping.Run) int { return a.Run.Start.Compare(b.Run.Start) })
	}
	how := report.Options{Program: s.Program, Home: homeOf(r), Live: len(runs) < 3 && slices.ContainsFunc(runs, func(run *mapping.Run) bool { return run.Run.Live() }), Pair: len(runs) == 2 && !strings.HasPrefix(r.URL.Path, "/executions/")}
	if len(runs) == 1 {
		var err error
		if how.Stages, err = s.stageLinks(r.Context(), runs[0], how.Home); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	if how.Baseline = r.URL.Query().Get("against"); how.Baseline != "" {
		if _, err := s.idsOf(r.Context(), how.Baseline); err != nil {
			s.missing(w, r, how.Baseline, err)
			return
		}
	}
	policy := w.Header().Get("Content-Security-Policy")
	w.Header().Set("Content-Security-Policy", how.Policy()+unframed) // also when the browser has the page: it takes the headers of this answer
	isOfOthers := len(runs) > 1 && !how.Pair                         // its numbers may also depend on the night before
	if !isOfOthers && isKnown(w, r, tagOf(how, runs)) {
		return
	}
	page, err := s.made(r.Context(), runs, how)
	if err != nil {
		w.Header().Del("ETag")
		w.Header().Set("Content-Security-Policy", policy)
		s.fail(w, r, err)
		return
	}
	if isOfOthers && isKnown(w, r, contentTag(page)) {
		return
	}
	s.send(w, r, http.StatusOK, page)
}

// made returns the page of runs. Only a few pages are made at the same time.
func (s *site) made(ctx context.Context, runs []*mapping.Run, how report.Options) ([]byte, error) {
	leave, err := s.reports.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	page, err := s.page(ctx, runs, how)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = page.Write(&b)
	return b.Bytes(), err
}

// report makes the report of runs in the history.
func (s *site) report(ctx context.Context, runs []*mapping.Run, how report.Options) (*report.Page, error) {
	page := report.New(how)
	for _, doc := range runs {
		if _, err := page.Add(ctx, query.Stored(s.Store, doc), doc.Run.ID, len(runs) > 1); err != nil {
			return nil, err
		}
	}
	if page.IsOfNights() {
		if err := s.compareNights(ctx, page, how.Baseline); err != nil {
			return nil, err
		}
	}
	return page, page.Empty()
}

// missing answers if no run has the id, or shows the list of those whose ids begin with it.
func (s *site) missing(w http.ResponseWriter, r *http.Request, id string, err error) {
	switch {
	case errors.As(err, new(query.UsageError)): // such as last:5, which is not one run
		s.notify(w, r, http.StatusBadRequest, "No such run", err.Error())
	case errors.Is(err, history.ErrNotFound) && query.IsSelector(id):
		s.notify(w, r, http.StatusNotFound, "No such run", err.Error())
	case errors.Is(err, history.ErrNotFound):
		s.notify(w, r, http.StatusNotFound, "No such run", fmt.Sprintf("No run in %s has an id that begins with %s. Look in the list of runs; fio2es ingest and fio2es follow store runs.", s.Name, id))
	case errors.Is(err, history.ErrAmbiguous): // the list shows them; the address is relative, because a proxy may serve it below another
		w.Header().Set("Location", homeOf(r)+"?text="+url.QueryEscape(id))
		w.WriteHeader(http.StatusSeeOther)
	default:
		s.fail(w, r, err)
	}
}

func runLink(run *mapping.Run) string { return "runs/" + url.PathEscape(run.Run.ID) }

// executionLink returns the address of the report of a run's execution, relative to the list.
func executionLink(run *mapping.Run) string { return "executions/" + url.PathEscape(run.Run.Execution) }

// tagOf returns the ETag of a report. It changes if its options, the zone or one of the run documents change; these are stored after the
// windows. It is a weak ETag, because the page may be compressed.
func tagOf(how report.Options, runs []*mapping.Run) string {
	sum := sha256.New()
	_ = json.NewEncoder(sum).Encode([]any{unit.ZoneName(), how, runs}) // cannot fail: documents of a history were JSON
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:16]) + `"`
}

// isKnown sets the ETag of a page, and answers if the browser has the page already.
func isKnown(w http.ResponseWriter, r *http.Request, tag string) bool {
	w.Header().Set("ETag", tag)
	weak := func(t string) string { return strings.TrimPrefix(strings.TrimSpace(t), "W/") }
	for one := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if weak(one) == weak(tag) || strings.TrimSpace(one) == "*" {
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}
