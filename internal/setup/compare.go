package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/mapping/templates"
)

// owner returns who manages an object, and its version, from its _meta.
func owner(o object) (by string, version int) {
	meta := o.At("_meta")
	by, _ = meta["managed_by"].(string)
	version, _ = strconv.Atoi(fmt.Sprint(meta["version"]))
	return by, version
}

// canonical returns what is compared of an object, in one form for requests and answers. Servers add other members,
// such as defaults, dates, and where an object is used. Answers have settings as nested texts, where requests have
// numbers and names with dots, and "false" instead of false.
func canonical(kind templates.Kind, o object) any {
	parts := map[templates.Kind][]string{
		templates.Policy:    {"phases", "_meta"},
		templates.Component: {"template", "version", "_meta"},
		templates.Index:     {"index_patterns", "composed_of", "priority", "template", "data_stream", "version", "_meta"},
	}
	out := map[string]any{}
	for _, part := range parts[kind] {
		out[part] = o[part]
	}
	if template := o.At("template"); template != nil {
		template = maps.Clone(template)
		settings := map[string]any{}
		flatten("", template["settings"], settings)
		template["settings"] = settings
		out["template"] = map[string]any(template)
	}
	return plain(out)
}

// flatten adds settings to into, with names such as "index.number_of_shards".
func flatten(path string, v any, into map[string]any) {
	if m, ok := v.(map[string]any); ok {
		for k, inner := range m {
			flatten(strings.TrimPrefix(path+"."+k, "."), inner, into)
		}
	} else if path != "" && v != nil {
		into["index."+strings.TrimPrefix(path, "index.")] = v
	}
}

// plain makes all values texts. It removes nulls, empty objects and arrays, and the type of objects.
func plain(v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case map[string]any:
		out := map[string]any{}
		for k, inner := range v {
			if p := plain(inner); p != nil && !(k == "type" && p == "object") {
				out[k] = p
			}
		}
		if len(out) > 0 {
			return out
		}
		return nil
	case []any:
		var out []any
		for _, inner := range v {
			out = append(out, plain(inner))
		}
		if len(out) > 0 {
			return out
		}
		return nil
	}
	return fmt.Sprint(v)
}

// differences appends a line for each path at which two canonical values differ.
func differences(diffs []string, path string, want, have any) []string {
	w, isMap := want.(map[string]any)
	h, alsoMap := have.(map[string]any)
	if !isMap || !alsoMap {
		if fmt.Sprint(want) != fmt.Sprint(have) {
			diffs = append(diffs, fmt.Sprintf("%s is %s, becomes %s", path, show(have), show(want)))
		}
		return diffs
	}
	names := maps.Clone(w)
	maps.Copy(names, h)
	for _, k := range slices.Sorted(maps.Keys(names)) {
		diffs = differences(diffs, strings.TrimPrefix(path+"."+k, "."), w[k], h[k])
	}
	return diffs
}

// show returns a value for people.
func show(v any) string {
	if v == nil {
		return "not set"
	}
	text, err := json.Marshal(v)
	if _, isText := v.(string); err != nil || len(text) > 60 && !isText {
		return "another"
	}
	return string(text)
}

// rivals returns refusals because of templates of others that match our indices. If they have the same priority, the
// cluster would refuse our templates. If theirs is higher, it would use their templates without an error, and
// histograms would become arrays of numbers.
func rivals(steps []Step, there map[string]object) []Step {
	ours := map[string]object{}
	for _, s := range steps {
		if s.Kind == templates.Index {
			ours[s.Name] = s.Body
		}
	}
	var found []Step
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if ours[name] == nil {
			if why := rival(there[name], ours); why != "" {
				s := Step{Kind: templates.Index, Name: name}
				s.refuse(ErrForeign, "%s", why)
				found = append(found, s)
			}
		}
	}
	return found
}

