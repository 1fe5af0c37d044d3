package sqlite

import (
	"context"
	"database/sql"
	"iter"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// runs returns the runs of a query for ids and documents. It decodes on all processors.
func (s *reader) runs(ctx context.Context, decode history.Decoder, query string, args ...any) iter.Seq2[*mapping.Run, error] {
	rows := each(ctx, s, func(rows *sql.Rows) (*history.Packed, error) {
		p := new(history.Packed)
		return p, rows.Scan(&p.ID, &p.Blob)
	}, query, args...)
	return func(yield func(*mapping.Run, error) bool) {
		for batch, err := range batches(rows) {
			decode.All(batch)
			for _, p := range batch {
				if p.Err != nil {
					p.Err = s.fail(ctx, "read", &history.DamagedRunError{ID: p.ID, Err: p.Err})
				}
				if !yield(p.Run, p.Err) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// batches joins rows into batches. The first are small, because often only the newest runs are wanted. If the rows
// end with an error, the last batch comes with it.
func batches(rows iter.Seq2[*history.Packed, error]) iter.Seq2[[]*history.Packed, error] {
	const first, most, mostBytes = 32, 1024, 1 << 20
	return func(yield func([]*history.Packed, error) bool) {
		var batch []*history.Packed
		size, limit := 0, first
		for p, err := range rows {
			if err != nil {
				yield(batch, err)
				return
			}
			batch, size = append(batch, p), size+len(p.Blob)
			if len(batch) < limit && size < mostBytes {
				continue
			}
			if !yield(batch, nil) {
				return
			}
			batch, size, limit = nil, 0, min(2*limit, most)
		}
		if len(batch) > 0 {
			yield(batch, nil)
		}
	}
}
