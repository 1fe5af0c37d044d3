package elastic_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

type fakeSearch struct {
	Size   int    `json:"size"`
	Query  any    `json:"query"`
	Sort   []any  `json:"sort"`
	After  []any  `json:"search_after"`
	From   any    `json:"_source"`
	Total  bool   `json:"track_total_hits"`
	Stored string `json:"stored_fields"`
	Seq    bool   `json:"seq_no_primary_term"`
	Aggs   map[string]struct {
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
	} `json:"aggs"`
	PIT *struct {
		ID        string `json:"id"`
		KeepAlive string `json:"keep_alive"`
	} `json:"pit"`
}

// key is one key of an order.
type key struct {
	field   string
	down    bool
	missing any // "_first", "_last" or a value
}

type fakeHit struct {
	doc  *fakeDoc
	sort []any // int64, string or nil
}

func (f *fake) search(target string, query url.Values, body []byte, err error) (any, error) {
	var r fakeSearch
	if err == nil {
		err = strict(body, &r)
	}
	if err != nil {
		return nil, err
	}
	if r.Stored != "" && (r.Stored != "_none_" || r.From != nil || r.Seq) {
		return nil, unknown("stored_fields %q beside other fields", r.Stored)
	}
	if len(r.Aggs) > 0 {
		return f.aggregate(target, query, &r)
	}
	if r.Size < 0 || r.Size > 10000 || r.Query == nil {
		return nil, unknown("size %d, query %v", r.Size, r.Query)
	}
	shards, pit, err := f.state(target, query, &r)
	if err != nil {
		return nil, err
	}
	keys, err := parseSort(r.Sort)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 && (pit != nil || r.After != nil) {
		return nil, unknown("pages without an order")
	}
	if pit != nil {
		keys = append(keys, key{field: "_shard_doc"})
	}
	if r.After != nil && len(r.After) != len(keys) {
		return nil, unknown("search_after has %d value(s) but sort has %d.", len(r.After), len(keys))
	}
	hits, err := collectHits(shards, r.Query, keys)
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"timed_out": false, "_shards": map[string]any{"total": len(shards), "failed": 0}}
	if answer["hits"], err = r.page(hits, keys); err != nil {
		return nil, err
	}
	if pit != nil {
		answer["pit_id"] = f.name(pit)
	}
	return answer, nil
}

// state is the documents to search, by shard.
func (f *fake) state(target string, query url.Values, r *fakeSearch) ([][]*fakeDoc, *fakePIT, error) {
	if r.PIT != nil {
		p := f.pits[r.PIT.ID]
		if target != "" || r.PIT.KeepAlive == "" {
			return nil, nil, unknown("[indices] cannot be used with point in time")
		}
		if p == nil {
			return nil, nil, &refused{http.StatusNotFound, "search_context_missing_exception", "No search context found for id [1]"}
		}
		return p.shards, p, nil
	}
	names, err := f.find(target, query)
	var shards [][]*fakeDoc
	for _, name := range names {
		shards = append(shards, f.indices[name].visible)
	}
	return shards, nil, err
}

