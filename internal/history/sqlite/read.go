package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/ahead"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/pack"
	"github.com/fio2es/fio2es/mapping"
)

// Run implements [history.Store].
func (s *Store) Run(ctx context.Context, id string) (run *mapping.Run, err error) {
	defer func() { err = s.fail(ctx, "read", err) }()
	// An exact id sorts before longer ids that begin with it.
	var ids []string
	var doc []byte
	err = s.each(ctx, func(rows *sql.Rows) error {
		var found string
		var blob sql.RawBytes
		err := rows.Scan(&found, &blob)
		if len(ids) == 0 {
			doc = append(doc, blob...)
		}
		if ids = append(ids, found); err == nil && found == id {
			err = errEnough
		}
		return err
	}, `SELECT id, doc FROM runs WHERE id >= ?1 AND id < ?1 || char(0x10FFFF) ORDER BY id LIMIT ?2`, id, history.Candidates+1)
	if err != nil {
		return nil, fmt.Errorf("find run: %w", err)
	}
	if err := history.CheckOne(id, ids); err != nil {
		return nil, err
	}
	if run, err = pack.Run(doc); err != nil {
		return nil, &history.DamagedRunError{ID: ids[0], Err: err}
	}
	return run, nil
}

// Runs implements [history.Store].
func (s *Store) Runs(ctx context.Context, f history.RunFilter) iter.Seq2[*mapping.Run, error] {
	from, to := span(f.Started())
	doc := "(SELECT doc FROM runs WHERE runs.id = run)"
	if f.Light {
		doc = "doc"
	}
	where, order, args := `start >= ? AND start < ?`, ` ORDER BY start DESC, run`, []any{from, to}
	if f.InAnyOrder {
		order = ``
	}
	if len(f.IDs) > 0 {
		where += ` AND run IN (SELECT value FROM json_each(?))`
		args = append(args, list(f.IDs))
	} else if f.InAnyOrder && from == math.MinInt64 {
		where = `+start >= ? AND +start < ?` // + keeps SQLite from the index on the start: the table itself is read twice as fast
	}
	of := func(column, begin string) { // an index serves the condition on a range
		where += ` AND run IN (SELECT id FROM runs WHERE ` + column + ` >= ? AND ` + column + ` < ? || char(0x10FFFF))`
		args = append(args, begin, begin)
	}
	if workloads, version := f.Workloads(); len(workloads) > 0 {
		some := ` SELECT run FROM ` + s.summaries + ` WHERE workload `
		where += ` AND run IN (` + some + `IN (SELECT value FROM json_each(?)) UNION ALL` + some + `< ? UNION ALL` + some + `> ? || char(0x10FFFF))`
		args = append(args, list(workloads), version, version)
	}
	if f.Live() {
		of(`ingest`, mapping.LivePrefix)
	}
	if f.Execution != "" {
		of(`execution`, f.Execution)
	}
	var u pack.Reading
	if f.Light {
		u = pack.ReadingOf(&f)
	}
	return f.Select(s.runs(ctx, u, `SELECT run, `+doc+` FROM `+s.summaries+` WHERE `+where+order, args...))
}

// Intervals implements [history.Store]. Documents of one run come in the order of the file. Documents of several
// runs are sorted first, on disk if there are many.
func (s *Store) Intervals(ctx context.Context, sel history.Selection) iter.Seq2[*mapping.Interval, error] {
	const finished = `SELECT g.number FROM ingests AS g JOIN runs AS r ON r.id = g.run AND r.ingest = g.ingest`
	from, to := span(sel.From, sel.To)
	args := []any{int64(max(sel.Level, mapping.Cluster)), from, to}
	where, order := `level = ? AND time >= ? AND time < ?`, `part`
	oneOf := func(column string, wanted []string) {
		if len(wanted) > 0 {
			where += ` AND ` + column + ` IN (SELECT value FROM json_each(?))`
			args = append(args, list(wanted))
		}
	}
	oneOf(`direction`, sel.Directions)
	oneOf(`host`, sel.Hosts)
	switch len(sel.Runs) {
	case 0:
		where += ` AND ingest IN (` + finished + `)`
	case 1: // an equality keeps the order of the table, so SQLite need not sort
		where += ` AND ingest = (` + finished + ` WHERE r.id = ?)`
		args = append(args, sel.Runs[0])
	default:
		where += ` AND ingest IN (` + finished + ` WHERE r.id IN (SELECT value FROM json_each(?)))`
		args = append(args, list(sel.Runs))
	}
	if len(sel.Runs) != 1 {
		order = `(SELECT run FROM ingests WHERE number = ingest), part`
	}
	return func(yield func(*mapping.Interval, error) bool) {
		isLeft := false
		conn, err := s.reads.Conn(ctx)
		if err != nil {
			yield(nil, s.fail(ctx, "read", err))
			return
		}
		defer conn.Close()
		read := commons{from: conn}
		err = each(ctx, conn, func(rows *sql.Rows) error {
			d, err := read.scan(ctx, rows)
			if err != nil {
				return err
			}
			if sel.Light {
				d.Latency.Bins = mapping.Bins{}
			}
			if isLeft = !yield(d, nil); isLeft {
				return errEnough
			}
			return nil
		}, `SELECT ingest, doc FROM intervals WHERE `+where+` ORDER BY time, direction, host, job, `+order, args...)
		if err = cmp.Or(err, s.checkPlace()); err != nil && !isLeft {
			yield(nil, s.fail(ctx, "read", err))
		}
	}
}

