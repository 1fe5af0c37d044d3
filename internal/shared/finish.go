package shared

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// ErrLive means that hosts still send to a run.
var ErrLive = errors.New("its hosts still send")

// Sink takes the documents of a run, as a [history.Store] does.
type Sink interface {
	Put(ctx context.Context, docs []*mapping.Interval) error
	Finish(ctx context.Context, run *mapping.Run) error
}

// Finish makes a shared run, given by its full id, a run as any other: windows of the cluster, its hosts and sections, and totals, all sums
// of what its hosts have sent. It fails with [ErrLive] while one of them sends, unless force is true: what that host sends later is lost
// then. If the files of the run were ingested meanwhile, that run stays, and Finish returns it. Several processes may finish a run at
// the same time.
func Finish(ctx context.Context, store history.Store, sink Sink, id string, force bool) (*mapping.Run, error) {
	store = raw(store)
	run, err := store.Run(ctx, id)
	if err != nil || !shared(run) {
		return run, err
	}
	parts, now, err := Parts(ctx, store, id)
	if err != nil {
		return nil, err
	}
	var sending []string
	for _, p := range parts {
		if p.Ended.IsZero() && !isSilent(p, now) {
			sending = append(sending, nameOf(p, parts))
		}
	}
	if len(parts) == 0 { // another process has just finished the run, or a host has just begun, or was killed before it had sent anything
		now, err := store.Run(ctx, id)
		if err != nil || !shared(now) {
			return now, err
		}
		if !force {
			return nil, fmt.Errorf("run %s: %w: nothing has come yet", run.Run.Name, ErrLive)
		}
	}
	if len(sending) > 0 && !force {
		return nil, fmt.Errorf("run %s: %w: %s", run.Run.Name, ErrLive, strings.Join(sending, ", "))
	}
	whole, err := final(run, parts, now)
	if err != nil {
		return nil, err
	}
	files, _ := whole.Source.Keys()
	there, err := store.Holding(ctx, files, nil)
	if err != nil {
		return nil, err
	}
	for _, other := range there {
		if other.Run.ID != id && other.Run.Stage == whole.Run.Stage && !other.Run.Live() && other.Source.Contains(&whole.Source) {
			return other, store.Delete(ctx, id)
		}
	}
	const most = 1000 // documents at once
	var docs []*mapping.Interval
	put := func() (err error) {
		if len(docs) > 0 {
			err, docs = sink.Put(ctx, docs), nil
		}
		return err
	}
	whole.Documents = mapping.Documents{}
	for _, level := range whole.Levels {
		Store{store}.sum(ctx, whole, history.Selection{Level: level}, time.Time{}, func(d *mapping.Interval, failed error) bool {
			if err = failed; err != nil {
				return false
			}
			if docs = append(docs, d); d.Part == 0 {
				whole.Documents.Add(level, 1)
			}
			if len(docs) >= most {
				err = put()
			}
			return err == nil
		})
		if err != nil {
			return nil, err
		}
	}
	if whole.Documents.All() == 0 {
		whole.NoWindows = mapping.NoRequests
	}
	if err := put(); err != nil {
		return nil, err
	}
	return whole, sink.Finish(ctx, whole)
}

// State is that of the newest attempt at a shared run.
type State int

// The states.
const (
	Over    State = iota // it is stored as any other run, or there is none
	Sending              // a part has not ended
	Ending               // all parts have ended
)

// StateOf returns the state of the newest attempt at the run of a name.
func StateOf(ctx context.Context, store history.Store, name string) (state State, err error) {
	runs, _, err := newest(ctx, raw(store), name)
	for _, run := range runs {
		if err != nil || !shared(run) {
			continue
		}
		var parts []*mapping.Part
		if parts, err = store.Signs(ctx, run.Run.ID, true); !Ended(parts) {
			return Sending, err
		}
		state = Ending
	}
	return state, err
}

// FinishAll finishes all stages of the newest attempt at the run of a name, as [Finish] does. It fails with [history.ErrNotFound] if
// there is none.
func FinishAll(ctx context.Context, store history.Store, sink Sink, name string, force bool) (finished []*mapping.Run, err error) {
	runs, _, err := newest(ctx, raw(store), name)
	if err == nil && len(runs) == 0 {
		err = fmt.Errorf("finish run %q: %w", name, history.ErrNotFound)
	}
	for _, run := range runs {
		if err != nil {
			return finished, err
		}
		if run, err = Finish(ctx, store, sink, run.Run.ID, force); err == nil {
			finished = append(finished, run)
		}
	}
	return finished, err
}

// FinishDue finishes the stages of the newest attempt at the run of a name that are over: all their parts have ended, and nothing has come for
// [Quiet].
func FinishDue(ctx context.Context, store history.Store, sink Sink, name string) (finished []*mapping.Run, err error) {
	runs, _, err := newest(ctx, raw(store), name)
	for _, run := range runs {
		if err != nil || !shared(run) {
			continue
		}
		var parts []*mapping.Part
		var now time.Time
		if parts, err = store.Signs(ctx, run.Run.ID, true); err == nil && Ended(parts) {
			now, err = store.Now(ctx)
		}
		if err != nil || !isOver(parts, now) {
			continue
		}
		if run, err = Finish(ctx, store, sink, run.Run.ID, false); err == nil {
			finished = append(finished, run)
		}
	}
	return finished, err
}

// final returns the document of a shared run that is over.
func final(run *mapping.Run, parts []*mapping.Part, now time.Time) (*mapping.Run, error) {
	whole, err := Merge(run, parts, now)
	if err != nil {
		return nil, err
	}
	var left []string
	sum := sha256.New()
	whole.Run.Complete = true
	for _, p := range parts {
		fmt.Fprintf(sum, "%q %q %v %d %s\n", p.Host, p.Unit, p.Ended.IsZero(), p.Last.UnixMilli(), p.Document.Source.Hash)
		if p.Ended.IsZero() {
			name := nameOf(p, parts)
			if more := p.Last.Sub(p.Document.Run.End); more >= time.Duration(run.IntervalMS)*time.Millisecond {
				name += fmt.Sprintf(" (whose totals lack the last %s of its windows)", unit.Short(more.Round(time.Second)))
			}
			left = append(left, name)
		}
		whole.Run.Complete = whole.Run.Complete && !p.Ended.IsZero() && p.Exit == 0 && p.Document.Run.Complete
	}
	whole.Warnings = slices.DeleteFunc(whole.Warnings, func(text string) bool { return slices.Contains(Silent(parts, now), text) || text == stillSend })
	if whole.Run.Ingest = hex.EncodeToString(sum.Sum(nil)[:8]); len(left) > 0 {
		whole.Warnings = append(whole.Warnings, "what fio did at last is missing of "+strings.Join(left, ", ")+", which did not say that it ended")
	}
	whole.Run.Partial = whole.Run.Partial || len(left) > 0
	whole.Ingested = now.UTC().Truncate(time.Millisecond)
	return whole, nil
}
