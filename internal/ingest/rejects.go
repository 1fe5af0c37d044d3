package ingest

import (
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
	for reject, err := range elastic.ReadRejects(text) {
		var kind struct{ Level string } // only interval documents have a level
		if err == nil {
			err = json.Unmarshal(reject.Document, &kind)
		}
		if err == nil && kind.Level == "" {
			run := new(mapping.Run)
			if err = json.Unmarshal(reject.Document, run); err == nil {
				runs = append(runs, run)
			}
		} else if err == nil {
			d := new(mapping.Interval)
			if err = json.Unmarshal(reject.Document, d); err == nil {
				intervals = append(intervals, d)
			}
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
