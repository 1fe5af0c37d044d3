package kibana

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
)

// dataView is the source of a data view: an index and how its fields are shown.
type dataView struct {
	Index string `json:"index"` // pattern
	Name  string `json:"name"`
}

// format is how fields are shown, in Kibana's own words.
type format struct {
	Fields []string        `json:"fields"` // patterns of path.Match
	ID     string          `json:"id"`
	Params json.RawMessage `json:"params"`
}

func (b *builder) dataView(name string) (Object, error) {
	var view dataView
	if err := b.decode("dataviews/"+name+".json", &view); err != nil {
		return Object{}, err
	}
	b.views[name] = view
	fields := b.fields.of(view.Index)
	if fields == nil || view.Name == "" {
		return Object{}, fmt.Errorf("index %q with the name %q: it must be one of ours, and have a name", view.Index, view.Name)
	}
	formats, err := b.formats(fields)
	if err != nil {
		return Object{}, fmt.Errorf("formats.json: %w", err)
	}
	return newObject(typeDataView, b.id(name), map[string]any{
		"title": view.Index, "name": view.Name, "timeFieldName": "@timestamp",
		"fieldFormatMap": quoted(formats), "fieldAttrs": "{}", "runtimeFieldMap": "{}", "fields": "[]", "typeMeta": "{}",
	}), nil
}

// formats are those of an index's fields, each of which may have one.
func (b *builder) formats(fields map[string]string) (map[string]any, error) {
	var list []format
	if err := b.decode("formats.json", &list); err != nil {
		return nil, err
	}
	formats := map[string]any{}
	var faults []error
	for _, f := range list {
		for _, pattern := range f.Fields {
			for field := range fields {
				matches, err := path.Match(pattern, field)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", pattern, err)
				}
				if !matches || !isShown(fields[field], f.ID) {
					continue
				}
				if formats[field] != nil {
					faults = append(faults, fmt.Errorf("%s has two formats", field))
				}
				formats[field] = map[string]any{"id": f.ID, "params": f.Params}
			}
		}
	}
	return formats, errors.Join(faults...)
}

// isShown tells whether a format is for fields of a type.
func isShown(typ, format string) bool {
	switch format {
	case "duration", "bytes", "number", "percent":
		return slices.Contains(distributed, typ)
	}
	return true
}
