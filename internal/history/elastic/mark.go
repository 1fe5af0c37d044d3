package elastic

import (
	"context"
	"maps"
	"slices"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/mapping"
)

// Mark implements [history.Marker].
func (e *Store) Mark(ctx context.Context, changes map[string][]mapping.Change) error {
	err := e.Prepare(ctx)
	if err == nil {
		err = e.client.Refresh(ctx, e.runs())
	}
	const most = 500 // runs in one request
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(changes)), most) {
		some := map[string][]mapping.Change{}
		for _, id := range ids {
			some[id] = append([]mapping.Change{}, changes[id]...) // an empty list, not null
		}
		if err == nil {
			_, err = e.client.UpdateAll(ctx, es.All(es.Terms("run.id", ids)), mapping.MarkChanges, map[string]any{"changes": some}, e.runs())
		}
	}
	return e.fail(ctx, "write to", err)
}

// News reports whether runs were stored or removed since its last call. Then changes have to be found again. Live
// runs do not count, because they belong to no series.
func (e *Store) News() bool { return e.news.Swap(false) }
