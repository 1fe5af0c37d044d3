package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/alike"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/source"
)

// runHelp is the part of a command's help that says how runs are named.
const runHelp = `an id or its beginning, latest, latest~1 (the one before), last:5 (the five newest),
same-as:RUN (all with its settings)`

// chooseHelp is the part of a command's help that explains its arguments.
const chooseHelp = `X is a path, as for ingest (nothing is stored), or a file of histograms that export or
another program wrote (fio2es export --help), or names runs in the history:
` + runHelp + `, execution:RUN or latest-execution (all stages of
one call of fio). Conditions such as bs=4k iodepth=1 (fio2es help
fields) limit what these choose from, as --where does. Alone, they choose all that match.`

func someRuns(cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed("where") {
		return nil
	}
	return arguments(1, many)(cmd, args)
}

// runReader is a command that reads runs, from paths or from the history.
type runReader struct {
	*env
	namesRuns bool // the answer has the ids of runs, so they need not be on stderr
	skips     bool // an error of one run does not end the answers for the others

	store    history.Store // nil until it is needed
	answered bool          // there is an answer for a run
	hasNoted bool          // see prepare
}

// answer is what a command does with the runs that it reads, one after another. chosen and close may be nil.
type answer struct {
	only   string                                       // why the answer is about one run, such as "an SVG file has one map"; empty: about any number
	chosen func(stored []*mapping.Run)                  // called first, with the runs of the history
	begin  func(run *query.Run) error                   // called before a run is read
	window func(*window.Window) error                   // called with each window; nil: no windows are needed
	end    func(run *query.Run, doc *mapping.Run) error // called after all windows of a run
	close  func(err error) error                        // called at the end, with the error that ended the answers

	hasNotes    bool // end shows the notes of the run, so they are not on stderr
	hasWarnings bool // the same of its warnings
}

// answer checks the query, uses a for each run that args name, and ends the reading. Neighbouring paths are read together. If a run has
// nothing of what is wanted or cannot be read so, the others are answered nevertheless.
func (r *runReader) answer(ctx context.Context, args []string, q *query.Query, a answer) error {
	if err := q.Check(); err != nil {
		return err
	}
	r.skips = true
	inputs, err := r.choose(ctx, args, query.IsPath)
	var stored []*mapping.Run
	for _, c := range inputs {
		stored = append(stored, c.runs...)
	}
	if len(stored) > 1 && a.only != "" {
		err = usagef("%s, and %s were chosen (%s): name one by its id, choose one with latest or latest~1, or limit the choice with --where",
			a.only, unit.Plural(len(stored), "run"), query.Shorts(stored))
	}
	if err != nil {
		return r.end(err)
	}
	if a.chosen != nil {
		a.chosen(stored)
	}
	err = r.each(ctx, inputs, func(run *query.Run) error {
		if !run.IsAlone && a.only != "" {
			return usagef("%s, and these are several: name one run or folder", a.only)
		}
		if err := a.begin(run); err != nil {
			return err
		}
		doc, err := run.Read(ctx, q, a.window)
		said := *run // on stderr
		if err == nil && doc != nil {
			if r.leftOut = r.leftOut || len(run.Warnings) > 0; a.hasWarnings {
				said.Warnings = nil
			}
			if a.hasNotes {
				said.Notes = nil
			}
		}
		r.logRun(&said)
		if err == nil && doc != nil {
			err = a.end(run, doc)
			r.answered = r.answered || err == nil
		}
		return r.skip(err)
	})
	if a.close != nil {
		err = errors.Join(err, a.close(err))
	}
	return r.end(err)
}

// input is a group of arguments that are read together: paths, or runs in the history.
type input struct {
	paths []string
	hosts []assign.HostPath // of the paths, if the user says that they are one run
	runs  []*mapping.Run    // without histograms
}

