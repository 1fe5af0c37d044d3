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

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// Run implements [history.Store].
func (s *Store) Run(ctx context.Context, id string) (run *mapping.Run, err error) {
	defer func() { err = s.fail(ctx, "read", err) }()
	// An exact id sorts before longer ids that begin with it.
	rows, err := s.reads.QueryContext(ctx, `SELECT id, doc FROM runs
		WHERE id >= ?1 AND id < ?1 || char(0x10FFFF) ORDER BY id LIMIT ?2`, id, history.Candidates+1)
	if err != nil {
		return nil, fmt.Errorf("find run: %w", err)
	}
	defer rows.Close()
	var ids []string
	var doc []byte
	for rows.Next() {
		var found string
		var blob sql.RawBytes
		if err := rows.Scan(&found, &blob); err != nil {
			return nil, fmt.Errorf("find run: %w", err)
		}
		if len(ids) == 0 {
			doc = append(doc, blob...)
		}
		if ids = append(ids, found); found == id {
			break
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("find run: %w", err)
	}
	if err := errors.Join(s.check(), history.CheckOne(id, ids)); err != nil {
		return nil, err
	}
	if run, err = unpackRun(doc); err != nil {
		return nil, &history.DamagedRunError{ID: ids[0], Err: err}
	}
	return run, nil
}

// Runs implements [history.Store].
func (s *Store) Runs(ctx context.Context, f history.RunFilter) iter.Seq2[*mapping.Run, error] {
	from, to := span(f.Started())
	// the table lights is sorted by start
	doc := "(SELECT doc FROM runs WHERE runs.id = lights.id)"
	if f.Light {
		doc = "doc"
	}
	where, args := `start >= ? AND start < ?`, []any{from, to}
	of := func(column, begin string) { // an index serves the condition on a range
		where += ` AND (start, id) IN (SELECT start, id FROM runs WHERE ` + column + ` >= ? AND ` + column + ` < ? || char(0x10FFFF))`
		args = append(args, begin, begin)
	}
	if f.Live() {
		of(`ingest`, mapping.LivePrefix)
	}
	if f.Execution != "" {
		of(`execution`, f.Execution)
	}
	return f.Select(s.runs(ctx, `SELECT id, `+doc+` FROM lights WHERE `+where+` ORDER BY start DESC, id`, args...))
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
	return each(ctx, s, func(rows *sql.Rows) (*mapping.Interval, error) {
		var blob sql.RawBytes
		if err := rows.Scan(&blob); err != nil {
			return nil, err
		}
		d, err := unpackInterval(blob)
		if err == nil && sel.Light {
			d.Latency.Bins = mapping.Bins{}
		}
		return d, err
	}, `SELECT doc FROM intervals WHERE `+where+` ORDER BY time, direction, host, job, `+order, args...)
}

// each returns what read makes of each row of a query. It is a single statement, so it sees one state of the history
// even if the caller is slow. An error ends it, unless it concerns only one run.
func each[D any](
	ctx context.Context, s *Store, read func(*sql.Rows) (*D, error), query string, args ...any,
) iter.Seq2[*D, error] {
	return func(yield func(*D, error) bool) {
		rows, err := s.reads.QueryContext(ctx, query, args...)
		if err != nil {
			yield(nil, s.fail(ctx, "read", err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			d, err := read(rows)
			if err != nil {
				d, err = nil, s.fail(ctx, "read", err)
			}
			if !yield(d, err) || err != nil && !history.IsSkipped(err) {
				return
			}
		}
		if err := cmp.Or(rows.Err(), s.check()); err != nil {
			yield(nil, s.fail(ctx, "read", err))
		}
	}
}

// list returns a JSON array, so that one parameter can have any number of values.
func list[T string | int](values []T) string {
	b, _ := json.Marshal(values) // cannot fail
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

// runs returns the runs of a query for ids and documents. It decodes in batches, on all processors. The first batches are
// small, because often only the newest runs are wanted.
func (s *Store) runs(ctx context.Context, query string, args ...any) iter.Seq2[*mapping.Run, error] {
	const first, most, mostBytes, fewest = 32, 1024, 1 << 20, 16 // documents and bytes of a batch; documents for a goroutine
	type packed struct {
		id   string
		blob []byte
		run  *mapping.Run
		err  error // why the document cannot be decoded
	}
	rows := each(ctx, s, func(rows *sql.Rows) (*packed, error) {
		p := new(packed)
		return p, rows.Scan(&p.id, &p.blob)
	}, query, args...)
	return func(yield func(*mapping.Run, error) bool) {
		var batch []*packed
		size, limit := 0, first
		decoded := func() (goOn bool) {
			var wait sync.WaitGroup
			workers := max(1, min(runtime.GOMAXPROCS(0), len(batch)/fewest))
			for w := range workers {
				wait.Go(func() {
					for _, p := range batch[len(batch)*w/workers : len(batch)*(w+1)/workers] {
						p.run, p.err = unpackRun(p.blob)
						p.blob = nil
					}
				})
			}
			wait.Wait()
			for _, p := range batch {
				if p.err != nil {
					p.run, p.err = nil, s.fail(ctx, "read", &history.DamagedRunError{ID: p.id, Err: p.err})
				}
				if !yield(p.run, p.err) {
					return false
				}
			}
			batch, size, limit = nil, 0, min(2*limit, most)
			return true
		}
		for p, err := range rows {
			if err != nil {
				if decoded() {
					yield(nil, err)
				}
				return
			}
			batch, size = append(batch, p), size+len(p.blob)
			if (len(batch) == limit || size >= mostBytes) && !decoded() {
				return
			}
		}
		decoded()
	}
}

// Holding implements [history.Store].
func (s *Store) Holding(ctx context.Context, files, logs []string) ([]*mapping.Run, error) {
	var runs []*mapping.Run
	found := s.runs(ctx, `SELECT id, doc FROM runs
		WHERE id IN (SELECT run FROM files WHERE hash IN (SELECT value FROM json_each(?))
			UNION SELECT run FROM files AS f WHERE hash IN (SELECT value FROM json_each(?))
				AND NOT EXISTS (SELECT 1 FROM files WHERE run = f.run AND report))
		ORDER BY id`, list(files), list(logs))
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
	for run, err := range s.runs(ctx, `SELECT runs.id, lights.doc FROM runs JOIN lights ON lights.start = runs.start AND lights.id = runs.id
		WHERE runs.id IN (SELECT value FROM json_each(?))`, list(ids)) {
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
	rows, err := s.reads.QueryContext(ctx, `SELECT g.run, g.ingest, l.value,
			(SELECT count(*) FROM intervals AS i WHERE i.ingest = g.number AND i.level = l.value AND i.part = 0)
		FROM ingests AS g, json_each(?) AS l WHERE ? OR g.run IN (SELECT value FROM json_each(?))`, list(wanted), len(runs) == 0, list(runs))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := history.Counts{}
	for rows.Next() {
		var run, ingest string
		var level mapping.Level
		var n int
		if err := rows.Scan(&run, &ingest, &level, &n); err != nil {
			return nil, err
		}
		out.Add(run, ingest, level, n, 0, 0)
	}
	if err := errors.Join(rows.Err(), s.check()); err != nil {
		return nil, err
	}
	return out, nil
}

// Removed implements [history.Store].
func (s *Store) Removed(ctx context.Context, hashes []string) ([]*mapping.Removed, error) {
	if len(hashes) == 0 {
		return nil, ctx.Err()
	}
	read := func(rows *sql.Rows) (*mapping.Removed, error) {
		var blob sql.RawBytes
		if err := rows.Scan(&blob); err != nil {
			return nil, err
		}
		var doc struct{ Removed mapping.Removed }
		return &doc.Removed, unpack(blob, func(text []byte) error { return json.Unmarshal(text, &doc) })
	}
	var all []*mapping.Removed
	for r, err := range each(ctx, s, read, `SELECT doc FROM removed
		WHERE run IN (SELECT run FROM removed_files WHERE hash IN (SELECT value FROM json_each(?))) ORDER BY run`, list(hashes)) {
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
