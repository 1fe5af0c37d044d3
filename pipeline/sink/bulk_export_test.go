package sink

import (
	"context"

	"github.com/fio2es/fio2es/mapping"
)

// Encoded is documents as they go into a body.
type Encoded struct{ c chunk }

// Encode does what Put does before it takes documents.
func Encode(docs []*mapping.Interval) *Encoded {
	e := new(Encoded)
	for _, d := range docs {
		e.c.add(d.Index("fio"), d.ID(), runKey{d.Run.ID, d.Run.Ingest}, d.AppendJSON)
	}
	return e
}

// PutEncoded does the rest.
func (s *Elastic) PutEncoded(ctx context.Context, e *Encoded) error {
	c := chunk{buf: e.c.buf, docs: e.c.docs}
	return s.take(ctx, &c, nil)
}
