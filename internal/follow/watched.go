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
	listing uint64    // hash of the names, sizes and times of its files
	since   time.Time // since when listing is the same
	stored  uint64    // listing when the run was stored
	tried   uint64    // listing when following the run failed
	session *session  // nil if the run is not followed
	id      string    // id in the history; empty before the run is stored
	files   []string  // names of its logs and reports
}

// mayBeLive reports whether a run may be live, by its files. Reports grow while fio runs; histogram logs are written
// at the end.
func mayBeLive(run *cbt.Run) bool { return len(run.Reports) > 0 && len(run.Logs) == 0 }

// see records the state of a run's files. If they have been quiet for long enough when they are first seen, the run
// counts as over at once.
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

// namesOf returns the names of a run's logs and reports. The configuration is not among them, because several runs
// share it.
func namesOf(run *cbt.Run) (names []string) {
	for _, l := range slices.Concat(run.Logs, run.Others) {
		names = append(names, l.File.Name())
	}
	for _, r := range run.Reports {
		names = append(names, r.File.Name())
	}
	return names
}

// clear forgets runs that are no longer found. The files of such a run may now be parts of other runs, because the
// logs at the end had another name. If all are, the run is removed from the history when the others are stored:
// otherwise its requests would count twice. If some of its files are gone, the run stays in the history.
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

// successors returns the places of the runs that together have all these files. It returns none if a file is
// missing.
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

// remove removes a run whose files are now part of the run at place.
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
