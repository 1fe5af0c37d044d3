package elastic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

// fake is as much of Elasticsearch as the history and its writer need, and strict: what
// it does not know is an error, so that no test passes by a misspelt query. Documents are
// found only after a refresh, as with the real one.
type fake struct {
	*direct
	t *testing.T

	// before sees each request first. When it returns true it has answered. It may call
	// the server, but not from several goroutines.
	before func(w http.ResponseWriter, r *http.Request, body []byte) bool

	mu       sync.Mutex
	indices  map[string]*fakeIndex
	pits     map[string]*fakePIT // by any id that they had
	open     int                 // points in time
	seq, ids int64
	requests []string
}

type fakeIndex struct {
	stored  map[string]*fakeDoc
	visible []*fakeDoc // since the last refresh
}

type fakeDoc struct {
	id     string
	seq    int64
	source json.RawMessage
	fields map[string]any
}

type fakePIT struct{ shards [][]*fakeDoc }

// refused is an answer that says no.
type refused struct {
	status       int
	kind, reason string
}

func (r *refused) Error() string { return r.kind + ": " + r.reason }

func unknown(format string, args ...any) error {
	return &refused{http.StatusBadRequest, "parsing_exception", fmt.Sprintf(format, args...)}
}

func noIndex(name string) error {
	return &refused{http.StatusNotFound, "index_not_found_exception", "no such index [" + name + "]"}
}

func newFake(t *testing.T) *fake {
	f := &fake{t: t, indices: map[string]*fakeIndex{}, pits: map[string]*fakePIT{}}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	base, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	f.direct = &direct{base: base, client: s.Client()}
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	f.mu.Lock()
	before := f.before
	f.requests = append(f.requests, r.Method+" "+r.URL.Path)
	f.mu.Unlock()
	if before != nil && before(w, r, body) {
		return
	}
	f.mu.Lock()
	answer, err := f.answer(r, body)
	f.mu.Unlock()
	w.Header().Set("X-elastic-product", "Elasticsearch")
	w.Header().Set("Content-Type", "application/json")
	if no, ok := err.(*refused); ok {
		w.WriteHeader(no.status)
		answer = refusalBody(no)
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		f.t.Logf("answer: %v", err)
	}
}

func refusalBody(no *refused) any {
	c := map[string]any{"type": no.kind, "reason": no.reason}
	if no.kind == "search_context_missing_exception" { // as recorded from 8.6.1
		c = map[string]any{"type": "search_phase_execution_exception", "reason": "all shards failed", "root_cause": []any{c}}
	}
	return map[string]any{"error": c, "status": no.status}
}

func (f *fake) answer(r *http.Request, body []byte) (any, error) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	verb, target := parts[len(parts)-1], ""
	if len(parts) == 2 {
		target = parts[0]
	}
	params := func(allowed ...string) error {
		for name := range r.URL.Query() {
			if !slices.Contains(allowed, name) {
				return unknown("request contains unrecognized parameter: [%s]", name)
			}
		}
		return nil
	}
	route := r.Method + " " + verb
	if len(parts) > 2 {
		route = "none"
	}
	switch route {
	case "PUT " + verb: // an index
		f.index(verb)
		return map[string]any{"acknowledged": true}, params()
	case "POST _bulk":
		return f.bulk(body)
	case "POST _refresh":
		return f.refresh(target, r.URL.Query(), params("ignore_unavailable", "allow_no_indices"))
	case "POST _pit":
		return f.openPIT(target, r.URL.Query(), params("keep_alive", "allow_no_indices"))
	case "DELETE _pit":
		return f.closePIT(body, params())
	case "POST _search":
		return f.search(target, r.URL.Query(), body, params("allow_partial_search_results", "ignore_unavailable", "allow_no_indices"))
	case "POST _delete_by_query", "POST _update_by_query":
		return f.changeByQuery(target, verb, r.URL.Query(), body, params("conflicts", "refresh", "max_docs", "ignore_unavailable", "allow_no_indices"))
	}
	return nil, &refused{http.StatusMethodNotAllowed, "", "no handler for " + r.Method + " " + r.URL.Path}
}

func (f *fake) index(name string) *fakeIndex {
	if f.indices[name] == nil {
		f.indices[name] = &fakeIndex{stored: map[string]*fakeDoc{}}
	}
	return f.indices[name]
}

// find is what a name, or a pattern, stands for.
func (f *fake) find(target string, query url.Values) ([]string, error) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f.indices)) {
		if ok, err := path.Match(target, name); ok && err == nil {
			names = append(names, name)
		}
	}
	allowed := query.Get("ignore_unavailable") == "true" || strings.Contains(target, "*")
	if len(names) == 0 && (!allowed || query.Get("allow_no_indices") == "false") {
		return nil, noIndex(target)
	}
	return names, nil
}

