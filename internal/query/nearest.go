package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// mostNear is how many similar runs a message lists.
const mostNear = 3

// noRun returns the error of an id that no run has. It says how many runs there are, and lists similar ids, names
// and labels.
func noRun(ctx context.Context, store history.Store, text string, err error) error {
	if IsWord(text) {
		return err // it has the details already
	}
	n, near, failed := nearRuns(ctx, store, text)
	switch {
	case failed != nil:
		return fmt.Errorf("%s: %w; fio2es runs lists all runs", text, err)
	case n == 0:
		return fmt.Errorf("%s: %w; there are no runs yet: store some with fio2es ingest PATH", text, err)
	}
	message := fmt.Sprintf("%s: no such run in the history, which has %s: fio2es runs lists them", text, unit.Plural(n, "run"))
	switch {
	case len(near) > 0:
		message += "; nearest: " + strings.Join(near, ", ")
	case strings.HasPrefix(text, "la") || strings.HasPrefix(text, "same"):
		message += "; a run is " + SelectorsHelp
	}
	return absent(message)
}

// nearRuns counts the runs of a history, and lists those that the user may have meant: their id begins with at least
// the first three characters of text, or their name or a label contains it.
func nearRuns(ctx context.Context, store history.Store, text string) (n int, near []string, err error) {
	type candidate struct {
		run  *mapping.Run
		same int // characters that agree
	}
	var found []candidate
	has := history.RunFilter{Text: text}
	for run, err := range history.Readable(store.Runs(ctx, history.RunFilter{Light: true, Brief: true}), nil) {
		if err != nil {
			return 0, nil, err
		}
		n++
		same := 0
		for same < min(len(text), len(run.Run.ID)) && text[same] == run.Run.ID[same] {
			same++
		}
		if has.Matches(run) {
			same = len(text)
		}
		if same >= 3 {
			found = append(found, candidate{run, same})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.same, a.same) })
	for _, c := range found[:min(len(found), mostNear)] {
		near = append(near, fmt.Sprintf("%s (%s)", facts.ShortID(c.run.Run.ID), facts.Title(c.run)))
	}
	return n, near, nil
}

// absent is a [history.ErrNotFound] with another text.
type absent string

// Error implements error.
func (a absent) Error() string { return string(a) }

// Is makes errors.Is find [history.ErrNotFound].
func (a absent) Is(target error) bool { return target == history.ErrNotFound }

// noMatch returns the error of an empty list: how many runs there are, and how many meet each part of the filter.
func (w *Watched) noMatch(ctx context.Context, store history.Store, message string) error {
	c, err := w.read(ctx, store)
	switch {
	case err != nil:
		return errors.Join(absent(message), err)
	case c.runs == 0:
		return absent("no runs in the history yet: store some with fio2es ingest PATH")
	}
	var texts []string
	for i, r := range c.rows() {
		separator := " "
		if i > 0 && len(c.parts.list) > 0 {
			separator = ": "
		}
		texts = append(texts, r.name+separator+r.text)
	}
	return absent(fmt.Sprintf("%s; the history has %s: %s", message, unit.Plural(c.runs, "run"), strings.Join(texts, "; ")))
}
