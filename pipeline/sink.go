package pipeline

import (
	"context"

	"github.com/fio2es/fio2es/mapping"
)

// Sink takes the documents of runs. Every store of a history is a Sink, and so is the writer of NDJSON.
type Sink interface {
	// Put takes any number of interval documents. It does not use them after it has returned. They need not be on disk
	// before Finish. Put fails if a document does not pass its Check.
	Put(ctx context.Context, docs []*mapping.Interval) error

	// Finish takes the document of a run after all its interval documents were put. When it returns nil, all of them
	// are stored safely. To finish the run again, put all of its documents again.
	Finish(ctx context.Context, run *mapping.Run) error
}