func (f *fake) bulk(body []byte) (any, error) {
	lines := bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n"))
	if !bytes.HasSuffix(body, []byte("\n")) || len(lines)%2 != 0 {
		return nil, unknown("%d lines", len(lines))
	}
	var items []any
	for i := 0; i < len(lines); i += 2 {
		var action struct {
			Index struct {
				Index string `json:"_index"`
				ID    string `json:"_id"`
			} `json:"index"`
		}
		if err := strict(lines[i], &action); err != nil {
			return nil, err
		}
		d := &fakeDoc{id: action.Index.ID, source: slices.Clone(lines[i+1])}
		if err := strict(d.source, &d.fields); err != nil {
			return nil, err
		}
		f.seq++
		d.seq, d.fields["_id"] = f.seq, d.id
		f.index(action.Index.Index).stored[d.id] = d
		items = append(items, map[string]any{"index": map[string]any{"_index": action.Index.Index, "_id": d.id, "status": 201}})
	}
	return map[string]any{"errors": false, "items": items}, nil
}

func (f *fake) refresh(target string, query url.Values, err error) (any, error) {
	names, missing := f.find(target, query)
	if err == nil {
		err = missing
	}
	for _, name := range names {
		f.indices[name].refresh()
	}
	return map[string]any{"_shards": map[string]any{"total": len(names), "successful": len(names), "failed": 0}}, err
}

func (i *fakeIndex) refresh() { i.visible = slices.Collect(maps.Values(i.stored)) }

func (f *fake) openPIT(target string, params url.Values, err error) (any, error) {
	names, missing := f.find(target, params)
	if err == nil {
		err = missing
	}
	if d, bad := time.ParseDuration(params.Get("keep_alive")); bad != nil || d <= 0 {
		err = unknown("keep_alive %q", params.Get("keep_alive"))
	}
	if err != nil {
		return nil, err
	}
	p := &fakePIT{}
	for _, name := range names {
		p.shards = append(p.shards, f.indices[name].visible)
	}
	f.open++
	return map[string]any{"id": f.name(p)}, nil
}

// name gives a point in time one more id.
func (f *fake) name(p *fakePIT) string {
	f.ids++
	id := "pit-" + strconv.FormatInt(f.ids, 10)
	f.pits[id] = p
	return id
}

func (f *fake) closePIT(body []byte, err error) (any, error) {
	var r struct{ ID string }
	if bad := strict(body, &r); bad != nil || err != nil {
		return nil, unknown("close: %v", bad)
	}
	if p := f.pits[r.ID]; p != nil {
		f.drop(p)
	}
	return map[string]any{"succeeded": true, "num_freed": 1}, nil
}

func (f *fake) drop(p *fakePIT) {
	f.open--
	maps.DeleteFunc(f.pits, func(_ string, other *fakePIT) bool { return other == p })
}

// expire ends all points in time, as the server does to those that wait for too long.
func (f *fake) expire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = 0
	clear(f.pits)
}

// changeByQuery deletes documents, or takes run.pending out of them.
func (f *fake) changeByQuery(target, verb string, params url.Values, body []byte, err error) (any, error) {
	names, missing := f.find(target, params)
	if err == nil {
		err = missing
	}
	if err != nil {
		return nil, err
	}
	var r struct {
		Query  any
		Script struct{ Lang, Source string }
	}
	if err := strict(body, &r); err != nil {
		return nil, err
	}
	isUpdate := verb == "_update_by_query"
	if isUpdate && (r.Script.Lang != "painless" || r.Script.Source != mapping.ShowPending) {
		return nil, unknown("script %+v", r.Script)
	}
	most, err := strconv.Atoi(params.Get("max_docs"))
	if err != nil || most < 1 || params.Get("conflicts") != "proceed" || params.Get("refresh") != "true" {
		return nil, unknown("parameters %v", params)
	}
	total, changed, conflicts := 0, 0, 0
	for _, name := range names {
		index := f.indices[name]
		for _, d := range index.visible {
			ok, err := matches(r.Query, d.fields)
			if err != nil {
				return nil, err
			}
			if !ok || total == most {
				continue
			}
			total++
			if now := index.stored[d.id]; now == nil || now.seq != d.seq {
				conflicts++ // it was changed since it became visible
				continue
			}
			if changed++; !isUpdate {
				delete(index.stored, d.id)
				continue
			}
			f.seq++
			now := &fakeDoc{id: d.id, seq: f.seq, source: bytes.Replace(d.source, []byte(`"pending":true,`), nil, 1)}
			if err := strict(now.source, &now.fields); err != nil {
				return nil, err
			}
			now.fields["_id"] = d.id
			index.stored[d.id] = now
		}
		index.refresh()
	}
	return map[string]any{
		"timed_out": false, "total": total, map[bool]string{true: "updated", false: "deleted"}[isUpdate]: changed, "version_conflicts": conflicts, "failures": []any{},
	}, nil
}

// strict decodes JSON without losing digits, and knows all keys of structs.
func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return unknown("%v in %.200s", err, text)
	}
	return nil
}
