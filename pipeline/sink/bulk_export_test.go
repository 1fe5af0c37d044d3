package sink

import "github.com/fio2es/fio2es/mapping"

// Prepared is documents as they go into a body.
type Prepared struct{ c chunk }

// Bytes is their text.
func (p *Prepared) Bytes() []byte { return p.c.buf }

// Prepare does what Put does before it takes documents, in place of those before.
func (p *Prepared) Prepare(docs []*mapping.Interval) {
	if _, err := splitAll(docs); err != nil {
		panic(err)
	}
	p.c.buf, p.c.docs = p.c.buf[:0], p.c.docs[:0]
	for _, d := range docs {
		p.c.add(p.c.index("fio", d.Level, d.Run.Start), d.ID(), runKey{d.Run.ID, d.Run.Ingest}, d.AppendJSON)
	}
}
