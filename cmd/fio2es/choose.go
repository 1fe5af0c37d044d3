package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// chooseHelp is the part of a command's help that explains its arguments.
const chooseHelp = `X is a path, as for ingest (nothing is stored), or names runs in the history:
an id or its beginning, latest, latest~1 (the one before), last:5 (the five newest),
same-as:RUN (all with its settings). Conditions such as bs=4k iodepth=1 (fio2es help
fields) limit what these choose from, as --where does. Alone, they choose all that match.`

// someRuns checks that there are arguments or --where.
func someRuns(cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed("where") {
		return nil
	}
	return arguments(1, many)(cmd, args)
}

// input is a group of arguments that are read together: paths, or runs in the history.
type input struct {
	paths []string
	runs  []*mapping.Run // without histograms
}

// choose finds what args name. Neighbouring paths for which joins returns true are read together.
func (r *reading) choose(ctx context.Context, args []string, joins func(string) bool) (inputs []input, err error) {
	among, err := r.limit()
	if err != nil {
		return nil, err
	}
	among.Light = true
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

// limit returns the filter of --where, from whose runs the arguments choose.
func (r *reading) limit() (among history.RunFilter, err error) {
	if f := r.flags.Lookup("where"); f != nil && f.Value.String() != "" {
		among.Where, err = parseWhere(f.Value.String())
	}
	return among, err
}

// chooseStored finds the runs in the history that a filter selects and selectors name. It prints on stderr which
// runs these are.
func (r *reading) chooseStored(ctx context.Context, among history.RunFilter, args []string) ([]*mapping.Run, error) {
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
	runs, skipped, err := r.selectRuns(ctx, r.store, among, selectors)
	r.leftOut = r.leftOut || skipped
	if errors.Is(err, history.ErrNotFound) && isID {
		err = fmt.Errorf("neither a path nor a run: %w", err)
	}
	if err == nil && !r.namesRuns && (!isID || among.Where != nil) {
		r.log.Info(chosenText(strings.Join(args, " "), runs))
	}
	return runs, err
}

// chosenText says which runs were chosen.
func chosenText(by string, runs []*mapping.Run) string {
	if by == "" {
		by = "--where"
	}
	if len(runs) == 1 {
		return fmt.Sprintf("%s: run %s", by, query.RunText(runs[0]))
	}
	return fmt.Sprintf("%s: %s, %s to %s: %s", by, unit.Plural(len(runs), "run"),
		facts.Started(runs[len(runs)-1]), facts.StartedUTC(runs[0]), query.Shorts(runs))
}

// refuseSeveral fails if a command that takes only one run was given several runs of the history. what is the
// reason, such as "an SVG file has one map".
func refuseSeveral(inputs []input, what string) error {
	var runs []*mapping.Run
	for _, c := range inputs {
		runs = append(runs, c.runs...)
	}
	if len(runs) < 2 {
		return nil
	}
	return usagef("%s, and %s were chosen (%s): name one by its id, choose one with latest or latest~1, or limit the choice with --where",
		what, unit.Plural(len(runs), "run"), query.Shorts(runs))
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

// parseTextOrRuns parses the arguments of commands that take either a text to search for or selectors, and conditions.
func parseTextOrRuns(args []string) (text string, selectors []*query.Selector, err error) {
	var words, conditions []string
	for _, arg := range args {
		if query.IsSelector(arg) {
			conditions = append(conditions, arg)
		} else {
			words = append(words, arg)
		}
	}
	if len(words) == 1 && !slices.ContainsFunc(args, query.IsWord) {
		text, args = words[0], conditions
	}
	selectors, _, err = parseSelectors(args)
	return text, selectors, err
}

// selectRuns finds the runs that a filter selects and selectors name. It skips runs that cannot be read, with a
// warning; skipped reports that.
func (e *env) selectRuns(
	ctx context.Context, store history.Store, among history.RunFilter, selectors []*query.Selector,
) (runs []*mapping.Run, skipped bool, err error) {
	chosen, err := query.Choose(ctx, store, among, selectors...)
	if err != nil {
		return nil, false, err
	}
	for _, err := range chosen.Skipped {
		e.log.Warn(err.Error())
	}
	for _, text := range chosen.Notes {
		e.log.Info("note: " + text)
	}
	return chosen.Runs, len(chosen.Skipped) > 0, nil
}

// reading is a command that reads runs, from paths or from the history.
type reading struct {
	*env
	logsAlone bool // leave out reports beside logs that are given by name
	namesRuns bool // the answer has the ids of runs, so they need not be on stderr
	hasNoted  bool // see noteSettings

	store   history.Store // nil until it is needed
	leftOut bool          // something is missing, and stderr says what
	skips   bool          // an error of one run does not end the answers for the others
	skipped []error       // such errors
}

// open opens the history when it is first needed.
func (r *reading) open(ctx context.Context) error {
	if r.store != nil {
		return nil
	}
	store, err := r.history().open(ctx)
	if err == nil {
		r.store = store
	}
	return err
}

// end closes the history and returns err, the error of the reading, or errLeftOut.
func (r *reading) end(err error) error {
	if r.store != nil {
		r.store.Close()
	}
	return leftOutIf(err, r.leftOut)
}
