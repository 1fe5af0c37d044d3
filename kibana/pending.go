package kibana

import "github.com/fio2es/fio2es/mapping"

// While a run is replaced, the cluster has documents of two versions. Those of the new version are pending until
// those of the old one are deleted. Panels leave out pending documents, because otherwise the run would count twice.
// Controls have no query of their own, so dashboards have a filter, too.

// filterIndex is the name of the reference to a filter's data view.
const filterIndex = "kibanaSavedObjectMeta.searchSourceJSON.filter[0].meta.index"

// shownSearch returns the search of a dashboard that leaves out pending documents, for all of its controls and
// panels.
func shownSearch() map[string]any {
	filter := map[string]any{
		"$state": map[string]any{"store": "appState"},
		"meta": map[string]any{
			"alias": "one version of each run", "disabled": false, "negate": true, "type": "phrase", "key": mapping.PendingField,
			"params": map[string]any{"query": true}, "indexRefName": filterIndex,
		},
		"query": map[string]any{"match_phrase": map[string]any{mapping.PendingField: true}},
	}
	return map[string]any{"searchSourceJSON": quoted(map[string]any{
		"query": map[string]any{"query": "", "language": "kuery"}, "filter": []any{filter},
	})}
}

// isVersioned reports whether the documents of an index can be pending: all except run documents.
func (b *builder) isVersioned(index string) bool {
	return index != mapping.RunsIndex(b.values["prefix"])
}
