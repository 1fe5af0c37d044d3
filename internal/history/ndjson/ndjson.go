// Package ndjson writes documents as the lines that Elasticsearch's _bulk takes.
package ndjson

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"

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
	_, err := n.PutEncoded(ctx, mapping.EncodeAll(docs))
	return err
}

// PutEncoded writes documents that are encoded already, up to an error, which it returns,
// and returns how many they were.
func (n *Writer) PutEncoded(ctx context.Context, docs iter.Seq2[*mapping.Encoded, error]) (int, error) {
	written := 0
	for d, err := range docs {
		if err == nil {
			err = n.pair(ctx, d.Index(n.prefix), d.ID, d.JSON)
		}
		if err != nil {
			return written, err
		}
		written++
	}
	return written, nil
}

// Finish writes the document of a run. It flushes, so that a reader at the other end of a
// pipe has the whole run.
func (n *Writer) Finish(ctx context.Context, run *mapping.Run) error {
	if err := run.Check(); err != nil {
		return fmt.Errorf("write documents: %w", err)
	}
	if err := n.pair(ctx, mapping.RunsIndex(n.prefix), run.ID(), run.AppendJSON(nil)); err != nil {
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

func (n *Writer) pair(ctx context.Context, index, id string, document []byte) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("write documents: %w", err)
	}
	n.buf = append(mapping.AppendAction(n.buf[:0], index, id), '\n')
	n.w.Write(n.buf)
	n.w.Write(document)
	if err := n.w.WriteByte('\n'); err != nil { // also those of the writes before
		return fmt.Errorf("write documents: %w", err)
	}
	return nil
}
