package elastic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// finishAll finishes runs at the same time and returns their errors, in the order of runs.
func finishAll(ctx context.Context, s *elastic.Store, runs ...*mapping.Run) []error {
	errs := make([]error, len(runs))
	var all sync.WaitGroup
	for i, r := range runs {
		all.Go(func() { errs[i] = s.Finish(ctx, r) })
	}
	all.Wait()
	return errs
}

// TestManyEnds: runs that are finished at the same time are each stored as they should be.
func TestManyEnds(t *testing.T) {
	const n, replaced = 60, 5
	inBubble(t, func(w *world) {
		for i := range replaced {
			w.put(historytest.Intervals(fmt.Sprint(i), "old", 7)...)
			w.finish(fmt.Sprint(i), "old")
		}
		if d := w.server.Requests("_delete_by_query"); d != 0 {
			t.Errorf("%d requests delete, and there is nothing to delete", d)
		}
		var docs []*mapping.Interval
		var runs []*mapping.Run
		for i := range n {
			runs = append(runs, historytest.NewRun(fmt.Sprint(i), "new"))
		}
		for i := range n {
			mine := historytest.Intervals(fmt.Sprint(i), "new", 3)
			w.put(mine...)
			docs = append(docs, mine...)
		}
		must(t, errors.Join(finishAll(w.t.Context(), w.Store, runs...)...))
		w.hasExactly(docs)
		if got := len(w.server.Documents("fio-runs")); got != n {
			t.Errorf("%d runs", got)
		}
	})
}

// TestOneEndFails: a run that fails does not delay the others.
func TestOneEndFails(t *testing.T) {
	inBubble(t, func(w *world) {
		w.put(historytest.Intervals("gone", "old", 3)...)
		w.finish("gone", "old")
		names := []string{"fine", "gone", "run refused"}
		var runs []*mapping.Run
		refused, runRefused := historytest.Interval("refused", "new", 9), historytest.ID("run refused")
		w.server.Refuse = func(_, id string, _ []byte) string {
			if id == refused.ID() || id == runRefused {
				return "no"
			}
			return ""
		}
		for _, name := range names {
			w.put(historytest.Intervals(name, "new", 4)...)
			runs = append(runs, historytest.NewRun(name, "new"))
		}
		must(t, w.Flush(w.t.Context()))
		if err := w.stores("refused", "new", refused); !errors.Is(err, history.ErrRejected) {
			t.Error(err)
		}
		vanish := map[string]any{"bool": map[string]any{"filter": []any{
			map[string]any{"term": map[string]any{"run.name": "gone"}}, map[string]any{"term": map[string]any{"run.ingest": "new"}},
		}}}
		_ = w.client.Refresh(w.t.Context(), "fio-*")
		if d, err := w.client.DeleteAll(w.t.Context(), vanish, "fio-*"); err != nil || d == 0 {
			t.Fatalf("%d, %v", d, err)
		}
		errs := finishAll(w.t.Context(), w.Store, runs...)
		for i, want := range []error{nil, history.ErrReplaced, history.ErrRejected} {
			if !errors.Is(errs[i], want) {
				t.Errorf("%s: %v", names[i], errs[i])
			}
		}
		stored := w.server.Documents("fio-runs")
		if len(stored) != 2 || !strings.Contains(string(stored[runs[1].ID()]), `"ingest":"old"`) {
			t.Errorf("%d runs' documents", len(stored))
		}
	})
}

// TestIngested: if a run is stored again without a change, it keeps the time at which it was first stored.
func TestIngested(t *testing.T) {
	inBubble(t, func(w *world) {
		w.put(historytest.Intervals("a", "1", 2)...)
		run := historytest.NewRun("a", "1")
		finish := func(at int, jobs int, want int) {
			t.Helper()
			run.Ingested, run.Fio.Jobs = historytest.Start.Add(time.Duration(at)*time.Hour), jobs
			must(t, w.Finish(w.t.Context(), run))
			var got mapping.Run
			must(t, json.Unmarshal(w.server.Documents("fio-runs")[run.ID()], &got))
			if !got.Ingested.Equal(historytest.Start.Add(time.Duration(want) * time.Hour)) {
				t.Errorf("stored first at %v", got.Ingested)
			}
		}
		run.Run.Complete = false // incomplete, so that the writer counts all documents each time
		finish(1, 4, 1)
		finish(2, 4, 1)
		finish(3, 5, 3)
		finish(4, 5, 3)
	})
}

// TestAbandoned: if the context of Finish ends, the run stays unfinished and can be finished later.
func TestAbandoned(t *testing.T) {
	inBubble(t, func(w *world) {
		docs := historytest.Intervals("a", "1", 2)
		w.put(docs...)
		w.server.Script(estest.Fault{On: "_refresh", Kind: estest.Hang, Times: 2})
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		run := historytest.NewRun("a", "1")
		if err := w.Finish(ctx, run); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		run.Fio.Jobs++ // after Finish the caller may change the run
		time.Sleep(5 * time.Minute)
		if n := len(w.server.Documents("fio-runs")); n != 0 {
			t.Error("the run's document was stored")
		}
		w.finish("a", "1")
		w.hasExactly(docs)
	})
}

