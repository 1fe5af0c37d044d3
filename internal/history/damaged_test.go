package history_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
)

// damagedAmong checks that a store with the runs a, b and c, of which the document of b is
// damaged, gives the others, names b, and can remove it.
func damagedAmong(t *testing.T, s history.Store, limit int) {
	t.Helper()
	for _, light := range []bool{true, false} {
		var got []string
		skipped := 0
		for run, err := range s.Runs(t.Context(), history.RunFilter{Light: light, Limit: limit}) {
			var damaged *history.DamagedRunError
			switch {
			case errors.As(err, &damaged):
				if skipped++; damaged.ID != historytest.ID("b") || !errors.Is(err, history.ErrDamaged) || !strings.Contains(err.Error(), damaged.ID) {
					t.Errorf("damaged: %v", err)
				}
			case err != nil:
				t.Fatal(err)
			default:
				got = append(got, run.Run.Name)
			}
		}
		if len(got) != 2 || skipped != 1 {
			t.Errorf("light %v: runs %v, %d skipped", light, got, skipped)
		}
	}
	if _, err := s.Run(t.Context(), historytest.ID("b")); !history.IsSkipped(err) {
		t.Errorf("run b: %v", err)
	}
	held, err := s.Holding(t.Context(), []string{"ab"})
	if err != nil || len(held) != 2 {
		t.Errorf("%d runs with the file, %v", len(held), err)
	}
	if err := s.Delete(t.Context(), historytest.ID("b")); err != nil {
		t.Error(err)
	}
	for _, err := range s.Runs(t.Context(), history.RunFilter{}) {
		if err != nil {
			t.Errorf("after the removal: %v", err)
		}
	}
}

func finishABC(t *testing.T, s history.Store) {
	t.Helper()
	for _, name := range []string{"a", "b", "c"} {
		if err := errors.Join(s.Put(t.Context(), historytest.Intervals(name, "1", 2)), s.Finish(t.Context(), historytest.NewRun(name, "1"))); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDamagedRunInSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	s := open(t, path)
	defer closing(t, s)
	finishABC(t, s)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE runs SET doc = x'00', light = x'28b52ffd' WHERE id = ?`, historytest.ID("b")); err != nil {
		t.Fatal(err)
	}
	damagedAmong(t, s, 2)
}

func TestDamagedRunInElasticsearch(t *testing.T) {
	for _, document := range []string{
		`{"run":{"id":%q,"ingest":"1","start":"2026-11-21T10:00:00.250Z"},"source":{"list":[{"hash":"ab","path":"p","bytes":1}]},"interval_ms":"long","@timestamp":"2026-11-21T10:00:00.250Z"}`,
		`{"run":{"id":%q},"source":{"list":[{"hash":"ab","path":"p","bytes":1}]},"@timestamp":"2026-11-21T10:00:00.250Z"}`,
	} {
		f := newFake(t)
		w := &writer{f.direct, "fio"}
		s := history.NewElastic(f.elastic(), "fio", w)
		finishABC(t, s)
		body := fmt.Sprintf("{\"index\":{\"_index\":\"fio-runs\",\"_id\":%q}}\n"+document+"\n", historytest.ID("b"), historytest.ID("b"))
		if _, err := f.call(t.Context(), http.MethodPost, "/_bulk", body); err != nil {
			t.Fatal(err)
		}
		if _, err := f.call(t.Context(), http.MethodPost, "/fio-runs/_refresh", ""); err != nil {
			t.Fatal(err)
		}
		damagedAmong(t, s, 0)
	}
}

// What no store could read again is refused by each before it is stored.
func TestUnreadableIsRefused(t *testing.T) {
	f := newFake(t)
	sqlite := open(t, filepath.Join(t.TempDir(), "h.db"))
	defer closing(t, sqlite)
	for _, s := range []history.Store{sqlite, history.NewElastic(f.elastic(), "fio", &writer{f.direct, "fio"})} {
		late := historytest.NewRun("a", "1")
		late.Hosts[0].Start = late.Run.Start.AddDate(9000, 0, 0)
		if err := s.Finish(t.Context(), late); !errors.Is(err, mapping.ErrUnreadable) {
			t.Errorf("a host that started in the year 11026: %v", err)
		}
		large := historytest.NewRun("a", "1")
		large.Config = map[string]any{"text": strings.Repeat("x", mapping.MaxRunBytes)}
		if err := s.Finish(t.Context(), large); !errors.Is(err, mapping.ErrSize) {
			t.Errorf("a document of 64 MiB: %v", err)
		}
	}
}
