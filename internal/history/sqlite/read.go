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
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// Run implements [history.Store].
func (s *reader) Run(ctx context.Context, id string) (*mapping.Run, error) {
	run, err := s.find(ctx, id)
	return run, s.fail(ctx, "read", err)
}

func (s *reader) find(ctx context.Context, id string) (*mapping.Run, error) {
	// An exact id sorts before longer ids that begin with it.
	rows, err := s.db.QueryContext(ctx, `SELECT id, doc FROM runs
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
	run, err := unpackRun(doc)
	if err != nil {
		return nil, &history.DamagedRunError{ID: ids[0], Err: err}
	}
	return run, nil
}

// Runs implements [history.Store].
func (s *reader) Runs(ctx context.Context, f history.RunFilter) iter.Seq2[*mapping.Run, error] {
	from, to := span(f.Started())
	// the table lights is sorted by start
	doc, decode := "(SELECT doc FROM runs WHERE runs.id = lights.id)", unpackRun
	if f.Light {
		doc, decode = "doc", unpackRun
	}
	where := `start >= ? AND start < ?`
	if f.Live() { // the index of ids serves the condition on a range
		where += ` AND (start, id) IN (SELECT start, id FROM runs WHERE ingest >= '` + mapping.LivePrefix + `' AND ingest < '` + mapping.LivePrefix + `' || char(0x10FFFF))`
	}
	return f.Select(s.runs(ctx, decode, `SELECT id, `+doc+` FROM lights WHERE `+where+` ORDER BY start DESC, id`, from, to))
}

// Intervals implements [history.Store]. Documents of one run come in the order of the file. Documents of several
// runs are sorted first, on disk if there are many.
func (s *reader) Intervals(ctx context.Context, sel history.Selection) iter.Seq2[*mapping.Interval, error] {
	query, args := selectIntervals(sel)
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
	}, query, args...)
}

func selectIntervals(sel history.Selection) (string, []any) {
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
	oneOf(`job`, sel.Jobs)
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
	return `SELECT doc FROM intervals WHERE ` + where + ` ORDER BY time, direction, host, job, ` + order, args
}

// each returns what read makes of each row of a query. It is a single statement, so it sees one state of the history
// even if the caller is slow. An error ends it, unless it concerns only one run.
func each[D any](
	ctx context.Context, s *reader, read func(*sql.Rows) (*D, error), query string, args ...any,
) iter.Seq2[*D, error] {
	return func(yield func(*D, error) bool) {
		rows, err := s.db.QueryContext(ctx, query, args...)
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
