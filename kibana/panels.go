package kibana

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strconv"

	"github.com/fio2es/fio2es/mapping"
)

// dataView is the source of a data view: an index and how its fields are shown.
type dataView struct {
	Index string `json:"index"` // index pattern
	Name  string `json:"name"`
}

// format says how fields are shown, in Kibana's words.
type format struct {
	Fields []string        `json:"fields"` // patterns of path.Match
	ID     string          `json:"id"`
	Params json.RawMessage `json:"params"`
}

func (b *builder) dataView(name string) Object {
	var view dataView
	b.decode("dataviews/"+name+".json", &view)
	return newObject(typeDataView, b.id(name), map[string]any{
		"title": view.Index, "name": b.title(view.Name), "timeFieldName": mapping.TimeField, "fieldFormatMap": quoted(b.formats(b.fields(view.Index))),
		"sourceFilters": quoted([]any{map[string]string{"value": "*" + mapping.HistogramField}, map[string]string{"value": mapping.SummaryField}}), // large, and not for people
		"fieldAttrs":    "{}", "runtimeFieldMap": "{}", "fields": "[]", "typeMeta": "{}",
	})
}

// formats returns the formats of an index's fields. Some fields have none.
func (b *builder) formats(fields map[string]string) map[string]any {
	var list []format
	b.decode("formats.json", &list)
	formats := map[string]any{}
	for _, f := range list {
		for _, pattern := range f.Fields {
			for field, typ := range fields {
				if f.isFor(typ) && must(path.Match(pattern, field)) {
					formats[field] = map[string]any{"id": f.ID, "params": f.Params}
				}
			}
		}
	}
	return formats
}

func (f *format) isFor(typ string) bool {
	switch f.ID {
	case "duration", "bytes", "number":
		return typ == "long" || typ == "double" || typ == "histogram"
	}
	return true
}

// panel is the source of a panel. It has exactly one of Vega, Markdown and Columns.
type panel struct {
	Title       string `json:"title"`
	Description string `json:"description"`

	// Vega is the file of a specification. Values replace its placeholders.
	Vega   string            `json:"vega,omitempty"`
	Values map[string]string `json:"values,omitempty"`

	Markdown string `json:"markdown,omitempty"` // file of a text, with the same Values

	Columns []column `json:"columns,omitempty"` // of a table of runs
}

func (b *builder) panel(name string) Object {
	var p panel
	b.decode("panels/"+name+".json", &p)
	switch {
	case p.Columns != nil:
		return b.table(name, &p)
	case p.Markdown != "":
		return b.visual(name, &p, "markdown", map[string]any{
			"markdown": b.text("panels/"+p.Markdown, p.Values), "fontSize": 12, "openLinksInNewTab": false,
		})
	}
	// The text of the specification is not changed further, because people read and edit it in Kibana.
	spec := b.text("panels/"+p.Vega, p.Values)
	b.specs[name] = []byte(spec)
	return b.visual(name, &p, "vega", map[string]any{"spec": spec})
}

func (b *builder) visual(name string, p *panel, kind string, params map[string]any) Object {
	return newObject(typeVisual, b.id(name), map[string]any{
		"title": p.Title, "description": p.Description, "uiStateJSON": "{}",
		"visState":              quoted(map[string]any{"title": p.Title, "type": kind, "aggs": []any{}, "params": params}),
		"kibanaSavedObjectMeta": search(nil),
	})
}

// column is a column of a table of run documents, which are never pending.
type column struct {
	Field string `json:"field"`
	Width int    `json:"width"` // in pixels
}

// runsView is the name of the data view of run documents.
const runsView = "runs"

// table makes a search as Discover saves it. Only it shows lists, texts and labels.
func (b *builder) table(name string, p *panel) Object {
	const index = "kibanaSavedObjectMeta.searchSourceJSON.index"
	var fields []string
	widths := map[string]any{}
	for _, c := range p.Columns {
		fields = append(fields, c.Field)
		widths[c.Field] = map[string]int{"width": c.Width}
	}
	return newObject(typeSearch, b.id(name), map[string]any{
		"title": b.title(p.Title), "description": p.Description, "columns": fields, "sort": [][]string{{mapping.TimeField, "desc"}},
		"grid": map[string]any{"columns": widths}, "hideChart": true, "rowHeight": 0, // a line for each run
		"kibanaSavedObjectMeta": search(map[string]any{"indexRefName": index}),
	}, Reference{index, typeDataView, b.id(runsView)})
}

// dashboard is the source of a dashboard: rows of panels from left to right.
type dashboard struct {
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Time        timeSpan  `json:"time"`
	Controls    []control `json:"controls"`
	Rows        []row     `json:"rows"`
}

// timeSpan is the time range with which setup names a dashboard. Others keep the time of the dashboard that a user comes from.
type timeSpan struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Restore bool   `json:"restore"` // always when it is opened
	Refresh int    `json:"refresh"` // seconds between two refreshes; 0: none
}

// control is a list from which users choose values of a field.
type control struct {
	Title string `json:"title"`
	View  string `json:"view"`
	Field string `json:"field"`
	Width string `json:"width"` // small, medium or large
}

type row struct {
	Height int    `json:"height"` // in units of about 20 pixels
	Panels []cell `json:"panels"`
}

