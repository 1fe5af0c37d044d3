package pipeline

import (
	"context"

	"github.com/fio2es/fio2es/mapping"
)

// Sink takes the documents of runs. Every store of a history is one, and so is the writer of
// NDJSON.
type Sink interface {
	// Put takes interval documents, any number, and keeps none of them after it has
	// returned. They need not be safe before Finish. It fails when a document does not
	// pass its Check.
	Put(ctx context.Context, docs []*mapping.Interval) error

	// Finish takes the document of a run, all of whose interval documents were put. When
	// it returns nil, all of them are safe. To finish the run again, put all of its
	// documents again.
	Finish(ctx context.Context, run *mapping.Run) error
}
