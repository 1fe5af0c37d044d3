package elastic_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
)

// TestSharedAway: while the cluster is away, sending a part of a shared run fails, and nothing is forgotten. When it is back, the same documents
// are put again.
func TestSharedAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPiped(t)
		e := f.open(t)
		defer e.Close()
		ingest := mapping.SharedIngest(1)
		run := historytest.NewRun("x", ingest)
		run.Run.Complete, run.Documents, run.Levels = false, mapping.Documents{}, []mapping.Level{mapping.Host}
		part := &mapping.Part{Run: run.Run.ID, Ingest: ingest, Host: "a", Unit: "job", Seen: historytest.Start, Document: historytest.NewRun("x", ingest)}
		docs := historytest.Intervals("x", ingest, 3)
		for _, d := range docs {
			d.Level, d.Host.Name, d.Fio.Job = mapping.Host, "a", "job"
		}
		_, err := e.Join(t.Context(), run)
		must(t, err)
		send := func(n int) error { return errors.Join(e.Put(t.Context(), docs[:n]), e.PutPart(t.Context(), part)) }
		must(t, send(1))
		back := time.Now().Add(5 * time.Minute)
		f.Before = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			if isAway := time.Now().Before(back) && !strings.Contains(r.URL.Path, "_search"); isAway {
				w.WriteHeader(http.StatusServiceUnavailable)
				return true
			}
			return false
		}
		if err := send(3); !errors.Is(err, es.ErrGaveUp) {
			t.Errorf("while it is away: %v", err)
		}
		for time.Now().Before(back) {
			time.Sleep(time.Minute)
		}
		must(t, send(3))
		parts, err := e.Parts(t.Context(), run.Run.ID)
		if len(parts) != 1 || err != nil {
			t.Errorf("%d parts: %v", len(parts), err)
		}
		counts, err := e.Count(t.Context(), []string{run.Run.ID})
		must(t, err)
		if n := counts[run.Run.ID][ingest].All(); n != 3 {
			t.Errorf("%d documents", n)
		}
	})
}
