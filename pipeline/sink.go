package pipeline

import (
	"context"

	"github.com/fio2es/fio2es/mapping"
)

// Sink is where documents go.
type Sink interface {
	// Put stores interval documents of one run; when it returns nil they are safe.
	Put(ctx context.Context, docs []*mapping.Interval) error
	// Finish stores the run's document and removes what earlier versions of the run
	// left behind. It comes after all of the run's documents.
	Finish(ctx context.Context, run *mapping.Run) error
}
