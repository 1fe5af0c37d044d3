package estest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

// index is a map of documents; searches see it as it was at the last refresh.
type index struct {
	docs    map[string]json.RawMessage
	visible map[string]json.RawMessage
}

func newIndex() *index {
	return &index{docs: make(map[string]json.RawMessage), visible: make(map[string]json.RawMessage)}
}

func (s *Server) create(name string) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.indices[name] == nil {
		s.indices[name] = newIndex()
	}
	return http.StatusOK, map[string]any{"acknowledged": true, "shards_acknowledged": true, "index": name}
}

func (s *Server) putDocument(name, id string, body []byte, r *http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	item := s.store(name, id, body)
	if r.URL.Query().Get("refresh") != "" {
		s.indices[name].refresh()
	}
	return item["status"].(int), item
}

// store puts a document. The caller has locked s.mu.
func (s *Server) store(name, id string, source []byte) map[string]any {
	in := s.indices[name]
	if in == nil {
		in = newIndex()
		s.indices[name] = in
	}
	result, status, version := "created", http.StatusCreated, 1
	if _, ok := in.docs[id]; ok {
		result, status, version = "updated", http.StatusOK, 2
	}
	in.docs[id] = slices.Clone(source)
	return map[string]any{
		"_index": name, "_id": id, "_version": version, "result": result,
		"_shards": map[string]int{"total": 1, "successful": 1, "failed": 0}, "_seq_no": 0, "_primary_term": 1, "status": status,
	}
}

func (in *index) refresh() { in.visible = maps.Clone(in.docs) }

// find returns the indices that match names and patterns, joined by commas. The caller has locked s.mu.
// A name that is missing is an error, unless the request lets it be.
func (s *Server) find(patterns string, r *http.Request) ([]string, map[string]any) {
	var names []string
	for _, p := range strings.Split(patterns, ",") {
		found := 0
		for name := range s.indices {
			if matches(p, name) {
				names, found = append(names, name), found+1
			}
		}
		if found == 0 && !strings.Contains(p, "*") && r.URL.Query().Get("ignore_unavailable") != "true" {
			f := failure(http.StatusNotFound, "index_not_found_exception", "no such index ["+p+"]")
			for _, e := range []any{f["error"], f["error"].(map[string]any)["root_cause"].([]any)[0]} {
				maps.Copy(e.(map[string]any), map[string]any{
					"resource.type": "index_or_alias", "resource.id": p, "index_uuid": "_na_", "index": p,
				})
			}
			return nil, f
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func matches(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok || pattern == "_all"
}

func shards(n int) map[string]int { return map[string]int{"total": n, "successful": n, "failed": 0} }

func (s *Server) refresh(patterns string, r *http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names, missing := s.find(patterns, r)
	if missing != nil {
		return http.StatusNotFound, missing
	}
	for _, name := range names {
		s.indices[name].refresh()
	}
	return http.StatusOK, map[string]any{"_shards": shards(len(names))}
}

// hit is a visible document that matches a query.
type hit struct{ index, id string }

func (s *Server) hits(patterns string, r *http.Request, body []byte) ([]hit, int, map[string]any) {
	names, missing := s.find(patterns, r)
	if missing != nil {
		return nil, 0, missing
	}
	var request struct {
		Query map[string]any `json:"query"`
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &request); err != nil {
			return nil, 0, failure(http.StatusBadRequest, "x_content_parse_exception", err.Error())
		}
	}
	var found []hit
	for _, name := range names {
		in := s.indices[name]
		for _, id := range slices.Sorted(maps.Keys(in.visible)) {
			var doc map[string]any
			_ = json.Unmarshal(in.visible[id], &doc) // was checked when it came
			if match(request.Query, doc) {
				found = append(found, hit{name, id})
			}
		}
	}
	return found, len(names), nil
}

func (s *Server) count(patterns string, r *http.Request, body []byte) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, n, missing := s.hits(patterns, r, body)
	if missing != nil {
		return missing["status"].(int), missing
	}
	sh := shards(n)
	sh["skipped"] = 0
	return http.StatusOK, map[string]any{"count": len(found), "_shards": sh}
}

func (s *Server) search(patterns string, r *http.Request, body []byte) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, n, missing := s.hits(patterns, r, body)
	if missing != nil {
		return missing["status"].(int), missing
	}
	request := struct{ Size int }{10}
	_ = json.Unmarshal(body, &request) // hits has looked
	total := map[string]any{"value": len(found), "relation": "eq"}
	list := []any{}
	for _, h := range found[:min(len(found), request.Size)] {
		list = append(list, map[string]any{"_index": h.index, "_id": h.id, "_score": 1.0, "_source": s.indices[h.index].visible[h.id]})
	}
	sh := shards(n)
	sh["skipped"] = 0
	answer := map[string]any{
		"took": 1, "timed_out": false, "_shards": sh,
		"hits": map[string]any{"total": total, "max_score": 1.0, "hits": list},
	}
	if aggregations := s.aggregate(found, body); aggregations != nil {
		answer["aggregations"] = aggregations
	}
	return http.StatusOK, answer
}

