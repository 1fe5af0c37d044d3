package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/mapping"
)

// pushing is one call of push.
type pushing struct {
	*app
	from  *sqlite.Store
	there *elastic.Store // nil when documents go to a file
	to    pushed
	ends  *finishing

	runs, same int
	documents  int
	leftOut    bool

	mu     sync.Mutex
	failed error // the first run whose end failed
}

// pushed is where documents go, as they are.
type pushed interface {
	PutEncoded(ctx context.Context, docs iter.Seq2[*mapping.Encoded, error]) (int, error)
	Finish(ctx context.Context, run *mapping.Run) error
}

// all pushes the runs that f lets through.
func (p *pushing) all(ctx context.Context, f history.RunFilter) error {
	const some = 100 // runs that one question to the cluster is about
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer p.ends.wait()
	var runs []*mapping.Run
	for r, err := range p.from.Runs(ctx, f) {
		if p.skips(err, &p.leftOut) {
			continue
		}
		if err != nil {
			return err
		}
		if runs = append(runs, r); len(runs) < some {
			continue
		}
		if err := p.some(ctx, stop, runs); err != nil {
			return err
		}
		runs = nil
	}
	if err := p.some(ctx, stop, runs); err != nil {
		return err
	}
	p.ends.wait()
	return p.failure(nil)
}

// some pushes those of some runs that the cluster has not.
func (p *pushing) some(ctx context.Context, stop context.CancelCauseFunc, runs []*mapping.Run) error {
	have, held := map[string]string{}, []*mapping.Run(nil)
	if p.there != nil {
		ids := make([]string, len(runs))
		for i, r := range runs {
			ids[i] = r.Run.ID
		}
		var err error
		if have, err = p.there.Versions(ctx, ids); err == nil {
			held, err = p.holding(ctx, runs, have)
		}
		if err != nil {
			return p.failure(err)
		}
	}
	lacking, err := p.lackingThere(ctx, runs, have, held)
	if err != nil {
		return p.failure(err)
	}
	for _, r := range runs {
		p.progress.Show("run %d: %s", p.runs+p.same+1, describe(r))
		if have[r.Run.ID] == r.Run.Ingest && lacking[r.Run.ID] == "" {
			p.same++
			continue
		}
		same, whole := sameIn(held, r)
		if whole != nil && lacking[whole.Run.ID] == "" {
			p.log.Info(fmt.Sprintf("note: %s %s is in the cluster as %s %s", r.Run.ID[:8], describe(r), whole.Run.ID[:8], describe(whole)))
			p.same++
			continue
		}
		if ok, err := p.isWhole(ctx, r); !ok || err != nil {
			if err != nil {
				return p.failure(err)
			}
			continue
		}
		if what := lacking[r.Run.ID]; what != "" {
			p.log.Info(fmt.Sprintf("note: %s: the cluster lacked %s: its documents are sent again", describe(r), what))
		}
		if err := p.documentsOf(ctx, r); err != nil {
			return p.failure(fmt.Errorf("push %s: %w", describe(r), err))
		}
		p.runs++
		p.ends.end(func() {
			err := p.to.Finish(ctx, r)
			if err == nil && len(same) > 0 {
				err = newIdentities(p.app, p.there).removeDoubles(ctx, r, same)
			}
			if err != nil {
				p.fail(fmt.Errorf("push %s: %w", describe(r), err))
				stop(err)
			}
		})
	}
	return nil
}

// lackingThere are the runs of the cluster that would not be pushed, but of which it lacks
// documents.
func (p *pushing) lackingThere(ctx context.Context, runs []*mapping.Run, have map[string]string, held []*mapping.Run) (map[string]string, error) {
	if p.there == nil {
		return nil, nil
	}
	kept := slices.Clone(held)
	for _, r := range runs {
		if have[r.Run.ID] == r.Run.Ingest {
			kept = append(kept, r)
		}
	}
	return p.notWhole(ctx, p.there, kept)
}

// isWhole reports whether the embedded history has all documents of a run. It warns
// otherwise: the run is not pushed.
func (p *pushing) isWhole(ctx context.Context, r *mapping.Run) (bool, error) {
	counts, err := p.from.Count(ctx, []string{r.Run.ID})
	if err != nil || counts.IsWhole(r) {
		return true, err
	}
	if now, err := p.from.Run(ctx, r.Run.ID); err != nil || now.Run.Ingest != r.Run.Ingest {
		return true, err // it was replaced meanwhile, which documentsOf finds
	}
	p.log.Warn(fmt.Sprintf("run %s (%s) is not pushed: the embedded history lacks %s: ingest its files again, then push",
		r.Run.ID[:8], describe(r), lackText(counts, r, allOfLevels)))
	p.leftOut = true
	return false, nil
}

// holding are the runs of the cluster that have files of some runs which it does not have
// by their ids.
func (p *pushing) holding(ctx context.Context, runs []*mapping.Run, have map[string]string) ([]*mapping.Run, error) {
	var hashes []string
	for _, r := range runs {
		if have[r.Run.ID] == "" {
			hashes = append(hashes, r.Source.Hashes()...)
		}
	}
	if len(hashes) == 0 {
		return nil, nil
	}
	return p.there.Holding(ctx, hashes)
}

// sameIn are those of some runs that are the same as one, under other ids; whole is one of
// them that has all of its files.
func sameIn(held []*mapping.Run, r *mapping.Run) (same []*mapping.Run, whole *mapping.Run) {
	for _, h := range held {
		if h.Run.ID == r.Run.ID || !mapping.SameExecution(&h.Source, &r.Source) {
			continue
		}
		same = append(same, h)
		if !h.Run.Live() && h.Source.Contains(&r.Source) {
			whole = h
		}
	}
	return same, whole
}

// documentsOf sends the interval documents of one run.
func (p *pushing) documentsOf(ctx context.Context, r *mapping.Run) error {
	n, err := p.to.PutEncoded(ctx, p.from.Encoded(ctx, r))
	p.documents += n
	if d := r.Documents; err == nil && n < d.Cluster+d.Host+d.Job { // split ones are more
		err = fmt.Errorf("%w: push again", history.ErrReplaced)
	}
	return err
}

func (p *pushing) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		p.failed = err
	}
}

// failure is why the end of a run failed, if one did, for that has ended all else, and
// otherwise err.
func (p *pushing) failure(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed != nil {
		return p.failed
	}
	return err
}
