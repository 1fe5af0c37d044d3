package estest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
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
	Source any      `json:"_source"`
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

// key is one key of the sort order.
type key struct {
	field   string
	down    bool
	missing any // "_first", "_last" or a value
}

type hit struct {
	*document
	sort []any // int64, string or nil
}

func (s *Server) search(patterns string, params url.Values, body []byte) (any, error) {
	var r search
	if len(body) > 0 {
		if err := strict(body, &r); err != nil {
			return nil, err
		}
	}
	var p *pit
	docs, err := s.visible(patterns, params)
	if r.PIT != nil {
		if p, err = s.pits[r.PIT.ID], nil; p == nil {
			cause := map[string]any{"type": "search_context_missing_exception", "reason": "No search context found for id [1]"}
			return nil, &refusal{http.StatusNotFound, map[string]any{ // as recorded from 8.6.1
				"error":  map[string]any{"type": "search_phase_execution_exception", "reason": "all shards failed", "root_cause": []any{cause}},
				"status": http.StatusNotFound,
			}}
		}
		docs = p.docs
	}
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
	case r.Stored != "" && (r.Stored != "_none_" || r.Source != nil || r.Seq):
		return nil, unknown("stored_fields %q beside other fields", r.Stored)
	case len(keys) == 0 && (p != nil || r.After != nil):
		return nil, unknown("pages without an order")
	case p != nil && (patterns != "_search" || r.PIT.KeepAlive == ""): // the search names a point in time, and no index
		return nil, unknown("[indices] cannot be used with point in time")
	case p != nil:
		keys = append(keys, key{field: "_shard_doc"})
	}
	if r.After != nil && len(r.After) != len(keys) {
		return nil, unknown("search_after has %d value(s) but sort has %d.", len(r.After), len(keys))
	}
	var hits []hit
	if what := fmt.Sprint(r.Query, r.Sort); p != nil && p.what == what { // all pages of a point in time use one list
		hits = p.hits
	} else if hits, err = s.hits(docs, r.Query, keys); err != nil {
		return nil, err
	} else if p != nil {
		p.what, p.hits = what, hits
	}
	if answer["hits"], err = s.page(&r, hits, keys, size); err != nil {
		return nil, err
	}
	if p != nil {
		answer["pit_id"] = s.name(p)
	}
	return answer, nil
}