// errEnough is the error of a function that needs no more rows.
var errEnough = errors.New("enough rows")

// each calls scan with each row of a query. It is a single statement, so it sees one state of the history even if scan is slow.
func (s *Store) each(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	if err := each(ctx, s.reads, scan, query, args...); err != nil {
		return err
	}
	return s.checkPlace()
}

// each calls scan with each row of a query, until scan fails.
func each(ctx context.Context, from queries, scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); errors.Is(err, errEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return rows.Err()
}

// list returns a JSON array, so that one parameter can have any number of values.
func list[T string | int](values []T) string {
	b, _ := json.Marshal(append([]T{}, values...)) // cannot fail; an empty array, not null
	return string(b)
}

// span returns [from, to) in milliseconds since 1970, rounded up because stored times are rounded down. A zero time
// is no bound.
func span(from, to time.Time) (int64, int64) {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if !from.IsZero() {
		low = history.CeilMilli(from)
	}
	if !to.IsZero() {
		high = history.CeilMilli(to)
	}
	return low, high
}

// runs returns the runs of a query for ids and documents, without those that u leaves out. It decodes in batches, on all processors, while
// it reads the next. The first batches are small, because often only the newest runs are wanted.
func (s *Store) runs(ctx context.Context, u pack.Reading, query string, args ...any) iter.Seq2[*mapping.Run, error] {
	const first, most, mostBytes, fewest = 32, 1024, 1 << 20, 16 // documents and bytes of a batch; documents for a goroutine
	type document struct {
		id   string
		blob []byte
		run  *mapping.Run
		err  error // why it cannot be decoded
	}
	type batch struct {
		documents []document
		bytes     []byte // of their blobs
	}
	return func(yield func(*mapping.Run, error) bool) {
		read, decoded, limit := new(batch), new(batch), first
		var decoding sync.WaitGroup
		defer decoding.Wait()
		turn := func() (goOn bool) { // yields what is decoded, and decodes what is read
			decoding.Wait()
			read, decoded = decoded, read
			all := decoded.documents
			decoding.Go(func() {
				ahead.Each(min(runtime.GOMAXPROCS(0), len(all)/fewest), len(all), func(i int) { all[i].run, all[i].err = u.Run(all[i].blob) })
			})
			for _, d := range read.documents {
				if d.err != nil {
					d.run, d.err = nil, s.fail(ctx, "read", &history.DamagedRunError{ID: d.id, Err: d.err})
				}
				if (d.run != nil || d.err != nil) && !yield(d.run, d.err) {
					return false
				}
			}
			clear(read.documents)
			read.documents, read.bytes = read.documents[:0], read.bytes[:0]
			return true
		}
		isLeft := false
		err := s.each(ctx, func(rows *sql.Rows) error {
			var id string
			var blob sql.RawBytes
			if err := rows.Scan(&id, &blob); err != nil {
				return err
			}
			begin := len(read.bytes)
			read.bytes = append(read.bytes, blob...)
			read.documents = append(read.documents, document{id: id, blob: read.bytes[begin:]})
			if len(read.documents) == limit || len(read.bytes) >= mostBytes {
				isLeft = !turn() || limit == first && !turn()
				limit = min(2*limit, most)
			}
			if isLeft {
				return errEnough
			}
			return nil
		}, query, args...)
		if !isLeft && turn() && turn() && err != nil {
			yield(nil, s.fail(ctx, "read", err))
		}
	}
}

