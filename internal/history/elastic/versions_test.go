package elastic_test

import (
	"errors"
	"testing"

	"github.com/fio2es/fio2es/internal/history/historytest"
)

// TestVersions: which of many runs the cluster has.
func TestVersions(t *testing.T) {
	e, _ := openElastic(t)
	ids := []string{historytest.ID("a"), historytest.ID("b"), historytest.ID("c")}
	for _, name := range []string{"a", "c"} {
		if err := errors.Join(e.Put(t.Context(), historytest.Intervals(name, "1", 2)), e.Finish(t.Context(), historytest.NewRun(name, "1"))); err != nil {
			t.Fatal(err)
		}
	}
	for want, some := range map[int][]string{0: nil, 1: ids[:2], 2: ids} {
		got, err := e.Versions(t.Context(), some)
		if err != nil || len(got) != want || want > 0 && (got[ids[0]].Run.Ingest != "1" || got[ids[0]].Documents.Cluster == 0 || got[ids[0]].Run.Labels["run"] != "a") {
			t.Errorf("%v, %v", got, err)
		}
	}
	none := newFake(t).store("other")
	if got, err := none.Versions(t.Context(), ids); err != nil || len(got) != 0 {
		t.Errorf("without an index: %v, %v", got, err)
	}
}
