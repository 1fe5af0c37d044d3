package nightly

import (
	"context"
	"slices"

	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// Read stores runs in a history, like [ingest.Runs].
type Read func(runs []*cbt.Run) (ingest.Result, error)

// Ingest calls read with the runs that may have changed. known is how many of the other runs the history has; for
// these, Ingest repeats the warnings of damage. With verify, all runs are read.
func (n *Night) Ingest(ctx context.Context, runs []*cbt.Run, verify bool, read Read) (result ingest.Result, known int, err error) {
	others, err := n.changed(ctx, runs)
	if err != nil {
		return result, 0, err
	}
	if verify {
		others = runs
	}
	isRead := map[*cbt.Run]bool{}
	for _, r := range others {
		isRead[r] = true
	}
	for _, r := range runs {
		if !isRead[r] {
			n.repeat(n.key(r))
		}
	}
	result, err = read(others)
	n.took(&result)
	if err != nil {
		return result, 0, err
	}
	again := n.entangled(&result, runs, isRead)
	for _, r := range again {
		isRead[r] = true
	}
	if err = n.readAgain(&result, again, read); err == nil && verify {
		n.findWrong(runs)
	}
	return result, n.known(len(runs) - len(isRead)), err
}

// changed returns the runs that must be read.
func (n *Night) changed(ctx context.Context, runs []*cbt.Run) (changed []*cbt.Run, err error) {
	var keys []string
	for _, r := range runs {
		keys = append(keys, n.key(r))
	}
	if err := n.check(ctx, keys); err != nil {
		return nil, err
	}
	for _, r := range runs {
		if !n.there[n.key(r)] {
			changed = append(changed, r)
		}
	}
	return changed, nil
}

// entangled returns the runs that must be read once more. They share an id in the history with a run that was just
// stored, but not all runs with this id were read: they are copies, one of them damaged, or parts of one run. Which
// of them the history gets depends on their order.
func (n *Night) entangled(result *ingest.Result, runs []*cbt.Run, isRead map[*cbt.Run]bool) (again []*cbt.Run) {
	stored, twice := map[string]bool{}, map[string]bool{}
	for _, s := range result.Stored {
		stored[s.Run.Run.ID] = stored[s.Run.Run.ID] || !s.Unchanged
	}
	idOf := func(r *cbt.Run) string {
		if e := n.runs[n.key(r)]; e != nil {
			return e.ID
		}
		return ""
	}
	for _, r := range runs {
		if id := idOf(r); stored[id] && !isRead[r] {
			twice[id] = true
		}
	}
	for _, r := range runs {
		if twice[idOf(r)] {
			again = append(again, r)
		}
	}
	return again
}

// readAgain reads runs in their order, and replaces their entries in the result.
func (n *Night) readAgain(result *ingest.Result, again []*cbt.Run, read Read) error {
	if len(again) == 0 {
		return nil
	}
	for _, r := range again {
		delete(n.skipped, r)
	}
	more, err := read(again)
	n.took(&more)
	// runs stored by the first reading, which count as news even if the second reading finds them unchanged
	news := map[*cbt.Run]bool{}
	for _, s := range result.Stored {
		news[s.Files] = !s.Unchanged
	}
	for i, s := range more.Stored {
		more.Stored[i].Unchanged = s.Unchanged && !news[s.Files]
	}
	isAgain := func(r *cbt.Run) bool { return slices.Contains(again, r) }
	result.Stored = append(slices.DeleteFunc(result.Stored, func(s ingest.Stored) bool { return isAgain(s.Files) }), more.Stored...)
	result.NotStored = append(slices.DeleteFunc(result.NotStored, func(s ingest.NotStored) bool { return isAgain(s.Files) }), more.NotStored...)
	result.LeftOut = result.LeftOut || more.LeftOut
	return err
}
