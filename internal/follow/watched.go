package follow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// watched is what is known of a run between two looks.
type watched struct {
	listing uint64    // hash of its files' names, sizes and times
	since   time.Time // since when they are so
	stored  uint64    // listing when the run was stored
	tried   uint64    // listing when the run could not be followed
	session *session  // that follows it; nil without
	id      string    // in the history; empty before it was stored
	files   []string  // names of its logs and reports
}

// mayBeLive reports whether a run may be live, by the names of its files: reports grow while fio
// runs, histogram logs come at the end.
func mayBeLive(run *cbt.Run) bool { return len(run.Reports) > 0 && len(run.Logs) == 0 }

// see notes what a run's files are like. Files that were quiet when they are seen first need not be
// waited for.
func (f *follower) see(place string, run *cbt.Run, now time.Time) *watched {
	listing, changed := xxhash.New(), time.Time{}
	for _, file := range run.Files() {
		fmt.Fprintf(listing, "%q %d %d\n", file.Path, file.Size, file.ModTime.UnixNano())
		if file.ModTime.After(changed) {
			changed = file.ModTime
		}
	}
	sum := listing.Sum64()
	w := f.watched[place]
	switch {
	case w == nil:
		w = &watched{listing: sum, since: now}
		if age := now.Sub(changed); !changed.IsZero() && age > f.Quiet {
			w.since = changed
		}
		f.watched[place] = w
		f.changed = now
	case w.listing != sum:
		w.listing, w.since = sum, now
		f.changed = now
	}
	w.files = namesOf(run)
	return w
}

// namesOf are the names of a run's logs and reports. Runs share their configuration, so that says
// nothing of a run.
func namesOf(run *cbt.Run) (names []string) {
	for _, l := range slices.Concat(run.Logs, run.Others) {
		names = append(names, l.File.Name())
	}
	for _, r := range run.Reports {
		names = append(names, r.File.Name())
	}
	return names
}

// clear forgets runs that are not found any more. If all files of such a run are part of others, since
// the logs that came at the end have another name, it is removed from the history when the others are
// stored: else its requests would count twice. If some of its files are gone, it stays.
func (f *follower) clear(ctx context.Context, found map[string]*cbt.Run) error {
	for place, w := range f.watched {
		if found[place] != nil {
			continue
		}
		if w.session != nil {
			w.session.stop()
			if err := f.collect(w); err != nil {
				return err
			}
			if w.session != nil {
				continue
			}
		}
		others := successors(w.files, found)
		waits := func(place string) bool { return f.watched[place].stored != f.watched[place].listing }
		if slices.ContainsFunc(others, waits) {
			continue
		}
		delete(f.watched, place)
		isSame := func(place string) bool { id := f.watched[place].id; return id == "" || id == w.id }
		if w.id == "" || len(others) == 0 || slices.ContainsFunc(others, isSame) {
			continue
		}
		if err := f.remove(ctx, w.id, others[0]); err != nil {
			return err
		}
	}
	return nil
}

// successors are the places of the runs that have all of some files among them, or none.
func successors(files []string, found map[string]*cbt.Run) (places []string) {
	left := slices.Clone(files)
	for _, place := range slices.Sorted(maps.Keys(found)) {
		names := namesOf(found[place])
		if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(files, name) }) {
			places = append(places, place)
			left = slices.DeleteFunc(left, func(name string) bool { return slices.Contains(names, name) })
		}
	}
	if len(left) > 0 {
		return nil
	}
	return places
}

// remove removes a run that is part of the one at a place now.
func (f *follower) remove(ctx context.Context, id, place string) error {
	run, err := f.to.Store.Run(ctx, id)
	if errors.Is(err, history.ErrNotFound) || errors.Is(err, history.ErrNoIndex) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := f.to.Store.Delete(ctx, id); err != nil {
		return err
	}
	f.Ingest.Log.Info("note: " + facts.Title(run) + " is part of " + place + " now: removed")
	return nil
}
