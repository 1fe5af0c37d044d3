package elastic_test

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
)

// TestAnnotateBetween: another process sets a label after the stored run document was read and before it is
// replaced. The label stays.
func TestAnnotateBetween(t *testing.T) {
	e, f := openElastic(t)
	defer e.Close()
	store := flushed{e}
	for _, ingest := range []string{"1", "22"} {
		var calls atomic.Int32
		f.Before = func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
			if r.URL.Query().Has("if_seq_no") && calls.Add(1) == 1 {
				other := f.store(testPrefix)
				note := "said meanwhile"
				_, err := other.Annotate(t.Context(), historytest.ID("a"), mapping.Annotation{Labels: map[string]string{"disk": "nvme"}, Note: &note})
				if err := errors.Join(err, other.Close()); err != nil {
					t.Error(err)
				}
			}
			return false
		}
		docs, run := historytest.Intervals("a", ingest, 10), historytest.NewRun("a", ingest)
		must(t, errors.Join(store.Put(t.Context(), docs), store.Finish(t.Context(), run)))
		if ingest == "1" { // the first version replaces no document
			continue
		}
		got, err := e.Run(t.Context(), run.Run.ID)
		if err != nil || got.Run.Ingest != "22" || got.Run.Labels["disk"] != "nvme" || got.Run.Note != "said meanwhile" {
			t.Errorf("%+v, %v", got.Run, err)
		}
		if _, err := history.Check(t.Context(), e, false, func(f history.Finding) { t.Errorf("check: %+v", f) }); err != nil {
			t.Error(err)
		}
		if n := calls.Load(); n != 3 { // one of them is of the other process
			t.Errorf("the run was stored in %d attempts", n-1)
		}
	}
}
