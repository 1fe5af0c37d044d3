package elastic_test

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
)

// aggregate answers composite aggregations of keywords with value_counts, in the order of
// the keys and page by page, as Elasticsearch does.
func (f *fake) aggregate(target string, query url.Values, r *fakeSearch) (any, error) {
	shards, _, err := f.state(target, query, r)
	if err != nil || r.Size != 0 || len(r.Aggs) != 1 {
		return nil, unknown("aggregations with size %d: %v", r.Size, err)
	}
	answer := map[string]any{"timed_out": false, "_shards": map[string]any{"total": len(shards), "failed": 0}}
	for name, agg := range r.Aggs {
		buckets := map[string]map[string]any{}
		order := func(key map[string]string) (text string) {
			for _, s := range agg.Composite.Sources {
				for as := range s {
					text += key[as] + "\x00"
				}
			}
			return text
		}
		for _, docs := range shards {
			for _, d := range docs {
				if ok, err := matches(r.Query, d.fields); err != nil || !ok {
					if err != nil {
						return nil, err
					}
					continue
				}
				key := map[string]string{}
				for _, s := range agg.Composite.Sources {
					for as, by := range s {
						v, err := value(d.fields, by.Terms.Field)
						if err != nil {
							return nil, err
						}
						key[as] = fmt.Sprint(v)
					}
				}
				b := buckets[order(key)]
				if b == nil {
					b = map[string]any{"key": key, "doc_count": 12345}
					for as := range agg.Aggs {
						b[as] = map[string]any{"value": 0}
					}
					buckets[order(key)] = b
				}
				for as, sub := range agg.Aggs {
					if counted, err := value(d.fields, sub.Count.Field); err == nil && counted != nil {
						v := b[as].(map[string]any)
						v["value"] = v["value"].(int) + 1
					}
				}
			}
		}
		page, last := []any{}, any(nil)
		for _, at := range slices.Sorted(maps.Keys(buckets)) {
			if (agg.Composite.After == nil || at > order(agg.Composite.After)) && len(page) < agg.Composite.Size {
				page, last = append(page, buckets[at]), buckets[at]["key"]
			}
		}
		result := map[string]any{"buckets": page}
		if last != nil {
			result["after_key"] = last
		}
		if len(shards) > 0 { // without any index there is no answer to an aggregation
			answer["aggregations"] = map[string]any{name: result}
		}
	}
	return answer, nil
}
