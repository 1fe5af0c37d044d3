package ingest

import (
	"context"
	"errors"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// there has what the other history has of some runs.
type there struct {
	runs       map[string]*mapping.Run // by id, with version, number of documents, labels and note
	unreadable map[string]bool         // by id, runs whose documents cannot be read
	// by id, runs that are there in another version: the better ones stay, the worse ones are replaced
	better, worse map[string]*mapping.Run
	sharing       []*mapping.Run     // runs with other ids that share files
	removed       []*mapping.Removed // removed runs that share files
	restore       bool               // store removed runs again
	lacking       map[string]string  // by id, the missing documents of runs that would not be pushed
}

// hasVersion reports whether the other history has the same version of a run. Its windows may have another length,
// because either history may have been compacted.
func (t *there) hasVersion(r *mapping.Run) bool {
	have := t.runs[r.Run.ID]
	return have != nil && have.Run.Reading() == r.Run.Reading()
}

// stays reports whether the other history keeps its version of a run.
func (t *there) stays(r *mapping.Run) bool { return t.hasVersion(r) || t.better[r.Run.ID] != nil }

// removedAs returns the removed runs with the same files as r. It returns none if the other history has r, unless
// removed runs are stored again: an interrupted push may have left both the run and the record of its removal.
func (t *there) removedAs(r *mapping.Run) (same []*mapping.Removed) {
	for _, d := range t.removed {
		if (t.runs[r.Run.ID] == nil || t.restore) && mapping.SameExecution(&d.Source, &r.Source) {
			same = append(same, d)
		}
	}
	return same
}

// lookUp looks up runs in the other history.
func (p *push) lookUp(ctx context.Context, runs []*mapping.Run) (t there, err error) {
	to := p.to.Store
	if t.restore = p.Restore; to == nil {
		return t, nil
	}
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.Run.ID
	}
	if t.runs, err = to.Versions(ctx, ids); err != nil {
		return t, err
	}
	if err := t.compare(ctx, to, runs); err != nil {
		return t, err
	}
	var hashes, removed []string
	var kept []*mapping.Run
	for _, r := range runs {
		if t.restore || t.runs[r.Run.ID] == nil {
			removed = append(removed, r.Source.Hashes()...)
		}
		switch {
		case t.runs[r.Run.ID] == nil:
			hashes = append(hashes, r.Source.Hashes()...)
		case t.stays(r):
			have := r.Light()
			have.Run.Ingest, have.Documents = t.runs[r.Run.ID].Run.Ingest, t.runs[r.Run.ID].Documents
			kept = append(kept, have)
		}
	}
	if len(hashes) > 0 {
		if t.sharing, err = to.Holding(ctx, hashes); err != nil {
			return t, err
		}
	}
	if len(removed) > 0 {
		if t.removed, err = to.Removed(ctx, removed); err != nil {
			return t, err
		}
	}
	t.lacking, err = missing(ctx, to, append(kept, t.sharing...), p.Log)
	return t, err
}

// compare finds the runs that the other history has in another version, and decides which version is better. The
// decision does not depend on the direction, so two histories that are pushed to each other get the same versions.
func (t *there) compare(ctx context.Context, to history.Store, runs []*mapping.Run) error {
	t.better, t.worse, t.unreadable = map[string]*mapping.Run{}, map[string]*mapping.Run{}, map[string]bool{}
	for _, r := range runs {
		have, isThere := t.runs[r.Run.ID]
		if !isThere || t.hasVersion(r) {
			continue
		}
		var err error
		if have != nil {
			have, err = to.Run(ctx, r.Run.ID)
		}
		switch {
		case have == nil && err == nil, history.IsSkipped(err):
			t.unreadable[r.Run.ID] = true
		case errors.Is(err, history.ErrNotFound): // it was removed meanwhile
		case err != nil:
			return err
		case mapping.Best([]*mapping.Run{have, r}) == have:
			t.better[r.Run.ID] = have
		default:
			t.worse[r.Run.ID] = have
		}
	}
	return nil
}

// sameIn returns the runs with other ids that are the same as r. whole is one of them that has all files of r, or
// nil.
func sameIn(sharing []*mapping.Run, r *mapping.Run) (same []*mapping.Run, whole *mapping.Run) {
	for _, s := range sharing {
		if s.Run.ID == r.Run.ID || !mapping.SameExecution(&s.Source, &r.Source) {
			continue
		}
		same = append(same, s)
		if !s.Run.Live() && s.Source.Contains(&r.Source) {
			whole = s
		}
	}
	return same, whole
}
