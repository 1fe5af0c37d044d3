package pipeline

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/mapping"
)

// lookUp hashes the files of a run and looks the run up. have is nil if the store does not have it.
func lookUp(ctx context.Context, p *input, known Known) (e *Execution, have *mapping.Run, err error) {
	if e, err = execution(ctx, p); err == nil && known != nil {
		e.Run.ID, have, err = known(ctx, e)
	}
	return e, have, err
}

// identify finds out which run and which version this is. If it returns a result, there is
// nothing to store.
func identify(ctx context.Context, p *input, known Known) (*Execution, *Result, error) {
	e, have, err := lookUp(ctx, p, known)
	if err != nil {
		return nil, nil, err
	}
	e.Run.Labels = labelsOf(have, p.opt.Labels)
	e.Run.Ingest = p.ingestOf(e)
	e.keep(have)
	if have == nil || p.opt.Force {
		return e, nil, nil
	}
	return e, compare(p, e, have), nil
}

// identifyLive is identify for a run that is followed since a time. It hashes the files as they are now. It fails if the
// store has the complete run already.
func identifyLive(ctx context.Context, p *input, known Known, since time.Time) (*Execution, error) {
	e, have, err := lookUp(ctx, p, known)
	if err != nil {
		return nil, err
	}
	if have != nil && !have.Run.Live() && have.Source.Contains(&e.Source) {
		return nil, fmt.Errorf("%s: %w: already there as %s", p.Title(), ErrNotLive, short(have.Run.ID))
	}
	e.Run.Ingest, e.Run.Labels = mapping.LiveIngest(since), labelsOf(have, p.opt.Labels)
	e.keep(have)
	return e, nil
}

// keep adds to the labels of the ingest what people said about the stored run, and about removed ones.
func (e *Execution) keep(have *mapping.Run) {
	run := mapping.RunInfo{Labels: e.Run.Labels}
	if have != nil {
		run.Annotate(have.Run.Annotation())
	}
	for _, a := range e.Taken {
		a.Weak = true
		run.Annotate(a)
	}
	e.Run.Labels, e.Run.Edit, e.edited, e.note = run.Labels, run.Edit(), run.Edited, run.Note
}

// complete adds to a run's document what it was read from, and what people said about it.
func (e *Execution) complete(doc *mapping.Run) {
	doc.Source, doc.Run.Edited, doc.Run.Note = e.Source, e.edited, e.note
}

