package main

import (
	"context"
	"fmt"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
)

// reclaim returns the space of removed documents to the file system. A cluster does this itself.
func (e *env) reclaim(ctx context.Context, store history.Store) {
	s, ok := store.(interface {
		Reclaim(ctx context.Context) (int64, error)
	})
	if !ok {
		e.log.Info("note: Elasticsearch frees the room of the removed documents when it merges segments")
		return
	}
	e.progress.Show("making the file smaller")
	freed, err := s.Reclaim(ctx)
	e.progress.Clear()
	switch {
	case err != nil:
		e.log.Warn(fmt.Sprintf("the file did not become smaller, but the next runs use its free room: %v", err))
	case freed > 0:
		fmt.Fprintf(e.stderr, "%s is %s smaller\n", e.history().name(), unit.Bytes(freed))
	default:
		e.log.Info("note: less than a quarter of the file is free: the next runs use that")
	}
}
