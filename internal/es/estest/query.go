package estest

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// matches reports whether a query finds a document. An unknown query is an error, so that no test passes because of
// a misspelled query.
func (s *store) matches(query any, d *document) (bool, error) {
	m, ok := query.(map[string]any)
	if !ok || len(m) != 1 {
		return false, unknown("query %v", query)
	}
	for kind, body := range m {
		inner, ok := body.(map[string]any)
		switch {
		case kind == "match_all":
			return true, nil
		case !ok || len(inner) == 0:
			return false, unknown("query %v", query)
		case kind == "bool":
			return s.matchesBool(inner, d)
		case len(inner) != 1:
			return false, unknown("query %v", query)
		}
		for field, want := range inner {
			return s.matchesField(kind, field, want, d)
		}
	}
	return false, nil
}

func (s *store) matchesBool(clauses map[string]any, d *document) (bool, error) {
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
			ok, err := s.matches(q, d)
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

// matchesField reports whether a field matches. A list matches if one of its values matches.
func (s *store) matchesField(kind, field string, want any, d *document) (bool, error) {
	if kind == "exists" {
		if field != "field" {
			return false, unknown("exists %s", field)
		}
		v, err := s.value(d, want.(string))
		return v != nil, err
	}
	var match func(v any) bool
	switch kind {
	case "term":
		switch want.(type) {
		case string, bool, json.Number:
		default:
			return false, unknown("term %v", want)
		}
		match = func(v any) bool { return fmt.Sprint(v) == fmt.Sprint(want) }
	case "terms":
		values, ok := want.([]any)
		if !ok || len(values) > 65_536 {
			return false, unknown("terms %v", want)
		}
		match = func(v any) bool { return slices.Contains(values, v) }
	case "prefix":
		match = func(v any) bool {
			text, ok := v.(string)
			return ok && strings.HasPrefix(text, want.(string))
		}
	case "range":
		bounds, err := parseRange(want)
		if err != nil {
			return false, err
		}
		match = func(v any) bool {
			at, ok := v.(int64)
			return ok && bounds.from <= at && at < bounds.to
		}
	default:
		return false, unknown("unknown query [%s]", kind)
	}
	values, err := s.values(d, field)
	return slices.ContainsFunc(values, match), err
}

// milliseconds is a range from ≤ t < to, in milliseconds since 1970.
type milliseconds struct{ from, to int64 }

func parseRange(want any) (milliseconds, error) {
	m := milliseconds{-1 << 63, 1<<63 - 1}
	bounds, ok := want.(map[string]any)
	if !ok || bounds["format"] != "epoch_millis" {
		return m, unknown("range %v", want)
	}
	for name, bound := range bounds {
		if name == "format" {
			continue
		}
		n, err := bound.(json.Number).Int64()
		switch {
		case err == nil && name == "gte":
			m.from = n
		case err == nil && name == "lt":
			m.to = n
		default:
			return m, unknown("range %s: %v", name, err)
		}
	}
	return m, nil
}

// kind returns the type of a field. If the test defines no types, only two fields have one. Otherwise an unknown field
// is an error.
func (s *store) kind(field string) (string, error) {
	if s.fields == nil {
		return map[string]string{"@timestamp": "date", "part": "long"}[field], nil
	}
	if kind, ok := s.fields[field]; ok {
		return kind, nil
	}
	for _, pattern := range slices.Sorted(maps.Keys(s.fields)) {
		if ok, _ := path.Match(pattern, field); ok {
			return s.fields[pattern], nil
		}
	}
	return "", unknown("No mapping found for [%s]", field)
}

func (s *store) isNumber(field string) bool {
	kind, _ := s.kind(field)
	return field == "_shard_doc" || kind == "date" || kind == "long"
}

// value returns the doc value of a field: int64, string, or nil if it is missing. Of several values it returns the
// first.
func (s *store) value(d *document, field string) (any, error) {
	values, err := s.values(d, field)
	if len(values) == 0 || err != nil {
		return nil, err
	}
	return values[0], nil
}

func (s *store) values(d *document, field string) ([]any, error) {
	kind, err := s.kind(field)
	if err != nil || field == "_id" {
		return []any{d.id}, err
	}
	values := lookup(d.fields, field)
	for i, v := range values {
		switch v := v.(type) {
		case json.Number:
			values[i], err = v.Int64()
		case bool:
			values[i] = strconv.FormatBool(v)
		case string:
			if kind == "date" {
				at, bad := time.Parse(time.RFC3339, v)
				values[i], err = at.UnixMilli(), bad
			}
		default:
			err = fmt.Errorf("%s has a value %v", field, v)
		}
		if err != nil {
			return nil, unknown("%v", err)
		}
	}
	return values, nil
}

// lookup follows a path such as run.id. In a list of objects, it returns the values of all objects.
func lookup(in any, field string) []any {
	switch in := in.(type) {
	case map[string]any:
		if v, ok := in[field]; ok && v != nil {
			if list, ok := v.([]any); ok {
				return slices.Clone(list)
			}
			return []any{v}
		}
		first, rest, _ := strings.Cut(field, ".")
		if rest == "" {
			return nil
		}
		return lookup(in[first], rest)
	case []any:
		var all []any
		for _, one := range in {
			all = append(all, lookup(one, field)...)
		}
		return all
	}
	return nil
}
