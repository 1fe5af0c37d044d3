package elastic

import (
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// oneOf finds documents with one of the values in a field. A document without the field counts as having the value
// "".
func oneOf(field string, values []string) any {
	i := slices.Index(values, "")
	if i < 0 {
		return es.Terms(field, values)
	}
	rest := slices.DeleteFunc(slices.Clone(values), func(s string) bool { return s == "" })
	return es.Any(es.Terms(field, rest), es.None(es.Exists(field)))
}

// between finds documents that start in [from, to). A zero time is no bound.
func between(from, to time.Time) []any {
	bounds := map[string]any{}
	if !from.IsZero() {
		bounds["gte"] = history.CeilMilli(from) // rounded up, because stored times are rounded down
	}
	if !to.IsZero() {
		bounds["lt"] = history.CeilMilli(to)
	}
	if len(bounds) == 0 {
		return nil
	}
	bounds["format"] = "epoch_millis"
	return []any{es.Range("@timestamp", bounds)}
}

func ascending(field string) any { return map[string]any{field: map[string]any{"order": "asc"}} }

func descending(field string) any { return map[string]any{field: map[string]any{"order": "desc"}} }

// optional sorts by a field. Documents without it are sorted as if they had this value.
func optional(field string, value any) any {
	return map[string]any{field: map[string]any{"order": "asc", "missing": value}}
}

// optionalField sorts by a field that may be missing in old indices.
func optionalField(field string) any {
	return map[string]any{field: map[string]any{"order": "asc", "unmapped_type": "keyword"}}
}

// excludes returns a source filter that leaves out these fields.
func excludes(fields ...string) any { return map[string]any{"excludes": fields} }

// runQuery returns the part of f that the cluster can decide. [history.RunFilter.Matches] decides the rest.
func runQuery(f *history.RunFilter) any {
	queries := append(between(f.Started()), isRun())
	if f.Live() {
		queries = append(queries, es.Prefix("run.ingest", mapping.LivePrefix))
	}
	for path, value := range f.Equals() {
		label, isLabel := strings.CutPrefix(path, history.LabelPath)
		if isExact(value) && (!isLabel || isPlain(label)) {
			queries = append(queries, es.Term(path, value))
		}
	}
	return es.All(queries...)
}

// isExact reports whether a search for a keyword value finds exactly this value. Long values may not be indexed, and
// an empty one can mean a missing field.
func isExact(value string) bool { return value != "" && len(value) <= 200 }

// isPlain reports whether the name of a label can be a part of a field's name.
func isPlain(key string) bool {
	return key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}
