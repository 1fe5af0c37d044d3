package elastic

// Queries as Elasticsearch takes them.

// Term finds what has a value in a field.
func Term(field, value string) any {
	return map[string]any{"term": map[string]any{field: value}}
}

// Terms finds what has one of the values in a field.
func Terms(field string, values []string) any {
	return map[string]any{"terms": map[string]any{field: values}}
}

// All finds what every one of the queries finds; none of them at all finds everything.
func All(queries ...any) any {
	return map[string]any{"bool": map[string]any{"filter": append([]any{}, queries...)}}
}

// None finds what a query does not find.
func None(query any) any {
	return map[string]any{"bool": map[string]any{"must_not": []any{query}}}
}
