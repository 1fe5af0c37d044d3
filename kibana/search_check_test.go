package kibana

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/kibana/kibanatest"
)

// The types of fields that aggregations and queries accept; others accept any.
var (
	distributed = []string{"long", "double", "histogram"}
	sortable    = []string{"long", "double", "date", "keyword", "boolean"}
	acceptable  = map[string][]string{
		"date_histogram": {"date"}, "percentiles": distributed, "percentile_ranks": distributed, "avg": distributed, "sum": distributed,
		"min": append([]string{"date"}, distributed...), "max": append([]string{"date"}, distributed...), "terms": sortable, "term": sortable, "prefix": sortable,
	}
)

// checkSearch compares the fields in a search with those of documents: Elasticsearch accepts fields that no document
// has. What else it refuses shows when the answers are recorded.
func checkSearch(r *kibanatest.Request, fields map[string]string) error {
	var url struct {
		TimeField string `json:"%timefield%"`
		Body      map[string]any
	}
	if err := json.Unmarshal(r.URL, &url); err != nil {
		return fmt.Errorf("read url: %w", err)
	}
	fields = maps.Clone(fields)
	runtime, _ := url.Body["runtime_mappings"].(map[string]any)
	for name, v := range runtime {
		m, _ := v.(map[string]any)
		fields[name] = fmt.Sprint(m["type"])
	}
	var faults []error
	field := func(user, path string, types ...string) {
		if typ, ok := fields[path]; !ok {
			faults = append(faults, fmt.Errorf("%s: there is no field %q", user, path))
		} else if len(types) > 0 && !slices.Contains(types, typ) {
			faults = append(faults, fmt.Errorf("%s: field %s is of type %s, not one of %s", user, path, typ, strings.Join(types, ", ")))
		}
	}
	if url.TimeField != "" {
		field("%timefield%", url.TimeField, "date")
	}
	kibanatest.Walk(url.Body, "", func(kind string, node map[string]any) {
		hdr, _ := node["hdr"].(map[string]any)
		if strings.HasPrefix(kind, "percentile") && hdr["number_of_significant_value_digits"] != 3.0 {
			faults = append(faults, fmt.Errorf(`%s: without "hdr": {"number_of_significant_value_digits": 3} it is an estimate by t-digest`, kind))
		}
		path, isField := node["field"].(string)
		switch {
		case isField:
			field(kind, path, acceptable[kind]...)
		case slices.Contains([]string{"term", "terms", "prefix", "range"}, kind): // a query
			for path := range node {
				field(kind, path, acceptable[kind]...)
			}
		}
		names, _ := node["_source"].([]any)
		for _, name := range names {
			begin, _, _ := strings.Cut(name.(string), "*")
			isBegin := func(path string) bool { return strings.HasPrefix(path, begin) }
			if !slices.ContainsFunc(slices.Collect(maps.Keys(fields)), isBegin) {
				faults = append(faults, fmt.Errorf("_source: there is no field %q", name))
			}
		}
	})
	return errors.Join(faults...)
}
