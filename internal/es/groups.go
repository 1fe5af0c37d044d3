package es

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// Group is a set of documents with the same values in some fields.
type Group struct {
	Key       map[string]string // value by field
	Documents int64
	Having    map[string]int64 // number of documents that have this other field, by field
}

// Groups counts the visible documents that match query, grouped by the keyword fields in by. having lists further
// fields: Groups counts the documents that have them. Each document must have exactly one value in each field of by.
// Without matching indices there are no groups.
//
// Groups counts values (value_count). The doc_count of an aggregation would add up the field _doc_count, which is
// the number of requests in a histogram.
func (c *Client) Groups(ctx context.Context, query any, by, having []string, indices ...string) ([]Group, error) {
	const page = 1000
	var sources []any
	for _, field := range by {
		sources = append(sources, map[string]any{field: map[string]any{"terms": map[string]any{"field": field}}})
	}
	counts := map[string]any{}
	for _, field := range append([]string{by[0]}, having...) {
		counts[field] = map[string]any{"value_count": map[string]any{"field": field}}
	}
	composite := map[string]any{"size": page, "sources": sources}
	body := map[string]any{
		"size": 0, "track_total_hits": false, "query": query,
		"aggs": map[string]any{"groups": map[string]any{"composite": composite, "aggs": counts}},
	}
	var out []Group
	for {
		var answer groups // without indices, it has zero shards and no aggregations
		err := c.Do(ctx, small(esapi.SearchRequest{
			Index: indices, Body: JSON(body), IgnoreUnavailable: yes, AllowNoIndices: yes, AllowPartialSearchResults: no,
		}), &answer)
		if err != nil {
			return nil, fmt.Errorf("count documents in %s: %w", strings.Join(indices, ","), err)
		}
		found := answer.Aggregations.Groups
		for _, b := range found.Buckets {
			out = append(out, b.group(by[0], having))
		}
		if len(found.After) == 0 || len(found.Buckets) < page {
			return out, nil
		}
		composite["after"] = found.After
	}
}

// groups is the answer to a search of Groups.
type groups struct {
	Whole
	Aggregations struct {
		Groups struct {
			After   json.RawMessage `json:"after_key"`
			Buckets []bucket
		}
	}
}

// bucket is one group in an answer. Each count has the name of its field.
type bucket map[string]json.RawMessage

func (b bucket) group(first string, having []string) Group {
	g := Group{Key: map[string]string{}, Documents: b.count(first), Having: make(map[string]int64, len(having))}
	_ = json.Unmarshal(b["key"], &g.Key) // cannot fail: keyword fields are texts
	for _, field := range having {
		g.Having[field] = b.count(field)
	}
	return g
}

func (b bucket) count(field string) int64 {
	var count struct{ Value int64 }
	_ = json.Unmarshal(b[field], &count) // cannot fail: a value_count is a number
	return count.Value
}
