package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"

	"github.com/fio2es/fio2es/internal/history/elastic/bulk"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// Rejects are the documents of a reject file.
type Rejects struct {
	Intervals []*mapping.Interval
	Runs      []*mapping.Run
	LeftOut   bool // lines of the file were skipped; a message says which
}

// ReadRejects reads all of a reject file: what is rejected again may go into the same file. Lines
// that are no documents are reported and skipped.
func ReadRejects(name string, log *slog.Logger) (*Rejects, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	all := &Rejects{}
	for reject, err := range bulk.ReadRejects(bytes.NewReader(text)) {
		if err == nil {
			err = all.add(reject.Document)
		}
		if err != nil {
			log.Warn(name + ": " + err.Error())
			all.LeftOut = true
		}
	}
	return all, nil
}

// add adds an interval document, which has a level, or a run document.
func (r *Rejects) add(text []byte) error {
	var kind struct{ Level string }
	if err := json.Unmarshal(text, &kind); err != nil {
		return err
	}
	if kind.Level == "" {
		return appendDecoded(text, &r.Runs)
	}
	return appendDecoded(text, &r.Intervals)
}

func appendDecoded[D any](text []byte, to *[]*D) error {
	d := new(D)
	err := json.Unmarshal(text, d)
	if err == nil {
		*to = append(*to, d)
	}
	return err
}

// Flusher is a sink that can wait until all of its documents are settled.
type Flusher interface {
	pipeline.Sink
	Flush(ctx context.Context) error
}

// Push sends the documents again.
func (r *Rejects) Push(ctx context.Context, to Flusher) error {
	if err := to.Put(ctx, r.Intervals); err != nil {
		return err
	}
	for _, run := range r.Runs {
		if err := to.Finish(ctx, run); err != nil {
			return err
		}
	}
	return to.Flush(ctx)
}
