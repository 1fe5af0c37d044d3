package estest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// search is the body of a search request.
type search struct {
	Size   *int     `json:"size"`
	Query  any      `json:"query"`
	Sort   []any    `json:"sort"`
	After  []any    `json:"search_after"`
	From   any      `json:"_source"`
	Total  *bool    `json:"track_total_hits"`
	Stored string   `json:"stored_fields"`
	Values []string `json:"docvalue_fields"`
	Seq    bool     `json:"seq_no_primary_term"`
	Aggs   map[string]aggregation
	PIT    *struct {
		ID        string `json:"id"`
		KeepAlive string `json:"keep_alive"`
	} `json:"pit"`
}

// pit is a point in time: the documents visible when it was opened, by index.
type pit struct {
	docs [][]*document
	what string // last search in it
	hits []hit  // all hits of that search, sorted
}

// sortKey is one key of the sort order.
type sortKey struct {
	field   string
	down    bool
	missing any // "_first", "_last" or a value
}

type hit struct {
	*document
	sort []any // int64, string or nil
}

func (s *store) search(patterns string, params url.Values, body []byte) (any, error) {
	var r search
	if len(body) > 0 {
		if err := strict(body, &r); err != nil {
			return nil, err
		}
	}
	docs, p, err := s.searched(patterns, params, &r)
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"took": 1, "timed_out": false, "_shards": shards(len(docs))}
	if len(r.Aggs) > 0 {
		found, err := s.matching(r.Query, slices.Concat(docs...))
		if err == nil && len(docs) > 0 { // without an index, an answer has no aggregations
			answer["aggregations"], err = s.aggregate(&r, found)
		}
		answer["hits"] = map[string]any{"max_score": nil, "hits": []any{}}
		return answer, err
	}
	size := 10
	if r.Size != nil {
		size = *r.Size
	}
	keys, err := parseSort(r.Sort)
	switch {
	case err != nil:
		return nil, err
	case size < 0 || size > 10_000:
		return nil, unknown("size %d", size)
	case r.Stored != "" && (r.Stored != "_none_" || r.From != nil || r.Seq):
		return nil, unknown("stored_fields %q beside other fields", r.Stored)
	case len(keys) == 0 && (p != nil || r.After != nil):
		return nil, unknown("pages without an order")
	}
	if p != nil {
		keys = append(keys, sortKey{field: "_shard_doc"})
	}
	if r.After != nil && len(r.After) != len(keys) {
		return nil, unknown("search_after has %d value(s) but sort has %d.", len(r.After), len(keys))
	}
	hits, err := s.sorted(p, docs, &r, keys)
	if err != nil {
		return nil, err
	}
	if answer["hits"], err = s.page(&r, hits, keys, size); err != nil {
		return nil, err
	}
	if p != nil {
		answer["pit_id"] = s.name(p)
	}
	return answer, nil
}

// searched returns the documents to search, a list for each index, and the point in time if there is one.
func (s *store) searched(patterns string, params url.Values, r *search) ([][]*document, *pit, error) {
	if r.PIT == nil {
		docs, err := s.visible(patterns, params)
		return docs, nil, err
	}
	if patterns != "_search" || r.PIT.KeepAlive == "" { // the search names a point in time, and no index
		return nil, nil, unknown("[indices] cannot be used with point in time")
	}
	p := s.pits[r.PIT.ID]
	if p == nil {
		cause := map[string]any{"type": "search_context_missing_exception", "reason": "No search context found for id [1]"}
		return nil, nil, &refusal{http.StatusNotFound, map[string]any{ // as recorded from 8.6.1
			"error":  map[string]any{"type": "search_phase_execution_exception", "reason": "all shards failed", "root_cause": []any{cause}},
			"status": http.StatusNotFound,
		}}
	}
	return p.docs, p, nil
}

// sorted returns the sorted hits. All pages of a point in time use the same list.
func (s *store) sorted(p *pit, docs [][]*document, r *search, keys []sortKey) ([]hit, error) {
	what := fmt.Sprint(r.Query, r.Sort)
	if p != nil && p.what == what {
		return p.hits, nil
	}
	hits, err := s.hits(docs, r.Query, keys)
	if p != nil && err == nil {
		p.what, p.hits = what, hits
	}
	return hits, err
}

func (s *store) hits(docs [][]*document, query any, keys []sortKey) ([]hit, error) {
	var hits []hit
	for i, docs := range docs {
		found, err := s.matching(query, docs)
		if err != nil {
			return nil, err
		}
		for n, d := range found {
			h := hit{document: d}
			for _, k := range keys {
				v := any(int64(i<<32 | n)) // stays the same in each search of the query
				if k.field != "_shard_doc" {
					if v, err = s.value(d, k.field); err != nil {
						return nil, err
					}
				}
				if n, ok := k.missing.(json.Number); ok && v == nil {
					v, _ = n.Int64()
				}
				h.sort = append(h.sort, v)
			}
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return order(keys, a.sort, b.sort) })
	return hits, nil
}