// choose finds what args name. Neighbouring paths for which joins returns true are read together.
func (r *runReader) choose(ctx context.Context, args []string, joins func(string) bool) (inputs []input, err error) {
	among, err := r.limit()
	if err != nil {
		return nil, err
	}
	among.Light = true
	paths, hosts, err := r.oneRun(args)
	if err != nil || hosts != nil {
		return []input{{paths: paths, hosts: hosts}}, err
	}
	parts := query.Group(args, joins)
	if len(args) == 0 {
		parts = [][]string{nil}
	}
	for _, part := range parts {
		switch {
		case len(part) == 0 || !query.IsPath(part[0]):
			runs, err := r.chooseStored(ctx, among, part)
			if err != nil {
				return nil, err
			}
			inputs = append(inputs, input{runs: runs})
		case among.Where != nil:
			return nil, usagef("--where chooses runs in the history, and %s is a path: leave one out", part[0])
		default:
			inputs = append(inputs, input{paths: part})
		}
	}
	return inputs, nil
}

// chooseStored finds the runs in the history that a filter selects and selectors name. It prints on stderr which
// runs these are.
func (r *runReader) chooseStored(ctx context.Context, among history.RunFilter, args []string) ([]*mapping.Run, error) {
	selectors, isID, err := parseSelectors(args)
	if err != nil {
		return nil, err
	}
	for _, arg := range args {
		if _, err := os.Lstat(arg); err == nil {
			r.log.Info(fmt.Sprintf("note: %s names a run in the history; the file of this name is ./%s", arg, arg))
		}
	}
	if err := r.open(ctx); err != nil {
		if isID && len(args) > 0 {
			err = fmt.Errorf("%s is neither a path nor a run: %w", args[0], err)
		}
		return nil, err
	}
	runs, err := r.selectRuns(ctx, r.store, among, selectors)
	if errors.Is(err, history.ErrNotFound) && isID {
		err = fmt.Errorf("neither a path nor a run: %w", err)
	}
	if err != nil || r.namesRuns || isID && among.Where == nil {
		return runs, err
	}
	by, text := cmp.Or(strings.Join(args, " "), "--where"), "run "+query.RunText(runs[0])
	if len(runs) > 1 {
		byStart := func(a, b *mapping.Run) int { return a.Run.Start.Compare(b.Run.Start) }
		text = fmt.Sprintf("%s, %s to %s: %s", unit.Plural(len(runs), "run"),
			facts.Started(slices.MinFunc(runs, byStart)), facts.StartedInZone(slices.MaxFunc(runs, byStart)), query.Shorts(runs))
	}
	r.log.Info(by + ": " + text)
	return runs, nil
}

// open opens the history when it is first needed.
func (r *runReader) open(ctx context.Context) error {
	if r.store != nil {
		return nil
	}
	store, err := r.openHistory(ctx)
	if err == nil {
		r.store = store
	}
	return err
}

func (r *runReader) wantedSections() []string {
	if f := r.flags.Lookup("section"); f != nil {
		return f.Value.(pflag.SliceValue).GetSlice()
	}
	return nil
}

// each calls do with each run of the inputs, or with those of its sections that --section and --by choose.
func (r *runReader) each(ctx context.Context, inputs []input, do func(*query.Run) error) error {
	var has []string // names of sections
	wanted, by := r.wantedSections(), r.flags.Lookup("by")
	isDivided := len(wanted) > 0 || by != nil && by.Value.String() == bySection
	if isDivided && (r.flags.Changed("host") || r.flags.Changed("job") || r.flags.Changed("levels")) {
		return usagef("--section: windows of a section are of all its jobs on all hosts: leave out --host, --job and --levels")
	}
	for run, err := range r.runs(ctx, inputs) {
		if err != nil {
			if err = r.skip(err); err != nil {
				return err
			}
			continue
		}
		list := []*query.Run{run}
		if isDivided {
			list = run.Sections()
			for _, of := range list {
				if !slices.Contains(has, of.Section) {
					has = append(has, of.Section)
				}
			}
			list = slices.DeleteFunc(list, func(of *query.Run) bool { return !query.Wants(wanted, of.Section) })
		}
		for _, of := range list {
			of.IsAlone = run.IsAlone && len(list) == 1
			if err := do(of); err != nil {
				return err
			}
		}
	}
	lacks := func(name string) bool { return !slices.Contains(has, name) }
	if i := slices.IndexFunc(wanted, lacks); i >= 0 && len(has) > 0 {
		for i, name := range has {
			if strings.Contains(name, ",") { // as the flag reads it
				has[i] = strconv.Quote(name)
			}
		}
		return r.skip(query.RunError{Err: fmt.Errorf("--section %s: want one of %s", wanted[i], query.List(has))})
	}
	return nil
}

