package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/matrix"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/record"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// Labels of the runs of a sweep. A run has them if its fio ended in order.
const (
	labelSweep    = "sweep"          // the sweep: when it began, and the fingerprint of its command
	labelSettings = "sweep_settings" // the combination, such as "bs=4k iodepth=16"
)

// turn is one run of fio: one of --repeat, or of a combination of --sweep.
type turn struct {
	fio      *fioargs.Command
	settings string        // of the sweep, such as "bs=4k iodepth=16"
	length   time.Duration // most time that it runs; 0: not known
	isDone   bool          // the history has it
	title    string        // while it runs; empty if it is the only one
	later    time.Duration // how long the later ones take; 0: not known, or there are none
}

type runCall struct {
	*env
	note, reports string
	repeat        int
	pause         time.Duration
	quiet, again  bool
	name          string // of the run that this host shares with others; empty: its own

	rules  []slo.Rule
	to     ingest.Target
	shared []taken          // in which the fios so far took part
	fio    *fioargs.Command // as the user wrote it
	how    record.Settings
	noted  []string // notes so far

	swept    []fioargs.Sweep // options and their values
	turns    []*turn         // repetitions are outermost, so that a drift does not look like the effect of a setting
	overhead time.Duration   // what the last turn took besides the time that its jobs ran
	id       string          // value of the label of the sweep's runs
	all      finished        // runs so far; of a sweep, also those that the history had
}

// planTurns plans the turns: fio with all combinations of the values of options, as often as wanted. Without options there is one
// combination, which sets nothing. It checks all that can be checked before anything is opened or run.
func (r *runCall) planTurns(ctx context.Context, texts []string) error {
	for _, label := range []string{labelSweep, labelSettings} {
		if _, ok := r.options().Labels[label]; ok && len(texts) > 0 {
			return usagef("--labels %s: --sweep sets this label: choose another name", label)
		}
	}
	var err error
	if r.swept, err = fioargs.ParseSweeps(texts, r.fio); err != nil {
		return usagef("--sweep %w", err)
	}
	const most = 1000 // more are a mistake, and would have to be checked one by one
	n := 1
	for _, o := range r.swept {
		if n *= len(o.Values); n > most {
			return usagef("--sweep: want at most %s combinations: sweep fewer values", unit.Count(most))
		}
	}
	how := r.how
	if r.isSweep() { // fio checks the commands
		if how.Folder, err = os.MkdirTemp("", "fio2es-"); err != nil {
			return err
		}
		defer os.RemoveAll(how.Folder)
	}
	for _, set := range fioargs.Combinations(r.swept) {
		t := &turn{fio: r.fio.With(set)}
		var words []string
		for _, o := range set {
			words = append(words, o.Name+"="+o.Value)
		}
		t.settings = strings.Join(words, " ")
		plan, err := record.Of(t.fio, how)
		if err != nil {
			return usageError{Err: err}
		}
		if t.length = plan.Length; r.isSweep() {
			if err := plan.Check(ctx, t.fio); ctx.Err() != nil {
				return ctx.Err()
			} else if err != nil {
				return usagef("%s: %w", t.settings, err)
			}
		}
		r.turns = append(r.turns, t)
	}
	for range r.repeat - 1 {
		for _, t := range r.turns[:n] {
			again := *t
			r.turns = append(r.turns, &again)
		}
	}
	return nil
}

func (r *runCall) isSweep() bool { return len(r.swept) > 0 }

// left returns how long the turns take that are not done, with the pauses between them, or 0 if that is not known.
// What a turn takes besides the time that its jobs run is as in the last one.
func (r *runCall) left(turns []*turn) (sum time.Duration) {
	for _, t := range turns {
		switch {
		case t.isDone:
		case t.length == 0:
			return 0
		default:
			sum += t.length + r.overhead + r.pause
		}
	}
	return max(sum-r.pause, 0).Round(time.Second)
}