// hits returns the documents that a query finds, sorted.
func (s *Server) hits(docs [][]*document, query any, keys []key) ([]hit, error) {
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
					values, err := s.values(d, k.field)
					if err != nil {
						return nil, err
					}
					if v = nil; len(values) > 0 {
						v = values[0]
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

func order(keys []key, a, b []any) int {
	for i, k := range keys {
		c := 0
		switch n, isNumber := a[i].(int64); {
		case a[i] == nil && b[i] == nil:
		case a[i] == nil || b[i] == nil:
			if c = 1; (a[i] == nil) == (k.missing == "_first") {
				c = -1
			}
		case isNumber:
			c = cmp.Compare(n, b[i].(int64))
		default:
			c = cmp.Compare(a[i].(string), b[i].(string))
		}
		if k.down && a[i] != nil && b[i] != nil {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func parseSort(sort []any) ([]key, error) {
	var keys []key
	for _, s := range sort {
		m, ok := s.(map[string]any)
		if !ok || len(m) != 1 {
			return nil, unknown("sort %v", s)
		}
		for field, options := range m {
			k := key{field: field, missing: "_last"}
			for name, v := range options.(map[string]any) {
				switch name {
				case "order":
					k.down, ok = v == "desc", ok && (v == "asc" || v == "desc")
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

func (s *Server) page(r *search, hits []hit, keys []key, size int) (any, error) {
	total, relation := len(hits), "eq"
	if r.Total == nil && total > 10_000 {
		total, relation = 10_000, "gte"
	}
	if r.After != nil {
		after := slices.Clone(r.After)
		for i, v := range after {
			kind, _ := s.kind(keys[i].field)
			if n, ok := v.(json.Number); ok && (keys[i].field == "_shard_doc" || kind == "date" || kind == "long") {
				after[i], _ = n.Int64()
			}
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
	switch from := r.Source.(type) {
	case nil:
		return d.source, nil
	case []any:
		out := map[string]any{}
		for _, field := range from {
			first, last, isInner := strings.Cut(field.(string), ".")
			for _, v := range lookup(d.fields, field.(string)) {
				if !isInner {
					out[first] = v
				} else if inner, ok := out[first].(map[string]any); ok {
					inner[last] = v
				} else {
					out[first] = map[string]any{last: v}
				}
			}
		}
		return out, nil
	case map[string]any:
		if excludes, ok := from["excludes"].([]any); ok && len(from) == 1 {
			var tree map[string]any
			err := strict(d.source, &tree)
			for _, field := range excludes {
				cut(tree, strings.Split(field.(string), "."))
			}
			return tree, err
		}
	}
	return nil, unknown("_source %v", r.Source)
}

// cut removes a field, also in all objects of a list.
func cut(in any, path []string) {
	switch in := in.(type) {
	case map[string]any:
		if len(path) == 1 {
			delete(in, path[0])
		} else {
			cut(in[path[0]], path[1:])
		}
	case []any:
		for _, item := range in {
			cut(item, path)
		}
	}
}

// matching returns the documents that a query finds, in the same order. An unknown query is an error, so that no test
// passes because of a misspelled query.
func (s *Server) matching(query any, docs []*document) (found []*document, err error) {
	for _, d := range docs {
		ok := true
		if query != nil {
			ok, err = s.matches(query, d)
		}
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, d)
		}
	}
	return found, nil
}

func (s *Server) matches(query any, d *document) (bool, error) {
	m, ok := query.(map[string]any)
	if !ok || len(m) != 1 {
		return false, unknown("query %v", query)
	}
	for kind, body := range m {
		inner, ok := body.(map[string]any)
		switch {
		case kind == "match_all":
			return true, nil
		case !ok || len(inner) != 1: // several clauses of a bool would have further rules
			return false, unknown("query %v", query)
		}
		for name, want := range inner {
			switch queries, _ := want.([]any); {
			case kind == "bool" && (name == "filter" || name == "must_not" || name == "should"):
				n := 0
				for _, q := range queries {
					ok, err := s.matches(q, d)
					if err != nil {
						return false, err
					}
					if ok {
						n++
					}
				}
				return map[string]bool{"filter": n == len(queries), "must_not": n == 0, "should": n > 0}[name], nil
			case kind == "exists" && name == "field":
				values, err := s.values(d, want.(string))
				return len(values) > 0, err
			}
			return s.matchesField(kind, name, want, d)
		}
	}
	return false, nil
}

// matchesField reports whether a field matches. A list matches if one of its values matches.
func (s *Server) matchesField(kind, field string, want any, d *document) (bool, error) {
	list, isList := want.([]any)
	bounds, isObject := want.(map[string]any)
	var match func(v any) bool
	switch {
	case kind == "term" && !isList && !isObject:
		match = func(v any) bool { return fmt.Sprint(v) == fmt.Sprint(want) }
	case kind == "terms" && isList && len(list) <= 65_536:
		match = func(v any) bool { return slices.Contains(list, v) }
	case kind == "prefix":
		match = func(v any) bool { return strings.HasPrefix(v.(string), want.(string)) }
	case kind == "range" && bounds["format"] == "epoch_millis":
		from, to := int64(-1<<63), int64(1<<63-1)
		for name, bound := range bounds {
			n, _ := bound.(json.Number)
			at, err := n.Int64()
			switch {
			case name == "format":
			case err == nil && name == "gte":
				from = at
			case err == nil && name == "lt":
				to = at
			default:
				return false, unknown("range %s: %v", name, bound)
			}
		}
		match = func(v any) bool { at, ok := v.(int64); return ok && from <= at && at < to }
	default:
		return false, unknown("unknown query [%s] %v", kind, want)
	}
	values, err := s.values(d, field)
	return slices.ContainsFunc(values, match), err
}

// kind returns the type of a field. If the test defines no types, only two fields have one. Otherwise an unknown field
// is an error.
func (s *Server) kind(field string) (string, error) {
	if s.Fields == nil {
		return map[string]string{"@timestamp": "date", "part": "long"}[field], nil
	}
	for _, pattern := range slices.Sorted(maps.Keys(s.Fields)) {
		if ok, _ := path.Match(pattern, field); ok {
			return s.Fields[pattern], nil
		}
	}
	return "", unknown("No mapping found for [%s]", field)
}

// values returns the doc values of a field: int64 or string.
func (s *Server) values(d *document, field string) ([]any, error) {
	kind, err := s.kind(field)
	if err != nil || field == "_id" {
		return []any{d.id}, err
	}
	values := lookup(d.fields, field)
	for i, v := range values {
		switch v := v.(type) {
		case json.Number:
			values[i], err = v.Int64()
		case bool:
			values[i] = strconv.FormatBool(v)
		case string:
			if kind == "date" {
				at, bad := time.Parse(time.RFC3339, v)
				values[i], err = at.UnixMilli(), bad
			}
		default:
			err = fmt.Errorf("%s has a value %v", field, v)
		}
		if err != nil {
			return nil, unknown("%v", err)
		}
	}
	return values, nil
}

// lookup follows a path such as run.id. In a list of objects, it returns the values of all objects.
func lookup(in any, field string) []any {
	switch in := in.(type) {
	case map[string]any:
		if v, ok := in[field]; ok && v != nil {
			if list, ok := v.([]any); ok {
				return slices.Clone(list)
			}
			return []any{v}
		}
		if first, rest, isInner := strings.Cut(field, "."); isInner {
			return lookup(in[first], rest)
		}
	case []any:
		var all []any
		for _, one := range in {
			all = append(all, lookup(one, field)...)
		}
		return all
	}
	return nil
}

// aggregation groups documents by keyword fields, and counts in each group the documents that have other fields.
type aggregation struct {
	Composite struct {
		Size    int               `json:"size"`
		After   map[string]string `json:"after"`
		Sources []map[string]struct {
			Terms struct {
				Field string `json:"field"`
			} `json:"terms"`
		} `json:"sources"`
	} `json:"composite"`
	Aggs map[string]struct {
		Count struct {
			Field string `json:"field"`
		} `json:"value_count"`
	} `json:"aggs"`
}

// aggregate answers composite aggregations: one page of groups, sorted by key.
func (s *Server) aggregate(r *search, docs []*document) (any, error) {
	if r.Size == nil || *r.Size != 0 {
		return nil, unknown("aggregations beside hits")
	}
	answer := map[string]any{}
	for name, agg := range r.Aggs {
		text := func(key map[string]string) (text string) { // groups are sorted by it
			for _, source := range agg.Composite.Sources {
				for as := range source {
					text += key[as] + "\x00"
				}
			}
			return text
		}
		buckets := map[string]map[string]any{}
	documents:
		for _, d := range docs {
			key := map[string]string{}
			for _, source := range agg.Composite.Sources {
				for as, by := range source {
					values, err := s.values(d, by.Terms.Field)
					if err != nil {
						return nil, err
					}
					if len(values) == 0 {
						continue documents // a document without one of the fields belongs to no group
					}
					key[as] = values[0].(string)
				}
			}
			b := buckets[text(key)]
			if b == nil {
				b = map[string]any{"key": key, "doc_count": int64(0)}
				buckets[text(key)] = b
			}
			weight := int64(1) // doc_count adds up _doc_count, so it is not the number of documents
			if n, ok := d.fields["_doc_count"].(json.Number); ok {
				weight, _ = n.Int64()
			}
			b["doc_count"] = b["doc_count"].(int64) + weight
			for as, sub := range agg.Aggs {
				values, err := s.values(d, sub.Count.Field)
				if err != nil {
					return nil, err
				}
				before, _ := b[as].(map[string]int)
				b[as] = map[string]int{"value": before["value"] + len(values)}
			}
		}
		page, result := []any{}, map[string]any{}
		for _, at := range slices.Sorted(maps.Keys(buckets)) {
			if (agg.Composite.After == nil || at > text(agg.Composite.After)) && len(page) < agg.Composite.Size {
				page, result["after_key"] = append(page, buckets[at]), buckets[at]["key"]
			}
		}
		result["buckets"] = page
		answer[name] = result
	}
	return answer, nil
}

func (s *Server) openPIT(patterns string, params url.Values) (any, error) {
	docs, err := s.visible(patterns, params)
	if d, bad := time.ParseDuration(params.Get("keep_alive")); bad != nil || d <= 0 {
		err = unknown("keep_alive %q", params.Get("keep_alive"))
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"id": s.name(&pit{docs: docs})}, nil
}

// name gives a point in time another id.
func (s *Server) name(p *pit) string {
	s.ids++
	id := "pit-" + strconv.Itoa(s.ids)
	s.pits[id] = p
	return id
}

func (s *Server) closePIT(body []byte) (any, error) {
	var r struct{ ID string }
	err := strict(body, &r)
	p := s.pits[r.ID]
	maps.DeleteFunc(s.pits, func(_ string, other *pit) bool { return other == p })
	return map[string]any{"succeeded": true, "num_freed": 1}, err
}

// OpenPITs returns the number of open points in time.
func (s *Server) OpenPITs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := map[*pit]bool{}
	for _, p := range s.pits {
		open[p] = true
	}
	return len(open)
}

// ExpirePITs ends all points in time, as a server does after their keep-alive.
func (s *Server) ExpirePITs() {
	s.mu.Lock()
	defer s.mu.Unlock()
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
