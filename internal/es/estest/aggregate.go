package estest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// aggregation groups documents by keyword fields, and counts in each group the documents that have other fields.
type aggregation struct {
	Composite struct {
		Size    *int              `json:"size"`
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
func (s *store) aggregate(r *search, docs []*document) (any, error) {
	if r.Size == nil || *r.Size != 0 {
		return nil, unknown("aggregations beside hits")
	}
	answer := map[string]any{}
	for name, agg := range r.Aggs {
		buckets := map[string]map[string]any{} // by the text of the key
		for _, d := range docs {
			key, err := s.key(&agg, d)
			if err != nil || key == nil {
				if err != nil {
					return nil, err
				}
				continue // a document without one of the fields belongs to no group
			}
			b := buckets[agg.text(key)]
			if b == nil {
				b = map[string]any{"key": key, "doc_count": int64(0)}
				for as := range agg.Aggs {
					b[as] = map[string]int{"value": 0}
				}
				buckets[agg.text(key)] = b
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
				b[as].(map[string]int)["value"] += len(values)
			}
		}
		answer[name] = agg.page(buckets)
	}
	return answer, nil
}

// key returns the group of a document: its values by field. It is nil if a field is missing.
func (s *store) key(agg *aggregation, d *document) (map[string]string, error) {
	key := map[string]string{}
	for _, source := range agg.Composite.Sources {
		for as, by := range source {
			v, err := s.value(d, by.Terms.Field)
			text, ok := v.(string)
			if err != nil || !ok {
				return nil, err
			}
			key[as] = text
		}
	}
	return key, nil
}

// text returns a text of a key. Groups are sorted by it.
func (a *aggregation) text(key map[string]string) string {
	var b strings.Builder
	for _, source := range a.Composite.Sources {
		for as := range source {
			b.WriteString(key[as] + "\x00")
		}
	}
	return b.String()
}

func (a *aggregation) page(buckets map[string]map[string]any) any {
	size := 10
	if a.Composite.Size != nil {
		size = *a.Composite.Size
	}
	page := []any{}
	result := map[string]any{}
	for _, at := range slices.Sorted(maps.Keys(buckets)) {
		if (a.Composite.After == nil || at > a.text(a.Composite.After)) && len(page) < size {
			page, result["after_key"] = append(page, buckets[at]), buckets[at]["key"]
		}
	}
	result["buckets"] = page
	return result
}
