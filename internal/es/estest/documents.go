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

// refusal is an answer with an error. Functions panic with it.
type refusal struct {
	status int
	body   any
}

func no(status int, kind, reason string) refusal {
	cause := map[string]any{"type": kind, "reason": reason}
	return refusal{status, map[string]any{
		"error": map[string]any{"root_cause": []any{cause}, "type": kind, "reason": reason}, "status": status,
	}}
}

// unknown is the error for something that the stand-in does not support.
func unknown(format string, args ...any) refusal {
	return no(http.StatusBadRequest, "parsing_exception", fmt.Sprintf(format, args...))
}

// decode decodes JSON. It keeps all digits, and an unknown key is an error.
func decode[T any](text []byte) (v T) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		panic(unknown("%v in %.200s", err, text))
	}
	return v
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

// put stores a document and returns its item result, or panics with a refusal.
func (s *Server) put(to target, source []byte) map[string]any {
	if !json.Valid(source) {
		panic(no(http.StatusBadRequest, "mapper_parsing_exception", "failed to parse"))
	}
	if s.Refuse != nil {
		if reason := s.Refuse(to.Index, to.ID, source); reason != "" {
			panic(no(http.StatusBadRequest, "mapper_parsing_exception", reason))
		}
	}
	in := s.create(to.Index)
	there := in.docs[to.ID]
	if to.Seq != nil && (there == nil || there.seq != *to.Seq || to.Term != 1) || to.isNew && there != nil {
		panic(no(http.StatusConflict, "version_conflict_engine_exception", "["+to.ID+"]: version conflict"))
	}
	fields := decode[map[string]any](source)
	s.seq++
	in.docs[to.ID] = &document{to.Index, to.ID, s.seq, slices.Clone(source), fields}
	item := map[string]any{
		"_index": to.Index, "_id": to.ID, "_version": 1, "result": "created",
		"_shards": shards(1), "_seq_no": s.seq, "_primary_term": 1, "status": http.StatusCreated,
	}
	if there != nil {
		item["result"], item["status"], item["_version"] = "updated", http.StatusOK, 2
	}
	return item
}

// putOne stores the document of a request.
func (s *Server) putOne(to target, params url.Values, body []byte) any {
	if seq, err := strconv.ParseInt(params.Get("if_seq_no"), 10, 64); err == nil {
		to.Seq = &seq
		to.Term, _ = strconv.ParseInt(params.Get("if_primary_term"), 10, 64)
	}
	item := s.put(to, body)
	if params.Get("refresh") == "true" {
		s.indices[to.Index].refresh()
	}
	return item
}

// update merges fields into a document.
func (s *Server) update(in, id string, body []byte) any {
	s.find(in, nil)
	d := s.indices[in].docs[id]
	if d == nil {
		missing := no(http.StatusNotFound, "document_missing_exception", "["+id+"]: document missing")
		maps.Copy(missing.body.(map[string]any)["error"].(map[string]any), map[string]any{"index": in, "index_uuid": "<none>", "shard": "0"})
		panic(missing)
	}
	fields := decode[map[string]any](d.source)
	merge(fields, decode[struct{ Doc map[string]any }](body).Doc)
	source, _ := json.Marshal(fields) // cannot fail: it was JSON
	item := s.put(target{Index: in, ID: id}, source)
	delete(item, "status") // only items of bulk requests have it
	return item
}

func merge(into, from map[string]any) {
	for name, value := range from {
		inner, isObject := value.(map[string]any)
		if there, ok := into[name].(map[string]any); ok && isObject {
			merge(there, inner)
		} else {
			into[name] = value
		}
	}
}

// get returns a document, visible or not.
func (s *Server) get(in, id string) any {
	s.find(in, nil)
	d := s.indices[in].docs[id]
	if d == nil {
		panic(refusal{http.StatusNotFound, map[string]any{"_index": in, "_id": id, "found": false}})
	}
	return map[string]any{
		"_index": in, "_id": id, "_version": 1, "_seq_no": d.seq, "_primary_term": 1, "found": true, "_source": d.source,
	}
}

// bulk stores documents of index and create actions. Like a real server, it skips a last action without a document,
// silently.
func (s *Server) bulk(r *http.Request, body []byte, f Fault) any {
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
	switch {
	case len(body) == 0:
		panic(no(http.StatusBadRequest, "parse_exception", "request body is required"))
	case body[len(body)-1] != '\n':
		panic(no(http.StatusBadRequest, "illegal_argument_exception", "The bulk request must be terminated by a newline [\\n]"))
	}
	lines := bytes.Split(body[:len(body)-1], []byte{'\n'})
	items, failed := []any{}, false
	for i := 0; i+1 < len(lines); i += 2 {
		for name, to := range decode[map[string]target](lines[i]) {
			to.isNew = name == "create"
			for _, item := range s.item(i/2, to, lines[i+1], f) {
				failed = failed || item["error"] != nil
				items = append(items, map[string]any{name: item})
			}
		}
	}
	if len(items) == 0 && f.Kind != ItemsLost && f.Kind != ItemsHidden {
		panic(no(http.StatusBadRequest, "action_request_validation_exception", "Validation Failed: 1: no requests added;"))
	}
	if r.URL.Query().Get("refresh") == "true" {
		for _, in := range s.indices {
			in.refresh()
		}
	}
	if f.Kind == Unordered {
		slices.Reverse(items)
	}
	answer := map[string]any{"took": 1, "errors": failed, "items": items}
	if want := r.URL.Query().Get("filter_path"); want != "" {
		var paths [][]string
		for path := range strings.SplitSeq(want, ",") {
			paths = append(paths, strings.Split(path, "."))
		}
		return filtered(answer, paths)
	}
	return answer
}

