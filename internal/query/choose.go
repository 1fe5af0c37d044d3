package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// Chosen is the result of [Choose].
type Chosen struct {
	// each once, in the order of the selectors, then the newest first, or the stages of an execution in their order; without
	// histograms, or only with the fields that the filter needs
	Runs    []*mapping.Run
	Skipped []error  // errors of runs that cannot be read and might have been chosen
	Notes   []string // about selectors that chose fewer runs than they could
}

// Choose finds the runs that selectors name among those that a filter selects. The filter's condition is nil or a
// [*where.Condition]. Selectors that are conditions limit what the others choose from, as the filter does: bs=4k
// iodepth=1 means both. Without other selectors Choose returns all runs that are left. A selector that names no run is a
// [history.ErrNotFound]; its text says how many runs there are and which are nearest. The RUN of same-as:RUN need
// not meet the conditions.
func Choose(ctx context.Context, store history.Store, among history.RunFilter, selectors ...*Selector) (*Chosen, error) {
	among.Light = true
	c := &chooser{store: store, among: among, chosen: &Chosen{}, taken: map[string]bool{}}
	var names []*Selector
	for _, s := range selectors {
		if s.condition != nil {
			c.among.Where = Both(c.among.Where, s.condition)
		} else {
			names = append(names, s)
		}
		c.anyState = c.anyState || s.AnyState
		c.most = max(c.most, s.count) // one list serves all selectors, so that latest~1 is the run before latest
	}
	if len(names) == 0 {
		runs, err := c.list(ctx, c.among, "")
		c.take(runs...)
		return c.chosen, err
	}
	for _, s := range names {
		if err := c.choose(ctx, s); err != nil {
			return nil, err
		}
	}
	return c.chosen, nil
}

// Find returns the run document that a text names: an id, the beginning of an id, latest or latest~N. If there is
// none, the error is [history.ErrNotFound].
func Find(ctx context.Context, store history.Store, text string) (*mapping.Run, error) {
	s, err := ParseSelector(text, time.Time{})
	if err != nil {
		return nil, err
	}
	if !s.IsOne() {
		return nil, usagef("%s: want one run: an id or its beginning, latest, or latest~1", text)
	}
	if s.IsID() {
		return store.Run(ctx, text)
	}
	chosen, err := Choose(ctx, store, history.RunFilter{}, s)
	if err != nil {
		return nil, err
	}
	return store.Run(ctx, chosen.Runs[0].Run.ID)
}

type chooser struct {
	store history.Store
	among history.RunFilter
	most  int // how many of the newest runs the selectors need
	// also runs in which fio served no requests are among the newest
	anyState bool
	newest   []*mapping.Run // the newest runs, after they were listed
	chosen   *Chosen
	taken    map[string]bool // ids of the chosen runs
}

