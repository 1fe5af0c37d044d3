package es

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// Group is documents that have the same values in some fields.
type Group struct {
	Key       map[string]string // the values, by field
	Documents int64
	Having    map[string]int64 // how many of the documents have another field, by field
}

// Groups counts the visible documents that match query by the values of keyword fields. Every
// document has one value in each. Without such indices there are no groups. It counts
// values, because an aggregation's doc_count adds up the field _doc_count, which is the number
// of requests of a histogram.
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
		var answer groups
		err := c.Do(ctx, small(esapi.SearchRequest{
			Index: indices, Body: JSON(body), IgnoreUnavailable: yes, AllowNoIndices: yes, AllowPartialSearchResults: no,
		}), &answer)
		if err == nil {
			err = answer.Err() // without any index there are no aggregations, but there are shards: none
		}
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

// groups is the answer to Groups.
type groups struct {
	Whole
	Aggregations struct {
		Groups struct {
			After   json.RawMessage `json:"after_key"`
			Buckets []bucket
		}
	}
}

// bucket is a group in an answer, each count under the name of its field.
type bucket map[string]json.RawMessage

func (b bucket) group(first string, having []string) Group {
	g := Group{Key: map[string]string{}, Documents: b.count(first), Having: make(map[string]int64, len(having))}
	_ = json.Unmarshal(b["key"], &g.Key) // keyword fields have texts
	for _, field := range having {
		g.Having[field] = b.count(field)
	}
	return g
}

func (b bucket) count(field string) int64 {
	var count struct{ Value int64 }
	_ = json.Unmarshal(b[field], &count) // a value_count is a number
	return count.Value
}
