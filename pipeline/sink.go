package pipeline

import (
	"context"

	"github.com/fio2es/fio2es/mapping"
)

// Sink is where documents go.
type Sink interface {
	// Put takes interval documents of one run, which the caller does not touch again.
	Put(ctx context.Context, docs []*mapping.Interval) error
	// Finish stores the run's document and removes what earlier versions of the run
	// left behind. It comes after all of the run's documents; when it returns nil, they
	// are all safe.
	Finish(ctx context.Context, run *mapping.Run) error
}
