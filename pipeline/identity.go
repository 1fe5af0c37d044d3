package pipeline

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// Execution is one call of fio by its files, and one of its stages, before documents of it are made.
type Execution struct {
	ID     string // new, of the execution
	Source mapping.Source
	Path   string // in its archive

	// Stage is the number of the stage, from 1, and Stages how many there are. Both are 0 if that is not known yet.
	Stage, Stages int
	Run           mapping.RunRef // the stage as a run, with a new ID that no store has

	// Restore makes Ingest store the same version again, because documents of the stored version are missing. [Known]
	// sets it.
	Restore bool

	// Grows means that a report has several parts, which fio writes one after another. So an earlier ingest may have
	// read the file before it was complete.
	Grows bool

	// Taken is what users said about removed runs that are this run, in the order of their ids. [Known] sets it, so that the
	// run is stored with it, and an interruption loses nothing.
	Taken []mapping.Annotation

	edited map[string]string // labels and note that users gave the stored run: every version keeps them
	note   string
	says   map[string]bool // what each report says, as [mapping.SourceFile].Says
}

// Known looks an execution up in a store, before anything is stored. It returns the id of the run and its stored
// version. If the store does not have the run, the id is the new one and have is nil. An error ends the ingest of this
// run.
type Known func(ctx context.Context, e *Execution) (id string, have *mapping.Run, err error)

// Look returns the execution by its reports, or without reports by its logs. A store can find the run by these, and
// Look reads much less than [Ingest].
func Look(ctx context.Context, run *cbt.Run, opt Options) (*Execution, error) {
	p := &input{Plan: &plan.Plan{Run: run, Outputs: readOutputs(ctx, run, false, &problems{})}, opt: opt}
	p.all = []*plan.Plan{p.Plan}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, o := range p.Outputs {
		o.Entries = plan.NewEntries(o)
		for _, at := range plan.Place(o, o.Entries).Starts {
			p.Start = plan.Earlier(p.Start, at.Start)
		}
	}
	if len(p.Outputs) > 0 && !p.isPart() {
		without := *run
		without.Logs, p.Run = nil, &without
	}
	if len(p.Outputs)+len(run.Logs) == 0 {
		p.Averages = run.Others
	}
	e, err := p.execution(ctx)
	if err != nil {
		return nil, err
	}
	e.Run = p.reference()
	e.Run.ID = e.ID
	return e, nil
}

// isPart reports whether a report of the run also names prefixes of another run's logs. Then the report does not
// identify the run.
func (p *input) isPart() bool {
	prefixes := map[string]bool{}
	for _, l := range p.Run.Logs {
		prefixes[l.Prefix] = true
	}
	for _, o := range p.Outputs {
		mine, others := false, false
		for i := range o.Fio.Jobs {
			if prefix := o.Options(i).OptionOfOne("write_hist_log"); prefix != "" {
				mine = mine || prefixes[path.Base(prefix)]
				others = others || !prefixes[path.Base(prefix)]
			}
		}
		if mine && others {
			return true
		}
	}
	return false
}

// reference returns the fields of the run for its interval documents, without its id and version.
func (p *input) reference() mapping.RunRef {
	return mapping.RunRef{
		Name: p.NameIn(p.Run.Name()), Archive: p.opt.ArchiveOf(p.Run), Start: p.Start, Labels: labelsOf(nil, p.opt.Labels),
	}
}

