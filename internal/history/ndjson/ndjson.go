// Package ndjson writes documents as the lines that Elasticsearch's _bulk takes.
package ndjson

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/fio2es/fio2es/mapping"
)

// Writer writes pairs of lines, an action and a document, as Elasticsearch's _bulk
// takes them. The action is index with a fixed id, so that loading the lines twice
// doubles nothing. A request may have 100 MiB: cut larger outputs after an even
// number of lines. It is not safe for concurrent use.
type Writer struct {
	w      *bufio.Writer
	prefix string
	buf    []byte
}

// New writes to w, for indices whose names begin with prefix; an empty one is
// [mapping.DefaultPrefix]. Lines are buffered until Flush.
func New(w io.Writer, prefix string) *Writer {
	if prefix == "" {
		prefix = mapping.DefaultPrefix
	}
	return &Writer{w: bufio.NewWriterSize(w, 1<<16), prefix: prefix}
}

// Put writes documents, or none of them when one is wrong.
func (n *Writer) Put(ctx context.Context, docs []*mapping.Interval) error {
	for _, d := range docs {
		if err := d.Check(); err != nil {
			return fmt.Errorf("write documents: %w", err)
		}
	}
	for _, d := range docs {
		if err := n.pair(ctx, d.Index(n.prefix), d.ID(), d.AppendJSON); err != nil {
			return err
		}
	}
	return nil
}

// Finish writes the document of a run. It flushes, so that a reader at the other end of a
// pipe has the whole run.
func (n *Writer) Finish(ctx context.Context, run *mapping.Run) error {
	if err := run.Check(); err != nil {
		return fmt.Errorf("write documents: %w", err)
	}
	if err := n.pair(ctx, mapping.RunsIndex(n.prefix), run.ID(), run.AppendJSON); err != nil {
		return err
	}
	return n.Flush()
}

// Flush writes what is buffered.
func (n *Writer) Flush() error {
	if err := n.w.Flush(); err != nil {
		return fmt.Errorf("write documents: %w", err)
	}
	return nil
}

func (n *Writer) pair(ctx context.Context, index, id string, document func([]byte) []byte) error {
	err := ctx.Err()
	if err == nil {
		n.buf = append(mapping.AppendAction(n.buf[:0], index, id), '\n')
		n.buf = append(document(n.buf), '\n')
		_, err = n.w.Write(n.buf)
	}
	if err != nil {
		return fmt.Errorf("write documents: %w", err)
	}
	return nil
}
