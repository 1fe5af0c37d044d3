package sqlite

import (
	"context"
	"database/sql"
	"iter"

	"github.com/fio2es/fio2es/mapping"
)

// Encoded are all interval documents of a finished run as they are sent to a cluster, level by
// level, in the order of Intervals. It does not decode them: what is in the history was
// checked before it was stored, and has a checksum. A document is valid until the next one.
// An error ends the list.
func (s *Store) Encoded(ctx context.Context, run *mapping.Run) iter.Seq2[*mapping.Encoded, error] {
	r := encodedReader{codec: s.codec, out: mapping.Encoded{Run: run.Run.ID, Ingest: run.Run.Ingest, Start: run.Run.Start}}
	r.key.Run.ID, r.key.Run.Ingest = run.Run.ID, run.Run.Ingest
	return each(ctx, s, r.read, `SELECT level, direction, host, job, part, doc FROM intervals
		WHERE ingest = (SELECT g.number FROM ingests AS g JOIN runs AS r ON r.id = g.run AND r.ingest = g.ingest WHERE r.id = ? AND r.ingest = ?)
		ORDER BY level, time, direction, host, job, part`, run.Run.ID, run.Run.Ingest)
}

// encodedReader makes documents from rows, in memory that it reuses.
type encodedReader struct {
	codec *codec
	key   mapping.Interval // what its id is made of
	out   mapping.Encoded
}

func (r *encodedReader) read(rows *sql.Rows) (*mapping.Encoded, error) {
	var blob, direction, host, job sql.RawBytes
	k := &r.key
	if err := rows.Scan(&k.Level, &direction, &host, &job, &k.Part, &blob); err != nil {
		return nil, err
	}
	same(&k.Fio.Direction, direction)
	same(&k.Host.Name, host)
	same(&k.Fio.Job, job)
	err := r.codec.unpack(blob, func(compact []byte) (err error) {
		if r.out.JSON, err = mapping.AppendWire(r.out.JSON[:0], compact); err == nil {
			k.Window.ElapsedMS, err = mapping.ElapsedIn(r.out.JSON)
		}
		return err
	})
	r.out.Level, r.out.ID = k.Level, k.ID()
	return &r.out, err
}

// same sets a text that is mostly the same as before. Then it allocates nothing.
func same(s *string, b []byte) {
	if *s != string(b) {
		*s = string(b)
	}
}