type cell struct {
	Panel string `json:"panel"`
	Width int    `json:"width"` // of 48 columns
}

func (b *builder) dashboard(name string) Object {
	var d dashboard
	b.decode("dashboards/"+name+".json", &d)
	panels, references := b.grid(d.Rows)
	controls, more := b.controls(d.Controls)
	shown := search(nil)
	for _, c := range d.Controls {
		if c.View != runsView { // run documents are never pending
			var filtered []Reference
			shown, filtered = shownSearch(b.id(c.View))
			references = append(references, filtered...)
			break
		}
	}
	attributes := map[string]any{
		"title": b.title(d.Title), "description": d.Description, "version": 1, "hits": 0,
		"panelsJSON":  quoted(panels),
		"optionsJSON": quoted(map[string]any{"useMargins": true, "syncColors": false, "hidePanelTitles": false}),
		"timeRestore": d.Time.Restore,
		"timeFrom":    d.Time.From, "timeTo": d.Time.To, "refreshInterval": map[string]any{"pause": d.Time.Refresh == 0, "value": 1000 * d.Time.Refresh},
		"kibanaSavedObjectMeta": shown,
		"controlGroupInput": map[string]any{
			"controlStyle": "oneLine", "chainingSystem": "HIERARCHICAL", "panelsJSON": quoted(controls),
			"ignoreParentSettingsJSON": quoted(map[string]bool{
				"ignoreFilters": false, "ignoreQuery": false, "ignoreTimerange": false, "ignoreValidations": false,
			}),
		},
	}
	return newObject(typeDashboard, b.id(name), attributes, append(references, more...)...)
}

// grid places the panels, and returns references to their objects.
func (b *builder) grid(rows []row) ([]any, []Reference) {
	panels := []any{}
	var references []Reference
	y := 0
	for _, r := range rows {
		x := 0
		for _, c := range r.Panels {
			object := b.panels[c.Panel]
			index := strconv.Itoa(len(panels))
			panels = append(panels, map[string]any{
				"version": migration[typeDashboard], "type": object.Type, "panelIndex": index,
				"gridData":         map[string]any{"x": x, "y": y, "w": c.Width, "h": r.Height, "i": index},
				"embeddableConfig": map[string]any{"enhancements": map[string]any{}}, "panelRefName": "panel_" + index,
			})
			references = append(references, Reference{index + ":panel_" + index, object.Type, object.ID})
			x += c.Width
		}
		y += r.Height
	}
	return panels, references
}

func (b *builder) controls(list []control) (map[string]any, []Reference) {
	panels := map[string]any{}
	var references []Reference
	for i, c := range list {
		id := "control-" + strconv.Itoa(i)
		panels[id] = map[string]any{
			"order": i, "width": c.Width, "grow": c.Width == "large", "type": "optionsListControl",
			"explicitInput": map[string]any{
				"id": id, "fieldName": c.Field, "title": c.Title, "selectedOptions": []any{}, "singleSelect": false, "enhancements": map[string]any{},
			},
		}
		references = append(references, Reference{"controlGroup_" + id + ":optionsListDataView", typeDataView, b.id(c.View)})
	}
	return panels, references
}

// While a run is replaced, the cluster has documents of two versions. Those of the new version are pending until
// those of the old one are deleted. Panels leave out pending documents, because otherwise the run would count twice.
// Controls have no query of their own, so dashboards have a filter, too. Kibana shows it as "NOT", and its alias.
//
// Syncs are not among all requests, so dashboards leave out their windows. A user who wants to see them disables that filter.

// shownSearch returns the search of a dashboard with these filters, for all of its controls and panels, and its references to a data
// view.
func shownSearch(view string) (map[string]any, []Reference) {
	var references []Reference
	not := func(alias, kind, key string, params, query any) map[string]any {
		name := fmt.Sprintf("kibanaSavedObjectMeta.searchSourceJSON.filter[%d].meta.index", len(references))
		references = append(references, Reference{name, typeDataView, view})
		return map[string]any{
			"$state": map[string]any{"store": "appState"},
			"meta": map[string]any{
				"alias": alias, "disabled": false, "negate": true, "type": kind, "key": key, "params": params, "indexRefName": name,
			},
			"query": query,
		}
	}
	replaced := not("runs that are being replaced", "phrase", mapping.PendingField, map[string]any{"query": true},
		map[string]any{"match_phrase": map[string]any{mapping.PendingField: true}})
	// Documents of runs have this direction, too, and stay.
	syncs := not("syncs (to see them, disable this and choose the direction sync)", "custom", "query", nil, map[string]any{"bool": map[string]any{
		"filter": []any{
			map[string]any{"term": map[string]any{mapping.DirectionField: mapping.Sync}},
			map[string]any{"exists": map[string]any{"field": mapping.LengthField}},
		},
	}})
	return search(map[string]any{"filter": []any{replaced, syncs}}), references
}

// search returns a search without a query and filters, but with what own has.
func search(own map[string]any) map[string]any {
	source := map[string]any{"query": map[string]any{"query": "", "language": "kuery"}, "filter": []any{}}
	maps.Copy(source, own)
	return map[string]any{"searchSourceJSON": quoted(source)}
}
