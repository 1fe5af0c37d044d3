package kibana

import (
	"encoding/json"
	"fmt"
	"slices"
)

// While a run is replaced, the cluster has documents of two versions of it. Those of the new
// one are pending until those of the old one are gone: all that adds up documents leaves
// them out, or it would count the run twice. Panels do so by themselves, so that they are
// right on any dashboard. Controls have no query of their own, so dashboards filter, too.

// pendingField is true in documents that are pending.
const pendingField = "run.pending"

// shownQuery is the query of Lens panels.
const shownQuery = "not " + pendingField + ": true"

// filterIndex is the name of the reference to a filter's data view.
const filterIndex = "kibanaSavedObjectMeta.searchSourceJSON.filter[0].meta.index"

// shownSearch is the search of a dashboard that leaves out what is pending, for all of its
// controls and panels.
func shownSearch() map[string]any {
	filter := map[string]any{
		"$state": map[string]any{"store": "appState"},
		"meta": map[string]any{
			"alias": "one version of each run", "disabled": false, "negate": true, "type": "phrase", "key": pendingField,
			"params": map[string]any{"query": true}, "indexRefName": filterIndex,
		},
		"query": map[string]any{"match_phrase": map[string]any{pendingField: true}},
	}
	return map[string]any{"searchSourceJSON": quoted(map[string]any{
		"query": map[string]any{"query": "", "language": "kuery"}, "filter": []any{filter},
	})}
}

// isVersioned reports whether the documents of an index can be pending.
func (f *fields) isVersioned(index string) bool { return f.of(index)[pendingField] != "" }

// lensQuery is a Lens panel's own query, without what is pending where that can be.
func (b *builder) lensQuery(index, own string) string {
	switch {
	case !b.fields.isVersioned(index):
		return own
	case own == "":
		return shownQuery
	}
	return "(" + own + ") and " + shownQuery
}

// checkShown fails if a search adds up documents that are pending, or leaves out what a
// dashboard asks for.
func (r *Request) checkShown() error {
	var url struct {
		Body struct {
			Query struct {
				Bool struct {
					Must, Filter []any
					MustNot      []any `json:"must_not"`
				}
			}
		}
	}
	if err := json.Unmarshal(r.URL, &url); err != nil {
		return fmt.Errorf("read url: %w", err)
	}
	query := url.Body.Query.Bool
	for _, clause := range []struct {
		name string
		list []any
	}{{"must", query.Must}, {"filter", query.Filter}, {"must_not", query.MustNot}} {
		if placeholder := "%dashboard_context-" + clause.name + "_clause%"; !slices.Contains(clause.list, any(placeholder)) {
			return fmt.Errorf("its query has no %s, so filters and controls do not reach it", placeholder)
		}
	}
	isPending := func(v any) bool {
		m, _ := v.(map[string]any)
		term, _ := m["term"].(map[string]any)
		return term[pendingField] == true
	}
	if !slices.ContainsFunc(query.MustNot, isPending) {
		return fmt.Errorf("its query does not leave out what has %s", pendingField)
	}
	return nil
}