// updateByQuery knows one script: that which takes run.pending out.
func (s *Server) updateByQuery(patterns string, r *http.Request, body []byte) (int, any) {
	var request struct{ Script struct{ Lang, Source string } }
	if err := json.Unmarshal(body, &request); err != nil || request.Script.Lang != "painless" || request.Script.Source != "ctx._source.run.remove('pending')" {
		return http.StatusBadRequest, failure(http.StatusBadRequest, "script_exception", fmt.Sprintf("compile error: %+v, %v", request.Script, err))
	}
	return s.byQuery(patterns, r, body, func(in *index, id string) {
		in.docs[id] = bytes.Replace(in.docs[id], []byte(`"pending":true,`), nil, 1)
	})
}

// byQuery changes the visible documents that a query finds.
func (s *Server) byQuery(patterns string, r *http.Request, body []byte, change func(in *index, id string)) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, _, missing := s.hits(patterns, r, body)
	if missing != nil {
		return missing["status"].(int), missing
	}
	if limit, err := strconv.Atoi(r.URL.Query().Get("max_docs")); err == nil {
		found = found[:min(len(found), limit)]
	}
	changed, conflicts := 0, 0
	for _, h := range found {
		in := s.indices[h.index]
		if string(in.docs[h.id]) != string(in.visible[h.id]) {
			conflicts++ // it was written since the refresh
			continue
		}
		change(in, h.id)
		changed++
	}
	if r.URL.Query().Get("refresh") == "true" {
		for _, h := range found {
			s.indices[h.index].refresh()
		}
	}
	what := map[bool]string{true: "updated", false: "deleted"}[strings.HasSuffix(r.URL.Path, "_update_by_query")]
	return http.StatusOK, map[string]any{
		"took": 1, "timed_out": false, "total": len(found), what: changed, "batches": min(len(found), 1),
		"version_conflicts": conflicts, "noops": 0, "retries": map[string]int{"bulk": 0, "search": 0},
		"throttled_millis": 0, "requests_per_second": -1.0, "throttled_until_millis": 0, "failures": []any{},
	}
}

func (s *Server) fieldMapping(pattern, field string) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := s.Mapped
	if kind == "" {
		kind = "histogram"
	}
	answer := map[string]any{}
	for name := range s.indices {
		if matches(pattern, name) {
			last := field[strings.LastIndexByte(field, '.')+1:]
			answer[name] = map[string]any{"mappings": map[string]any{
				field: map[string]any{"full_name": field, "mapping": map[string]any{last: map[string]any{"type": kind}}},
			}}
		}
	}
	return http.StatusOK, answer
}

// match knows match_all, term, terms, exists and bool of these; of should, one has to match.
func match(query, doc map[string]any) bool {
	for kind, arg := range query {
		args, _ := arg.(map[string]any)
		for field, want := range args {
			if !matchOne(kind, field, want, doc) {
				return false
			}
		}
	}
	return true
}

func matchOne(kind, field string, want any, doc map[string]any) bool {
	switch kind {
	case "bool":
		if field == "should" {
			return slices.ContainsFunc(list(want), func(q any) bool { return match(q.(map[string]any), doc) })
		}
		for _, q := range list(want) {
			if match(q.(map[string]any), doc) == (field == "must_not") {
				return false
			}
		}
		return true
	case "term":
		return fmt.Sprint(lookup(doc, field)) == fmt.Sprint(want)
	case "terms":
		return slices.ContainsFunc(list(lookup(doc, field)), func(v any) bool { return slices.Contains(list(want), v) })
	case "exists":
		return lookup(doc, fmt.Sprint(want)) != nil
	}
	return kind == "match_all"
}

func list(v any) []any {
	if l, ok := v.([]any); ok {
		return l
	}
	return []any{v}
}

// lookup follows a path such as run.id. In a list of objects it returns the list of their values.
func lookup(doc map[string]any, field string) any {
	if v, ok := doc[field]; ok {
		return v
	}
	first, rest, _ := strings.Cut(field, ".")
	switch in := doc[first].(type) {
	case map[string]any:
		return lookup(in, rest)
	case []any:
		var all []any
		for _, one := range in {
			if one, ok := one.(map[string]any); ok {
				all = append(all, lookup(one, rest))
			}
		}
		return all
	}
	return nil
}
