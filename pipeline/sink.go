package pipeline

import "github.com/fio2es/fio2es/pipeline/sink"

// Sink is where documents go.
type Sink = sink.Sink
