package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"sync"

	"github.com/fio2es/fio2es/mapping"
)

// Finding is one fault of a history.
type Finding struct {
	Run     string // full id of the run; empty if the fault concerns the whole history
	Problem string
	Remedy  string // what the user must do; empty if the repair has mended it
}

// Checked counts what a check has read.
type Checked struct{ Runs, Documents int }

// Check reads a whole history and reports each finding, in the order of runs. It checks that:
//   - every document can be read, and lists show what it says,
//   - each run has as many interval documents as its run document says,
//   - interval documents have the labels of their run,
//   - no documents belong to a version that no run has.
//
// With repair, it removes damaged run documents, and interval documents that belong to no run, so no ingest may run at the same time.
// An error means that the check is incomplete.
func Check(ctx context.Context, s Store, repair bool, report func(Finding)) (Checked, error) {
	c := &check{store: s, repair: repair, report: report, seen: map[string]bool{}}
	if f, ok := s.(interface {
		Integrity(ctx context.Context) ([]string, error)
	}); ok {
		faults, err := f.Integrity(ctx)
		if err != nil {
			return c.Checked, err
		}
		for _, fault := range faults {
			report(Finding{"", "the file is damaged: " + fault, "keep a copy of it, and ingest all runs into a new file with --history"})
		}
		if len(faults) > 0 {
			return c.Checked, nil // writing to a damaged file would make it worse
		}
	}
	counts, err := s.Count(ctx, nil)
	if err != nil {
		return c.Checked, err
	}
	if err := c.runs(ctx, counts); err != nil {
		return c.Checked, err
	}
	return c.Checked, c.orphans(ctx, counts)
}

type check struct {
	Checked
	store  Store
	repair bool
	report func(Finding)
	seen   map[string]bool // ids of runs
}

func (c *check) runs(ctx context.Context, counts Counts) error {
	var runs []*mapping.Run
	documents, seed := map[string]uint64{}, maphash.MakeSeed()
	for _, f := range []RunFilter{{}, {Light: true}} { // stores have each run document in two forms
		for run, err := range c.store.Runs(ctx, f) {
			var damaged *DamagedRunError
			switch {
			case errors.As(err, &damaged):
				if err := c.damagedRun(ctx, damaged); err != nil {
					return err
				}
			case errors.Is(err, ErrNoIndex) && len(counts) > 0:
				return nil
			case err != nil:
				return err
			case !f.Light:
				documents[run.Run.ID] = maphash.Bytes(seed, run.AppendLight(nil))
			case !c.seen[run.Run.ID]:
				c.seen[run.Run.ID] = true
				runs = append(runs, run)
				if documents[run.Run.ID] != maphash.Bytes(seed, run.AppendLight(nil)) {
					if err := c.summary(ctx, run.Run.ID); err != nil {
						return err
					}
				}
			}
		}
	}
	for _, run := range runs {
		if err := c.run(ctx, counts, run); err != nil {
			return err
		}
	}
	return nil
}

// summary compares the two forms of a run document again, because the run may have changed meanwhile.
func (c *check) summary(ctx context.Context, id string) error {
	document, err := c.store.Run(ctx, id)
	if err != nil || document.Run.Live() {
		if errors.Is(err, ErrNotFound) || IsSkipped(err) {
			err = nil
		}
		return err
	}
	for run, err := range c.store.Runs(ctx, RunFilter{IDs: []string{id}, Light: true}) {
		if err != nil || bytes.Equal(run.AppendLight(nil), document.AppendLight(nil)) {
			return err
		}
	}
	return c.mend(Finding{id, "lists show it otherwise than its document is, which was changed without fio2es", "let them show the document with --repair"}, "mended", func() error {
		_, err := c.store.Annotate(ctx, id, mapping.Annotation{})
		return err
	})
}

// mend reports a finding. With repair it calls mend first, and the report says what was done.
func (c *check) mend(f Finding, done string, mend func() error) error {
	if c.repair {
		if err := mend(); err != nil {
			return err
		}
		f.Problem, f.Remedy = f.Problem+": "+done, ""
	}
	c.report(f)
	return nil
}

// remove removes a run that may be gone already.
func (c *check) remove(ctx context.Context, id string) error {
	if err := c.store.Delete(ctx, id); !errors.Is(err, ErrNotFound) {
		return err
	}
	return nil
}

