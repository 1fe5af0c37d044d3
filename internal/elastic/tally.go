package elastic

import (
	"context"
	"encoding/json"
	"fmt"
)

// Pair is the values that a document has in two fields.
type Pair struct{ First, Second string }

// Tally counts the visible documents that match query by the values of two keyword
// fields, of which every document has one each; it is empty when there are no such
// indices. It counts values and not what aggregations call doc_count: that adds up the
// field _doc_count, which for documents of histograms is the number of requests.
func (c *Client) Tally(ctx context.Context, query any, first, second string, indices ...string) (map[Pair]int64, error) {
	const page = 1000
	out := make(map[Pair]int64)
	composite := map[string]any{"size": page, "sources": []any{
		map[string]any{"first": map[string]any{"terms": map[string]any{"field": first}}},
		map[string]any{"second": map[string]any{"terms": map[string]any{"field": second}}},
	}}
	body := map[string]any{
		"size": 0, "track_total_hits": false, "query": query,
		"aggs": map[string]any{"pairs": map[string]any{
			"composite": composite,
			"aggs":      map[string]any{"documents": map[string]any{"value_count": map[string]any{"field": second}}},
		}},
	}
	for {
		var answer tally
		err := c.Do(ctx, Request{
			Path: []string{join(indices), "_search"}, Query: lenient("allow_partial_search_results", "false"), Body: body,
		}, &answer)
		if err == nil {
			err = answer.check()
		}
		if err != nil {
			return nil, fmt.Errorf("count documents in %s: %w", join(indices), err)
		}
		pairs := answer.Aggregations.Pairs
		for _, b := range pairs.Buckets {
			out[b.Key] += b.Documents.Value
		}
		if len(pairs.After) == 0 || len(pairs.Buckets) < page {
			return out, nil
		}
		composite["after"] = pairs.After
	}
}

// tally is the part of an answer that counts.
type tally struct {
	TimedOut     bool    `json:"timed_out"`
	Shards       *Shards `json:"_shards"`
	Aggregations struct {
		Pairs struct {
			After   json.RawMessage `json:"after_key"`
			Buckets []struct {
				Key       Pair
				Documents struct{ Value int64 }
			}
		}
	}
}

// check tells answers that are only a part. Without any index there are no aggregations,
// but there are shards: none.
func (t *tally) check() error {
	switch {
	case t.Shards == nil:
		return fmt.Errorf("%w: no _shards", errSyntax)
	case t.TimedOut:
		return ErrTimeout
	}
	return t.Shards.Err()
}
