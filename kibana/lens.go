package kibana

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// lens is the source of a Lens panel with one layer. Its columns are Kibana's, in their
// order, with an "id" each; what follows from operation and field is filled in.
type lens struct {
	View          string           `json:"view"`          // data view
	Visualization string           `json:"visualization"` // type, such as lnsDatatable
	Columns       []map[string]any `json:"columns"`
	State         map[string]any   `json:"state"` // of the visualization, without layerId
	Query         string           `json:"query,omitempty"`
}

// layer is the name of the only layer.
const layer = "layer"

func (b *builder) lens(name string, p *panel) (Object, error) {
	view, ok := b.views[p.Lens.View]
	if !ok {
		return Object{}, fmt.Errorf("there is no data view %q", p.Lens.View)
	}
	columns, order, err := p.Lens.columns(b.fields.of(view.Index))
	if err != nil {
		return Object{}, fmt.Errorf("on %s: %w", view.Index, err)
	}
	if err := checkState(p.Lens.State, columns); err != nil {
		return Object{}, err
	}
	viewID := b.id(p.Lens.View)
	return newObject(typeLens, b.id(name), map[string]any{
		"title": p.Title, "description": p.Description, "visualizationType": p.Lens.Visualization,
		"state": map[string]any{
			"datasourceStates": map[string]any{"indexpattern": map[string]any{"layers": map[string]any{
				layer: map[string]any{"columns": columns, "columnOrder": order, "incompleteColumns": map[string]any{}},
			}}},
			"visualization": p.Lens.visualization(),
			"query":         map[string]any{"query": b.lensQuery(view.Index, p.Lens.Query), "language": "kuery"},
			"filters":       []any{},
		},
	},
		Reference{"indexpattern-datasource-current-indexpattern", typeDataView, viewID},
		Reference{"indexpattern-datasource-layer-" + layer, typeDataView, viewID},
	), nil
}

// columns are the source's, by id, and their order.
func (l *lens) columns(fields map[string]string) (map[string]any, []string, error) {
	columns, order := map[string]any{}, []string{}
	var faults []error
	for _, source := range l.Columns {
		id, _ := source["id"].(string)
		if id == "" || columns[id] != nil {
			faults = append(faults, fmt.Errorf("a column needs an id of its own: %v", source))
			continue
		}
		column, err := fillColumn(source, fields)
		if err != nil {
			faults = append(faults, fmt.Errorf("column %q: %w", id, err))
		}
		columns[id] = column
		order = append(order, id)
	}
	for id, column := range columns {
		for _, other := range columnsNamed(column) {
			if columns[other] == nil {
				faults = append(faults, fmt.Errorf("column %q: there is no column %q", id, other))
			}
		}
	}
	return columns, order, errors.Join(faults...)
}

// operations are those that panels may use, with the types of fields that each is for;
// none where it takes no field. Percentile ranks are not among them: they keep Kibana
// 8.3 from showing anything of the dashboard.
var operations = map[string][]string{
	"terms": {"keyword", "long", "double", "boolean", "date"}, "date_histogram": {"date"}, "range": {"long", "double"}, "filters": nil,
	"min": {"long", "double"}, "max": {"long", "double"}, "average": {"long", "double"}, "sum": {"long", "double"},
	"median": {"long", "double"}, "last_value": {"keyword", "long", "double", "boolean", "date"},
	"unique_count": {"keyword", "long", "double", "boolean", "date"}, "count": nil, "formula": nil, "math": nil, "static_value": nil,
}

// buckets are the operations that split documents rather than measure them.
var buckets = []string{"terms", "date_histogram", "range", "filters"}

// fillColumn is a column of Kibana's.
func fillColumn(source map[string]any, fields map[string]string) (map[string]any, error) {
	column := maps.Clone(source)
	delete(column, "id")
	operation, _ := column["operationType"].(string)
	field, _ := column["sourceField"].(string)
	types, known := operations[operation]
	typ := fields[field]
	switch {
	case !known:
		return nil, fmt.Errorf("operation %q is not one of those that panels may use", operation)
	case typ == "histogram":
		return nil, fmt.Errorf("statistics of %s would be estimates by t-digest", field)
	case len(types) > 0 && !slices.Contains(types, typ):
		return nil, fmt.Errorf("field %q of type %q is none for %s", field, typ, operation)
	case len(types) == 0 && field != "" && field != "___records___":
		return nil, fmt.Errorf("%s takes no field", operation)
	}
	if params, ok := column["params"].(map[string]any); ok {
		if err := checkParams(params, fields); err != nil {
			return nil, err
		}
	}
	fill(column, "dataType", dataType(operation, typ))
	fill(column, "isBucketed", slices.Contains(buckets, operation))
	fill(column, "scale", scale(operation))
	fill(column, "customLabel", true)
	return column, nil
}

// checkParams looks at the fields in a column's parameters.
func checkParams(params map[string]any, fields map[string]string) error {
	names, _ := params["secondaryFields"].([]any)
	order, _ := params["orderAgg"].(map[string]any)
	for _, name := range append([]any{params["sortField"], order["sourceField"]}, names...) {
		if field, ok := name.(string); ok && fields[field] == "" && field != "___records___" {
			return fmt.Errorf("there is no field %q", field)
		}
	}
	return nil
}

// columnsNamed are the other columns that a column names.
func columnsNamed(column any) []string {
	var list []string
	walk(column, "", func(_ string, node map[string]any) {
		if id, ok := node["columnId"].(string); ok {
			list = append(list, id)
		}
		if references, ok := node["references"].([]any); ok {
			for _, id := range references {
				list = append(list, fmt.Sprint(id))
			}
		}
	})
	return list
}

// checkState looks for columns in the visualization's state that are not there.
func checkState(state map[string]any, columns map[string]any) error {
	var faults []error
	check := func(v any) {
		if id, ok := v.(string); ok && columns[id] == nil {
			faults = append(faults, fmt.Errorf("the visualization names a column %q that is not there", id))
		}
	}
	walk(state, "", func(_ string, node map[string]any) {
		for _, key := range []string{"columnId", "accessor", "xAccessor", "splitAccessor", "metricAccessor", "valueAccessor", "forAccessor", "breakdownByAccessor"} {
			check(node[key])
		}
		for _, key := range []string{"accessors", "groups", "metrics", "primaryGroups", "secondaryGroups"} {
			if list, ok := node[key].([]any); ok {
				for _, v := range list {
					check(v)
				}
			}
		}
	})
	return errors.Join(faults...)
}

// visualization is the state with the layer's name in it.
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

// dataType is Kibana's word for the type of what an operation gives of a field.
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
