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

// checkSearch compares a search with the fields of documents, by path and type. It knows the aggregations and
// queries that panels use, and refuses all others.
func checkSearch(r *kibanatest.Request, fields map[string]string) error {
	var url struct {
		TimeField string `json:"%timefield%"`
		Body      map[string]any
	}
	if err := json.Unmarshal(r.URL, &url); err != nil {
		return fmt.Errorf("read url: %w", err)
	}
	c := &searchCheck{fields: maps.Clone(fields)}
	if url.TimeField != "" {
		c.field(url.TimeField, "%timefield%", "date")
	}
	runtime, _ := url.Body["runtime_mappings"].(map[string]any)
	for name, v := range runtime {
		m, _ := v.(map[string]any)
		c.fields[name] = fmt.Sprint(m["type"])
	}
	for _, name := range slices.Sorted(maps.Keys(url.Body)) {
		c.member(name, url.Body[name])
	}
	return errors.Join(c.faults...)
}

// searchCheck collects faults of a search.
type searchCheck struct {
	fields map[string]string // types by path
	faults []error
}

func (c *searchCheck) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf(format, args...))
}

// member checks a part of a search's body.
func (c *searchCheck) member(name string, v any) {
	switch name {
	case "size", "track_total_hits", "runtime_mappings", "timeout":
	case "aggs", "aggregations":
		c.aggregations(v, "")
	case "query":
		c.query(v)
	case "sort":
		c.sort(v)
	case "_source", "fields", "docvalue_fields":
		c.names(name, v)
	default:
		c.fault("%q is not a part of searches that we know", name)
	}
}

// field checks that a field exists, and has one of these types, if there are any.
func (c *searchCheck) field(path, user string, types ...string) {
	typ, ok := c.fields[path]
	switch {
	case !ok:
		c.fault("%s: there is no field %q", user, path)
	case len(types) > 0 && !slices.Contains(types, typ):
		c.fault("%s: field %s is of type %s, not one of %s", user, path, typ, strings.Join(types, ", "))
	}
}

// names checks fields to return, which may contain wildcards: each must match a field.
func (c *searchCheck) names(user string, v any) {
	switch v := v.(type) {
	case bool:
	case string:
		prefix, wild := strings.CutSuffix(v, "*")
		for path := range c.fields {
			if path == v || wild && strings.HasPrefix(path, prefix) || strings.HasPrefix(path, v+".") {
				return
			}
		}
		c.fault("%s: there is no field %q", user, v)
	case []any:
		for _, inner := range v {
			c.names(user, inner)
		}
	case map[string]any:
		for _, key := range []string{"includes", "excludes", "field"} {
			if inner, ok := v[key]; ok {
				c.names(user, inner)
			}
		}
	default:
		c.fault("%s: %v is neither field nor list", user, v)
	}
}

// sort checks an order of hits: a field, an object of fields, or a list of these.
func (c *searchCheck) sort(v any) {
	switch v := v.(type) {
	case string:
		if !strings.HasPrefix(v, "_") {
			c.field(v, "sort", sortable...)
		}
	case []any:
		for _, inner := range v {
			c.sort(inner)
		}
	case map[string]any:
		for name := range v {
			c.sort(name)
		}
	}
}

var (
	numeric     = []string{"long", "double"}
	measurable  = []string{"long", "double", "date"}
	distributed = []string{"long", "double", "histogram"}
	sortable    = []string{"long", "double", "date", "keyword", "boolean"}
)

// aggregationTypes are the types of fields that each aggregation accepts.
var aggregationTypes = map[string][]string{
	"date_histogram": {"date"}, "auto_date_histogram": {"date"}, "date_range": {"date"},
	"range": distributed, "histogram": distributed, "percentiles": distributed, "percentile_ranks": distributed,
	"min": append([]string{"date"}, distributed...), "max": append([]string{"date"}, distributed...),
	"avg": distributed, "sum": distributed, "value_count": append([]string{"histogram"}, sortable...),
	"stats": numeric, "extended_stats": numeric, "median_absolute_deviation": numeric,
	"terms": sortable, "cardinality": sortable, "missing": sortable,
}

// pipelines are the aggregations that work on the results of others.
var pipelines = []string{
	"bucket_script", "bucket_selector", "bucket_sort", "max_bucket", "min_bucket", "sum_bucket", "avg_bucket", "stats_bucket",
	"cumulative_sum", "derivative", "serial_diff",
}

