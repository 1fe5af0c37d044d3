package estest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// index has documents by id. Searches see those of the last refresh, in random order.
type index struct {
	docs    map[string]*document
	visible []*document
}

type document struct {
	index, id string
	seq       int64 // sequence number of the write
	source    json.RawMessage
	fields    map[string]any
}

// refusal is an error that becomes the answer.
type refusal struct {
	status int
	body   map[string]any
}

func (r *refusal) Error() string { return fmt.Sprintf("status %d: %v", r.status, r.body) }

func no(status int, kind, reason string) *refusal {
	cause := map[string]any{"type": kind, "reason": reason}
	return &refusal{status, map[string]any{
		"error": map[string]any{"root_cause": []any{cause}, "type": kind, "reason": reason}, "status": status,
	}}
}

// unknown returns an error for something that the stand-in does not support.
func unknown(format string, args ...any) error {
	return no(http.StatusBadRequest, "parsing_exception", fmt.Sprintf(format, args...))
}

// strict decodes JSON. It keeps all digits, and an unknown key is an error.
func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return unknown("%v in %.200s", err, text)
	}
	return nil
}

func (s *Server) create(name string) *index {
	if s.indices[name] == nil {
		s.indices[name] = &index{docs: make(map[string]*document)}
	}
	return s.indices[name]
}

// target says where and on which conditions a document is stored.
type target struct {
	Index string `json:"_index"`
	ID    string `json:"_id"`
	Seq   *int64 `json:"if_seq_no"`
	Term  int64  `json:"if_primary_term"`
	isNew bool
}

// put stores a document and returns its item result.
func (s *Server) put(to target, source []byte) (map[string]any, error) {
	in := s.create(to.Index)
	switch there := in.docs[to.ID]; {
	case to.Seq != nil && (there == nil || there.seq != *to.Seq || to.Term != 1), to.isNew && there != nil:
		return nil, no(http.StatusConflict, "version_conflict_engine_exception", "["+to.ID+"]: version conflict")
	}
	s.seq++
	d := &document{index: to.Index, id: to.ID, seq: s.seq, source: slices.Clone(source)}
	if err := strict(source, &d.fields); err != nil {
		return nil, err
	}
	result, status, version := "created", http.StatusCreated, 1
	if in.docs[to.ID] != nil {
		result, status, version = "updated", http.StatusOK, 2
	}
	in.docs[to.ID] = d
	return map[string]any{
		"_index": to.Index, "_id": to.ID, "_version": version, "result": result,
		"_shards": shards(1), "_seq_no": d.seq, "_primary_term": 1, "status": status,
	}, nil
}

// putOne stores the document of a request.
func (s *Server) putOne(to target, params url.Values, body []byte) (any, error) {
	if seq, err := strconv.ParseInt(params.Get("if_seq_no"), 10, 64); err == nil {
		to.Seq = &seq
		to.Term, _ = strconv.ParseInt(params.Get("if_primary_term"), 10, 64)
	}
	item, err := s.put(to, body)
	if err == nil && params.Get("refresh") == "true" {
		s.indices[to.Index].refresh()
	}
	return item, err
}

