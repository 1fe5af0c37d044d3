package query

import (
	"context"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// mostTogether is how many documents are read together: a page or two of an answer.
const mostTogether = 1000

// Together divides stored runs into those that [ReadTogether] reads at a time.
func Together(runs []*Run, q *Query) (chunks [][]*Run) {
	size := 0
	for _, r := range runs {
		n := 0
		for _, level := range q.levels() {
			n += r.Stored.Documents.Of(level)
		}
		if r.JoinMS > 0 || len(q.Jobs) > 0 || q.Times() != "" { // the runs need different documents
			n = mostTogether
		}
		if size += n; len(chunks) == 0 || size > mostTogether {
			chunks, size = append(chunks, nil), n
		}
		last := len(chunks) - 1
		chunks[last] = append(chunks[last], r)
	}
	return chunks
}

// ReadTogether reads runs of [Together], each as [Run.Read]. A cluster needs as many requests for all as for one. take
// gets the windows of a run in their order, but those of different runs by turns. It returns the documents of the runs
// before the first one that cannot be read, and that error.
func ReadTogether(
	ctx context.Context, store history.Store, runs []*Run, q *Query, take func(*Run, *window.Window) error,
) (docs []*mapping.Run, err error) {
	if len(runs) == 1 {
		doc, err := runs[0].Read(ctx, q, func(w *window.Window) error { return take(runs[0], w) })
		if err != nil {
			return nil, err
		}
		return []*mapping.Run{doc}, nil
	}
	s, byID, wanted, ids := storeReader{store}, map[string]*Run{}, history.Selection{}, []string(nil)
	var failed error
	for i, r := range runs {
		r.begin(q)
		if r.hasNoWindows() {
			continue
		}
		if wanted, failed = r.wanted(q); failed != nil { // the same of all runs
			runs = runs[:i]
			break
		}
		byID[r.Stored.Run.ID], ids = r, append(ids, r.Stored.Run.ID)
	}
	counts := history.Counts{}
	if wanted.Runs = ids; len(ids) > 0 { // an empty list is all runs
		counts, err = s.readAll(ctx, wanted, q.levels(), func(w *window.Window) error {
			r := byID[w.Run.ID]
			if takes, err := r.choice.takes(w); err != nil || !takes {
				return err
			}
			return take(r, w)
		})
	}
	for _, r := range runs {
		doc := r.Stored
		if err == nil && byID[doc.Run.ID] != nil {
			doc, err = s.checked(ctx, r, counts, q.levels())
		}
		docs = append(docs, doc)
	}
	if err != nil {
		return nil, err
	}
	return docs, failed
}

// readAll counts the documents of some runs, and then gives the windows of each level to take.
func (s storeReader) readAll(
	ctx context.Context, wanted history.Selection, levels []mapping.Level, take func(*window.Window) error,
) (history.Counts, error) {
	counts, err := s.Count(ctx, wanted.Runs, levels...)
	for _, level := range levels {
		if wanted.Level = level; err == nil {
			_, err = each(window.Rejoin(s.Intervals(ctx, wanted)), take)
		}
	}
	return counts, err
}