// aggregations checks all aggregations of one level. under is the type of the field by which the level above splits
// documents.
func (c *searchCheck) aggregations(v any, under string) {
	list, ok := v.(map[string]any)
	if !ok {
		c.fault("aggs is no object")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		one, _ := list[name].(map[string]any)
		if under == "histogram" {
			c.fault("aggregation %s: Elasticsearch refuses any below one that splits a histogram field", name)
		}
		split, kinds := "", 0
		for _, kind := range slices.Sorted(maps.Keys(one)) {
			if kind == "aggs" || kind == "aggregations" || kind == "meta" {
				continue
			}
			kinds++
			params, _ := one[kind].(map[string]any)
			split = c.aggregation(name, kind, params, list)
		}
		if kinds != 1 {
			c.fault("aggregation %s is of %d kinds", name, kinds)
		}
		for _, key := range []string{"aggs", "aggregations"} {
			if inner, ok := one[key]; ok {
				c.aggregations(inner, split)
			}
		}
	}
}

// aggregation checks one aggregation, and returns the type of its field.
func (c *searchCheck) aggregation(name, kind string, params, siblings map[string]any) string {
	user := kind + " " + name
	field, _ := params["field"].(string)
	types, known := aggregationTypes[kind]
	switch {
	case known && field != "":
		c.field(field, user, types...)
	case known && params["script"] == nil:
		c.fault("%s: it names no field", user)
	case !known:
		c.special(user, kind, params, siblings)
	}
	if kind == "percentiles" || kind == "percentile_ranks" {
		hdr, _ := params["hdr"].(map[string]any)
		if hdr["number_of_significant_value_digits"] != 3.0 {
			c.fault(`%s: without "hdr": {"number_of_significant_value_digits": 3} it is an estimate by t-digest`, user)
		}
	}
	return c.fields[field]
}

// special checks aggregations that do not have exactly one field.
func (c *searchCheck) special(user, kind string, params, siblings map[string]any) {
	switch kind {
	case "weighted_avg":
		for _, part := range []string{"value", "weight"} {
			inner, _ := params[part].(map[string]any)
			field, _ := inner["field"].(string)
			c.field(field, user+"."+part, numeric...)
		}
	case "composite":
		c.sources(user, params["sources"])
	case "multi_terms":
		c.list(user, params["terms"], sortable)
	case "top_metrics":
		c.list(user, params["metrics"], sortable)
		c.sort(params["sort"])
	case "top_hits":
		for _, part := range []string{"_source", "fields", "docvalue_fields", "sort"} {
			if inner, ok := params[part]; ok {
				c.member(part, inner)
			}
		}
	case "filter":
		c.query(params)
	case "filters":
		filters, _ := params["filters"].(map[string]any)
		for _, q := range filters {
			c.query(q)
		}
	case "global":
	default:
		if !slices.Contains(pipelines, kind) {
			c.fault("%s: %s is not an aggregation that we know", user, kind)
			return
		}
		c.paths(user, params["buckets_path"], siblings)
	}
}

// list checks one {"field": …}, or a list of them.
func (c *searchCheck) list(user string, v any, types []string) {
	items, ok := v.([]any)
	if !ok {
		items = []any{v}
	}
	for _, item := range items {
		m, _ := item.(map[string]any)
		field, _ := m["field"].(string)
		c.field(field, user, types...)
	}
}

// sources checks the sources of a composite aggregation.
func (c *searchCheck) sources(user string, v any) {
	items, _ := v.([]any)
	for _, item := range items {
		m, _ := item.(map[string]any)
		for name, kinds := range m {
			for kind, params := range kinds.(map[string]any) {
				p, _ := params.(map[string]any)
				c.aggregation(user+"."+name, kind, p, nil)
			}
		}
	}
}

// paths checks the paths of a pipeline aggregation, which must begin with an aggregation of the same level.
func (c *searchCheck) paths(user string, v any, siblings map[string]any) {
	switch v := v.(type) {
	case string:
		first := v
		if end := strings.IndexAny(v, ">[."); end >= 0 {
			first = v[:end]
		}
		if !strings.HasPrefix(first, "_") && siblings[first] == nil {
			c.fault("%s: there is no aggregation %q beside it", user, first)
		}
	case map[string]any:
		for _, inner := range v {
			c.paths(user, inner, siblings)
		}
	}
}

// query checks a query, a list of queries, or a placeholder of Kibana.
func (c *searchCheck) query(v any) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			c.query(inner)
		}
	case map[string]any:
		for kind, inner := range v {
			c.clause(kind, inner)
		}
	}
}

func (c *searchCheck) clause(kind string, v any) {
	m, _ := v.(map[string]any)
	switch kind {
	case "match_all":
	case "bool":
		for _, name := range []string{"must", "filter", "should", "must_not"} {
			c.query(m[name])
		}
	case "exists":
		field, _ := m["field"].(string)
		c.field(field, "query exists")
	case "term", "terms", "prefix", "wildcard":
		for field := range m {
			c.field(field, "query "+kind, sortable...)
		}
	case "range":
		for field := range m {
			c.field(field, "query "+kind, measurable...)
		}
	default:
		c.fault("%s is not a query that we know", kind)
	}
}
