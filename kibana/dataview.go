package kibana

import (
	"encoding/json"
	"path"
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
	b.views[name] = view
	return newObject(typeDataView, b.id(name), map[string]any{
		"title": view.Index, "name": view.Name, "timeFieldName": "@timestamp", "fieldFormatMap": quoted(b.formats(b.fields(view.Index))),
		"fieldAttrs": "{}", "runtimeFieldMap": "{}", "fields": "[]", "typeMeta": "{}",
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
				if must(path.Match(pattern, field)) && f.isFor(typ) {
					formats[field] = map[string]any{"id": f.ID, "params": f.Params}
				}
			}
		}
	}
	return formats
}

// isFor reports whether a format is for fields of a type.
func (f *format) isFor(typ string) bool {
	switch f.ID {
	case "duration", "bytes", "number", "percent":
		return typ == "long" || typ == "double" || typ == "histogram"
	}
	return true
}
