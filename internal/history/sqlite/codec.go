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
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/s2"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// All documents are packed in one way: an XXH64 of what follows, because SQLite does not find all damage, and the
// document compressed with S2, which takes a fifth of zstd's time to compress and a tenth to decompress. Run documents are JSON, their
// summaries are in mapping's compact form. What the interval documents of a series have in common is JSON too, in the table commons; a
// document has 0, the id there, and the rest in mapping's compact form. Those of version 1 of the file have it all, and no 0.
const sumBytes = 8

// buffers has *[]byte for documents that are not compressed.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

func pack(write func([]byte) []byte) []byte {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	*buf = write((*buf)[:0])
	blob := make([]byte, sumBytes, sumBytes+s2.MaxEncodedLen(len(*buf)))
	blob = blob[:sumBytes+len(s2.Encode(blob[sumBytes:cap(blob)], *buf))]
	binary.LittleEndian.PutUint64(blob, xxhash.Sum64(blob[sumBytes:]))
	return blob
}

var errSum = errors.New("its checksum differs")

// unpack checks and unpacks a blob, and passes the document to read, which must not keep it.
func unpack(blob []byte, read func([]byte) error) (err error) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	if len(blob) < sumBytes || binary.LittleEndian.Uint64(blob) != xxhash.Sum64(blob[sumBytes:]) {
		return documentError{errSum}
	}
	// a damaged length must not allocate all memory
	if n, _ := s2.DecodedLen(blob[sumBytes:]); n > mapping.MaxRunBytes {
		return documentError{s2.ErrTooLarge}
	}
	text, err := s2.Decode((*buf)[:cap(*buf)], blob[sumBytes:])
	if err == nil {
		*buf = text
		err = read(text)
	}
	if err != nil {
		return documentError{err}
	}
	return nil
}

// documentError means that one document cannot be read. It is also a [history.ErrDamaged].
type documentError struct{ error }

func (e documentError) Error() string {
	return "a document is damaged (" + e.error.Error() + "): fio2es check says of which run, and how to restore it"
}

// Unwrap returns ErrDamaged and the cause.
func (e documentError) Unwrap() []error { return []error{history.ErrDamaged, e.error} }

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
			last[key] = &common{of, int64(xxhash.Sum64(text)), pack(func(b []byte) []byte { return append(b, text...) })}
		}
		out[i].common = last[key]
	}
	parallel(len(docs), few, func(i int) {
		if faults[i] = docs[i].Check(); faults[i] == nil {
			out[i].blob = pack(func(b []byte) []byte {
				return docs[i].AppendCompact(binary.BigEndian.AppendUint64(append(b, 0), uint64(out[i].common.id)))
			})
		}
	})
	return out, cmp.Or(faults...)
}

// parallel calls do with 0 to n-1, on all processors if there are at least few numbers for each.
func parallel(n, few int, do func(i int)) {
	workers := max(1, min(runtime.GOMAXPROCS(0), n/few))
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := n * w / workers; i < n*(w+1)/workers; i++ {
				do(i)
			}
		})
	}
	wait.Wait()
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
	if err := unpack(blob, func(text []byte) error { return json.Unmarshal(text, d) }); err != nil {
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
	return d, unpack(blob, func(b []byte) error {
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

func unpackRun(blob []byte) (*mapping.Run, error) { return unpacking{}.run(blob) }

// unpacking says what is needed of a summary. The zero value needs all.
type unpacking struct {
	stages []stage
	needed mapping.Members // 0: all
}

type stage struct {
	members mapping.Members
	passes  func(*mapping.Run) bool
}

func unpackingOf(f *history.RunFilter) (u unpacking) {
	for _, s := range f.Stages() {
		u.stages = append(u.stages, stage{mapping.MembersOf(s.Members...), s.Passes})
	}
	u.needed = mapping.MembersOf(f.Needed()...)
	return u
}

// run unpacks a run document, or a summary. The run is nil if it does not pass.
func (u unpacking) run(blob []byte) (run *mapping.Run, err error) {
	err = unpack(blob, func(text []byte) (err error) {
		if !mapping.IsLight(text) {
			run, err = history.DecodeRun(text)
			return err
		}
		run = new(mapping.Run)
		have := mapping.Members(0)
		for _, s := range u.stages {
			if err = run.UnmarshalLight(text, s.members&^have); err != nil {
				return err
			}
			if !s.passes(run) {
				run = nil
				return nil
			}
			have |= s.members
		}
		if u.needed == 0 {
			u.needed = mapping.AllMembers
		}
		if err = run.UnmarshalLight(text, u.needed&^have); err == nil && (run.Run.ID == "" || run.Run.Ingest == "") {
			err = mapping.ErrIdentity
		}
		return err
	})
	return run, err
}
