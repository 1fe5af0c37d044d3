package sqlite

import (
	"context"
	"database/sql"
	"iter"
	"runtime"
	"sync"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// packedRun is a row with a run's document.
type packedRun struct {
	id    string
	start int64
	blob  []byte

	run *mapping.Run
	err error // why it cannot be decoded
}

// decoder decodes the document of a run. It does not keep the bytes.
type decoder func([]byte) (*mapping.Run, error)

// runs are the runs of a query for ids and documents. They are decoded on all processors.
func (s *reader) runs(ctx context.Context, decode decoder, query string, args ...any) iter.Seq2[*mapping.Run, error] {
	rows := each(ctx, s, func(rows *sql.Rows) (*packedRun, error) {
		p := new(packedRun)
		return p, rows.Scan(&p.id, &p.blob)
	}, query, args...)
	return func(yield func(*mapping.Run, error) bool) {
		for batch, err := range batches(rows) {
			decode.all(batch)
			for _, p := range batch {
				if p.err != nil {
					p.err = s.fail(ctx, "read", &history.DamagedRunError{ID: p.id, Err: p.err})
				}
				if !yield(p.run, p.err) {
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

// batches joins rows: few at first, as often only the newest runs are wanted. The last batch may come
// with an error.
func batches(rows iter.Seq2[*packedRun, error]) iter.Seq2[[]*packedRun, error] {
	const first, most, mostBytes = 32, 1024, 1 << 20
	return func(yield func([]*packedRun, error) bool) {
		var batch []*packedRun
		size, limit := 0, first
		for p, err := range rows {
			if err != nil {
				yield(batch, err)
				return
			}
			batch, size = append(batch, p), size+len(p.blob)
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

// all decodes the documents of a batch.
func (decode decoder) all(batch []*packedRun) {
	const few = 16 // documents that a goroutine has at least
	workers := max(1, min(runtime.GOMAXPROCS(0), len(batch)/few))
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for _, p := range batch[len(batch)*w/workers : len(batch)*(w+1)/workers] {
				p.run, p.err = decode(p.blob)
				if p.err != nil {
					p.run = nil
				}
				p.blob = nil
			}
		})
	}
	wait.Wait()
}
