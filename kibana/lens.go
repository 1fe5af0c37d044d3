package kibana

import (
	"maps"
	"slices"
)

// lens is the source of a Lens panel with one layer. Its columns are Kibana's columns in their order, each with an
// "id". What follows from the operation and the field is added.
type lens struct {
	View          string           `json:"view"`          // name of the data view
	Visualization string           `json:"visualization"` // type, such as lnsDatatable
	Columns       []map[string]any `json:"columns"`
	State         map[string]any   `json:"state"` // state of the visualization, without layerId
	Query         string           `json:"query,omitempty"`
}

const layer = "layer"

func (b *builder) lens(name string, p *panel) Object {
	index, viewID := b.views[p.Lens.View].Index, b.id(p.Lens.View)
	columns, order := p.Lens.columns(b.fields(index))
	return newObject(typeLens, b.id(name), map[string]any{
		"title": p.Title, "description": p.Description, "visualizationType": p.Lens.Visualization,
		"state": map[string]any{
			"datasourceStates": map[string]any{"indexpattern": map[string]any{"layers": map[string]any{
				layer: map[string]any{"columns": columns, "columnOrder": order, "incompleteColumns": map[string]any{}},
			}}},
			"visualization": p.Lens.visualization(),
			"query":         map[string]any{"query": b.lensQuery(index, p.Lens.Query), "language": "kuery"},
			"filters":       []any{},
		},
	},
		Reference{"indexpattern-datasource-current-indexpattern", typeDataView, viewID},
		Reference{"indexpattern-datasource-layer-" + layer, typeDataView, viewID},
	)
}

// columns returns the columns by id, and their order.
func (l *lens) columns(fields map[string]string) (map[string]any, []string) {
	columns, order := map[string]any{}, []string{}
	for _, source := range l.Columns {
		column := maps.Clone(source)
		delete(column, "id")
		operation, _ := column["operationType"].(string)
		field, _ := column["sourceField"].(string)
		fill(column, "dataType", dataType(operation, fields[field]))
		fill(column, "isBucketed", slices.Contains(buckets, operation))
		fill(column, "scale", scale(operation))
		fill(column, "customLabel", true)
		id, _ := source["id"].(string)
		columns[id] = column
		order = append(order, id)
	}
	return columns, order
}

// buckets are the operations that split documents instead of measuring them.
var buckets = []string{"terms", "date_histogram", "range", "filters"}

// visualization returns the state with the name of the layer.
func (l *lens) visualization() map[string]any {
	state := maps.Clone(l.State)
	list, ok := state["layers"].([]any)
	if !ok {
		fill(state, "layerId", layer)
		return state
	}
	var layers []any
	for _, one := range list {
		if m, ok := one.(map[string]any); ok {
			m = maps.Clone(m)
			fill(m, "layerId", layer)
			one = m
		}
		layers = append(layers, one)
	}
	state["layers"] = layers
	return state
}

func fill(m map[string]any, name string, value any) {
	if _, ok := m[name]; !ok {
		m[name] = value
	}
}

// dataType returns Kibana's name for the type of an operation's result.
func dataType(operation, typ string) string {
	switch {
	case operation == "filters":
		return "string"
	case operation == "date_histogram":
		return "date"
	case operation != "terms" && operation != "last_value":
		return "number"
	case typ == "keyword":
		return "string"
	case typ == "date", typ == "boolean":
		return typ
	}
	return "number"
}

func scale(operation string) string {
	switch operation {
	case "terms", "filters":
		return "ordinal"
	case "date_histogram", "range":
		return "interval"
	}
	return "ratio"
}