// runs yields the runs of the inputs, or why one cannot be read.
func (r *runReader) runs(ctx context.Context, inputs []input) iter.Seq2[*query.Run, error] {
	return func(yield func(*query.Run, error) bool) {
		for _, c := range inputs {
			isAlone := len(inputs) == 1 && len(c.runs) < 2
			for _, light := range c.runs {
				if !yield(r.inHistory(ctx, light.Run.ID, isAlone)) {
					return
				}
			}
			if len(c.paths) > 0 && !r.inFiles(ctx, c, isAlone, yield) {
				return
			}
		}
	}
}

// inHistory returns the run in the history with this id. isAlone reports whether no other is asked for.
func (r *runReader) inHistory(ctx context.Context, id string, isAlone bool) (*query.Run, error) {
	doc, err := r.store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	run := query.Stored(r.store, doc)
	if run.IsAlone = isAlone; !isAlone { // runs of one benchmark have the same name, so the ids are in the names
		run.Name = facts.ShortID(id) + " " + facts.Title(doc)
	}
	return r.prepare(run)
}

// inFiles yields the runs under the paths of an input. isAlone reports whether it is the only one.
func (r *runReader) inFiles(ctx context.Context, c input, isAlone bool, yield func(*query.Run, error) bool) bool {
	valuesIn := ""
	if f := r.flags.Lookup("values-in"); f != nil {
		valuesIn = f.Value.String()
	}
	files, err := query.Open(ctx, c.paths, query.FileOptions{
		Options: r.options(), Stdin: r.stdin, Hosts: c.hosts, Unit: valuesIn,
		Progress: func(p source.Progress) { r.progress.Show("looking: %s", unit.Plural(p.Files, "file")) },
	})
	if files != nil {
		defer files.Close()
		r.logProblems(files.Archive)
	}
	if err != nil && ctx.Err() == nil {
		err = query.RunError{Err: err}
	}
	if err != nil {
		return yield(nil, err)
	}
	for run, err := range files.Runs(ctx) {
		if err == nil {
			run.IsAlone = run.IsAlone && isAlone
		}
		if !yield(run, err) {
			return false
		}
	}
	return true
}

// skip keeps an error of one run for the end, if the others are to be answered. It returns any other error.
func (r *runReader) skip(err error) error {
	if !r.skips || !query.IsOfRun(err) {
		return err
	}
	r.skipped = append(r.skipped, err)
	return nil
}

// prepare applies --interval to a run in the history. It says once which flags and settings of the environment have no effect
// on such runs, because their windows were made when they were ingested. Settings in files are for all runs, so they need
// no word.
func (r *runReader) prepare(run *query.Run) (_ *query.Run, err error) {
	for _, name := range []string{"source", "precision", "weighting", "inflight", "tolerance", "coarsen", "align", "start", "offset", "groups", "unit"} {
		if from := r.cfg.Origins[name]; (from == config.Variable(name) || from == "--"+name) && !r.hasNoted {
			r.log.Info("note: " + from + " has no effect on runs in the history: their windows were made when they were ingested; to change them, ingest the files again")
		}
	}
	r.hasNoted = true
	if f := r.flags.Lookup("interval"); f != nil && f.Changed && r.cfg.Interval != "" {
		run.JoinMS, err = query.JoinMS(run.Stored, r.options().Window, r.cfg.Interval)
	}
	return run, err
}

