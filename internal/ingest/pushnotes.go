package ingest

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// pushNotes counts the runs that both histories have, by what was done with them, and describes the first of each
// kind.
type pushNotes struct {
	removed   int // removed from the other history
	compacted int // stored there in windows of another length
	better    noted
	worse     noted
	labelled  noted
}

// noted is a number of runs and a description of the first.
type noted struct {
	runs  int
	first string
}

func (n *noted) add(r *mapping.Run, format string, args ...any) {
	if n.runs++; n.runs == 1 {
		n.first = fmt.Sprintf("%s %s, ", facts.ShortID(r.Run.ID), facts.Title(r)) + fmt.Sprintf(format, args...)
	}
}

// kept counts a run that stays in the other history, in the same version or a better one.
func (n *pushNotes) kept(here, there, better *mapping.Run) {
	switch {
	case better != nil:
		n.better.add(here, "%s: there %s, here %s", reason(better, here), versionText(better), versionText(here))
	case here.Run.Ingest != there.Run.Ingest:
		n.compacted++
	}
}

// replaced counts a run that replaces another version. worse may be nil.
func (n *pushNotes) replaced(here, worse *mapping.Run) {
	if worse != nil {
		n.worse.add(here, "%s: there %s, here %s", reason(here, worse), versionText(worse), versionText(here))
	}
}

// reason says why one version is better than another, as [mapping.Best] decides.
func reason(better, worse *mapping.Run) string {
	switch {
	case worse.Run.Live() && !better.Run.Live():
		return "read after fio had ended"
	case better.Source.Contains(&worse.Source) && !worse.Source.Contains(&better.Source):
		return "with all files of the other and more"
	case better.Run.Complete && !worse.Run.Complete:
		return "complete"
	case len(better.Source.List) > len(worse.Source.List):
		return "of more files"
	case better.Ingested.After(worse.Ingested):
		return "stored later"
	}
	return "as good as the other"
}

// versionText describes a version of a run, for comparing it with another one.
func versionText(r *mapping.Run) string {
	text := fmt.Sprintf("stored %s, %s", r.Ingested.UTC().Format("2006-01-02 15:04:05"), unit.Plural(len(r.Source.List), "file"))
	if r.IntervalMS > 0 {
		text += fmt.Sprintf(", windows of %v", time.Duration(r.IntervalMS)*time.Millisecond)
	}
	if !r.Run.Complete {
		text += ", incomplete"
	}
	return text
}

// labels counts a run whose labels or notes differ between the two histories.
func (n *pushNotes) labels(here, there *mapping.Run) {
	for _, name := range slices.Sorted(maps.Keys(here.Run.Edited)) {
		_, isEdited := there.Run.Edited[name]
		if a, b := here.Run.Labels[name], there.Run.Labels[name]; isEdited && a != b {
			n.labelled.add(here, "%s is %s there, and %s here", name, cmp.Or(b, "removed"), cmp.Or(a, "removed"))
			return
		}
	}
	if a, b := here.Run.Note, there.Run.Note; a != "" && b != "" && a != b {
		n.labelled.add(here, "its note there is %.60q, and here %.60q", b, a)
	}
}

func (n *pushNotes) log(log *slog.Logger) {
	LogRemoved(log, n.removed)
	say := func(runs int, first, text string) {
		if runs > 0 {
			log.Info(fmt.Sprintf("note: %s %s%s", unit.Plural(runs, "run"), text, first))
		}
	}
	say(n.compacted, "", "kept there in windows of another length, because one of the histories was compacted")
	say(n.better.runs, n.better.first, "kept there, because that version is better; the first is ")
	say(n.worse.runs, n.worse.first, "replaced there, because the version from here is better; the first is ")
	say(n.labelled.runs, n.labelled.first, "with other labels or another note there, which stay; the first is ")
}
