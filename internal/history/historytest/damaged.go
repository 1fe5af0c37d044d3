package historytest

import (
	"errors"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// DamagedAmong checks a store with the runs a, b and c, where the document of b is damaged. The store must return
// the others, name b, and be able to remove b. limit is the limit of the list.
func DamagedAmong(t *testing.T, s history.Store, limit int) {
	t.Helper()
	for _, f := range []history.RunFilter{{Light: true}, {}} {
		var got []string
		skipped := 0
		for run, err := range s.Runs(t.Context(), history.RunFilter{Light: f.Light, Limit: limit}) {
			var damaged *history.DamagedRunError
			switch {
			case errors.As(err, &damaged):
				if skipped++; damaged.ID != ID("b") || !errors.Is(err, history.ErrDamaged) || !strings.Contains(err.Error(), damaged.ID) {
					t.Errorf("damaged: %v", err)
				}
			case err != nil:
				t.Fatal(err)
			default:
				got = append(got, run.Run.Name)
			}
		}
		if len(got) != 2 || skipped != 1 {
			t.Errorf("%+v: runs %v, %d skipped", f, got, skipped)
		}
	}
	if _, err := s.Run(t.Context(), ID("b")); !history.IsSkipped(err) {
		t.Errorf("run b: %v", err)
	}
	held, err := s.Holding(t.Context(), []string{"ab"}, nil)
	if err != nil || len(held) != 2 {
		t.Errorf("%d runs with the file, %v", len(held), err)
	}
	versions, err := s.Versions(t.Context(), []string{ID("a"), ID("b"), ID("none")})
	if _, isThere := versions[ID("b")]; err != nil || len(versions) != 2 || !isThere {
		t.Errorf("versions %v, %v", versions, err)
	}
	if err := s.Delete(t.Context(), ID("b")); err != nil {
		t.Error(err)
	}
	for _, err := range s.Runs(t.Context(), history.RunFilter{}) {
		if err != nil {
			t.Errorf("after the removal: %v", err)
		}
	}
}

// FinishABC stores the runs a, b and c.
func FinishABC(t *testing.T, s history.Store) {
	t.Helper()
	for _, name := range []string{"a", "b", "c"} {
		store(t, s, name, "1", 2)
	}
}

// testUnreadable: a document that could not be read again is refused.
func testUnreadable(t *testing.T, s history.Store) {
	late := NewRun("a", "1")
	late.Hosts[0].Start = late.Run.Start.AddDate(9000, 0, 0)
	if err := s.Finish(t.Context(), late); !errors.Is(err, mapping.ErrUnreadable) {
		t.Errorf("a host that started in the year 11026: %v", err)
	}
	large := NewRun("a", "1")
	large.Config = mapping.ConfigOf(map[string]any{"text": strings.Repeat("x", mapping.MaxRunBytes)})
	if err := s.Finish(t.Context(), large); !errors.Is(err, mapping.ErrSize) {
		t.Errorf("a document of 64 MiB: %v", err)
	}
}
