package estest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
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
	Size   int              `json:"size"`
	Query  any              `json:"query"`
	Sort   []map[string]key `json:"sort"`
	After  []any            `json:"search_after"`
	Total  bool             `json:"track_total_hits"`
	Seq    bool             `json:"seq_no_primary_term"`
	Source source           `json:"_source"`
	Fields []string         `json:"docvalue_fields"`
	Stored string           `json:"stored_fields"`
	PIT    *struct {
		ID        string `json:"id"`
		KeepAlive string `json:"keep_alive"`
	} `json:"pit"`
	Aggs map[string]aggregation `json:"aggs"`
}

// source is false, or has the members of the document that are left out.
type source struct {
	isNone   bool
	Excludes []string `json:"excludes"`
}

func (s *source) UnmarshalJSON(b []byte) error {
	if s.isNone = string(b) == "false"; s.isNone {
		return nil
	}
	type plain source
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode((*plain)(s))
}

type key struct {
	Order    string `json:"order"`
	Missing  any    `json:"missing"`       // "_first", "_last" or a value
	Unmapped string `json:"unmapped_type"` // a field of any document counts as mapped
	field    string
}

type hit struct {
	*document
	sort []any // int64, string or nil
}

func (s *Server) search(patterns string, params url.Values, body []byte) any {
	r := decode[search](body)
	answer := map[string]any{"took": 1, "timed_out": false}
	var docs []*document
	indices := 1
	switch {
	case r.PIT == nil:
		docs, indices = s.visible(patterns, params)
	case patterns != "_search" || r.PIT.KeepAlive == "": // the search names a point in time, and no index
		panic(unknown("[indices] cannot be used with point in time"))
	default:
		var isOpen bool
		if docs, isOpen = s.pits[r.PIT.ID]; !isOpen {
			cause := map[string]any{"type": "search_context_missing_exception", "reason": "No search context found for id [1]"}
			panic(refusal{http.StatusNotFound, map[string]any{ // as recorded from 8.6.1
				"error":  map[string]any{"type": "search_phase_execution_exception", "reason": "all shards failed", "root_cause": []any{cause}},
				"status": http.StatusNotFound,
			}})
		}
		answer["pit_id"] = r.PIT.ID
	}
	answer["_shards"] = shards(indices)
	var keys []key
	for _, one := range r.Sort {
		for field, k := range one {
			k.field = field
			keys = append(keys, k)
		}
	}
	if isLast := len(keys) > 0 && keys[len(keys)-1].field == "_shard_doc"; r.PIT != nil && !isLast {
		keys = append(keys, key{field: "_shard_doc"})
	}
	if r.Size < 0 || r.Size > 10_000 || len(r.After) > 0 && len(r.After) != len(keys) {
		panic(unknown("size %d, search_after %v, sort %v", r.Size, r.After, r.Sort))
	}
	var hits []hit
	for n, d := range docs {
		if !d.matches(r.Query) {
			continue
		}
		h := hit{document: d}
		for _, k := range keys {
			v := any(int64(n)) // of _shard_doc: the same in each search of the point in time
			if k.field != "_shard_doc" {
				if v = nil; len(d.values(k.field)) > 0 {
					v = d.values(k.field)[0]
				}
			}
			if n, ok := k.Missing.(json.Number); ok && v == nil {
				v, _ = n.Int64()
			}
			h.sort = append(h.sort, v)
		}
		hits = append(hits, h)
	}
	total := len(hits)
	if len(r.Aggs) > 0 {
		if indices > 0 { // without an index, an answer has no aggregations
			answer["aggregations"] = s.aggregate(&r, hits)
		}
		hits = nil
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return order(keys, a.sort, b.sort) })
	if len(r.After) > 0 {
		for i, v := range r.After {
			if n, ok := v.(json.Number); ok {
				r.After[i], _ = n.Int64()
			}
		}
		hits = hits[sort.Search(len(hits), func(i int) bool { return order(keys, hits[i].sort, r.After) > 0 }):]
	}
	page := []any{}
	for _, h := range hits[:min(len(hits), r.Size)] {
		one := map[string]any{"_index": h.index, "_id": h.id, "_score": nil, "sort": h.sort, "_source": h.source}
		if r.Source.isNone {
			delete(one, "_source")
		}
		if r.Stored == "_none_" {
			delete(one, "_id")
		}
		if len(r.Fields) > 0 { // those that a document lacks are absent
			fields := map[string]any{}
			for _, name := range r.Fields {
				if list := h.values(name); len(list) > 0 {
					fields[name] = list
				}
			}
			one["fields"] = fields
		}
		if len(r.Source.Excludes) > 0 {
			rest := h.fields
			for _, field := range r.Source.Excludes {
				rest = without(rest, strings.Split(field, "."))
			}
			one["_source"] = rest
		}
		if r.Seq {
			one["_seq_no"], one["_primary_term"] = h.seq, 1
		}
		page = append(page, one)
	}
	found := map[string]any{"max_score": nil, "hits": page}
	if r.Total {
		found["total"] = map[string]any{"value": total, "relation": "eq"}
	}
	answer["hits"] = found
	return answer
}

