package pipeline

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// Execution is a stage of a call of fio by its files, before documents of it are made. A store can find it by these.
type Execution struct {
	// Run is the stage as a run that no store has: its ids and its version follow from the files and the options. Its number
	// and that of all stages are 0 if they are not known yet.
	Run    mapping.RunInfo
	Source mapping.Source

	Title        string // for messages
	Hosts        []mapping.RunHost
	Settings     mapping.CBT
	MayLackFiles bool // its archive is damaged or could not be read whole

	// Grows means that a report has several parts, which fio writes one after another. So an earlier ingest may have
	// read the file before it was complete.
	Grows bool
	Says  map[string]bool // what each report says, and said when it was shorter, as [mapping.SourceFile].Says

	options string // those that change documents
}

// Look returns the execution by its reports, or without reports by its logs. A store can find the run by these, and
// Look reads much less than [Stages].
func Look(ctx context.Context, run *assign.Run, opt Options) (*Execution, error) {
	p := &input{plan: &plan.Plan{Run: run, Outputs: readOutputs(ctx, run, false, &problems{})}, opt: opt}
	p.all = []*plan.Plan{p.plan}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, o := range p.plan.Outputs {
		o.Entries = assign.NewEntries(o)
		for _, at := range plan.Place(o, o.Entries).Starts {
			p.plan.Start = evidence.Earlier(p.plan.Start, at.Start)
		}
	}
	if len(p.plan.Outputs) > 0 && !p.isPart() {
		without := *run
		without.Logs, p.plan.Run = nil, &without
	}
	if len(p.plan.Outputs)+len(run.Logs) == 0 {
		p.plan.Averages = run.Others
	}
	e, err := p.execution(ctx)
	if err != nil {
		return nil, err
	}
	e.of(p)
	return e, nil
}

// of makes the execution be that of a stage.
func (e *Execution) of(p *input) {
	id := e.Run.Execution
	e.Run, e.Title, e.Hosts, e.Settings, e.MayLackFiles = p.reference(), p.plan.Title, p.plan.Hosts(), p.plan.Settings(), p.plan.Run.MayLackFiles()
	e.SetID(id)
	e.options = p.opt.settings()
	e.Run.Ingest = e.Version(e.Run.Labels)
}

// SetID sets the id of the whole call of fio, such as that of the stages before, unless it is "".
func (e *Execution) SetID(id string) {
	if id != "" {
		e.Run.Execution, e.Run.ID = id, mapping.StageID(id, e.Run.Stage, e.Run.Stages)
	}
}

// Version returns the id of the version of the run that has some labels from its ingest. It is of what the documents are made
// of. Paths and names are no part of it, except the settings in them.
func (e *Execution) Version(labels map[string]string) string {
	sum := xxhash.New()
	fmt.Fprintf(sum, "%s\n%s\n%s\n", e.Source.Hash, e.options, settingsText(e.Settings))
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(sum, " %q=%q", k, labels[k])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// isPart reports whether a report of the run also names prefixes of another run's logs. Then the report does not
// identify the run.
func (p *input) isPart() bool {
	prefixes := map[string]bool{}
	for _, l := range p.plan.Run.Logs {
		prefixes[l.Prefix] = true
	}
	for _, o := range p.plan.Outputs {
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

// reference returns what documents say of the run, without its ids and version.
func (p *input) reference() mapping.RunInfo {
	return mapping.RunInfo{
		Name: p.plan.NameIn(p.plan.Run.Name()), Archive: p.opt.ArchiveOf(p.plan.Run), Path: p.plan.Run.Path, Start: p.plan.Start,
		Labels: p.opt.LabelsOver(nil), Stage: p.plan.Stage, Stages: p.plan.Stages, StageName: p.plan.Name,
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
	add := func(role string, logs ...assign.Log) {
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
	add(mapping.RoleLog, p.plan.Run.Logs...)
	e := &Execution{Says: map[string]bool{}}
	for _, o := range p.plan.Outputs {
		role := mapping.RoleOther
		if len(o.Entries) > 0 {
			role = mapping.RoleReport
		}
		byFile[o.File] = part{o.File, role, o.Host, o.Volume, 0}
		for _, sum := range o.Says {
			e.Says[saysText(sum)] = true
		}
		e.Grows = e.Grows || len(o.Says) > 1
	}
	for _, f := range []*evidence.File{p.plan.Run.Config, p.plan.Run.ArchiveConfig} {
		if f != nil {
			byFile[f] = part{file: f, role: mapping.RoleConfig}
		}
	}
	for _, l := range p.plan.Run.Others { // an earlier ingest may have read it, because the histogram logs were not there yet
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
	if p.plan.Run.MayLackFiles() {
		lines = append(lines, "torn\n") // a complete archive may later have the same files of the run
	}
	slices.Sort(lines)
	sum := xxhash.New()
	for _, line := range lines {
		fmt.Fprint(sum, line)
	}
	e.Source.Hash = hex.EncodeToString(sum.Sum(nil))
	if e.Run.Execution = mapping.RunID(&e.Source); p.isPart() {
		e.Run.Execution = mapping.PartID(&e.Source)
	}
	return e, nil
}

// identityOf returns Begin and Says of a file of reports, as [mapping.SourceFile] has them.
func (p *input) identityOf(f *evidence.File) (begin, says string) {
	const short = 1000 // milliseconds
	numbers, ran, mayBeChance, hasTime, hasBins, format := "", int64(0), false, true, false, ""
	for _, o := range p.plan.Outputs { // several of a file in which several calls of fio were joined
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
	return e.Grows && len(reports) > 0 && !slices.ContainsFunc(reports, func(f mapping.SourceFile) bool { return !e.Says[f.Says] })
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
