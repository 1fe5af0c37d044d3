// Package ndjson writes documents as the lines that Elasticsearch's _bulk accepts.
package ndjson

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/fio2es/fio2es/mapping"
)

// Writer writes pairs of lines, an action and a document, as Elasticsearch's _bulk accepts them. The action is index
// with a fixed id, so loading the lines twice stores each document once. A bulk request may have at most 100 MiB;
// larger outputs must be cut after an even number of lines. It is not safe for concurrent use.
type Writer struct {
	w      *bufio.Writer
	prefix string
	buf    []byte
}

// New returns a Writer for indices whose names begin with prefix; an empty prefix means [mapping.DefaultPrefix].
// Lines are buffered until Flush.
func New(w io.Writer, prefix string) *Writer {
	return &Writer{w: bufio.NewWriterSize(w, 1<<16), prefix: cmp.Or(prefix, mapping.DefaultPrefix)}
}

// Put writes interval documents. If one does not pass its Check, it writes none of them.
func (n *Writer) Put(ctx context.Context, docs []*mapping.Interval) error {
	for _, d := range docs {
		if err := d.Check(); err != nil {
			return fmt.Errorf("write documents: %w", err)
		}
	}
	for _, d := range docs {
		if err := n.pair(ctx, d.Index(n.prefix, mapping.Months), d.ID(), d.AppendJSON); err != nil {
			return err
		}
	}
	return nil
}

// Finish writes a run document and flushes, so that a reader at the other end of a pipe gets the whole run.
func (n *Writer) Finish(ctx context.Context, run *mapping.Run) error {
	if err := run.Check(); err != nil {
		return fmt.Errorf("write documents: %w", err)
	}
	if err := n.pair(ctx, mapping.RunsIndex(n.prefix), run.ID(), run.AppendJSON); err != nil {
		return err
	}
	return n.Flush()
}

// Flush writes buffered lines.
func (n *Writer) Flush() error {
	if err := n.w.Flush(); err != nil {
		return fmt.Errorf("write documents: %w", err)
	}
	return nil
}

func (n *Writer) pair(ctx context.Context, index, id string, document func([]byte) []byte) error {
	err := ctx.Err()
	if err == nil {
		n.buf = append(mapping.AppendAction(n.buf[:0], "index", index, id), '\n')
		n.buf = append(document(n.buf), '\n')
		_, err = n.w.Write(n.buf)
	}
	if err != nil {
		return fmt.Errorf("write documents: %w", err)
	}
	return nil
}
