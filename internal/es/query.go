package es

// Queries as Elasticsearch takes them.

// Term finds what has a value in a field.
func Term(field, value string) any { return query("term", field, value) }

// Terms finds what has one of the values in a field.
func Terms(field string, values []string) any { return query("terms", field, values) }

// Prefix finds what has a value in a field that begins with a text.
func Prefix(field, text string) any { return query("prefix", field, text) }

// Exists finds what has a field.
func Exists(field string) any { return query("exists", "field", field) }

// Range finds what has a value within bounds in a field.
func Range(field string, bounds map[string]any) any { return query("range", field, bounds) }

// All finds what every one of the queries finds; none of them at all finds everything.
func All(queries ...any) any { return query("bool", "filter", append([]any{}, queries...)) }

// Any finds what at least one of the queries finds.
func Any(queries ...any) any { return query("bool", "should", queries) }

// None finds what a query does not find.
func None(one any) any { return query("bool", "must_not", []any{one}) }

func query(kind, name string, value any) any {
	return map[string]any{kind: map[string]any{name: value}}
}