// mark returns a fingerprint of a sweep: of its command, job files and swept options, but not of their values. So
// the same command continues a sweep that was interrupted, and a command with more values extends it.
func (r *runCall) mark() (string, error) {
	host, _ := os.Hostname()
	folder, err := os.Getwd() // because names of files may be relative
	if err != nil {
		return "", err
	}
	var names, jobs []any
	for _, o := range r.swept {
		names = append(names, o.Name)
	}
	for _, section := range r.fio.Jobs {
		jobs = append(jobs, section.Name, section.Map())
	}
	text, err := json.Marshal([]any{host, folder, r.fio.Shown(), r.how.Version, jobs, names, r.options().Labels})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4]), nil
}

// beginSweep looks up the newest sweep of the same command, and marks the turns whose runs the history has, unless all
// are wanted again. If there is none, a new sweep begins. Then it says what will run.
func (r *runCall) beginSweep(ctx context.Context) error {
	mark, err := r.mark()
	if err != nil {
		return err
	}
	running, err := r.folders().Running()
	if err != nil {
		return err
	}
	for _, entry := range running {
		if strings.HasSuffix(entry.Sweep[labelSweep], "-"+mark) {
			return fmt.Errorf("this sweep already runs, in %s: wait for it, or for its fio if fio2es was killed", shortHome(entry.Folder))
		}
	}
	r.id = time.Now().UTC().Format("20060102-150405.000") + "-" + mark
	if !r.again {
		if err := r.findDone(ctx, mark); err != nil {
			return err
		}
	}
	var options, skipped []string
	for _, o := range r.swept {
		options = append(options, o.Name+" ("+strings.Join(o.Values, ", ")+")")
	}
	for _, t := range r.turns {
		if t.isDone {
			skipped = append(skipped, t.settings)
		}
	}
	r.log.Info(fmt.Sprintf("sweep %s of %s", r.id, strings.Join(options, ", ")))
	for _, o := range r.swept {
		if others := r.fio.Differing(o.Name); len(others) > 0 {
			r.log.Info(fmt.Sprintf("note: --sweep %s replaces settings of sections that differ: %s", o.Name, strings.Join(others, ", ")))
		}
	}
	if len(skipped) > 0 {
		const most = 8
		r.log.Info(fmt.Sprintf("skipped: %s that the history has (--again runs all again): %s", unit.Plural(len(skipped), "run"), unit.List(skipped, most, "; ")))
	}
	if n := len(r.turns) - len(skipped); n > 0 {
		text := "the time is not known, because jobs have no runtime"
		if left := r.left(r.turns); left > 0 {
			text = "about " + unit.Short(left)
		}
		r.log.Info(unit.Plural(n, "run") + " to do: " + text)
	}
	return nil
}

// findDone finds the runs of the newest sweep with this fingerprint.
func (r *runCall) findDone(ctx context.Context, mark string) error {
	runs, err := r.readRuns(ctx, r.to.Store, query.Watch(history.RunFilter{Light: true, Where: where.That("the sweep", func(run *mapping.Run) bool {
		return strings.HasSuffix(run.Run.Labels[labelSweep], "-"+mark)
	})}))
	if err != nil && !errors.Is(err, history.ErrNoIndex) {
		return err
	}
	newest := ""
	for _, run := range runs {
		newest = max(newest, run.Run.Labels[labelSweep])
	}
	has := map[string][]string{} // by settings, the folders of the executions
	for _, run := range runs {
		if settings := run.Run.Labels[labelSettings]; run.Run.Labels[labelSweep] == newest {
			r.id, r.all.runs = newest, append(r.all.runs, run)
			if !slices.Contains(has[settings], run.Run.Archive) {
				has[settings] = append(has[settings], run.Run.Archive)
			}
		}
	}
	for _, t := range r.turns {
		if folders := has[t.settings]; len(folders) > 0 {
			t.isDone, has[t.settings] = true, folders[1:]
		}
	}
	return nil
}

