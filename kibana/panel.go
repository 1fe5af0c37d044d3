package kibana

// panel is the source of a panel. It has exactly one of Vega, Markdown and Lens.
type panel struct {
	Title       string `json:"title"`
	Description string `json:"description"`

	// Vega is the file of a specification. Values replace its placeholders.
	Vega   string            `json:"vega,omitempty"`
	Values map[string]string `json:"values,omitempty"`

	Markdown string `json:"markdown,omitempty"` // file of a text, with the same Values

	Lens *lens `json:"lens,omitempty"`
}

func (b *builder) panel(name string) Object {
	var p panel
	b.decode("panels/"+name+".json", &p)
	switch {
	case p.Lens != nil:
		return b.lens(name, &p)
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
		"kibanaSavedObjectMeta": emptySearch,
	})
}
