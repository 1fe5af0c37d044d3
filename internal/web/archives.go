package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// archive is a row of the list: runs, the newest first.
type archive struct {
	name string
	runs []*mapping.Run
}

func archiveTable(read query.Reader) (*report.Table, error) {
	var list []*archive
	for run, err := range read() {
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(list, func(a *archive) bool { return a.name == run.Run.Archive })
		if i < 0 {
			i, list = len(list), append(list, &archive{name: run.Run.Archive})
		}
		list[i].runs = append(list[i].runs, run)
	}
	text := func(name, heading string, of func(*archive) string) table.Column[*archive] {
		return table.Column[*archive]{Name: name, Heading: heading, Text: of}
	}
	return report.NewTable("list", "", []table.Column[*archive]{
		text("archive", "Archive", func(a *archive) string { return a.name }),
		text("", startHeading(), func(a *archive) string { return facts.Started(a.runs[len(a.runs)-1]) }),
		text("", ">Runs", func(a *archive) string { return unit.Count(int64(len(a.runs))) }),
		text("state", "State", func(a *archive) string { return statesOf(a.runs) }),
	}, list, func(a *archive, column string, to *report.Cell) {
		switch {
		case column == "archive" && a.name != "":
			to.Class, to.Link = "text name", "archives/"+url.PathEscape(a.name)
		case column == "state":
			to.Class += " name"
		}
	}), nil
}

// statesOf counts what is special about runs: "2 incomplete, 1 sla broken".
func statesOf(runs []*mapping.Run) string {
	var words []string
	n := map[string]int{}
	for _, run := range runs {
		all, _ := run.State()
		for _, word := range all {
			if n[word]++; n[word] == 1 {
				words = append(words, word)
			}
		}
	}
	slices.Sort(words)
	for i, word := range words {
		words[i] = fmt.Sprintf("%d %s", n[word], word)
	}
	return strings.Join(words, ", ")
}

// archive answers with the page of all tests of an archive.
func (s *site) archive(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	runs, err := s.all(r.Context(), history.RunFilter{Light: true})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	var ids []string
	for _, run := range slices.Backward(runs) {
		if run.Run.Archive == name {
			ids = append(ids, run.Run.ID)
		}
	}
	if len(ids) == 0 {
		s.notify(w, r, http.StatusNotFound, "No such archive", fmt.Sprintf("No run in %s has the archive %s. The list of archives has all.", s.Name, name))
		return
	}
	s.answer(w, r, ids, false)
}

// compareNights compares the nights of a page with the one before, and with a baseline if the page has one.
func (s *site) compareNights(ctx context.Context, page *report.Page, baseline string) (err error) {
	with := report.Against{Name: baseline, Read: func(ctx context.Context, run *mapping.Run) (*compare.Run, error) {
		return report.StoredSide(ctx, s.Store, query.Stored(s.Store, run), &query.Query{}, &compare.Run{Name: facts.ShortID(run.Run.ID)})
	}}
	if with.History, err = s.all(ctx, history.RunFilter{Light: true}); err != nil {
		return err
	}
	if baseline != "" {
		selector, err := query.ParseSelector(baseline, time.Now())
		if err != nil {
			return err
		}
		chosen, err := query.Choose(ctx, s.Store, history.RunFilter{Light: true}, selector)
		if err != nil {
			return err
		}
		with.Baseline = chosen.Runs
	}
	return page.Compare(ctx, with)
}