func (c *check) damagedRun(ctx context.Context, damaged *DamagedRunError) error {
	if c.seen[damaged.ID] {
		return nil
	}
	c.seen[damaged.ID] = true
	f := Finding{damaged.ID, fmt.Sprintf("its document cannot be read: %v", damaged.Err), "remove it with --repair, then ingest its files again"}
	if c.repair && damaged.ID != "" {
		if err := c.remove(ctx, damaged.ID); err != nil {
			return err
		}
		f.Problem, f.Remedy = f.Problem+": removed", "ingest its files again"
	}
	c.report(f)
	return nil
}

// run reads all interval documents of a run, and compares their number with that in the run document.
func (c *check) run(ctx context.Context, counts Counts, run *mapping.Run) error {
	c.Runs++
	damaged, relabel, byHand := 0, 0, 0
	for _, l := range mapping.Levels {
		for d, err := range c.store.Intervals(ctx, Selection{Runs: []string{run.Run.ID}, Level: l}) {
			if err == nil {
				c.Documents++
				// these labels are of the last fio2es label, so a difference was made by other means
				isKnown := d.Run.Edit == run.Run.Edit()
				switch isOther := d.Relabel(&run.Run); {
				case isOther && isKnown:
					byHand++
				case isOther:
					relabel++
				}
				continue
			}
			if !errors.Is(err, ErrDamaged) {
				return err
			}
			damaged++
		}
	}
	what := run.Run.Archive + ":" + run.Run.Path
	if !counts.IsWhole(run) { // it may have been replaced after the documents were counted
		again, err := c.store.Count(ctx, []string{run.Run.ID})
		if err != nil {
			return err
		}
		now, err := c.store.Run(ctx, run.Run.ID)
		if err != nil && !errors.Is(err, ErrNotFound) && !IsSkipped(err) {
			return err
		}
		if err != nil || now.Run.Ingest != run.Run.Ingest || !now.Ingested.Equal(run.Ingested) {
			return nil // it is being replaced or was removed; another check finds what is wrong with the new version
		}
		counts = again
	}
	switch lack := counts.LackText(run); {
	case damaged > 0:
		c.report(Finding{run.Run.ID, "some of its interval documents cannot be read", "ingest " + what + " again with --force, or remove the run with fio2es rm"})
	case lack != "":
		c.report(Finding{run.Run.ID, "it lacks " + lack, "ingest " + what + " again with --verify"})
	}
	if byHand > 0 {
		c.report(Finding{run.Run.ID, fmt.Sprintf("%d of its interval documents do not have its labels, and fio2es label did not change these", byHand),
			"give the run document the labels that it had, and change them with fio2es label"})
	}
	if relabel > 0 {
		f := Finding{run.Run.ID, fmt.Sprintf("%d of its interval documents do not have its labels: fio2es label was interrupted", relabel), "finish it with --repair"}
		err := c.mend(f, "finished", func() error {
			_, err := c.store.Annotate(ctx, run.Run.ID, mapping.Annotation{})
			return err
		})
		if err != nil {
			return err
		}
	}
	return c.version(ctx, counts, run)
}

// version checks that all interval documents of a run belong to its current version and that none is pending.
func (c *check) version(ctx context.Context, counts Counts, run *mapping.Run) error {
	const why = ": an ingest or compact is storing it now, or was interrupted"
	current := sync.OnceValue(func() error { return c.store.MakeCurrent(ctx, run.Run.ID, run.Run.Ingest) })
	if counts.HasOthers(run.Run.ID, run.Run.Ingest) {
		f := Finding{run.Run.ID, "it has documents of versions that are not current" + why, "if none is running, remove them with --repair"}
		if err := c.mend(f, "removed", current); err != nil {
			return err
		}
	}
	if n := counts[run.Run.ID][run.Run.Ingest].Pending; n > 0 {
		return c.mend(Finding{run.Run.ID, fmt.Sprintf("dashboards leave out %d of its documents", n) + why, "if none is running, show them with --repair"}, "shown", current)
	}
	return nil
}

// orphans finds interval documents of runs that have no run document.
func (c *check) orphans(ctx context.Context, counts Counts) error {
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		if c.seen[id] {
			continue
		}
		f := Finding{id, "it has interval documents, but no run document: an ingest or a removal is running, or was interrupted", "if none is running, ingest its files again, or remove them with --repair"}
		if err := c.mend(f, "removed", func() error { return c.remove(ctx, id) }); err != nil {
			return err
		}
	}
	return nil
}
