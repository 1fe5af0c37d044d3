package kibana

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// panel is the source of a panel: of one kind out of three.
type panel struct {
	Title       string `json:"title"`
	Description string `json:"description"`

	// Vega is the file of a specification, in which Values stand for its placeholders.
	Vega   string            `json:"vega,omitempty"`
	Values map[string]string `json:"values,omitempty"`

	Markdown string `json:"markdown,omitempty"` // a file of text, with Values

	Lens *lens `json:"lens,omitempty"`
}

func (b *builder) panel(name string) (Object, error) {
	var p panel
	if err := b.decode("panels/"+name+".json", &p); err != nil {
		return Object{}, err
	}
	if p.Title == "" {
		return Object{}, errors.New("it has no title")
	}
	switch isVega, isText, isLens := p.Vega != "", p.Markdown != "", p.Lens != nil; {
	case isVega && !isText && !isLens:
		return b.vega(name, &p)
	case isText && !isVega && !isLens:
		return b.markdown(name, &p)
	case isLens && !isVega && !isText:
		return b.lens(name, &p)
	}
	return Object{}, errors.New("it must be one of vega, markdown and lens")
}

// vega keeps the specification's text as it stands in the file: people read and change it
// in Kibana's editor.
func (b *builder) vega(name string, p *panel) (Object, error) {
	text, err := b.text("panels/"+p.Vega, p.Values)
	if err != nil {
		return Object{}, fmt.Errorf("%s: %w", p.Vega, err)
	}
	requests, err := requestsOf(name, text)
	if err != nil {
		return Object{}, fmt.Errorf("%s: %w", p.Vega, err)
	}
	b.requests = append(b.requests, requests...)
	b.specs[name] = text
	return b.visual(name, p, "vega", map[string]any{"spec": string(text)}), nil
}

func (b *builder) markdown(name string, p *panel) (Object, error) {
	text, err := b.text("panels/"+p.Markdown, p.Values)
	if err != nil {
		return Object{}, fmt.Errorf("%s: %w", p.Markdown, err)
	}
	return b.visual(name, p, "markdown", map[string]any{
		"markdown": string(text), "fontSize": 12, "openLinksInNewTab": false,
	}), nil
}

func (b *builder) visual(name string, p *panel, kind string, params map[string]any) Object {
	return newObject(typeVisual, b.id(name), map[string]any{
		"title": p.Title, "description": p.Description, "uiStateJSON": "{}",
		"visState":              quoted(map[string]any{"title": p.Title, "type": kind, "aggs": []any{}, "params": params}),
		"kibanaSavedObjectMeta": emptySearch,
	})
}

// Request is a search that a Vega panel sends, with Kibana's own placeholders (%context%
// and the like) still in it.
type Request struct {
	Panel string          // its file in objects/panels, without the ending
	Data  string          // the name of the data set in the specification
	Index string          // pattern
	URL   json.RawMessage // the whole of what the data set has as its url
}

// requestsOf finds all data sets with a url, wherever in the specification, as Kibana does.
func requestsOf(panel string, spec []byte) ([]Request, error) {
	var parsed any
	if err := json.Unmarshal(spec, &parsed); err != nil {
		return nil, err
	}
	var list []Request
	var faults []error
	walk(parsed, "", func(key string, node map[string]any) {
		url, ok := node["url"].(map[string]any)
		if key != "data" || !ok {
			return
		}
		name, _ := node["name"].(string)
		index, _ := url["index"].(string)
		if name == "" || index == "" {
			faults = append(faults, fmt.Errorf("data set %q asks index %q: both need a name", name, index))
			return
		}
		text, err := json.Marshal(url)
		if err != nil {
			panic(err) // it was decoded from JSON
		}
		list = append(list, Request{panel, name, index, text})
	})
	slices.SortFunc(list, func(a, b Request) int { return strings.Compare(a.Data, b.Data) })
	for i := 1; i < len(list); i++ {
		if list[i].Data == list[i-1].Data {
			faults = append(faults, fmt.Errorf("two data sets are named %q", list[i].Data))
		}
	}
	return list, errors.Join(faults...)
}

// walk calls each for every object in v, with the name that it, or the array that it is
// in, has.
func walk(v any, key string, each func(key string, node map[string]any)) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			walk(inner, key, each)
		}
	case map[string]any:
		each(key, v)
		for name, inner := range v {
			walk(inner, name, each)
		}
	}
}
