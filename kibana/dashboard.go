package kibana

import "strconv"

// dashboard is the source of a dashboard: rows of panels from left to right.
type dashboard struct {
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Time        *timeSpan `json:"time,omitempty"` // time range when it is opened; nil: the user's
	Controls    []control `json:"controls"`
	Rows        []row     `json:"rows"`
}

type timeSpan struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// control is a list from which users choose values of a field.
type control struct {
	Title  string `json:"title"`
	View   string `json:"view"`
	Field  string `json:"field"`
	Width  string `json:"width"` // small, medium or large
	Single bool   `json:"single,omitempty"`
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
	search := emptySearch
	for _, c := range d.Controls {
		if b.isVersioned(b.views[c.View].Index) {
			search = shownSearch()
			references = append(references, Reference{filterIndex, typeDataView, b.id(c.View)})
			break
		}
	}
	attributes := map[string]any{
		"title": d.Title, "description": d.Description, "version": 1, "hits": 0,
		"panelsJSON":            quoted(panels),
		"optionsJSON":           quoted(map[string]any{"useMargins": true, "syncColors": false, "hidePanelTitles": false}),
		"timeRestore":           d.Time != nil,
		"kibanaSavedObjectMeta": search,
		"controlGroupInput": map[string]any{
			"controlStyle": "oneLine", "chainingSystem": "HIERARCHICAL", "panelsJSON": quoted(controls),
			"ignoreParentSettingsJSON": quoted(map[string]bool{
				"ignoreFilters": false, "ignoreQuery": false, "ignoreTimerange": false, "ignoreValidations": false,
			}),
		},
	}
	if d.Time != nil {
		attributes["timeFrom"], attributes["timeTo"] = d.Time.From, d.Time.To
		attributes["refreshInterval"] = map[string]any{"pause": true, "value": 0}
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
				"id": id, "fieldName": c.Field, "title": c.Title, "selectedOptions": []any{},
				"singleSelect": c.Single, "enhancements": map[string]any{},
			},
		}
		references = append(references, Reference{"controlGroup_" + id + ":optionsListDataView", typeDataView, b.id(c.View)})
	}
	return panels, references
}
