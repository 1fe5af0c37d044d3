// Package sink is the last room of the pipeline: where documents go. [Sink] is what
// the pipeline needs of it; every history is one, too, and so is what this package
// has: [Elastic] stores the documents in an Elasticsearch cluster, [NDJSON] writes them
// for others to load, [Discard] only counts them.
package sink

import (
	"context"

	"github.com/fio2es/fio2es/mapping"
)

// Sink takes the documents of runs.
type Sink interface {
	// Put takes interval documents, any number, and keeps none of them after it has
	// returned. They need not be safe before Finish. It fails when a document does not
	// pass its Check.
	Put(ctx context.Context, docs []*mapping.Interval) error

	// Finish takes the document of a run, all of whose interval documents were put. When
	// it returns nil all of them are safe, and the run is forgotten: to finish it again,
	// put all of its documents again.
	Finish(ctx context.Context, run *mapping.Run) error
}
