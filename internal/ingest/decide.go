package ingest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// Decision says what becomes of a run, before its rows are read.
type Decision struct {
	Act            Act
	Run            mapping.RunInfo // as it is stored: with its ids, version, labels and note
	Skipped, Notes []error         // as in [pipeline.Result]
}

// Act is what becomes of a run.
type Act int

// The acts.
const (
	Store    Act = iota // it is new, or replaces what is there
	Keep                // it is there already, or more of it
	Refuse              // a part of it is there, which it would replace by less, or cannot replace
	LeaveOut            // people removed it
)

// Decide says what becomes of a run by what the history has of it.
func Decide(e *pipeline.Execution, found *Found, opt *Options) Decision {
	d, have := Decision{Run: found.Reference(e, &opt.Pipeline)}, found.Have
	switch {
	case len(found.Removed) > 0 && !opt.Restore:
		d.Act = LeaveOut
	case have == nil:
	case found.InFile && !have.Source.Contains(&e.Source):
		d.Act = Refuse
		d.Skipped = []error{fmt.Errorf("%s:%s is not written, because it shares files with %s, which was written before: "+
			"name only the folder that has all of them", e.Run.Archive, e.Run.Name, facts.Title(have))}
	case !opt.Pipeline.Force:
		d.compare(e, found, &opt.Pipeline)
	}
	return d
}

// Reference returns the run as it is stored, with what people said about the run that was found and about removed ones.
func (f *Found) Reference(e *pipeline.Execution, opt *pipeline.Options) mapping.RunInfo {
	run, given := e.Run, map[string]string(nil)
	run.ID = f.ID
	if f.Have != nil {
		given = f.Have.Run.GivenLabels()
	}
	switch { // an execution that is found by a part of its files keeps its id
	case f.Have != nil && f.Have.Run.ID == f.ID && f.Have.Run.Execution != "":
		run.Execution = f.Have.Run.Execution
	case run.Stages <= 1:
		run.Execution = run.ID
	}
	run.Labels = opt.LabelsOver(given)
	run.Ingest = e.Version(run.Labels)
	if f.Have != nil {
		run.Annotate(f.Have.Run.Annotation())
	}
	for _, r := range f.Removed {
		a := r.Annotation()
		a.Weak = true
		run.Annotate(a)
	}
	return run
}

// compare decides between the run that was found and this one.
func (d *Decision) compare(e *pipeline.Execution, found *Found, opt *pipeline.Options) {
	have, id := found.Have, facts.ShortID(found.Have.Run.ID)
	place := id + " " + strings.TrimPrefix(have.Run.Archive+":"+have.Run.Name, ":")
	mine, theirs := &e.Source, &have.Source
	isWhole := !found.Lacking && theirs.Contains(mine) // a file that changed while it was read has no hash there
	if have.Run.Reading() == d.Run.Ingest && isWhole { // also after fio2es compact
		if d.Act = Keep; have.Run.Archive != e.Run.Archive || have.Run.Path != e.Run.Path {
			d.Notes = []error{fmt.Errorf("%s: already there as %s", e.Title, place)}
		}
		return
	}
	if have.Run.Live() && !have.Run.IsShared() { // a shared run may have the requests of other hosts
		return
	}
	missing := theirs.MissingFrom(mine)
	for i := range missing { // a cut copy never replaces a whole log
		if mine.HasPartOf(&missing[i]) {
			d.Act = Keep
			d.Skipped = []error{fmt.Errorf("%s: not stored: its %s was cut: run %s has more of it, "+
				"and stays; copy the log again, or replace that run with --force", e.Title, missing[i].Path, place)}
			return
		}
	}
	if why := lacks(e, have); why != "" {
		d.Act = Keep
		d.Notes = []error{fmt.Errorf("%s: already there as %s, which has %s; --force stores this one instead", e.Title, place, why)}
		if given := have.Run.GivenLabels(); !maps.Equal(given, opt.LabelsOver(given)) {
			d.Skipped = []error{fmt.Errorf("%s: the labels of run %s were not changed: "+
				"give them with the path that has all of the run", e.Title, id)}
		}
		return
	}
	// Logs may differ if all reports are here: then they were copied again.
	isNoLog := func(f mapping.SourceFile) bool { return f.Role != mapping.RoleLog }
	isAgain := mine.SharesReport(theirs) && !slices.ContainsFunc(missing, isNoLog) && mine.Count(mapping.RoleLog) >= theirs.Count(mapping.RoleLog)
	if len(missing) > 0 && !isAgain && !e.HasGrownFrom(theirs) {
		d.Act = Refuse
		d.Skipped = []error{fmt.Errorf("%s: not stored: it shares files with run %s, but "+
			"lacks some of its files, such as %s; "+
			"name a folder with all files of one run and no others, or replace that run with --force", e.Title, place, missing[0].Path)}
	}
}

// lacks returns what this version lacks of the stored one, if there is no other difference. Otherwise it returns "".
func lacks(e *pipeline.Execution, have *mapping.Run) string {
	mine, theirs := &e.Source, &have.Source
	logs := func(s *mapping.Source) int { return s.Count(mapping.RoleLog) + s.Count(mapping.RoleRaw) }
	named := func(hosts []mapping.RunHost) (n int) {
		for _, h := range hosts {
			if h.Name != "" {
				n++
			}
		}
		return n
	}
	set := func(c mapping.CBT) (n int) {
		if c.TotalIODepth > 0 { // an earlier fio2es stored the depth of volumes beside it
			c.IODepth = 0
		}
		v := reflect.ValueOf(c)
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				n++
			}
		}
		return n
	}
	switch {
	case !theirs.Contains(mine):
	case !mine.Contains(theirs):
		return "more files"
	case theirs.IsMoreExact(mine):
		return "a more exact report of fio"
	case logs(theirs) > 0 && logs(mine) == 0 && !e.Grows:
		return "its logs"
	case theirs.Count(mapping.RoleConfig) > mine.Count(mapping.RoleConfig):
		return "more of its configuration"
	case e.MayLackFiles && have.Run.Complete:
		return "all of its files"
	case named(have.Hosts) > named(e.Hosts):
		return "the names of its hosts"
	case set(have.CBT) > set(e.Settings):
		return "more of its settings"
	}
	return ""
}
