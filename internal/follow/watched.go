package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// mayBeLive reports whether a run may be live, by the names of its files: reports grow while fio
// runs, histogram logs come at the end.
func mayBeLive(run *cbt.Run) bool { return len(run.Reports) > 0 && len(run.Logs) == 0 }

// see notes what a run's files are like. Files that were quiet when they are seen first need not be
// waited for.
func (f *follower) see(place string, run *cbt.Run, now time.Time) *watched {
	looks, changed, files := xxhash.New(), time.Time{}, namesOf(run)
	for _, file := range run.Files() {
		fmt.Fprintf(looks, "%q %d %d\n", file.Path, file.Size, file.ModTime.UnixNano())
		if file.ModTime.After(changed) {
			changed = file.ModTime
		}
	}
	sum := looks.Sum64()
	w := f.watched[place]
	switch {
	case w == nil:
		w = &watched{looks: sum, since: now}
		if age := now.Sub(changed); !changed.IsZero() && age > f.Quiet {
			w.since = changed
		}
		f.watched[place] = w
		f.changed = now
	case w.looks != sum:
		w.looks, w.since = sum, now
		f.changed = now
	}
	w.files = files
	return w
}

// namesOf are the names of a run's files.
func namesOf(run *cbt.Run) (names []string) {
	for _, file := range run.Files() {
		names = append(names, file.Name())
	}
	return names
}

// clear forgets runs that are not found any more. Their files may be part of another run now: the
// logs that came at the end have another name. Then what was stored of the old run is removed when
// the new one is stored, unless both are the same run of the history: requests would count twice.
// If the files are gone, what was stored stays.
func (f *follower) clear(ctx context.Context, found map[string]*cbt.Run) error {
	for place, w := range f.watched {
		if found[place] != nil {
			continue
		}
		if w.session != nil {
			w.session.stop()
			if err := w.collect(f.Log); err != nil || w.session != nil {
				return err
			}
		}
		heir := heirOf(w.files, found)
		if heir != nil && !f.isStored(heir) {
			continue
		}
		delete(f.watched, place)
		if heir == nil || w.id == "" {
			continue
		}
		if id := f.watched[f.placeOf(heir)].id; id == "" || id == w.id {
			continue
		}
		if err := f.remove(ctx, w.id, f.ArchiveOf(heir)+":"+heir.Name()); err != nil {
			return err
		}
	}
	return nil
}

// isStored reports whether a run is in the history as it is.
func (f *follower) isStored(run *cbt.Run) bool {
	w := f.watched[f.placeOf(run)]
	return w != nil && w.stored == w.looks
}

// heirOf is the run that has one of some files.
func heirOf(files []string, found map[string]*cbt.Run) *cbt.Run {
	for _, run := range found {
		if slices.ContainsFunc(namesOf(run), func(name string) bool { return slices.Contains(files, name) }) {
			return run
		}
	}
	return nil
}

// remove removes a run that is part of another one now.
func (f *follower) remove(ctx context.Context, id, heir string) error {
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
	f.Log.Info("note: " + facts.Title(run) + " is part of " + heir + " now: removed")
	return nil
}
