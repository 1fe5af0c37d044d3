package kibana

import "maps"

// lens is the source of a Lens panel: a table of run documents, which are never pending. Its columns are Kibana's
// columns in their order, each with an "id". What follows from the operation and the field is added.
type lens struct {
	Columns []map[string]any `json:"columns"`
	State   map[string]any   `json:"state"` // state of the table, without layerId
}

// runsView is the name of the data view of run documents.
const runsView = "runs"

// layer is the name of the only layer.
const layer = "layer"

func (b *builder) lens(name string, p *panel) Object {
	viewID := b.id(runsView)
	columns, order := p.Lens.columns(b.runs)
	state := maps.Clone(p.Lens.State)
	state["layerId"] = layer
	return newObject(typeLens, b.id(name), map[string]any{
		"title": p.Title, "description": p.Description, "visualizationType": "lnsDatatable",
		"state": map[string]any{
			"datasourceStates": map[string]any{"indexpattern": map[string]any{"layers": map[string]any{
				layer: map[string]any{"columns": columns, "columnOrder": order, "incompleteColumns": map[string]any{}},
			}}},
			"visualization": state,
			"query":         map[string]any{"query": "", "language": "kuery"},
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
		column["dataType"] = dataType(operation, fields[field])
		column["isBucketed"] = operation == "terms"
		column["scale"] = "ratio"
		if operation == "terms" {
			column["scale"] = "ordinal"
		}
		column["customLabel"] = true
		id, _ := source["id"].(string)
		columns[id] = column
		order = append(order, id)
	}
	return columns, order
}

// dataType returns Kibana's name for the type of an operation's result.
func dataType(operation, typ string) string {
	switch {
	case typ == "keyword":
		return "string"
	case typ == "date", typ == "boolean":
		return typ
	}
	return "number"
}
