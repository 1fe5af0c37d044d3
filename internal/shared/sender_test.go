package shared_test

import (
	"errors"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/mapping"
)

// TestAttempt: a fio joins the newest attempt, and begins the next one if it took part in that and has ended, or if that is over.
func TestAttempt(t *testing.T) {
	inHistory(t, func(t *testing.T, store history.Store) {
		join := func(host string, isNew bool) (*shared.Sender, int) {
			t.Helper()
			m := shared.Member{Name: "night", Host: host, Unit: "job"}
			n, err := shared.Attempt(t.Context(), store, m, isNew)
			check(t, err)
			doc := &mapping.Run{IntervalMS: 1000, Run: mapping.RunInfo{ID: "x", Ingest: "x", Start: time.Now()}}
			to := shared.New(store, m, n, doc)
			check(t, to.Join(t.Context()))
			check(t, to.Send(t.Context(), doc, time.Now()))
			return to, n
		}
		expect := func(want, got int, what string) {
			t.Helper()
			if got != want {
				t.Errorf("%s: attempt %d, want %d", what, got, want)
			}
		}
		doc := &mapping.Run{IntervalMS: 1000, Run: mapping.RunInfo{ID: "x", Ingest: "x"}}
		a, n := join("a", true)
		expect(1, n, "the first")
		_, n = join("b", true)
		expect(1, n, "another host")
		if _, err := shared.Attempt(t.Context(), store, shared.Member{Name: "night", Host: "a", Unit: "job"}, true); !errors.Is(err, shared.ErrSending) {
			t.Errorf("a second fio of the name: %v", err)
		}
		_, n = join("a", false)
		expect(1, n, "a process that begins again")
		check(t, a.End(t.Context(), doc, 0, time.Now()))
		_, n = join("a", true)
		expect(2, n, "the next fio of a host")
		_, n = join("b", true)
		expect(2, n, "the next fio of the other host")
		time.Sleep(time.Hour)
		_, n = join("b", true)
		expect(3, n, "after its process was killed")
	})
}
