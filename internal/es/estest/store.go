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
)

// store has the documents of a cluster, and what searches see. Callers lock [Server].mu.
type store struct {
	fields  map[string]string // types by name or pattern; nil: the type follows from the value
	indices map[string]*index
	pits    map[string]*pit // by id; a point in time can have several ids
	open    int             // number of open points in time
	seq     int64           // sequence number of the last write
	ids     int             // number of ids given to points in time
}

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

func (s *store) create(name string) *index {
	if s.indices[name] == nil {
		s.indices[name] = &index{docs: make(map[string]*document)}
	}
	return s.indices[name]
}

// put stores a document and returns its item result.
func (s *store) put(name, id string, source []byte) (map[string]any, error) {
	s.seq++
	d := &document{index: name, id: id, seq: s.seq, source: slices.Clone(source)}
	if err := strict(source, &d.fields); err != nil {
		return nil, err
	}
	in := s.create(name)
	result, status, version := "created", http.StatusCreated, 1
	if _, ok := in.docs[id]; ok {
		result, status, version = "updated", http.StatusOK, 2
	}
	in.docs[id] = d
	return map[string]any{
		"_index": name, "_id": id, "_version": version, "result": result,
		"_shards": shards(1), "_seq_no": d.seq, "_primary_term": 1, "status": status,
	}, nil
}

// putIf stores a document if its state is the one that the parameters require.
func (s *store) putIf(name, id string, params url.Values, body []byte) (any, error) {
	if seq := params.Get("if_seq_no"); seq != "" {
		if d := s.create(name).docs[id]; d == nil || strconv.FormatInt(d.seq, 10) != seq || params.Get("if_primary_term") != "1" {
			return nil, no(http.StatusConflict, "version_conflict_engine_exception", "["+id+"]: version conflict")
		}
	}
	if params.Get("op_type") == "create" && s.create(name).docs[id] != nil {
		return nil, no(http.StatusConflict, "version_conflict_engine_exception", "["+id+"]: version conflict, document already exists")
	}
	item, err := s.put(name, id, body)
	if err == nil && params.Get("refresh") == "true" {
		s.indices[name].refresh()
	}
	return item, err
}

func (in *index) refresh() { in.visible = slices.Collect(maps.Values(in.docs)) }

// find returns the indices of a list of names and patterns with commas. A missing name is an error unless the
// request allows it.
func (s *store) find(patterns string, params url.Values) ([]string, error) {
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
			return nil, noIndex(p)
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

func noIndex(name string) error {
	body := failure(http.StatusNotFound, "index_not_found_exception", "no such index ["+name+"]")
	for _, e := range []any{body["error"], body["error"].(map[string]any)["root_cause"].([]any)[0]} {
		maps.Copy(e.(map[string]any), map[string]any{
			"resource.type": "index_or_alias", "resource.id": name, "index_uuid": "_na_", "index": name,
		})
	}
	return &refusal{http.StatusNotFound, body}
}

func matchesName(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok || pattern == "_all"
}

func shards(n int) map[string]int {
	return map[string]int{"total": n, "successful": n, "skipped": 0, "failed": 0}
}

func (s *store) refresh(patterns string, params url.Values) (any, error) {
	names, err := s.find(patterns, params)
	for _, name := range names {
		s.indices[name].refresh()
	}
	return map[string]any{"_shards": shards(len(names))}, err
}

// visible returns what searches see, a list of documents for each index.
func (s *store) visible(patterns string, params url.Values) ([][]*document, error) {
	names, err := s.find(patterns, params)
	var all [][]*document
	for _, name := range names {
		all = append(all, s.indices[name].visible)
	}
	return all, err
}

func (s *store) count(patterns string, params url.Values, body []byte) (any, error) {
	all, err := s.visible(patterns, params)
	if err != nil {
		return nil, err
	}
	var request struct{ Query any }
	if len(body) > 0 {
		if err := strict(body, &request); err != nil {
			return nil, err
		}
	}
	found, err := s.matching(request.Query, slices.Concat(all...))
	return map[string]any{"count": len(found), "_shards": shards(len(all))}, err
}

// matching returns the documents that a query finds, in the same order.
func (s *store) matching(query any, docs []*document) ([]*document, error) {
	if query == nil {
		return docs, nil
	}
	var found []*document
	for _, d := range docs {
		switch ok, err := s.matches(query, d); {
		case err != nil:
			return nil, err
		case ok:
			found = append(found, d)
		}
	}
	return found, nil
}

// Scripts that the stand-in supports.
const (
	showPending = "ctx._source.run.remove('pending')"
	markChanges = "def list = params.changes[ctx._source.run.id]; " +
		"if (list.isEmpty()) { ctx._source.remove('changes') } else { ctx._source.changes = list } ctx._source.remove('light')"
	relabel = "if (params.labels.isEmpty()) { ctx._source.run.remove('labels') } else { ctx._source.run.labels = params.labels } " +
		"if (params.edit.isEmpty()) { ctx._source.run.remove('edit') } else { ctx._source.run.edit = params.edit }"
)

// script is an update of documents.
type script struct {
	Lang, Source string
	Params       map[string]any
}

// run returns the source of a document after the script.
func (s *script) run(source json.RawMessage) (json.RawMessage, error) {
	if s.Source == showPending {
		return bytes.Replace(source, []byte(`"pending":true,`), nil, 1), nil
	}
	var doc map[string]any
	if err := strict(source, &doc); err != nil {
		return nil, err
	}
	run := doc["run"].(map[string]any)
	if s.Source == markChanges {
		doc["changes"] = s.Params["changes"].(map[string]any)[run["id"].(string)]
		if len(doc["changes"].([]any)) == 0 {
			delete(doc, "changes")
		}
		delete(doc, "light")
		return json.Marshal(doc)
	}
	for name, value := range s.Params {
		if run[name] = value; value == "" || reflect.ValueOf(value).Len() == 0 {
			delete(run, name)
		}
	}
	return json.Marshal(doc)
}

// changeByQuery deletes the visible documents that a query finds, or runs a script on them. Documents written since
// the last refresh are conflicts.
func (s *store) changeByQuery(patterns string, update bool, params url.Values, body []byte) (any, error) {
	all, err := s.visible(patterns, params)
	if err != nil {
		return nil, err
	}
	var request struct {
		Query  any
		Script script
	}
	if err := strict(body, &request); err != nil {
		return nil, err
	}
	if source := request.Script.Source; update != (source != "") || update && (request.Script.Lang != "painless" || !slices.Contains([]string{showPending, relabel, markChanges}, source)) {
		return nil, no(http.StatusBadRequest, "script_exception", fmt.Sprintf("compile error: %+v", request.Script))
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
			source, err := request.Script.run(d.source)
			if err == nil {
				_, err = s.put(d.index, d.id, source)
			}
			if err != nil {
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

// mapped returns the type of a field in all matching indices. The index behind an alias has no such field.
func (s *store) mapped(pattern, field, kind, alias string) any {
	answer := map[string]any{}
	if matchesName(pattern, alias) {
		answer["somebody-elses"] = map[string]any{"mappings": map[string]any{}}
	}
	for name := range s.indices {
		if matchesName(pattern, name) {
			last := field[strings.LastIndexByte(field, '.')+1:]
			answer[name] = map[string]any{"mappings": map[string]any{
				field: map[string]any{"full_name": field, "mapping": map[string]any{last: map[string]any{"type": kind}}},
			}}
		}
	}
	return answer
}