func rival(theirs object, ours map[string]object) string {
	priority := func(o object) (n float64) {
		_, _ = fmt.Sscan(fmt.Sprint(o["priority"]), &n) // on failure 0, which is the priority of a template without one
		return n
	}
	patterns := func(o object) []any {
		if all, ok := o["index_patterns"].([]any); ok {
			return all
		}
		return []any{o["index_patterns"]}
	}
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		own := ours[name]
		if priority(theirs) < priority(own) {
			continue
		}
		for _, a := range patterns(theirs) {
			for _, b := range patterns(own) {
				if overlap(fmt.Sprint(a), fmt.Sprint(b)) {
					return fmt.Sprintf("it matches %v with priority %v, and %s matches %v with %v; give it a lower priority, or choose another prefix",
						a, theirs["priority"], name, b, own["priority"])
				}
			}
		}
	}
	return ""
}

// overlap reports whether a name can match both patterns, in which * means any text.
func overlap(a, b string) bool {
	// can[j]: a name can match the first i bytes of a and the first j bytes of b
	can := make([]bool, len(b)+1)
	for i := range len(a) + 1 {
		before := slices.Clone(can) // can for i-1
		for j := range len(b) + 1 {
			starA, starB := i > 0 && a[i-1] == '*', j > 0 && b[j-1] == '*'
			switch {
			case i == 0 && j == 0:
				can[j] = true
			case starA || starB:
				// a star matches a byte of the other pattern, or nothing
				can[j] = i > 0 && before[j] || j > 0 && can[j-1]
			default:
				can[j] = i > 0 && j > 0 && a[i-1] == b[j-1] && before[j-1]
			}
		}
	}
	return can[len(b)]
}

// addIndices adds the steps for existing indices, because templates apply only to new ones. If there are no indices,
// it adds the steps that make the first ones.
func (p *Plan) addIndices(ctx context.Context, cl *es.Client) error {
	want := map[string]object{} // mappings by component
	for _, s := range p.Steps {
		if s.Kind == templates.Component && s.Body != nil {
			want[s.Name] = s.Body.At("template", "mappings")
		}
	}
	yes := true
	for _, f := range templates.Families(p.prefix) {
		// A request for each family, because the index behind an alias has another name.
		var answer map[string]struct{ Mappings object }
		if err := p.read(ctx, cl, esapi.IndicesGetMappingRequest{Index: []string{f.Pattern}, IgnoreUnavailable: &yes, AllowNoIndices: &yes}, &answer); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(answer)) {
			s := Step{Action: Update, Kind: Index, Name: name}
			_, isOurs := owner(answer[name].Mappings)
			if ok, _ := path.Match(f.Pattern, name); !ok && isOurs == 0 {
				s.refuse(ErrConflict, "it is not of fio2es, but an alias of the form %s stands for it: remove the alias, or choose another prefix", f.Pattern)
			} else {
				s.complete(want[f.Mappings], answer[name].Mappings)
			}
			if s.Body != nil || s.Err != nil {
				p.Steps = append(p.Steps, s)
			}
		}
		for _, s := range firstIndices(p.prefix) {
			if ok, _ := path.Match(f.Pattern, s.Name); ok && len(answer) == 0 {
				p.Steps = append(p.Steps, s)
			}
		}
	}
	return nil
}

// complete makes the step that adds to an index what its mapping lacks. The body stays nil if nothing is missing, or if
// a newer fio2es made the index.
func (s *Step) complete(want, have object) {
	_, ours := owner(want)
	if _, theirs := owner(have); theirs > ours {
		return
	}
	body, names := object{}, []string(nil)
	for k, v := range want { // members such as dynamic and _meta
		if k != "properties" && len(differences(nil, k, plain(v), plain(have[k]))) > 0 {
			body[k], names = v, append(names, k)
		}
	}
	add, conflicts := missing("", want.At("properties"), have.At("properties"), &names)
	if len(conflicts) > 0 {
		s.refuse(ErrConflict, "%s; it was made without the templates: delete it (DELETE /%s) and ingest its runs again, or reindex it", list(conflicts), s.Name)
		return
	}
	if len(add) > 0 {
		body["properties"] = add
	}
	if len(body) > 0 {
		slices.Sort(names)
		s.Body, s.Reason = body, fmt.Sprintf("it lacks %s", list(names))
	}
}

// missing returns what properties lack, and which fields have another type. It appends the paths of missing fields
// to names.
func missing(path string, want, have object, names *[]string) (add map[string]any, conflicts []string) {
	typeOf := func(field object) string { // an object may have none
		if t, ok := field["type"].(string); ok {
			return t
		}
		return "object"
	}
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