// choose adds the runs that a selector names.
func (c *chooser) choose(ctx context.Context, s *Selector) error {
	if s.count > 0 { // by age
		if c.newest == nil {
			if err := c.listNewest(ctx, s.text); err != nil {
				return err
			}
		}
		have := len(c.newest)
		few := fmt.Sprintf("%s: the history has only %s%s", s, unit.Plural(have, "run"), conditionText(c.among))
		switch {
		case s.newest:
			if have < s.count {
				c.chosen.Notes = append(c.chosen.Notes, few)
			}
			c.take(c.newest[:min(have, s.count)]...)
		case have == 1 && s.count > 1:
			return absent(few + ", and the oldest is " + Latest)
		case have < s.count:
			return absent(fmt.Sprintf("%s, and the oldest is %s~%d", few, Latest, have-1))
		default:
			c.take(c.newest[s.count-1])
		}
		return nil
	}
	name := s.id
	if s.as != nil {
		name = s.as.text
	}
	var run *mapping.Run
	var err error
	switch {
	case s.ofExecution:
		f := c.among
		if f.Execution = name; s.as.IsID() { // of the execution, and not of one of its stages
			runs, err := history.Collect(c.store.Runs(ctx, f), nil)
			if err != nil || len(runs) > 0 {
				return errors.Join(err, c.takeStages(name, runs))
			}
		}
		run, err = Find(ctx, c.store, name)
	case s.as != nil:
		run, err = Find(ctx, c.store, name)
	default:
		run, err = c.store.Run(ctx, name)
	}
	switch {
	case errors.Is(err, history.ErrNotFound) && !IsWord(name): // the error of a word has the details already
		if near := expr.Near(name, []string{Latest, LatestExecution}); len(near) > 0 {
			return absent(fmt.Sprintf("%s: no such run: did you mean %s?", name, strings.Join(near, " or ")))
		}
		why, failed := Nothing(ctx, c.store, history.RunFilter{Text: name})
		if failed != nil {
			return fmt.Errorf("%s: %w; fio2es runs lists all runs", name, err)
		}
		if !strings.Contains(why, "nearest") {
			why += "; a run is " + SelectorsHelp
		}
		return absent(fmt.Sprintf("%s: no such run: %s", name, why))
	case err != nil:
		return err
	case s.as != nil:
		f := c.among
		if s.ofExecution {
			f.Execution = cmp.Or(run.Run.Execution, run.Run.ID)
		} else {
			f.Where = Both(f.Where, SameSettings(run))
		}
		runs, err := c.list(ctx, f, s.text)
		if s.ofExecution && err == nil {
			return c.takeStages(run.Run.Execution, runs)
		}
		c.take(runs...)
		return err
	case !c.among.Matches(run):
		return absent(fmt.Sprintf("%s: run %s does not match%s", s, RunText(run), conditionText(c.among)))
	}
	c.take(run.Light())
	return nil
}

// listNewest lists the newest runs for the selectors. Runs in which fio served no requests, because it failed, are left out
// with a note, unless there are no others.
func (c *chooser) listNewest(ctx context.Context, selector string) error {
	f := c.among
	for f.Limit = c.most; ; f.Limit *= 2 {
		runs, err := c.list(ctx, f, selector)
		if err != nil {
			return err
		}
		c.newest = nil
		var failed []*mapping.Run
		for _, run := range runs {
			switch {
			case len(c.newest) == c.most:
			case run.ServedNothing() && !c.anyState:
				failed = append(failed, run)
			default:
				c.newest = append(c.newest, run)
			}
		}
		if len(c.newest) < c.most && len(runs) == f.Limit {
			continue
		}
		switch {
		case len(c.newest) == 0:
			c.newest = failed
		case len(failed) > 0:
			c.chosen.Notes = append(c.chosen.Notes, fmt.Sprintf("%s: left out %s, in which fio served no requests", selector, Shorts(failed)))
		}
		return nil
	}
}

// takeStages adds the stages of the execution whose id begins so, in the order in which they ran.
func (c *chooser) takeStages(begin string, runs []*mapping.Run) error {
	for _, run := range runs {
		if run.Run.Execution != runs[0].Run.Execution {
			return fmt.Errorf("%s%s: %w: %s, %s", OfExecution, begin, history.ErrAmbiguous, runs[0].Run.Execution, run.Run.Execution)
		}
	}
	facts.KeepTogether(runs)
	c.take(runs...)
	return nil
}

// take adds runs, except those chosen already.
func (c *chooser) take(runs ...*mapping.Run) {
	for _, run := range runs {
		if !c.taken[run.Run.ID] {
			c.taken[run.Run.ID] = true
			c.chosen.Runs = append(c.chosen.Runs, run)
		}
	}
}

