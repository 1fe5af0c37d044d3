package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"reflect"
	"runtime"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/internal/ahead"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/pack"
	"github.com/fio2es/fio2es/mapping"
)

// All documents are packed ([pack.Document]). Run documents are JSON, their
// summaries are in mapping's compact form. What the interval documents of a series have in common is JSON too, in the table commons; a
// document has 0, the id there, and the rest in mapping's compact form. Those of version 1 of the file have it all, and no 0.

// packed is an interval document.
type packed struct {
	blob   []byte
	common *common
}

// common is what documents of a series have in common. Its id is a hash of what it was when it was stored first.
type common struct {
	of   *mapping.Interval
	id   int64
	blob []byte
}

// packAll checks and packs documents on all processors, and keeps their order.
func packAll(docs []*mapping.Interval) ([]packed, error) {
	const few = 32 // fewest documents for a goroutine
	type series struct {
		history.Version
		level                mapping.Level
		direction, host, job string
	}
	last := map[series]*common{}
	out, faults := make([]packed, len(docs)), make([]error, len(docs))
	for i, d := range docs {
		key, of := series{history.VersionOf(d), d.Level, d.Fio.Direction, d.Host.Name, d.Series()}, d.Common()
		if known := last[key]; known == nil || !reflect.DeepEqual(known.of, of) {
			text := of.AppendJSON(nil)
			last[key] = &common{of, int64(xxhash.Sum64(text)), pack.Document(func(b []byte) []byte { return append(b, text...) })}
		}
		out[i].common = last[key]
	}
	ahead.Each(min(runtime.GOMAXPROCS(0), len(docs)/few), len(docs), func(i int) {
		if faults[i] = docs[i].Check(); faults[i] == nil {
			out[i].blob = pack.Document(func(b []byte) []byte {
				return docs[i].AppendCompact(binary.BigEndian.AppendUint64(append(b, 0), uint64(out[i].common.id)))
			})
		}
	})
	return out, cmp.Or(faults...)
}

// queries is what queries run on. Those of one connection see the same state of the history, while one of them has rows left.
type queries interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// commons reads what interval documents have in common with their series, once.
type commons struct {
	from  queries
	known map[commonKey]*mapping.Interval
}

type commonKey struct{ ingest, id int64 }

var errCommon = errors.New("what it has in common with its series is not there")

// of returns what the documents of a version have in common by its id.
func (c *commons) of(ctx context.Context, key commonKey) (*mapping.Interval, error) {
	const most = 1000 // in memory
	if d := c.known[key]; d != nil {
		return d, nil
	}
	var blob []byte
	switch err := c.from.QueryRowContext(ctx, `SELECT doc FROM commons WHERE ingest = ? AND id = ?`, key.ingest, key.id).Scan(&blob); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, errCommon
	case err != nil:
		return nil, err
	}
	d := new(mapping.Interval)
	if err := pack.Read(blob, func(text []byte) error { return json.Unmarshal(text, d) }); err != nil {
		return nil, err
	}
	if len(c.known) >= most || c.known == nil {
		c.known = map[commonKey]*mapping.Interval{}
	}
	c.known[key] = d
	return d, nil
}

// interval reads a document of a version.
func (c *commons) interval(ctx context.Context, ingest int64, blob []byte) (*mapping.Interval, error) {
	d := new(mapping.Interval)
	return d, pack.Read(blob, func(b []byte) error {
		const head = 1 + 8
		if len(b) < head || b[0] != 0 {
			return d.UnmarshalVersion1(b)
		}
		common, err := c.of(ctx, commonKey{ingest, int64(binary.BigEndian.Uint64(b[1:]))})
		if err != nil {
			return err
		}
		*d = *common
		return d.UnmarshalCompact(b[head:])
	})
}

// scan reads a row of the columns ingest and doc.
func (c *commons) scan(ctx context.Context, rows *sql.Rows) (*mapping.Interval, error) {
	var ingest int64
	var blob sql.RawBytes
	if err := rows.Scan(&ingest, &blob); err != nil {
		return nil, err
	}
	return c.interval(ctx, ingest, blob)
}
