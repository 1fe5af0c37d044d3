package es

// Queries of Elasticsearch.

// Term finds documents with this value in a field.
func Term(field, value string) any { return query("term", field, value) }

// Terms finds documents with any of these values in a field.
func Terms(field string, values []string) any { return query("terms", field, values) }

// Prefix finds documents whose value in a field begins with text.
func Prefix(field, text string) any { return query("prefix", field, text) }

// Exists finds documents that have this field.
func Exists(field string) any { return query("exists", "field", field) }

// Range finds documents whose value in a field is within bounds: keys are gt, gte, lt and lte.
func Range(field string, bounds map[string]any) any { return query("range", field, bounds) }

// All finds documents that every query finds. Without queries it finds all.
func All(queries ...any) any { return query("bool", "filter", append([]any{}, queries...)) }

// Any finds documents that at least one of the queries finds.
func Any(queries ...any) any { return query("bool", "should", queries) }

// None finds documents that the query does not find.
func None(one any) any { return query("bool", "must_not", []any{one}) }

func query(kind, name string, value any) any {
	return map[string]any{kind: map[string]any{name: value}}
}