// list returns the runs that a filter selects, for a selector or "". It skips unreadable runs. It fails if there are
// none.
func (c *chooser) list(ctx context.Context, f history.RunFilter, selector string) (runs []*mapping.Run, err error) {
	watched := Watch(f)
	runs, err = history.Collect(c.store.Runs(ctx, watched.Filter), func(err error) {
		isKnown := func(have error) bool { return have.Error() == err.Error() }
		if !slices.ContainsFunc(c.chosen.Skipped, isKnown) {
			c.chosen.Skipped = append(c.chosen.Skipped, err)
		}
	})
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		why, err := Nothing(ctx, c.store, f)
		message := strings.TrimPrefix(selector+": no run matches", ": ") + conditionText(c.among) + "; " + why
		return nil, errors.Join(absent(message), err)
	}
	if note := watched.Undecided(); note != "" && !slices.Contains(c.chosen.Notes, note) {
		c.chosen.Notes = append(c.chosen.Notes, note)
	}
	return runs, nil
}

// conditionText returns the condition of a filter as a flag, for messages.
func conditionText(f history.RunFilter) string {
	if text, ok := f.Where.(fmt.Stringer); ok && text.String() != "" {
		return fmt.Sprintf(" --where '%s'", text)
	}
	return ""
}

// Both returns the condition that a run meets both a and b. Each is nil or a [*where.Condition]; every run meets
// nil.
func Both(a, b history.Condition) history.Condition {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return where.All(a.(*where.Condition), b.(*where.Condition))
}

// OneOf returns the condition that a run is one of runs.
func OneOf(runs []*mapping.Run) *where.Condition {
	ids := map[string]bool{}
	for _, run := range runs {
		ids[run.Run.ID] = true
	}
	return where.That("those that are named", func(run *mapping.Run) bool { return ids[run.Run.ID] })
}

// SameSettings returns the condition that a run, or a section of it, has the same settings as one of runs: see [workload.Key].
func SameSettings(runs ...*mapping.Run) *where.Condition {
	keys := workload.Keys(runs)
	return where.OfWorkloads("the same settings", slices.Sorted(maps.Keys(keys)), func(run *mapping.Run) bool { return workload.Has(run, keys) })
}

// RunText returns the short id of a run, its title and when it started.
func RunText(run *mapping.Run) string {
	return fmt.Sprintf("%s (%s, %s)", facts.ShortID(run.Run.ID), facts.Title(run), facts.StartedInZone(run))
}

// Shorts returns the short ids of the first runs, and how many more there are.
func Shorts(runs []*mapping.Run) string {
	var ids []string
	for _, run := range runs {
		ids = append(ids, facts.ShortID(run.Run.ID))
	}
	return List(ids)
}

// Latest selects the newest run of a history.
const Latest = "latest"

// SelectorsHelp lists the selectors for messages.
const SelectorsHelp = "an id or its beginning, latest, latest~1, last:5, same-as:RUN, execution:RUN, or a condition such as 'bs=4k'"

// SameAs is the prefix of the selector same-as:RUN.
const SameAs = "same-as:"

// OfExecution is the prefix of the selector execution:RUN. LatestExecution is execution:latest.
const (
	OfExecution     = "execution:"
	LatestExecution = "latest-execution"
)

// Prefixes of other selectors.
const (
	before = Latest + "~"
	last   = "last:"
)

// mostBack limits the numbers in selectors.
const mostBack = 1_000_000

// Selector selects runs of a history:
//
//	4f1d2c        the run with this id, or whose id begins so
//	latest        the newest run in which fio served requests
//	latest~2      the run two before the newest
//	last:5        the five newest runs
//	same-as:RUN   the runs with the same settings as RUN, which is one of the first three
//	execution:RUN the stages of the call of fio that RUN is a stage of, or that has this id; latest-execution is execution:latest
//	bs=4k         the runs that meet a condition; see package where
type Selector struct {
	text        string
	count       int       // how many of the newest runs; 0 for other selectors
	newest      bool      // all count runs, and not only the last of them
	id          string    // an id or the beginning of one
	as          *Selector // the RUN of same-as:RUN or execution:RUN
	ofExecution bool
	condition   *where.Condition // the condition that runs must meet
	// AnyState counts also runs in which fio served no requests among the newest, for commands that change runs.
	AnyState bool
}