// labels returns the labels of a run of the sweep. Without a sweep there are none.
func (r *runCall) labels(t *turn) map[string]string {
	if !r.isSweep() {
		return nil
	}
	return map[string]string{labelSweep: r.id, labelSettings: t.settings}
}

// titleOf says which turn is the i-th.
func (r *runCall) titleOf(i int) string {
	text := fmt.Sprintf("run %d of %d", i+1, len(r.turns))
	if r.isSweep() {
		text += ": " + r.turns[i].settings
	}
	return text
}

// best says for each direction which combination of a sweep has the most IOPS, and which the lowest p99.
func best(runs []*mapping.Run) (lines []string) {
	for _, direction := range append(mapping.Directions[:], mapping.AllDirections) {
		var most, least *facts.Line
		for _, run := range runs {
			for _, l := range facts.Lines(run) {
				if l.Direction != direction || run.Run.Stages > 1 {
					continue
				}
				if most == nil || l.IOPS > most.IOPS {
					most = l
				}
				if p99 := l.Latencies.Value("p99"); p99 > 0 && (least == nil || p99 < least.Latencies.Value("p99")) {
					least = l
				}
			}
		}
		if most == nil || least == nil || most.IOPS == 0 {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s: most IOPS %s at %s (p99 %s); lowest p99 %s at %s", mapping.Plural(direction), unit.Rate(most.IOPS),
			most.Run.Run.Labels[labelSettings], most.Latencies.Text("p99"), least.Latencies.Text("p99"), least.Run.Run.Labels[labelSettings]))
	}
	return lines
}

// printSweep prints IOPS and p99 of the sweep's runs in the history as matrices, and says which runs it lacks.
func (r *runCall) printSweep() error {
	var names, lacks []string // of settings; combinations
	for _, o := range r.swept {
		name := o.Name
		if where.Lookup(name) == nil {
			name = "option." + name
		}
		names = append(names, name)
	}
	if slices.ContainsFunc(r.all.runs, func(run *mapping.Run) bool { return run.Run.Stages > 1 }) {
		names = append(names, "stage_name")
	}
	if slices.ContainsFunc(r.all.runs, func(run *mapping.Run) bool { return len(run.Sections) > 1 }) {
		names = append(names, "section")
	}
	runs := slices.DeleteFunc(r.all.runs, func(run *mapping.Run) bool { return run.Run.Labels[labelSweep] != r.id })
	settings, err := matrix.Settings(names)
	settings = matrix.Arranged(settings)
	if err == nil && len(runs) > 0 {
		c, to := matrixCall{settings: settings, metrics: workload.MustNumbers("iops", "p99")}, r.errorScreen()
		fmt.Fprintln(to)
		collected := matrix.Collect(settings, nil)
		collected.Add(runs...)
		err = c.write(r.env, to, collected, table.Text)
	}
	if err != nil {
		return err
	}
	n := 0 // runs that are not done
	for _, t := range r.turns {
		if t.isDone {
			continue
		}
		if n++; !slices.Contains(lacks, t.settings) {
			lacks = append(lacks, t.settings)
		}
	}
	if len(lacks) > 0 {
		const most = 8
		r.log.Warn(fmt.Sprintf("the sweep lacks %s, which the same command runs: %s", unit.Plural(n, "run"), unit.List(lacks, most, "; ")))
	}
	for _, text := range best(runs) {
		fmt.Fprintln(r.stderr, text)
	}
	fmt.Fprintln(r.stderr)
	term.Line(r.stderr, "history: %s", r.historyName())
	if len(r.all.folders) > 0 {
		size := int64(0)
		for _, folder := range r.all.folders {
			size += record.Size(folder)
		}
		term.Line(r.stderr, "files:   %s, %s, %s", shortHome(string(r.folders())), unit.Plural(len(r.all.folders), "folder"), unit.Bytes(size))
	}
	for i, by := range settings {
		names[i] = by.Name
	}
	fmt.Fprintf(r.stderr, "next:    fio2es runs --by %s --draw curve label.%s=%s\n", strings.Join(names, ","), labelSweep, r.id)
	return nil
}
