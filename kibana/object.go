package kibana

import (
	"encoding/json"
	"fmt"
)

// Object is a saved object in the form that Kibana imports.
type Object struct {
	Type       string         `json:"type"`
	ID         string         `json:"id"`
	Attributes map[string]any `json:"attributes"`
	References []Reference    `json:"references"`

	// Migration is the version of Kibana whose format the object has. Without it, Kibana 8.3 drops references of Lens
	// panels, and doubles those of dashboards. Kibana migrates objects of older versions, and refuses newer ones.
	Migration map[string]string `json:"migrationVersion"`
}

// Reference says how an object names another one.
type Reference struct {
	Name string `json:"name"`
	Type string `json:"type"`
	ID   string `json:"id"`
}

// The types of saved objects, with the version of their format.
const (
	typeDataView  = "index-pattern"
	typeLens      = "lens"
	typeVisual    = "visualization"
	typeDashboard = "dashboard"
)

var migration = map[string]string{
	typeDataView: "8.0.0", typeLens: "8.3.0", typeVisual: "8.3.0", typeDashboard: "8.3.0",
}

func newObject(typ, id string, attributes map[string]any, references ...Reference) Object {
	if references == nil {
		references = []Reference{}
	}
	return Object{typ, id, attributes, references, map[string]string{typ: migration[typ]}}
}

// Title returns the title that users see.
func (o *Object) Title() string {
	if name, ok := o.Attributes["name"].(string); ok {
		return name
	}
	title, _ := o.Attributes["title"].(string)
	return title
}

// quoted returns a value as JSON in a string, which is the form of many attributes.
func quoted(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode part of a saved object: %v", err)) // cannot fail: all are plain values
	}
	return string(text)
}

// emptySearch is the search of an object without its own search.
var emptySearch = map[string]any{
	"searchSourceJSON": quoted(map[string]any{"query": map[string]any{"query": "", "language": "kuery"}, "filter": []any{}}),
}