// String returns the selector as the user wrote it.
func (s *Selector) String() string { return s.text }

// IsOne reports whether the selector selects a single run.
func (s *Selector) IsOne() bool { return s.id != "" || s.count > 0 && !s.newest }

// IsID reports whether the selector is an id, or the beginning of one.
func (s *Selector) IsID() bool { return s.id != "" }

// Meets reports whether a run meets the selector's condition. Other selectors have none.
func (s *Selector) Meets(run *mapping.Run) bool { return s.condition.Matches(run) }

// ParseSelector parses a selector. Times in conditions such as 7d count back from now. An error is a [UsageError].
func ParseSelector(text string, now time.Time) (s *Selector, err error) {
	s = &Selector{text: text}
	switch {
	case text == Latest:
		s.count = 1
	case strings.HasPrefix(text, before):
		n, ok := number(text[len(before):], 0)
		if !ok {
			return nil, usagef("%s: want latest~N with a number from 0, such as latest~1 for the run before the newest", text)
		}
		s.count = n + 1
	case strings.HasPrefix(text, last):
		n, ok := number(text[len(last):], 1)
		if !ok {
			return nil, usagef("%s: want last:N with a number from 1, such as last:5 for the five newest runs", text)
		}
		s.count, s.newest = n, true
	case strings.HasPrefix(text, SameAs):
		s.as, err = ParseSelector(text[len(SameAs):], now)
		if err != nil || !s.as.IsOne() {
			return nil, usagef("%s: want same-as:RUN with one run: an id or its beginning, latest, or latest~1", text)
		}
	case text == LatestExecution || strings.HasPrefix(text, OfExecution):
		s.ofExecution = true
		s.as, err = ParseSelector(strings.TrimPrefix(strings.Replace(text, LatestExecution, Latest, 1), OfExecution), now)
		if err != nil || !s.as.IsOne() {
			return nil, usagef("%s: want execution:RUN with one run or call of fio: an id or its beginning, latest, or latest~1", text)
		}
	case strings.TrimSpace(text) == "":
		return nil, usagef("an empty text names no run: want %s", SelectorsHelp)
	case isConditionText(text):
		if s.condition, err = where.Parse(text, now); err != nil {
			return nil, usagef("%s: %w", text, err)
		}
	default:
		s.id = text
	}
	return s, nil
}

// number parses decimal digits. ok is false if n is not between least and [mostBack].
func number(text string, least int) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= least && n <= mostBack && text[0] != '+'
}

// IsWord reports whether an argument has the form latest, latest~1, last:5, same-as:RUN, execution:RUN or latest-execution.
func IsWord(arg string) bool {
	return arg == Latest || strings.HasPrefix(arg, before) || strings.HasPrefix(arg, last) || strings.HasPrefix(arg, SameAs) ||
		arg == LatestExecution || strings.HasPrefix(arg, OfExecution)
}

// IsSelector reports whether an argument is a selector other than an id: a word ([IsWord]) or a condition.
func IsSelector(arg string) bool { return IsWord(arg) || isConditionText(arg) }

// isConditionText reports whether a text is a condition, or looks like one with a mistake.
func isConditionText(text string) bool {
	_, err := where.Parse(text, time.Time{})
	if !strings.ContainsAny(text, "=<>~ ") { // a field such as label.release alone; a name without a dot is an id or a text
		return err == nil && strings.Contains(text, ".")
	}
	return err == nil || strings.ContainsAny(text, "=<>") && !strings.ContainsAny(text, `/\*?[`)
}

// IsPath reports whether an argument is a path, and not a run in the history: it exists, or it looks like a path.
// Words ([IsWord]) are never paths: a file with the name latest is ./latest.
func IsPath(arg string) bool {
	if IsWord(arg) {
		return false
	}
	if _, err := os.Lstat(arg); err == nil || arg == "-" {
		return true
	}
	return strings.ContainsAny(arg, `/\*?[.`) && !isConditionText(arg)
}
