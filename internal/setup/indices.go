package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// indices are steps for indices that exist, for templates are only for those to come; and
// those that make the first ones, where there are none.
func (c *client) indices(ctx context.Context, steps []Step) ([]Step, error) {
	want := map[string]object{} // mappings by component
	for _, s := range steps {
		if s.Kind == templates.Component && s.Body != nil {
			want[s.Name] = decode(s.Body).at("template", "mappings")
		}
	}
	var found []Step
	yes := esapi.BoolPtr(true)
	for _, f := range templates.Families(c.prefix) {
		// Each family alone, for the index behind an alias has another name.
		answer, err := c.get(ctx, esapi.IndicesGetMappingRequest{Index: []string{f.Pattern}, IgnoreUnavailable: yes, AllowNoIndices: yes})
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(answer)) {
			if s, ok := mend(name, want[f.Mappings], answer.at(name, "mappings")); ok {
				found = append(found, s)
			}
		}
		if len(answer) > 0 {
			continue
		}
		for _, s := range firstIndices(c.prefix) {
			if ok, _ := path.Match(f.Pattern, s.Name); ok {
				found = append(found, s)
			}
		}
	}
	return found, nil
}

// firstIndices make what has to be there before the first ingest. By the index of the runs
// readers tell a cluster without runs from one that was never set up. And Kibana's
// dashboards wait for ever while no index has the fields that one can choose by.
func firstIndices(prefix string) []Step {
	var steps []Step
	for _, name := range []string{prefix + "-latency." + mapping.Cluster.String() + "-empty", mapping.RunsIndex(prefix)} {
		steps = append(steps, Step{Action: Create, Kind: Index, Name: name, Body: json.RawMessage("{}")})
	}
	return steps
}

// mend is the step that gives an index what its mapping lacks, if anything.
func mend(index string, want, have object) (Step, bool) {
	_, ours := owner(want)
	_, theirs := owner(have)
	if theirs > ours {
		return Step{}, false // a newer fio2es has been there
	}
	s := Step{Action: Update, Kind: Index, Name: index}
	body, names := map[string]any{}, []string(nil)
	for k, v := range want { // what is not of a field: dynamic, _meta and so on
		if k != "properties" && len(differences(plain(v), plain(have[k]))) > 0 {
			body[k], names = v, append(names, k)
		}
	}
	add, conflicts := missing("", want.at("properties"), have.at("properties"), &names)
	if len(conflicts) > 0 {
		s.refuse(ErrConflict, "%s; it was made without the templates: delete it (DELETE /%s) and ingest its runs again, or reindex it", list(conflicts), index)
		return s, true
	}
	if len(add) > 0 {
		body["properties"] = add
	}
	if len(body) == 0 {
		return Step{}, false
	}
	slices.Sort(names)
	s.Reason = fmt.Sprintf("it lacks %s", list(names))
	var err error
	if s.Body, err = json.Marshal(body); err != nil {
		panic(err) // it was decoded from JSON
	}
	return s, true
}

// missing is what properties lack, and which fields have another type; names gets the
// paths of what is lacking.
func missing(path string, want, have object, names *[]string) (add map[string]any, conflicts []string) {
	add = map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		w, h := want.at(name), have.at(name)
		switch {
		case h == nil:
			add[name], *names = w, append(*names, path+name)
		case typeOf(w) != typeOf(h):
			conflicts = append(conflicts, fmt.Sprintf("field %s%s is %s, not %s", path, name, typeOf(h), typeOf(w)))
		case w["properties"] != nil:
			inner, wrong := missing(path+name+".", w.at("properties"), h.at("properties"), names)
			conflicts = append(conflicts, wrong...)
			if len(inner) > 0 {
				add[name] = map[string]any{"properties": inner}
			}
		}
	}
	return add, conflicts
}

// typeOf is the type of a field; that of objects can be left out.
func typeOf(field object) string {
	if t, ok := field["type"].(string); ok {
		return t
	}
	return "object"
}