// bulk stores documents of index and create actions. Like a real server, it skips a last action without a document,
// silently.
func (s *Server) bulk(r *http.Request, body []byte, f Fault) (any, error) {
	s.mu.Lock()
	s.now++
	s.top = max(s.top, s.now)
	s.mu.Unlock()
	if s.ByteTime > 0 {
		s.turn <- struct{}{}
		wait(r, time.Duration(len(body))*s.ByteTime)
		<-s.turn
	}
	if f.Kind == Slow { // wait outside the lock, so that several requests overlap
		wait(r, f.Wait/2)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now--
	switch {
	case len(body) == 0:
		return nil, no(http.StatusBadRequest, "parse_exception", "request body is required")
	case body[len(body)-1] != '\n':
		return nil, no(http.StatusBadRequest, "illegal_argument_exception", "The bulk request must be terminated by a newline [\\n]")
	}
	lines := bytes.Split(body[:len(body)-1], []byte{'\n'})
	items, failed := []any{}, false
	for i := 0; i+1 < len(lines); i += 2 {
		var action map[string]target
		if err := strict(lines[i], &action); err != nil {
			return nil, err
		}
		for name, to := range action {
			to.isNew = name == "create"
			for _, item := range s.item(i/2, to, lines[i+1], f) {
				failed = failed || item["error"] != nil
				items = append(items, map[string]any{name: item})
			}
		}
	}
	if len(items) == 0 && f.Kind != ItemsLost && f.Kind != ItemsHidden {
		return nil, no(http.StatusBadRequest, "action_request_validation_exception", "Validation Failed: 1: no requests added;")
	}
	if f.Kind == Unordered {
		slices.Reverse(items)
	}
	return filter(r.URL.Query().Get("filter_path"), map[string]any{"took": 1, "errors": failed, "items": items}), nil
}

// item returns the items of one document: one, or as many as the fault wants.
func (s *Server) item(i int, to target, source []byte, f Fault) []map[string]any {
	refused := func(status int, kind, reason string) []map[string]any {
		return []map[string]any{{"_index": to.Index, "_id": to.ID, "status": status, "error": map[string]any{"type": kind, "reason": reason}}}
	}
	kind := None
	if f.Kind > Unordered && i%max(f.Every, 1) == 0 {
		kind = f.Kind
	}
	if x, ok := itemFaults[kind]; ok {
		return refused(x.status, x.kind, strings.ReplaceAll(x.reason, "INDEX", to.Index))
	}
	if kind == ItemsLost {
		return nil
	}
	if s.Refuse != nil {
		if reason := s.Refuse(to.Index, to.ID, source); reason != "" {
			return refused(http.StatusBadRequest, "mapper_parsing_exception", reason)
		}
	}
	stored, err := s.put(to, source)
	if x, ok := err.(*refusal); ok && x.status == http.StatusConflict {
		return refused(x.status, "version_conflict_engine_exception", "["+to.ID+"]: version conflict")
	}
	switch {
	case err != nil:
		return refused(http.StatusBadRequest, "mapper_parsing_exception", "failed to parse")
	case kind == ItemsHidden:
		return nil
	case kind == ItemsTwice:
		return []map[string]any{stored, stored}
	}
	return []map[string]any{stored}
}

// filter returns the parts of an answer that filter_path names. It knows only the paths that fio2es uses.
func filter(want string, answer map[string]any) any {
	paths := strings.Split(want, ",")
	if want == "" {
		return answer
	}
	var items []any
	for _, action := range answer["items"].([]any) {
		for name, fields := range action.(map[string]any) {
			some := maps.Clone(fields.(map[string]any))
			maps.DeleteFunc(some, func(key string, _ any) bool { return !slices.Contains(paths, "items.*."+key) })
			if len(some) > 0 {
				items = append(items, map[string]any{name: some})
			}
		}
	}
	maps.DeleteFunc(answer, func(key string, _ any) bool { return !slices.Contains(paths, key) })
	if len(items) > 0 {
		answer["items"] = items
	}
	return answer
}

func (in *index) refresh() { in.visible = slices.Collect(maps.Values(in.docs)) }

// find returns the indices of a list of names and patterns with commas. A missing name is an error unless the
// request allows it.
func (s *Server) find(patterns string, params url.Values) ([]string, error) {
	found := map[string]bool{}
	for _, p := range strings.Split(patterns, ",") {
		some := false
		for name := range s.indices {
			if matchesName(p, name) {
				found[name], some = true, true
			}
		}
		allowed := params.Get("ignore_unavailable") == "true" || strings.Contains(p, "*")
		if !some && (!allowed || params.Get("allow_no_indices") == "false") {
			missing := no(http.StatusNotFound, "index_not_found_exception", "no such index ["+p+"]")
			e := missing.body["error"].(map[string]any)
			for _, e := range []any{e, e["root_cause"].([]any)[0]} {
				maps.Copy(e.(map[string]any), map[string]any{"resource.type": "index_or_alias", "resource.id": p, "index_uuid": "_na_", "index": p})
			}
			return nil, missing
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

func matchesName(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok || pattern == "_all"
}

func shards(n int) map[string]int {
	return map[string]int{"total": n, "successful": n, "skipped": 0, "failed": 0}
}

func (s *Server) refresh(patterns string, params url.Values) (any, error) {
	names, err := s.find(patterns, params)
	for _, name := range names {
		s.indices[name].refresh()
	}
	return map[string]any{"_shards": shards(len(names))}, err
}

// visible returns what searches see, a list of documents for each index.
func (s *Server) visible(patterns string, params url.Values) ([][]*document, error) {
	names, err := s.find(patterns, params)
	var all [][]*document
	for _, name := range names {
		all = append(all, s.indices[name].visible)
	}
	return all, err
}

func (s *Server) count(patterns string, params url.Values, body []byte) (any, error) {
	all, err := s.visible(patterns, params)
	var request struct{ Query any }
	if len(body) > 0 && err == nil {
		err = strict(body, &request)
	}
	if err != nil {
		return nil, err
	}
	found, err := s.matching(request.Query, slices.Concat(all...))
	return map[string]any{"count": len(found), "_shards": shards(len(all))}, err
}

// scripts are the updates of documents that the stand-in knows.
var scripts = map[string]func(doc, run, params map[string]any){
	"ctx._source.run.remove('pending')": nil, // on the text, so that its bytes stay as they were
	"def list = params.changes[ctx._source.run.id]; " +
		"if (list.isEmpty()) { ctx._source.remove('changes') } else { ctx._source.changes = list }": func(doc, run, params map[string]any) {
		doc["changes"] = params["changes"].(map[string]any)[run["id"].(string)]
		if len(doc["changes"].([]any)) == 0 {
			delete(doc, "changes")
		}
	},
	"if (params.labels.isEmpty()) { ctx._source.run.remove('labels') } else { ctx._source.run.labels = params.labels } " +
		"if (params.edit.isEmpty()) { ctx._source.run.remove('edit') } else { ctx._source.run.edit = params.edit }": func(_, run, params map[string]any) {
		for name, value := range params {
			if run[name] = value; reflect.ValueOf(value).Len() == 0 {
				delete(run, name)
			}
		}
	},
}

// changeByQuery deletes the visible documents that a query finds, or runs a script on them. Documents written since
// the last refresh are conflicts.
func (s *Server) changeByQuery(patterns string, update bool, params url.Values, body []byte) (any, error) {
	all, err := s.visible(patterns, params)
	var request struct {
		Query  any
		Script struct {
			Lang, Source string
			Params       map[string]any
		}
	}
	if err == nil {
		err = strict(body, &request)
	}
	script, isKnown := scripts[request.Script.Source]
	if err == nil && (isKnown != update || update && request.Script.Lang != "painless") {
		err = no(http.StatusBadRequest, "script_exception", fmt.Sprintf("compile error: %+v", request.Script))
	}
	if err != nil {
		return nil, err
	}
	found, err := s.matching(request.Query, slices.Concat(all...))
	if err != nil {
		return nil, err
	}
	if limit, err := strconv.Atoi(params.Get("max_docs")); err == nil {
		found = found[:min(len(found), limit)]
	}
	changed, conflicts, touched := 0, 0, map[*index]bool{}
	for _, d := range found {
		in := s.indices[d.index]
		touched[in] = true
		switch {
		case in.docs[d.id] != d && params.Get("conflicts") != "proceed":
			return nil, no(http.StatusConflict, "version_conflict_engine_exception", "["+d.id+"]: version conflict")
		case in.docs[d.id] != d:
			conflicts++
			continue
		case update:
			source := []byte(d.source)
			if script == nil {
				source = bytes.Replace(source, []byte(`"pending":true,`), nil, 1)
			} else {
				var doc map[string]any
				if err := strict(source, &doc); err != nil {
					return nil, err
				}
				script(doc, doc["run"].(map[string]any), request.Script.Params)
				source, _ = json.Marshal(doc) // cannot fail: it was JSON
			}
			if _, err := s.put(target{Index: d.index, ID: d.id}, source); err != nil {
				return nil, err
			}
		default:
			delete(in.docs, d.id)
		}
		changed++
	}
	for in := range touched {
		if params.Get("refresh") == "true" {
			in.refresh()
		}
	}
	return map[string]any{
		"took": 1, "timed_out": false, "total": len(found), map[bool]string{true: "updated", false: "deleted"}[update]: changed, "batches": min(len(found), 1),
		"version_conflicts": conflicts, "noops": 0, "retries": map[string]int{"bulk": 0, "search": 0},
		"throttled_millis": 0, "requests_per_second": -1.0, "throttled_until_millis": 0, "failures": []any{},
	}, nil
}