// filtered returns what filter_path names of an answer. Each path is a list of names, and "*" stands for any name.
func filtered(v any, paths [][]string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, inner := range v {
			var below [][]string
			for _, p := range paths {
				switch {
				case p[0] != name && p[0] != "*":
				case len(p) == 1:
					out[name] = inner
				default:
					below = append(below, p[1:])
				}
			}
			if below != nil {
				out[name] = filtered(inner, below)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, inner := range v {
			out = append(out, filtered(inner, paths))
		}
		return out
	}
	return v
}

// item returns the items of one document: one, or as many as the fault wants.
func (s *Server) item(i int, to target, source []byte, f Fault) (items []map[string]any) {
	defer func() {
		if x := recover(); x != nil {
			no, ok := x.(refusal)
			if !ok {
				panic(x)
			}
			items = []map[string]any{{"_index": to.Index, "_id": to.ID, "status": no.status, "error": no.body.(map[string]any)["error"]}}
		}
	}()
	kind := None
	if f.Kind > Unordered && i%max(f.Every, 1) == 0 {
		kind = f.Kind
	}
	if x, isRefused := itemFaults[kind]; isRefused {
		panic(no(x.status, x.kind, strings.ReplaceAll(x.reason, "INDEX", to.Index)))
	}
	if kind == ItemsLost {
		return nil
	}
	stored := s.put(to, source)
	switch kind {
	case ItemsHidden:
		return nil
	case ItemsTwice:
		return []map[string]any{stored, stored}
	}
	return []map[string]any{stored}
}

func (in *index) refresh() { in.visible = slices.Collect(maps.Values(in.docs)) }

// find returns the indices of a list of names and patterns with commas. A missing name is an error unless the
// request allows it.
func (s *Server) find(patterns string, params url.Values) []string {
	found := map[string]bool{}
	for _, p := range strings.Split(patterns, ",") {
		some := false
		for name := range s.indices {
			if ok, _ := path.Match(p, name); ok || p == "_all" {
				found[name], some = true, true
			}
		}
		isAllowed := params.Get("ignore_unavailable") == "true" || strings.Contains(p, "*")
		if !some && (!isAllowed || params.Get("allow_no_indices") == "false") {
			missing := no(http.StatusNotFound, "index_not_found_exception", "no such index ["+p+"]")
			e := missing.body.(map[string]any)["error"].(map[string]any)
			for _, e := range []any{e, e["root_cause"].([]any)[0]} {
				maps.Copy(e.(map[string]any), map[string]any{"resource.type": "index_or_alias", "resource.id": p, "index_uuid": "_na_", "index": p})
			}
			panic(missing)
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func shards(n int) map[string]int {
	return map[string]int{"total": n, "successful": n, "skipped": 0, "failed": 0}
}

// visible returns what searches see, and the number of indices.
func (s *Server) visible(patterns string, params url.Values) (docs []*document, indices int) {
	names := s.find(patterns, params)
	for _, name := range names {
		docs = append(docs, s.indices[name].visible...)
	}
	return docs, len(names)
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
func (s *Server) changeByQuery(patterns string, update bool, params url.Values, body []byte) any {
	docs, _ := s.visible(patterns, params)
	request := decode[struct {
		Query  any
		Script struct {
			Lang, Source string
			Params       map[string]any
		}
	}](body)
	script, isKnown := scripts[request.Script.Source]
	if isKnown != update || update && request.Script.Lang != "painless" {
		panic(no(http.StatusBadRequest, "script_exception", fmt.Sprintf("compile error: %+v", request.Script)))
	}
	found := slices.DeleteFunc(docs, func(d *document) bool { return !d.matches(request.Query) })
	if limit, err := strconv.Atoi(params.Get("max_docs")); err == nil {
		found = found[:min(len(found), limit)]
	}
	changed, conflicts := 0, 0
	for _, d := range found {
		in := s.indices[d.index]
		switch {
		case in.docs[d.id] != d && params.Get("conflicts") != "proceed":
			panic(no(http.StatusConflict, "version_conflict_engine_exception", "["+d.id+"]: version conflict"))
		case in.docs[d.id] != d:
			conflicts++
			continue
		case !update:
			delete(in.docs, d.id)
		case script == nil:
			s.put(target{Index: d.index, ID: d.id}, bytes.Replace(d.source, []byte(`"pending":true,`), nil, 1))
		default:
			doc := decode[map[string]any](d.source)
			script(doc, doc["run"].(map[string]any), request.Script.Params)
			if config, ok := doc["config"].(map[string]any); ok { // Elasticsearch gives members another order then
				doc["config"] = backwards(config)
			}
			source, _ := json.Marshal(doc) // cannot fail: it was JSON
			s.put(target{Index: d.index, ID: d.id}, source)
		}
		changed++
	}
	if params.Get("refresh") == "true" {
		for _, d := range found {
			s.indices[d.index].refresh()
		}
	}
	return map[string]any{
		"took": 1, "timed_out": false, "total": len(found), map[bool]string{true: "updated", false: "deleted"}[update]: changed, "batches": min(len(found), 1),
		"version_conflicts": conflicts, "noops": 0, "retries": map[string]int{"bulk": 0, "search": 0},
		"throttled_millis": 0, "requests_per_second": -1.0, "throttled_until_millis": 0, "failures": []any{},
	}
}

// backwards is an object whose members are written in the other order.
type backwards map[string]any

func (b backwards) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, name := range slices.Backward(slices.Sorted(maps.Keys(b))) {
		member, err := json.Marshal(map[string]any{name: b[name]})
		if err != nil {
			return nil, err
		}
		if text = append(text, member[1:len(member)-1]...); i > 0 {
			text = append(text, ',')
		}
	}
	return append(text, '}'), nil
}
