package shared_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/mapping"
)

// TestFinish: a run is stored when nothing sends to it any more, but not before anything has come.
func TestFinish(t *testing.T) {
	inHistory(t, func(t *testing.T, store history.Store) {
		began := time.Now()
		to := shared.New(store, shared.Member{Name: "night", Host: "a", Unit: "job"}, 1, newDoc(began))
		check(t, to.Join(t.Context()))
		expect := func(want error, force bool) {
			t.Helper()
			if _, err := shared.FinishAll(t.Context(), store, store, "night", force); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		state := func(want shared.State) {
			t.Helper()
			if got, err := shared.StateOf(t.Context(), store, "night"); err != nil || got != want {
				t.Errorf("state %d, want %d: %v", got, want, err)
			}
		}
		expect(shared.ErrLive, false)
		check(t, to.Send(t.Context(), newDoc(began), time.Now()))
		expect(shared.ErrLive, false)
		state(shared.Sending)
		check(t, to.End(t.Context(), newDoc(began), 0, time.Now()))
		state(shared.Ending)
		time.Sleep(shared.Quiet - time.Second)
		if runs, err := shared.FinishDue(t.Context(), store, store, "night"); len(runs) > 0 || err != nil {
			t.Errorf("finished before its time: %v", err)
		}
		time.Sleep(time.Second)
		if runs, err := shared.FinishDue(t.Context(), store, store, "night"); len(runs) != 1 || err != nil || runs[0].Run.Live() {
			t.Errorf("finished %d runs: %v", len(runs), err)
		}
		state(shared.Over)
		if err := to.Send(t.Context(), newDoc(began), time.Now()); !errors.Is(err, history.ErrReplaced) {
			t.Errorf("a host that sends later: %v", err)
		}
		if _, err := shared.FinishAll(t.Context(), store, store, "other", false); !errors.Is(err, history.ErrNotFound) {
			t.Errorf("another name: %v", err)
		}
	})
}

// finishedBefore is a history in which another process finishes a run just before its parts are read.
type finishedBefore struct {
	history.Store
	isDone *bool
}

func (f finishedBefore) Parts(ctx context.Context, id string) ([]*mapping.Part, error) {
	if !*f.isDone {
		*f.isDone = true
		if _, err := shared.Finish(ctx, f.Store, f.Store, id, false); err != nil {
			return nil, err
		}
	}
	return f.Store.Parts(ctx, id)
}

// TestFinishTwice: of two processes that finish a run at the same time, the second one does not store an empty one.
func TestFinishTwice(t *testing.T) {
	inHistory(t, func(t *testing.T, store history.Store) {
		to := shared.New(store, shared.Member{Name: "night", Host: "a", Unit: "job"}, 1, newDoc(time.Now()))
		check(t, to.Join(t.Context()))
		doc := newDoc(time.Now())
		doc.Fio.Jobs = 3
		check(t, to.End(t.Context(), doc, 0, time.Now()))
		run, err := shared.Finish(t.Context(), finishedBefore{store, new(bool)}, store, to.Run().ID, false)
		if check(t, err); run.Fio.Jobs != 3 {
			t.Errorf("the second one has stored %+v", run.Fio)
		}
		if run, err = store.Run(t.Context(), to.Run().ID); err != nil || run.Fio.Jobs != 3 {
			t.Errorf("%+v: %v", run, err)
		}
	})
}