func (s *store) page(r *search, hits []hit, keys []sortKey, size int) (any, error) {
	total, relation := len(hits), "eq"
	if r.Total == nil && total > 10_000 {
		total, relation = 10_000, "gte"
	}
	if r.After != nil {
		after := make([]any, len(r.After))
		for i, v := range r.After {
			if after[i] = v; v == nil || !s.isNumber(keys[i].field) {
				continue
			}
			n, err := v.(json.Number).Int64()
			if err != nil {
				return nil, unknown("search_after: %v", err)
			}
			after[i] = n
		}
		hits = hits[sort.Search(len(hits), func(i int) bool { return order(keys, hits[i].sort, after) > 0 }):]
	}
	page := []any{}
	for _, h := range hits[:min(len(hits), size)] {
		one := map[string]any{"_index": h.index, "_score": nil}
		if len(keys) > 0 {
			one["sort"] = h.sort
		}
		if r.Stored == "" {
			source, err := r.source(h.document)
			if err != nil {
				return nil, err
			}
			if one["_id"] = h.id; source != nil {
				one["_source"] = source
			}
		}
		for _, field := range r.Values {
			if values := lookup(h.fields, field); len(values) > 0 {
				one["fields"] = map[string]any{field: values}
			}
		}
		if r.Seq {
			one["_seq_no"], one["_primary_term"] = h.seq, 1
		}
		page = append(page, one)
	}
	out := map[string]any{"max_score": nil, "hits": page}
	if r.Total == nil || *r.Total {
		out["total"] = map[string]any{"value": total, "relation": relation}
	}
	return out, nil
}

// source returns the document, or the fields of it that the request names.
func (r *search) source(d *document) (any, error) {
	switch from := r.From.(type) {
	case nil:
		return d.source, nil
	case bool:
		if from {
			return d.source, nil
		}
		return nil, nil
	case []any:
		out := map[string]any{}
		for _, field := range from {
			first, last, isInner := strings.Cut(field.(string), ".")
			if !isInner {
				for _, v := range lookup(d.fields, first) {
					out[first] = v
				}
				continue
			}
			inner, _ := out[first].(map[string]any)
			if inner == nil {
				inner = map[string]any{}
			}
			for _, v := range lookup(d.fields, field.(string)) {
				inner[last] = v
			}
			out[first] = inner
		}
		return out, nil
	case map[string]any:
		var tree map[string]any
		if err := strict(d.source, &tree); err != nil {
			return nil, err
		}
		excludes, ok := from["excludes"].([]any)
		if !ok || len(from) != 1 {
			return nil, unknown("_source %v", from)
		}
		for _, field := range excludes {
			cut(tree, strings.Split(field.(string), "."))
		}
		return tree, nil
	}
	return nil, unknown("_source %v", r.From)
}

func cut(tree map[string]any, path []string) {
	if len(path) == 1 {
		delete(tree, path[0])
		return
	}
	switch inner := tree[path[0]].(type) {
	case map[string]any:
		cut(inner, path[1:])
	case []any:
		for _, item := range inner {
			if object, ok := item.(map[string]any); ok {
				cut(object, path[1:])
			}
		}
	}
}

func parseSort(sort []any) ([]sortKey, error) {
	var keys []sortKey
	for _, s := range sort {
		m, ok := s.(map[string]any)
		if !ok || len(m) != 1 {
			return nil, unknown("sort %v", s)
		}
		for field, options := range m {
			k := sortKey{field: field, missing: "_last"}
			for name, v := range options.(map[string]any) {
				switch name {
				case "order":
					k.down = v == "desc"
					ok = v == "asc" || v == "desc"
				case "missing":
					k.missing = v
				case "unmapped_type": // a field of any document counts as mapped
				default:
					ok = false
				}
			}
			if !ok {
				return nil, unknown("sort %v", s)
			}
			keys = append(keys, k)
		}
	}
	return keys, nil
}

func order(keys []sortKey, a, b []any) int {
	for i, k := range keys {
		c := 0
		switch {
		case a[i] == nil && b[i] == nil:
		case a[i] == nil || b[i] == nil:
			if c = 1; (a[i] == nil) == (k.missing == "_first") {
				c = -1
			}
		default:
			if c = compareValues(a[i], b[i]); k.down {
				c = -c
			}
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func compareValues(a, b any) int {
	if n, ok := a.(int64); ok {
		return cmp.Compare(n, b.(int64))
	}
	return cmp.Compare(a.(string), b.(string))
}

func (s *store) openPIT(patterns string, params url.Values) (any, error) {
	docs, err := s.visible(patterns, params)
	if d, bad := time.ParseDuration(params.Get("keep_alive")); bad != nil || d <= 0 {
		err = unknown("keep_alive %q", params.Get("keep_alive"))
	}
	if err != nil {
		return nil, err
	}
	s.open++
	return map[string]any{"id": s.name(&pit{docs: docs})}, nil
}

// name gives a point in time another id.
func (s *store) name(p *pit) string {
	s.ids++
	id := "pit-" + strconv.Itoa(s.ids)
	s.pits[id] = p
	return id
}

func (s *store) closePIT(body []byte) (any, error) {
	var r struct{ ID string }
	if err := strict(body, &r); err != nil {
		return nil, err
	}
	if p := s.pits[r.ID]; p != nil {
		s.open--
		for id, other := range s.pits {
			if other == p {
				delete(s.pits, id)
			}
		}
	}
	return map[string]any{"succeeded": true, "num_freed": 1}, nil
}

// OpenPITs returns the number of open points in time.
func (s *Server) OpenPITs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// ExpirePITs ends all points in time, as a server does after their keep-alive.
func (s *Server) ExpirePITs() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = 0
	clear(s.pits)
}

// CutPITs removes from all points in time the documents of each index after the first n.
func (s *Server) CutPITs(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pits {
		for i, docs := range p.docs {
			p.docs[i] = docs[:min(len(docs), n)]
		}
		p.what = ""
	}
}