// ingestOf is the id of one version of the run, by what its documents are made of. Paths and
// names are no part of it, except the settings in them.
func (p *input) ingestOf(e *Execution) string {
	sum := xxhash.New()
	fmt.Fprintf(sum, "%s\n%s\n%+v\n", e.Source.Hash, p.opt.settings(), settingsText(p.Settings()))
	for _, k := range slices.Sorted(maps.Keys(e.Run.Labels)) {
		fmt.Fprintf(sum, " %q=%q", k, e.Run.Labels[k])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// settingsText are settings as ids of versions have them. Another form would store all runs again.
func settingsText(c mapping.CBT) string {
	iteration := 0
	if c.Iteration != nil {
		iteration = *c.Iteration
	}
	c.Iteration = nil
	return strings.TrimSuffix(fmt.Sprintf("%+v", c), "<nil>}") + strconv.Itoa(iteration) + "}"
}

// labelsOf merges the labels that a stored run, if any, has from its ingest with the given ones,
// which take precedence. A given label with an empty value removes that label.
func labelsOf(have *mapping.Run, given map[string]string) map[string]string {
	all := map[string]string{}
	if have != nil {
		maps.Copy(all, have.Run.GivenLabels())
	}
	maps.Copy(all, given)
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	if len(all) == 0 {
		return nil
	}
	return all
}

// compare returns the result if the stored version of a run is kept, or nil if this one
// replaces it.
func compare(p *input, e *Execution, have *mapping.Run) *Result {
	note := func(why string) *Result {
		text := fmt.Errorf("%s: already there as %s %s:%s%s",
			p.Title(), short(have.Run.ID), have.Run.Archive, have.Run.Name, why)
		return &Result{Run: have, Unchanged: true, Notes: []error{text}}
	}
	isWhole := !e.Restore && have.Source.Contains(&e.Source) // a file that changed while it was read has no hash there
	if have.Run.Reading() == e.Run.Ingest && isWhole {       // also after fio2es compact
		if have.Run.Archive == e.Run.Archive && have.Run.Path == e.Path {
			return &Result{Run: have, Unchanged: true}
		}
		return note("")
	}
	if have.Run.Live() {
		return nil
	}
	if log := cutFrom(e, have); log != nil {
		return &Result{Run: have, Unchanged: true, Skipped: []error{fmt.Errorf("%s: not stored: its %s was cut: run %s %s:%s has more of it, "+
			"and stays; copy the log again, or replace that run with --force", p.Title(), log.Path, short(have.Run.ID), have.Run.Archive, have.Run.Name)}}
	}
	if why := less(p, e, have); why != "" {
		kept := note(", which has " + why + "; --force stores this one instead")
		if !maps.Equal(have.Run.GivenLabels(), labelsOf(have, p.opt.Labels)) {
			kept.Skipped = append(kept.Skipped, fmt.Errorf("%s: the labels of run %s were not changed: "+
				"give them with the path that has all of the run", p.Title(), short(have.Run.ID)))
		}
		return kept
	}
	if missing := differs(e, have); len(missing) > 0 {
		return &Result{Because: have, Skipped: []error{fmt.Errorf("%s: not stored: it shares files with run %s %s:%s, but "+
			"lacks some of its files, such as %s; "+
			"name a folder with all files of one run and no others, or replace that run with --force",
			p.Title(), short(have.Run.ID), have.Run.Archive, have.Run.Name, missing[0].Path)}}
	}
	return nil
}

// short returns the part of an id that is shown to people.
func short(id string) string { return id[:min(len(id), 8)] }

// cutFrom returns a log of the stored version of which this one has only a part. A cut copy never replaces a whole log.
func cutFrom(e *Execution, have *mapping.Run) *mapping.SourceFile {
	for _, f := range have.Source.MissingFrom(&e.Source) {
		if e.Source.HasPartOf(&f) {
			return &f
		}
	}
	return nil
}

// less returns what this version lacks of the stored one, if there is no other difference. Otherwise it returns "".
func less(p *input, e *Execution, have *mapping.Run) string {
	mine, theirs := &e.Source, &have.Source
	if !theirs.Contains(mine) {
		return ""
	}
	logs := func(s *mapping.Source) int { return s.Count(mapping.RoleLog) + s.Count(mapping.RoleRaw) }
	switch {
	case !mine.Contains(theirs):
		return "more files"
	case logs(theirs) > 0 && logs(mine) == 0 && !e.Grows:
		return "its logs"
	case theirs.Count(mapping.RoleConfig) > mine.Count(mapping.RoleConfig):
		return "more of its configuration"
	case p.Run.MayLackFiles() && have.Run.Complete:
		return "all of its files"
	case named(have.Hosts) > named(p.Hosts()):
		return "the names of its hosts"
	case countSet(have.CBT) > countSet(p.Settings()):
		return "more of its settings"
	}
	return ""
}

// differs are files of the stored version that this one lacks, if neither has all files of
// the other. Logs may differ if all reports are here: then they were copied again.
func differs(e *Execution, have *mapping.Run) []mapping.SourceFile {
	mine, theirs := &e.Source, &have.Source
	missing := theirs.MissingFrom(mine)
	isNoLog := func(f mapping.SourceFile) bool { return f.Role != mapping.RoleLog }
	switch {
	case len(missing) == 0 || e.HasGrownFrom(theirs):
		return nil
	case mine.SharesReport(theirs) && !slices.ContainsFunc(missing, isNoLog) &&
		mine.Count(mapping.RoleLog) >= theirs.Count(mapping.RoleLog):
		return nil
	}
	return missing
}

func named(hosts []mapping.RunHost) (n int) {
	for _, h := range hosts {
		if h.Name != "" {
			n++
		}
	}
	return n
}

func countSet(c mapping.CBT) (n int) {
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			n++
		}
	}
	return n
}
