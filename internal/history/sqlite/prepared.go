package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// connections to a file. The statements of each run are prepared once, because to parse them takes longer than to carry them out.
type connections struct {
	*sql.DB
	prepared map[string]*sql.Stmt // by their text
}

func (c *connections) prepare(ctx context.Context, queries ...string) error {
	c.prepared = map[string]*sql.Stmt{}
	for _, query := range queries {
		stmt, err := c.PrepareContext(ctx, query)
		if err != nil {
			return fmt.Errorf("prepare %s: %w", query, err)
		}
		c.prepared[query] = stmt
	}
	return nil
}

// QueryContext is that of [sql.DB].
func (c *connections) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt := c.prepared[query]; stmt != nil {
		return stmt.QueryContext(ctx, args...)
	}
	return c.DB.QueryContext(ctx, query, args...)
}

// transaction is one that writes. The transaction ends with its context, so its prepared statements do not watch the context: that would
// take a goroutine for each row.
type transaction struct {
	*sql.Tx
	prepared map[string]*sql.Stmt // on any connection
	own      map[string]*sql.Stmt // those used so far
}

func (t *transaction) statement(ctx context.Context, query string) *sql.Stmt {
	if t.own[query] == nil && t.prepared[query] != nil {
		t.own[query] = t.StmtContext(ctx, t.prepared[query])
	}
	return t.own[query]
}

// ExecContext is that of [sql.Tx].
func (t *transaction) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if stmt := t.statement(ctx, query); stmt != nil {
		return stmt.ExecContext(context.WithoutCancel(ctx), args...)
	}
	return t.Tx.ExecContext(ctx, query, args...)
}

// QueryRowContext is that of [sql.Tx].
func (t *transaction) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if stmt := t.statement(ctx, query); stmt != nil {
		return stmt.QueryRowContext(context.WithoutCancel(ctx), args...)
	}
	return t.Tx.QueryRowContext(ctx, query, args...)
}