func collectHits(shards [][]*fakeDoc, query any, keys []key) ([]fakeHit, error) {
	var hits []fakeHit
	for s, docs := range shards {
		for i, d := range docs {
			ok, err := matches(query, d.fields)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			h := fakeHit{doc: d}
			for _, k := range keys {
				v := any(int64(s<<32 | i))
				if k.field != "_shard_doc" {
					if v, err = value(d.fields, k.field); err != nil {
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
	slices.SortFunc(hits, func(a, b fakeHit) int { return order(keys, a.sort, b.sort) })
	return hits, nil
}

func (r *fakeSearch) page(hits []fakeHit, keys []key) (any, error) {
	total := len(hits)
	if r.After != nil {
		after := make([]any, len(r.After))
		for i, v := range r.After {
			if after[i] = v; v != nil && keys[i].isNumber() {
				n, err := strconv.ParseInt(v.(json.Number).String(), 10, 64)
				if err != nil {
					return nil, unknown("search_after: %v", err)
				}
				after[i] = n
			}
		}
		hits = slices.DeleteFunc(hits, func(h fakeHit) bool { return order(keys, h.sort, after) <= 0 })
	}
	page := []any{}
	for _, h := range hits[:min(len(hits), r.Size)] {
		hit := map[string]any{"sort": h.sort}
		if r.Stored == "" {
			source, err := r.source(h.doc)
			if err != nil {
				return nil, err
			}
			hit["_id"], hit["_source"] = h.doc.id, source
		}
		if r.Seq {
			hit["_seq_no"], hit["_primary_term"] = h.doc.seq, 1
		}
		page = append(page, hit)
	}
	out := map[string]any{"max_score": nil, "hits": page}
	if r.Total {
		out["total"] = map[string]any{"value": total, "relation": "eq"}
	}
	return out, nil
}

// source is all of a document, or what a filter leaves of it.
func (r *fakeSearch) source(d *fakeDoc) (any, error) {
	switch from := r.From.(type) {
	case nil:
		return d.source, nil
	case []any:
		out := map[string]any{}
		for _, field := range from {
			v, err := value(d.fields, field.(string))
			if err != nil {
				return nil, err
			}
			first, last, _ := strings.Cut(field.(string), ".")
			inner, _ := out[first].(map[string]any)
			if inner == nil {
				inner = map[string]any{}
			}
			inner[last] = v
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
	if inner, ok := tree[path[0]].(map[string]any); ok {
		cut(inner, path[1:])
	}
}

// fakeFields are the fields that can be searched and sorted by.
var fakeFields = map[string]string{
	"level":      "keyword",
	"@timestamp": "date", "_id": "keyword", "hash": "keyword", "part": "long", "run.id": "keyword", "run.ingest": "keyword", "run.pending": "boolean", "run.labels.*": "keyword",
	"source.list.hash": "keyword", "cbt.benchmark": "keyword", "cbt.mode": "keyword", "fio.direction": "keyword", "fio.job": "keyword", "host.name": "keyword",
}

func (k *key) isNumber() bool {
	return k.field == "_shard_doc" || fakeFields[k.field] == "date" || fakeFields[k.field] == "long"
}

// fakePatterns are the names in fakeFields that stand for several.
var fakePatterns = slices.DeleteFunc(slices.Sorted(maps.Keys(fakeFields)), func(name string) bool { return !strings.Contains(name, "*") })

// value is what a field has in doc values: int64, string, or nil when it is missing.
func value(fields map[string]any, field string) (any, error) {
	kind, ok := fakeFields[field]
	for _, pattern := range fakePatterns {
		if ok {
			break
		}
		if ok, _ = path.Match(pattern, field); ok {
			kind = fakeFields[pattern]
		}
	}
	if !ok {
		return nil, unknown("no mapping found for [%s]", field)
	}
	v := any(fields)
	for _, name := range strings.Split(field, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	if v == nil {
		return nil, nil
	}
	switch kind {
	case "date":
		at, err := time.Parse(time.RFC3339, v.(string))
		return at.UnixMilli(), err
	case "long":
		return v.(json.Number).Int64()
	case "boolean":
		return strconv.FormatBool(v.(bool)), nil
	}
	return v.(string), nil
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
					k.down = v == "desc"
					ok = v == "asc" || v == "desc"
				case "missing":
					k.missing = v
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

func order(keys []key, a, b []any) int {
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
	return bytes.Compare([]byte(a.(string)), []byte(b.(string)))
}

// matches reports whether a query finds a document.
func matches(query any, fields map[string]any) (bool, error) {
	m, ok := query.(map[string]any)
	if !ok || len(m) != 1 {
		return false, unknown("query %v", query)
	}
	for kind, body := range m {
		inner, ok := body.(map[string]any)
		if !ok || len(inner) == 0 {
			return false, unknown("query %v", query)
		}
		if kind == "bool" {
			return matchesBool(inner, fields)
		}
		if len(inner) != 1 {
			return false, unknown("query %v", query)
		}
		for field, want := range inner {
			return matchesField(kind, field, want, fields)
		}
	}
	return false, nil
}

func matchesBool(clauses map[string]any, fields map[string]any) (bool, error) {
	result := true
	for name, v := range clauses {
		if name == "minimum_should_match" {
			if v != json.Number("1") || clauses["should"] == nil {
				return false, unknown("minimum_should_match %v", v)
			}
			continue
		}
		queries, ok := v.([]any)
		if !ok {
			return false, unknown("%s %v", name, v)
		}
		n := 0
		for _, q := range queries {
			ok, err := matches(q, fields)
			if err != nil {
				return false, err
			}
			if ok {
				n++
			}
		}
		switch name {
		case "filter":
			result = result && n == len(queries)
		case "must_not":
			result = result && n == 0
		case "should":
			if clauses["minimum_should_match"] == nil && (clauses["filter"] != nil || clauses["must"] != nil) {
				return false, unknown("should beside filters finds nothing by itself")
			}
			result = result && n > 0
		default:
			return false, unknown("[bool] query does not support [%s]", name)
		}
	}
	return result, nil
}

func matchesField(kind, field string, want any, fields map[string]any) (bool, error) {
	if kind == "exists" {
		if field != "field" {
			return false, unknown("exists %s", field)
		}
		v, err := value(fields, want.(string))
		return v != nil, err
	}
	if list, last, ok := listOf(fields, field); ok { // one that matches is enough
		for _, one := range list {
			if ok, err := matchesField(kind, last, want, one.(map[string]any)); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	}
	v, err := value(fields, field)
	if err != nil {
		return false, err
	}
	switch kind {
	case "term":
		text, ok := want.(string)
		if !ok {
			return false, unknown("term %v", want)
		}
		return v == text, nil
	case "terms":
		values, ok := want.([]any)
		if !ok || len(values) > 65536 {
			return false, unknown("terms %v", want)
		}
		return v != nil && slices.Contains(values, v), nil
	case "prefix":
		text, ok := v.(string)
		return ok && strings.HasPrefix(text, want.(string)), nil
	case "range":
		return matchesRange(v, want)
	}
	return false, unknown("unknown query [%s]", kind)
}

// listOf is the list of objects that a field is in, and the field's name in each.
func listOf(fields map[string]any, field string) (list []any, last string, ok bool) {
	if field != "source.list.hash" {
		return nil, "", false
	}
	source, _ := fields["source"].(map[string]any)
	list, _ = source["list"].([]any)
	return list, "hash", true
}

func matchesRange(v, want any) (bool, error) {
	at, ok := v.(int64)
	bounds, isMap := want.(map[string]any)
	if !isMap || bounds["format"] != "epoch_millis" {
		return false, unknown("range %v", want)
	}
	for name, bound := range bounds {
		if name == "format" {
			continue
		}
		n, err := bound.(json.Number).Int64()
		if err != nil {
			return false, unknown("range: %v", err)
		}
		switch name {
		case "gte":
			ok = ok && at >= n
		case "lt":
			ok = ok && at < n
		default:
			return false, unknown("range %s", name)
		}
	}
	return ok, nil
}
