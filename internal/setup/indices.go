package setup

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// indices returns the steps for existing indices, because templates apply only to new ones. If there are no indices,
// it returns the steps that make the first ones.
func (c *client) indices(ctx context.Context, steps []Step) ([]Step, error) {
	want := map[string]object{} // mappings by component
	for _, s := range steps {
		if s.Kind == templates.Component && s.Body != nil {
			want[s.Name] = s.Body.At("template", "mappings")
		}
	}
	var found []Step
	yes := new(true)
	for _, f := range templates.Families(c.prefix) {
		// A request for each family, because the index behind an alias has another name.
		var answer map[string]struct{ Mappings object }
		if err := c.get(ctx, esapi.IndicesGetMappingRequest{Index: []string{f.Pattern}, IgnoreUnavailable: yes, AllowNoIndices: yes}, &answer); err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(answer)) {
			_, isOurs := owner(answer[name].Mappings)
			if ok, _ := path.Match(f.Pattern, name); !ok && isOurs == 0 {
				s := Step{Action: Update, Kind: Index, Name: name}
				s.refuse(ErrConflict, "it is not of fio2es, but an alias of the form %s stands for it: remove the alias, or choose another prefix", f.Pattern)
				found = append(found, s)
				continue
			}
			if s, ok := update(name, want[f.Mappings], answer[name].Mappings); ok {
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

// firstIndices returns the steps that make the indices which must exist before the first ingest. Without the index
// of runs, readers would report that the cluster was never set up. Kibana's dashboards would wait forever if no
// index has the fields of their controls.
func firstIndices(prefix string) []Step {
	var steps []Step
	for _, name := range []string{prefix + "-latency." + mapping.Cluster.String() + "-empty", mapping.RunsIndex(prefix)} {
		steps = append(steps, Step{Action: Create, Kind: Index, Name: name, Body: object{}})
	}
	return steps
}

// update returns the step that adds to an index what its mapping lacks. It returns false if nothing is missing.
func update(index string, want, have object) (Step, bool) {
	_, ours := owner(want)
	_, theirs := owner(have)
	if theirs > ours {
		return Step{}, false // a newer fio2es made the index
	}
	s := Step{Action: Update, Kind: Index, Name: index}
	body, names := object{}, []string(nil)
	for k, v := range want { // members such as dynamic and _meta
		if k != "properties" && len(differences(plain(v), plain(have[k]))) > 0 {
			body[k], names = v, append(names, k)
		}
	}
	add, conflicts := missing("", want.At("properties"), have.At("properties"), &names)
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
	s.Body = body
	return s, true
}

// missing returns what properties lack, and which fields have another type. It appends the paths of missing fields
// to names.
func missing(path string, want, have object, names *[]string) (add map[string]any, conflicts []string) {
	add = map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		w, h := want.At(name), have.At(name)
		switch {
		case h == nil:
			add[name], *names = w, append(*names, path+name)
		case typeOf(w) != typeOf(h):
			conflicts = append(conflicts, fmt.Sprintf("field %s%s is %s, not %s", path, name, typeOf(h), typeOf(w)))
		case w["properties"] != nil:
			inner, wrong := missing(path+name+".", w.At("properties"), h.At("properties"), names)
			conflicts = append(conflicts, wrong...)
			if len(inner) > 0 {
				add[name] = map[string]any{"properties": inner}
			}
		}
	}
	return add, conflicts
}

// typeOf returns the type of a field; an object may have none.
func typeOf(field object) string {
	if t, ok := field["type"].(string); ok {
		return t
	}
	return "object"
}