func order(keys []key, a, b []any) int {
	for i, k := range keys {
		c := 0
		switch n, isNumber := a[i].(int64); {
		case a[i] == nil && b[i] == nil:
		case a[i] == nil || b[i] == nil:
			if c = 1; (a[i] == nil) == (k.Missing == "_first") {
				c = -1
			}
		case isNumber:
			c = cmp.Compare(n, b[i].(int64))
		default:
			c = cmp.Compare(a[i].(string), b[i].(string))
		}
		if k.Order == "desc" && a[i] != nil && b[i] != nil {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func without(object map[string]any, path []string) map[string]any {
	out := maps.Clone(object)
	if len(path) == 1 {
		delete(out, path[0])
	} else if inner, ok := out[path[0]].(map[string]any); ok {
		out[path[0]] = without(inner, path[1:])
	}
	return out
}

// only returns the only member of an object.
func only(v any) (name string, value any) {
	m, ok := v.(map[string]any)
	if !ok || len(m) != 1 { // several clauses of a bool would have further rules
		panic(unknown("query %v", v))
	}
	for name, value = range m {
	}
	return name, value
}

var compares = map[string]func(order int) bool{
	"gt": func(order int) bool { return order > 0 }, "gte": func(order int) bool { return order >= 0 },
	"lt": func(order int) bool { return order < 0 }, "lte": func(order int) bool { return order <= 0 },
}

// matches reports whether a query finds the document. An unknown query is an error, so that no test passes because of a
// misspelled query. A list matches if one of its values matches.
func (d *document) matches(query any) bool {
	if query == nil {
		return true
	}
	kind, body := only(query)
	if kind == "match_all" {
		return true
	}
	name, want := only(body)
	list, isList := want.([]any)
	bounds, isObject := want.(map[string]any)
	var match func(v any) bool
	switch {
	case kind == "bool" && isList:
		n := 0
		for _, q := range list {
			if d.matches(q) {
				n++
			}
		}
		switch name {
		case "filter":
			return n == len(list)
		case "should":
			return n > 0
		case "must_not":
			return n == 0
		}
		panic(unknown("query %v", query))
	case kind == "exists" && name == "field":
		return len(d.values(want.(string))) > 0
	case kind == "term" && !isList && !isObject:
		match = func(v any) bool { return fmt.Sprint(v) == fmt.Sprint(want) }
	case kind == "terms" && isList && len(list) <= 65_536:
		match = func(v any) bool { return slices.Contains(list, v) }
	case kind == "prefix":
		match = func(v any) bool { return strings.HasPrefix(v.(string), want.(string)) }
	case kind == "range" && len(bounds) > 0:
		limits := map[string]float64{}
		for name, bound := range bounds {
			n, _ := bound.(json.Number)
			limit, err := n.Float64()
			if limits[name] = limit; name != "format" && (err != nil || compares[name] == nil) || name == "format" && bound != "epoch_millis" {
				panic(unknown("range %s: %v", name, bound))
			}
		}
		match = func(v any) bool {
			if text, isText := v.(string); isText && bounds["format"] != nil {
				if at, err := time.Parse(time.RFC3339, text); err == nil {
					v = at.UnixMilli()
				}
			}
			n, isIn := v.(int64)
			for name, limit := range limits {
				isIn = isIn && (name == "format" || compares[name](cmp.Compare(float64(n), limit)))
			}
			return isIn
		}
	default:
		panic(unknown("unknown query [%s] %v", kind, want))
	}
	return slices.ContainsFunc(d.values(name), match)
}

// values returns the doc values of a field: int64 or string.
func (d *document) values(field string) []any {
	switch field {
	case "_id":
		return []any{d.id}
	case "_index":
		return []any{d.index}
	}
	values := lookup(d.fields, field)
	for i, v := range values {
		switch v := v.(type) {
		case json.Number:
			values[i], _ = v.Int64()
		case bool:
			values[i] = strconv.FormatBool(v)
		case string:
			if field != "@timestamp" {
				continue
			}
			if at, err := time.Parse(time.RFC3339, v); err == nil {
				values[i] = at.UnixMilli()
			}
		default:
			panic(unknown("%s has a value %v", field, v))
		}
	}
	return values
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
	DateRange *struct {
		Field  string                `json:"field"`
		Ranges []struct{ To string } `json:"ranges"`
	} `json:"date_range"`
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

// aggregate answers composite aggregations: one page of groups, sorted by key. And it says what time it is.
func (s *Server) aggregate(r *search, docs []hit) any {
	answer := map[string]any{}
	for name, agg := range r.Aggs {
		if of := agg.DateRange; of != nil {
			if len(of.Ranges) != 1 || of.Ranges[0].To != "now" {
				panic(unknown("ranges %v", of.Ranges))
			}
			answer[name] = map[string]any{"buckets": []any{map[string]any{"to": float64(time.Now().Add(s.Ahead).UnixMilli())}}}
			continue
		}
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
					values := d.values(by.Terms.Field)
					if len(values) == 0 {
						continue documents // a document without one of the fields belongs to no group
					}
					key[as] = values[0].(string)
				}
			}
			b := buckets[text(key)]
			if b == nil {
				b = map[string]any{"key": key}
				buckets[text(key)] = b
			}
			for as, sub := range agg.Aggs {
				before, _ := b[as].(map[string]int)
				b[as] = map[string]int{"value": before["value"] + len(d.values(sub.Count.Field))}
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
	return answer
}

func (s *Server) openPIT(patterns string, params url.Values) any {
	docs, _ := s.visible(patterns, params)
	if d, err := time.ParseDuration(params.Get("keep_alive")); err != nil || d <= 0 {
		panic(unknown("keep_alive %q", params.Get("keep_alive")))
	}
	s.opened++
	id := "pit-" + strconv.Itoa(s.opened)
	s.pits[id] = docs
	return map[string]any{"id": id}
}

func (s *Server) closePIT(body []byte) any {
	delete(s.pits, decode[struct{ ID string }](body).ID)
	return map[string]any{"succeeded": true, "num_freed": 1}
}

// OpenPITs returns the number of open points in time.
func (s *Server) OpenPITs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pits)
}

// ExpirePITs ends all points in time, as a server does after their keep-alive.
func (s *Server) ExpirePITs() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.pits)
}

// CutPITs removes from all points in time the documents after the first n.
func (s *Server) CutPITs(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, docs := range s.pits {
		s.pits[id] = docs[:min(len(docs), n)]
	}
}
