package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"

	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/mapping"
)

// PushRejects sends the documents of a reject file again, and returns their number. It reports and skips lines that
// are not documents. name is the file's name for messages.
func PushRejects(
	ctx context.Context, to *elastic.Store, name string, text []byte, log *slog.Logger,
) (documents int, leftOut bool, err error) {
	var intervals []*mapping.Interval
	var runs []*mapping.Run
	for reject, err := range elastic.ReadRejects(bytes.NewReader(text)) {
		if err == nil {
			err = decode(reject.Document, &intervals, &runs)
		}
		if err != nil {
			log.Warn(name + ": " + err.Error())
			leftOut = true
		}
	}
	documents = len(intervals) + len(runs)
	if err := to.Put(ctx, intervals); err != nil {
		return documents, leftOut, err
	}
	for _, run := range runs {
		if err := to.Finish(ctx, run); err != nil {
			return documents, leftOut, err
		}
	}
	return documents, leftOut, to.Flush(ctx)
}

// decode decodes an interval document or a run document. Only interval documents have a level.
func decode(text []byte, intervals *[]*mapping.Interval, runs *[]*mapping.Run) error {
	var kind struct{ Level string }
	if err := json.Unmarshal(text, &kind); err != nil {
		return err
	}
	if kind.Level == "" {
		return appendDecoded(text, runs)
	}
	return appendDecoded(text, intervals)
}

func appendDecoded[D any](text []byte, to *[]*D) error {
	d := new(D)
	err := json.Unmarshal(text, d)
	if err == nil {
		*to = append(*to, d)
	}
	return err
}
