package kibanatest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Request is a search of a Vega panel, with Kibana's placeholders (%context% and others) still in it.
type Request struct {
	Panel string
	Data  string          // name of the data set in the specification
	Index string          // index pattern
	URL   json.RawMessage // url of the data set, unchanged
}

// Requests returns the searches in Vega specifications, by panel: of all data sets with a url. Like Kibana, it finds
// them at any place in the specification.
func Requests(specs map[string][]byte) ([]Request, error) {
	var list []Request
	var faults []error
	for _, panel := range slices.Sorted(maps.Keys(specs)) {
		own, err := requestsOf(panel, specs[panel])
		if err != nil {
			faults = append(faults, fmt.Errorf("panel %s: %w", panel, err))
		}
		list = append(list, own...)
	}
	return list, errors.Join(faults...)
}

func requestsOf(panel string, spec []byte) ([]Request, error) {
	var parsed any
	if err := json.Unmarshal(spec, &parsed); err != nil {
		return nil, err
	}
	var list []Request
	var faults []error
	Walk(parsed, "", func(key string, node map[string]any) {
		url, ok := node["url"].(map[string]any)
		if key != "data" || !ok {
			return
		}
		name, _ := node["name"].(string)
		index, _ := url["index"].(string)
		if name == "" || index == "" {
			faults = append(faults, fmt.Errorf("data set %q searches index %q: both need a name", name, index))
			return
		}
		text, err := json.Marshal(url)
		if err != nil {
			panic(err) // cannot fail: it was decoded from JSON
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

// Walk calls each for every object in v. key is the name of the object, or of the array that it is in.
func Walk(v any, key string, each func(key string, node map[string]any)) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			Walk(inner, key, each)
		}
	case map[string]any:
		each(key, v)
		for name, inner := range v {
			Walk(inner, name, each)
		}
	}
}