// execution hashes the files that identify a run, and the files that its documents are made of. Histogram logs identify the
// run even if its rows come from other files. The hash of contents, roles and settings identifies one version of the run.
// Each document has it, so it must be known before the first document. The hash is XXH64, which is as fast as memory. It
// does not protect against forgery, and need not.
func (p *input) execution(ctx context.Context) (*Execution, error) {
	type part struct { // a file with its role; the path does not identify it
		file         *evidence.File
		role         string // such as mapping.RoleReport
		host, volume string
		job          int
	}
	byFile := map[*evidence.File]part{}
	add := func(role string, logs ...cbt.Log) {
		for _, l := range logs {
			byFile[l.File] = part{l.File, role, l.Host, l.Volume, l.Job}
		}
	}
	for _, stage := range p.all {
		for _, j := range stage.Jobs {
			if j.Log.Kind.IsHistogram() {
				add(mapping.RoleLog, j.Log.Log)
			} else {
				add(mapping.RoleRaw, j.Log.Log)
			}
		}
		add(mapping.RoleRaw, stage.Averages...)
	}
	add(mapping.RoleLog, p.Run.Logs...)
	e := &Execution{Path: p.Run.Path, says: map[string]bool{}}
	for _, o := range p.Outputs {
		role := mapping.RoleOther
		if len(o.Entries) > 0 {
			role = mapping.RoleReport
		}
		byFile[o.File] = part{o.File, role, o.Host, o.Volume, 0}
		for _, sum := range o.Says {
			e.says[saysText(sum)] = true
		}
		e.Grows = e.Grows || len(o.Says) > 1
	}
	for _, f := range []*evidence.File{p.Run.Config, p.Run.ArchiveConfig} {
		if f != nil {
			byFile[f] = part{file: f, role: mapping.RoleConfig}
		}
	}
	for _, l := range p.Run.Others { // an earlier ingest may have read it, because the histogram logs were not there yet
		if _, isRead := byFile[l.File]; !isRead && (l.Kind == fiolog.Clat || l.Kind == fiolog.Lat) {
			add(mapping.RoleUnread, l)
		}
	}
	parts := slices.SortedFunc(maps.Values(byFile), func(a, b part) int {
		return cmp.Or(cmp.Compare(a.file.Path, b.file.Path), cmp.Compare(a.file.Name(), b.file.Name()))
	})
	list, lines := make([]mapping.SourceFile, len(parts)), make([]string, len(parts)) // no line of unread files
	p.opt.each(len(parts), func(i int) {
		if ctx.Err() != nil {
			return
		}
		of, f := &parts[i], mapping.SourceFile{Path: parts[i].file.Path, Role: parts[i].role}
		if f.Bytes = of.file.Size; f.Role != mapping.RoleUnread || f.Bytes < 0 {
			d := of.file.Digest()
			f.Bytes, f.Hash = d.Size, d.Hash
		}
		switch f.Role {
		case mapping.RoleLog, mapping.RoleRaw, mapping.RoleUnread:
			f.Begin = of.file.Beginning().Begin
		case mapping.RoleReport, mapping.RoleOther:
			f.Begin, f.Says = p.identityOf(of.file)
		}
		if list[i] = f; f.Role != mapping.RoleUnread {
			lines[i] = fmt.Sprintf("%s %q %q %d %d %s\n", of.role, of.host, of.volume, of.job, f.Bytes, f.Hash)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e.Source = mapping.Source{List: list}
	for i := range list {
		if list[i].Role != mapping.RoleUnread {
			e.Source.Files, e.Source.Bytes = e.Source.Files+1, e.Source.Bytes+list[i].Bytes
		}
	}
	if p.Run.MayLackFiles() {
		lines = append(lines, "torn\n") // a complete archive may later have the same files of the run
	}
	slices.Sort(lines)
	sum := xxhash.New()
	for _, line := range lines {
		fmt.Fprint(sum, line)
	}
	e.Source.Hash = hex.EncodeToString(sum.Sum(nil))
	if e.ID = mapping.RunID(&e.Source); p.isPart() {
		e.ID = mapping.PartID(&e.Source)
	}
	return e, nil
}

// identityOf returns Begin and Says of a file of reports, as [mapping.SourceFile] has them.
func (p *input) identityOf(f *evidence.File) (begin, says string) {
	const short = 1000 // milliseconds
	numbers, ran, mayBeChance, hasTime, hasBins, format := "", int64(0), false, true, false, ""
	for _, o := range p.Outputs { // several of a file in which several calls of fio were joined
		if o.File != f {
			continue
		}
		if numbers += o.Fio.Numbers(); o.Fio.Format != fiolog.JSON {
			format = o.Fio.Format.String()
		}
		says += saysText(o.Says[len(o.Says)-1])
		hasTime, hasBins = hasTime && o.Fio.Timestamp > 0, hasBins || o.HasBins
		for i := range o.Fio.Jobs {
			j := &o.Fio.Jobs[i]
			ran, mayBeChance = max(ran, j.Runtime), mayBeChance || j.Requests() > 0 && j.Switches == 0
		}
	}
	if len(says) > len(saysText(0)) {
		says = saysText(xxhash.Sum64String(says))
	}
	if hasBins {
		format = mapping.FormatJSONPlus
	}
	if mayBeChance = mayBeChance || ran < short; mayBeChance && !hasTime {
		says = ""
	}
	if begin = format + "-"; !mayBeChance {
		begin += saysText(xxhash.Sum64String(numbers))
	}
	return begin, says
}

func saysText(sum uint64) string { return fmt.Sprintf("%016x", sum) }

// HasGrownFrom reports whether each report of an earlier source is one of those that fio wrote one after another here.
func (e *Execution) HasGrownFrom(before *mapping.Source) bool {
	reports := before.Reports()
	return e.Grows && len(reports) > 0 && !slices.ContainsFunc(reports, func(f mapping.SourceFile) bool { return !e.says[f.Says] })
}

// identify finds out which run the stage of an execution is, and which version of it. have is the stored version, or nil. It
// has no other effects, except that the later stages of the execution get its id.
func (p *input) identify(ctx context.Context, of *Execution, known Known) (e *Execution, have *mapping.Run, err error) {
	one := *of
	e = &one
	e.Source.List = slices.Clone(of.Source.List)
	e.Run, e.Stage, e.Stages = p.reference(), p.Stage, p.Stages
	e.Run.ID = mapping.StageID(e.ID, e.Stage, e.Stages)
	if known != nil {
		if e.Run.ID, have, err = known(ctx, e); err != nil {
			return nil, nil, err
		}
	}
	switch { // an execution that is found by a part of its files keeps its id
	case have != nil && have.Run.ID == e.Run.ID && have.Run.Execution != "":
		e.ID = have.Run.Execution
	case e.Stages <= 1:
		e.ID = e.Run.ID
	}
	of.ID = e.ID // the next stage is of the same execution
	e.Run.Labels = labelsOf(have, p.opt.Labels)
	// The id of a version is of what its documents are made of. Paths and names are no part of it, except the settings in
	// them.
	sum := xxhash.New()
	fmt.Fprintf(sum, "%s\n%s\n%s\n", e.Source.Hash, p.opt.settings(), settingsText(p.Settings()))
	for _, k := range slices.Sorted(maps.Keys(e.Run.Labels)) {
		fmt.Fprintf(sum, " %q=%q", k, e.Run.Labels[k])
	}
	e.Run.Ingest = hex.EncodeToString(sum.Sum(nil))
	// What people said about the stored run, and about removed ones, comes on top.
	run := mapping.RunInfo{Labels: e.Run.Labels}
	if have != nil {
		run.Annotate(have.Run.Annotation())
	}
	for _, a := range e.Taken {
		a.Weak = true
		run.Annotate(a)
	}
	e.Run.Labels, e.Run.Edit, e.edited, e.note = run.Labels, run.Edit(), run.Edited, run.Note
	return e, have, nil
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

// settingsText are settings as ids of versions have them. Another form would store all runs again.
func settingsText(c mapping.CBT) string {
	iteration := 0
	if c.Iteration != nil {
		iteration = *c.Iteration
	}
	c.Iteration = nil
	return strings.TrimSuffix(fmt.Sprintf("%+v", c), "<nil>}") + strconv.Itoa(iteration) + "}"
}

// short returns the part of an id that is shown to people.
func short(id string) string { return id[:min(len(id), 8)] }

// compare returns the result if the stored version of a run is kept, or nil if this one
// replaces it.
func (p *input) compare(e *Execution, have *mapping.Run) *Result {
	place := fmt.Sprintf("%s %s:%s", short(have.Run.ID), have.Run.Archive, have.Run.Name)
	mine, theirs := &e.Source, &have.Source
	kept := &Result{Run: have, Unchanged: true}
	isWhole := !e.Restore && theirs.Contains(mine)     // a file that changed while it was read has no hash there
	if have.Run.Reading() == e.Run.Ingest && isWhole { // also after fio2es compact
		if have.Run.Archive != e.Run.Archive || have.Run.Path != e.Path {
			kept.Notes = []error{fmt.Errorf("%s: already there as %s", p.Title, place)}
		}
		return kept
	}
	if have.Run.Live() {
		return nil
	}
	missing := theirs.MissingFrom(mine)
	for i := range missing { // a cut copy never replaces a whole log
		if mine.HasPartOf(&missing[i]) {
			kept.Skipped = []error{fmt.Errorf("%s: not stored: its %s was cut: run %s has more of it, "+
				"and stays; copy the log again, or replace that run with --force", p.Title, missing[i].Path, place)}
			return kept
		}
	}
	if why := p.lacks(e, have); why != "" {
		kept.Notes = []error{fmt.Errorf("%s: already there as %s, which has %s; --force stores this one instead", p.Title, place, why)}
		if !maps.Equal(have.Run.GivenLabels(), labelsOf(have, p.opt.Labels)) {
			kept.Skipped = []error{fmt.Errorf("%s: the labels of run %s were not changed: "+
				"give them with the path that has all of the run", p.Title, short(have.Run.ID))}
		}
		return kept
	}
	// Logs may differ if all reports are here: then they were copied again.
	isNoLog := func(f mapping.SourceFile) bool { return f.Role != mapping.RoleLog }
	isAgain := mine.SharesReport(theirs) && !slices.ContainsFunc(missing, isNoLog) && mine.Count(mapping.RoleLog) >= theirs.Count(mapping.RoleLog)
	if len(missing) == 0 || isAgain || e.HasGrownFrom(theirs) {
		return nil
	}
	return &Result{Because: have, Skipped: []error{fmt.Errorf("%s: not stored: it shares files with run %s, but "+
		"lacks some of its files, such as %s; "+
		"name a folder with all files of one run and no others, or replace that run with --force", p.Title, place, missing[0].Path)}}
}

// lacks returns what this version lacks of the stored one, if there is no other difference. Otherwise it returns "".
func (p *input) lacks(e *Execution, have *mapping.Run) string {
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
	case p.Run.MayLackFiles() && have.Run.Complete:
		return "all of its files"
	case named(have.Hosts) > named(p.Hosts()):
		return "the names of its hosts"
	case set(have.CBT) > set(p.Settings()):
		return "more of its settings"
	}
	return ""
}
