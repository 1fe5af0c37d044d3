package estest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// aggregate answers composite aggregations of terms, each with value_counts, all on one
// page, as fio2es uses them. The caller has locked s.mu.
func (s *Server) aggregate(found []hit, body []byte) map[string]any {
	var request struct {
		Aggs map[string]struct {
			Composite struct {
				Sources []map[string]struct {
					Terms struct{ Field string }
				}
			}
			Aggs map[string]struct {
				Count struct{ Field string } `json:"value_count"`
			}
		}
	}
	if json.Unmarshal(body, &request) != nil || len(request.Aggs) == 0 {
		return nil
	}
	answer := map[string]any{}
	for name, agg := range request.Aggs {
		buckets := map[string]map[string]any{}
		for _, h := range found {
			var doc map[string]any
			_ = json.Unmarshal(s.indices[h.index].visible[h.id], &doc) // was checked when it came
			key, label := map[string]any{}, ""
			for _, source := range agg.Composite.Sources {
				for as, by := range source {
					key[as] = lookup(doc, by.Terms.Field)
					label += fmt.Sprintf("%q ", key[as])
				}
			}
			b := buckets[label]
			if b == nil {
				b = map[string]any{"key": key, "doc_count": 0, "order": label}
				buckets[label] = b
			}
			weight := 1 // doc_count is not the number of documents
			if n, ok := doc["_doc_count"].(float64); ok {
				weight = int(n)
			}
			b["doc_count"] = b["doc_count"].(int) + weight
			for as, sub := range agg.Aggs {
				value, _ := b[as].(map[string]any)
				if value == nil {
					value = map[string]any{"value": 0}
					b[as] = value
				}
				if lookup(doc, sub.Count.Field) != nil {
					value["value"] = value["value"].(int) + 1
				}
			}
		}
		answer[name] = map[string]any{"buckets": sorted(buckets)}
	}
	return answer
}

func sorted(buckets map[string]map[string]any) []any {
	all := make([]map[string]any, 0, len(buckets))
	for _, b := range buckets {
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b map[string]any) int { return cmp.Compare(a["order"].(string), b["order"].(string)) })
	out := make([]any, len(all))
	for i, b := range all {
		delete(b, "order")
		out[i] = b
	}
	return out
}