// end closes the history. It returns err, the error of the reading. If there is no answer, it is with the errors of single
// runs.
func (r *runReader) end(err error) error {
	if r.store != nil {
		r.store.Close()
	}
	if len(r.skipped) > 0 && !r.answered {
		err, r.skipped = errors.Join(append(r.skipped, err)...), nil
	}
	return err
}

// logRun writes the messages of a run that has been read to stderr.
func (r *runReader) logRun(run *query.Run) {
	r.progress.Clear()
	for _, text := range run.Warnings {
		r.leaveOut(text)
	}
	for _, text := range run.Notes {
		r.log.Info("note: " + text)
	}
	for _, text := range run.Details {
		r.log.Debug(text)
	}
}

// logNoWindows writes to stderr why a run that was read has no percentiles over time.
func (r *runReader) logNoWindows(run *query.Run, doc *mapping.Run) {
	if why := run.WhyNoWindows(doc); why != "" {
		r.log.Info(fmt.Sprintf("note: %s: %s", doc.Run.Name, why))
	}
}

// parseSelectors parses selectors. areIDs reports whether all are ids or beginnings of ids.
func parseSelectors(args []string) (list []*query.Selector, areIDs bool, err error) {
	areIDs = len(args) > 0
	for _, arg := range args {
		s, err := query.ParseSelector(arg, time.Now())
		if err != nil {
			return nil, false, err
		}
		list, areIDs = append(list, s), areIDs && s.IsID()
	}
	return list, areIDs, nil
}

// textOrRuns parses --where and the arguments of commands that take either a text to search for or selectors, and conditions.
func (e *env) textOrRuns(args []string) (among history.RunFilter, selectors []*query.Selector, err error) {
	if among, err = e.limit(); err != nil {
		return among, nil, err
	}
	var words, conditions []string
	for _, arg := range args {
		if query.IsSelector(arg) {
			conditions = append(conditions, arg)
		} else {
			words = append(words, arg)
		}
	}
	if len(words) == 1 && !slices.ContainsFunc(args, query.IsWord) {
		among.Text, args = words[0], conditions
	}
	selectors, _, err = parseSelectors(args)
	return among, selectors, err
}

// selectRuns finds the runs that a filter selects and selectors name. It leaves out runs that cannot be read.
func (e *env) selectRuns(
	ctx context.Context, store history.Store, among history.RunFilter, selectors []*query.Selector,
) ([]*mapping.Run, error) {
	chosen, err := query.Choose(ctx, store, among, selectors...)
	if err != nil {
		return nil, err
	}
	for _, err := range chosen.Skipped {
		e.leaveOut(err.Error())
	}
	for _, text := range chosen.Notes {
		e.log.Info("note: " + text)
	}
	return chosen.Runs, nil
}

// logProblems reports files that cannot be read, which are left out, and files that belong to no run.
func (e *env) logProblems(archive *pipeline.Archive) {
	for _, p := range archive.Problems {
		e.leaveOut(p.Error())
	}
	e.logLeft(archive)
}

// logLeft reports files that belong to no run.
func (e *env) logLeft(archive *pipeline.Archive) {
	for _, l := range archive.Left {
		if kind := query.HistogramKind(l.File); kind != "" {
			l.Reason = "is " + kind + ": percentiles, rank, compare, heatmap, sla, report and export read it, and nothing stores it"
		}
		if l.Notable {
			e.log.Info(alike.And("note: "+l.File.Name()+": "+l.Reason, l.More))
			continue
		}
		e.log.Debug("belongs to no run: "+alike.And(l.Reason, l.More), "file", l.File.Name())
	}
	for _, s := range archive.Skipped {
		e.log.Info("note: skipped " + s.Path + ": " + s.Reason)
	}
	if len(archive.Empty) > 0 {
		e.log.Info("note: no fio logs or reports under " + unit.List(archive.Empty, 3, ", "))
	}
}