const (
	holding = `WITH held AS (SELECT run FROM files WHERE hash IN (SELECT value FROM json_each(?))
			UNION SELECT run FROM files AS f WHERE hash IN (SELECT value FROM json_each(?))
				AND NOT EXISTS (SELECT 1 FROM files WHERE run = f.run AND report))
		SELECT id, doc FROM runs WHERE id IN (SELECT run FROM held UNION SELECT parts.run FROM held JOIN parts ON parts.id = held.run)
		ORDER BY id`

	removed = `SELECT doc FROM removed
		WHERE run IN (SELECT run FROM removed_files WHERE hash IN (SELECT value FROM json_each(?))) ORDER BY run`
)

// Holding implements [history.Store].
func (s *Store) Holding(ctx context.Context, files, logs []string) ([]*mapping.Run, error) {
	var runs []*mapping.Run
	found := s.runs(ctx, pack.Reading{}, holding, list(files), list(logs))
	for run, err := range history.Readable(found, nil) {
		if err != nil {
			return nil, err
		}
		runs = append(runs, run.WithFiles())
	}
	return runs, nil
}

// Versions implements [history.Store].
func (s *Store) Versions(ctx context.Context, ids []string) (map[string]*mapping.Run, error) {
	all := map[string]*mapping.Run{}
	for run, err := range s.runs(ctx, pack.Reading{}, `SELECT run, doc FROM `+s.summaries+`
		WHERE run IN (SELECT value FROM json_each(?))`, list(ids)) {
		var damaged *history.DamagedRunError
		switch {
		case errors.As(err, &damaged):
			all[damaged.ID] = nil
		case err != nil:
			return nil, err
		default:
			all[run.Run.ID] = run
		}
	}
	return all, nil
}

// Whole implements [history.Store]. It reads indices only: to count documents would read most of the file, every night.
func (s *Store) Whole(ctx context.Context, ids []string) (map[string]string, error) {
	whole := map[string]string{}
	err := s.each(ctx, func(rows *sql.Rows) error {
		var run, ingest string
		err := rows.Scan(&run, &ingest)
		whole[run] = ingest
		return err
	}, `SELECT run, ingest FROM ingests AS i WHERE run IN (SELECT value FROM json_each(?))
		AND NOT EXISTS (SELECT 1 FROM ingests AS other WHERE other.run = i.run AND other.ingest <> i.ingest)
		AND EXISTS (SELECT 1 FROM runs WHERE runs.ingest = i.ingest AND +id = i.run)`, list(ids)) // + so that indices are enough
	return whole, s.fail(ctx, "read", err)
}

// Count implements [history.Store].
func (s *Store) Count(ctx context.Context, runs []string, levels ...mapping.Level) (_ history.Counts, err error) {
	defer func() { err = s.fail(ctx, "count documents of", err) }()
	if len(levels) == 0 {
		levels = mapping.Levels[:]
	}
	var wanted []int
	for _, l := range levels {
		wanted = append(wanted, int(l))
	}
	out := history.Counts{}
	err = s.each(ctx, func(rows *sql.Rows) error {
		var run, ingest string
		var level mapping.Level
		var n int
		err := rows.Scan(&run, &ingest, &level, &n)
		out.Add(run, ingest, level, n, 0, 0)
		return err
	}, `SELECT g.run, g.ingest, l.value,
			(SELECT count(*) FROM intervals AS i WHERE i.ingest = g.number AND i.level = l.value AND i.part = 0)
		FROM ingests AS g, json_each(?) AS l WHERE ? OR g.run IN (SELECT value FROM json_each(?))`, list(wanted), len(runs) == 0, list(runs))
	return out, err
}

// Removed implements [history.Store].
func (s *Store) Removed(ctx context.Context, hashes []string) (all []*mapping.Removed, err error) {
	err = s.each(ctx, func(rows *sql.Rows) error {
		var blob sql.RawBytes
		if err := rows.Scan(&blob); err != nil {
			return err
		}
		var doc struct{ Removed mapping.Removed }
		err := pack.Read(blob, func(text []byte) error { return json.Unmarshal(text, &doc) })
		all = append(all, &doc.Removed)
		return err
	}, removed, list(hashes))
	return all, s.fail(ctx, "read", err)
}