// mortal is a server that stops after some requests. It does the last request only in part if that changes many
// documents.
type mortal struct {
	http.Handler
	left atomic.Int64
}

func (m *mortal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	left := m.left.Add(-1)
	if q := r.URL.Query(); left == -1 && q.Has("max_docs") {
		q.Set("max_docs", "5")
		r.URL.RawQuery = q.Encode()
		m.Handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	if left < 0 {
		panic(http.ErrAbortHandler)
	}
	m.Handler.ServeHTTP(w, r)
}

// TestInterrupted kills an ingest after each of its requests. Readers then see one complete version of each run, the
// old or the new one. Dashboards, which leave out pending documents, see at most one version. Repeating the ingest
// leaves no other documents. Before, an ingest of a third version was interrupted.
func TestInterrupted(t *testing.T) {
	for last, done := int64(1), false; !done; last++ {
		if done = interrupted(t, last); last > 100 {
			t.Fatal("it never ends")
		}
	}
}

// interrupted kills an ingest after its request number last. It reports whether the ingest was complete before.
func interrupted(t *testing.T, last int64) (done bool) {
	t.Helper()
	const documents = 6
	names := []string{"a", "b", "new"}
	server := estest.New(templates.Names("fio")...)
	m := &mortal{Handler: server}
	listening := httptest.NewServer(m)
	defer listening.Close()
	client := newClient(t, es.Config{Addresses: []string{listening.URL}, GiveUpAfter: -1})
	defer client.Close()
	ingest := func(ingest string, n int, names ...string) error {
		s := elastic.New(client, "fio").Bulk(5000, 2)
		defer s.Close()
		var runs []*mapping.Run
		for _, name := range names {
			if err := s.Put(t.Context(), historytest.Intervals(name, ingest, n)); err != nil {
				return err
			}
			if runs = append(runs, historytest.NewRun(name, ingest)); ingest == "other" {
				runs = nil
			}
		}
		return errors.Join(s.Flush(t.Context()), errors.Join(finishAll(t.Context(), s, runs...)...))
	}
	m.left.Store(1 << 40)
	must(t, errors.Join(ingest("old", documents, names[:2]...), ingest("other", documents, "a")))
	m.left.Store(last)
	done = ingest("new", documents-2, names...) == nil
	m.left.Store(1 << 40)
	// Stored documents that are not visible yet may become visible at any time.
	for _, when := range []string{"visible", "stored"} {
		fault := whole(t, client, names, map[string]int64{"old": documents, "new": documents - 2})
		if err := errors.Join(fault, shownOnce(t, client, names)); err != nil {
			t.Errorf("%d requests, %s: %v", last, when, err)
		}
		must(t, client.Refresh(t.Context(), "fio-*"))
	}
	if err := ingest("new", documents-2, names...); err != nil {
		t.Errorf("again after %d requests: %v", last, err)
	}
	var docs []*mapping.Interval
	for _, name := range names {
		docs = append(docs, historytest.Intervals(name, "new", documents-2)...)
	}
	if err := hasExactly(server, docs, nil); err != nil {
		t.Errorf("again after %d requests: %v", last, err)
	}
	return done
}

// shownOnce fails if dashboards would add up documents of two versions of a run.
func shownOnce(t *testing.T, client *es.Client, names []string) error {
	t.Helper()
	shown := map[string]any{"bool": map[string]any{"must_not": []any{map[string]any{"term": map[string]any{mapping.PendingField: true}}}}}
	have, err := counted(t.Context(), client, shown, "fio-latency.*")
	if err != nil {
		return err
	}
	for _, name := range names {
		versions := []string{}
		for version, n := range have {
			if version[0] == historytest.ID(name) && n > 0 {
				versions = append(versions, version[1])
			}
		}
		if len(versions) > 1 {
			return fmt.Errorf("%s is shown in versions %q", name, versions)
		}
	}
	return nil
}

// whole fails if readers do not see all documents of a run. The visible run document says which version they read.
func whole(t *testing.T, client *es.Client, names []string, want map[string]int64) error {
	t.Helper()
	have, err := counted(t.Context(), client, map[string]any{"match_all": map[string]any{}}, "fio-latency.*")
	if err != nil {
		return err
	}
	runs, err := counted(t.Context(), client, map[string]any{"match_all": map[string]any{}}, "fio-runs")
	if err != nil {
		return err
	}
	for _, name := range names {
		id, seen := historytest.ID(name), 0
		for _, ingest := range []string{"old", "new"} {
			version := [2]string{id, ingest}
			if runs[version] == 0 {
				continue
			}
			if seen++; have[version] != want[ingest] {
				return fmt.Errorf("%s, version %s: %d documents of %d", name, ingest, have[version], want[ingest])
			}
		}
		if seen != 1 && !(name == "new" && seen == 0) {
			return fmt.Errorf("%s: %d versions", name, seen)
		}
	}
	return nil
}
