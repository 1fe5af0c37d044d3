package pipeline

import (
	"context"
	"encoding/hex"
	"io"
	"path"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/plan"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Execution is a run by its files, before documents are made.
type Execution struct {
	Source mapping.Source
	Run    mapping.RunRef // with a new ID that no store has
	Path   string         // of the run in its archive

	// Restore makes Ingest store the same version again, because documents of the stored version are missing. [Known]
	// sets it.
	Restore bool

	// Grows means that a report has several parts, which fio writes one after another. So an earlier ingest may have
	// read the file before it was complete.
	Grows bool

	// Taken is what users said about removed runs that are this run, in the order of their ids. [Known] sets it, so that the
	// run is stored with it, and an interruption loses nothing.
	Taken []mapping.Annotation

	edited  map[string]string // labels and note that users gave the stored run: every version keeps them
	note    string
	reports []*source.File
}

// Known looks an execution up in a store, before anything is stored. It returns the id of the run and its stored
// version. If the store does not have the run, the id is the new one and have is nil. An error ends the ingest of this
// run.
type Known func(ctx context.Context, e *Execution) (id string, have *mapping.Run, err error)

// execution reads the contents of a run's files.
func execution(ctx context.Context, p *input) (*Execution, error) {
	src, err := p.fingerprint(ctx)
	if err != nil {
		return nil, err
	}
	e := &Execution{Source: src, Run: p.reference(), Path: p.Run.Path}
	e.Run.ID = mapping.RunID(&src)
	if p.isPart() {
		e.Run.ID = mapping.PartID(&src)
	}
	for _, o := range p.Outputs {
		e.Grows = e.Grows || o.Reports() > 1
		e.reports = append(e.reports, o.File)
	}
	return e, nil
}

// Look returns the execution by its reports, or without reports by its logs. A store can find the run by these, and
// Look reads much less than [Ingest].
func Look(ctx context.Context, run *cbt.Run, opt Options) (*Execution, error) {
	outputs := outputReader{run, false, &Problems{}}.all(ctx)
	p := &input{Plan: &plan.Plan{Run: run, Outputs: outputs}, opt: opt, files: &files{}}
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
	return execution(ctx, p)
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

// HasGrownFrom reports whether each report of an earlier source is the beginning of a report
// of this execution, or all of it. It reads these parts of the reports again.
func (e *Execution) HasGrownFrom(before *mapping.Source) bool {
	reports := before.Reports()
	for _, f := range reports {
		begins := func(file *source.File) bool { return hashBeginning(file, f.Bytes) == f.Hash }
		if !slices.ContainsFunc(e.reports, begins) {
			return false
		}
	}
	return e.Grows && len(reports) > 0
}

// hashBeginning hashes the first bytes of a file. It returns "" if the file has fewer bytes.
func hashBeginning(f *source.File, bytes int64) string {
	in, err := f.Open()
	if err != nil {
		return ""
	}
	defer in.Close()
	sum := xxhash.New()
	if n, _ := copyAll(sum, io.LimitReader(in, bytes)); n != bytes {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}
