package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/export"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// Run is a run in files or in the history.
type Run struct {
	Name string
	// IsAlone means that no other run is asked for. [Files.Runs] knows only of the other runs in the files.
	IsAlone bool
	// IsOnly means that the files have no other execution. They may have other stages.
	IsOnly bool
	Path   string // path of the run's folder and stage, in its archive or below the given path; empty in the history
	// Stored is the run document in the history. It is nil for files, whose run document is made by Read.
	Stored *mapping.Run
	// JoinMS is the length in milliseconds to which stored windows are joined, from the function [JoinMS]. 0 leaves
	// them as they are.
	JoinMS int64

	// Messages about the run, set by Read. A warning means that numbers are missing.
	Warnings, Notes, Details []string

	// Section is the name of the section that the run is, or empty: see [Run.Sections].
	Section string

	store      history.Store // if Stored is set; otherwise the run is read from files
	stage      *pipeline.Stage
	histograms *export.Run // of a file of histograms, which has no stage
	part       bool        // only Section of the run is wanted

	// What Read has seen, for the messages about a run without any wanted window.
	query           *Query
	withPercentiles int             // number of windows
	jobs            map[string]bool // names of jobs in the run, if some jobs are wanted
}

// mostJobs limits the names of jobs that are kept for a message.
const mostJobs = 1000

// hasClock reports whether windows of the run have a time of day. Without one they count from the zero time, so that no command shows it.
func (r *Run) hasClock() bool {
	switch {
	case r.Stored != nil:
		return r.Stored.Placed != mapping.PlacedByJob
	case r.stage != nil:
		return r.stage.HasClock()
	}
	return true
}

// Stored returns the run with this run document in the history, which may be one of [facts.Parts].
func Stored(store history.Store, run *mapping.Run) *Run {
	r := &Run{Name: run.Run.Name, Stored: run, store: store}
	if len(run.Sections) == 1 {
		r.Section, r.part = run.Sections[0].Name, true
	}
	return r
}

// Sections returns the sections of a run, each as a run. Its document and windows have the requests of this section only,
// and its windows are of level Cluster. If all jobs did the same, the run is its only section.
func (r *Run) Sections() (list []*Run) {
	var names []string
	only := ""
	switch {
	case r.histograms != nil:
	case r.Stored == nil:
		names, only = r.stage.SectionNames()
	default:
		only = facts.StageName(r.Stored)
		for _, s := range r.Stored.Sections {
			names = append(names, s.Name)
		}
	}
	for _, name := range names {
		of := *r
		of.Section, of.part, of.Name, of.Path, of.IsAlone = name, true, facts.PartPath(r.Name, name), facts.PartPath(r.Path, name), false
		list = append(list, &of)
	}
	if len(list) == 0 {
		of := *r
		of.Section = only
		list = append(list, &of)
	}
	return list
}

// Stage returns the stage of a run in files, or nil.
func (r *Run) Stage() *pipeline.Stage { return r.stage }

// levels returns the levels of the windows to be read.
func (r *Run) levels() []mapping.Level {
	if r.part {
		return []mapping.Level{mapping.Section}
	}
	return r.query.levels()
}

// Read calls take with the wanted windows, sorted by time within a level, and returns the run document. With a nil
// take it reads no windows. The document is nil if files have nothing of a run. An error is from take, or says why
// the windows cannot be read.
func (r *Run) Read(ctx context.Context, q *Query, take func(*window.Window) error) (doc *mapping.Run, err error) {
	r.query, r.withPercentiles, r.jobs = q, 0, nil
	r.Warnings, r.Notes, r.Details = nil, nil, nil
	takeWanted := r.wanted(take)
	if take == nil || q.Totals {
		takeWanted = nil
	}
	switch {
	case r.Stored != nil:
		doc, err = r.readStored(ctx, takeWanted)
	case r.histograms != nil:
		doc, err = r.readHistograms(takeWanted)
	default:
		if takeWanted == nil {
			takeWanted = func(*window.Window) error { return nil }
		}
		var res *pipeline.Result
		if res, err = r.stage.Read(ctx, r.levels(), takeWanted); err == nil {
			for _, lost := range res.Skipped {
				r.Warnings = append(r.Warnings, lost.Error())
			}
			for _, note := range res.Notes {
				r.Notes = append(r.Notes, note.Error())
			}
			doc, r.Details = res.Run, res.Why()
		}
	}
	if doc != nil && r.Stored != nil && takeWanted != nil && doc.Missing.Requests > 0 { // files say it when they are read
		r.Notes = append(r.Notes, fmt.Sprintf("%s: %s are in fio's total and in no window", doc.Run.Name, unit.Plural(int(doc.Missing.Requests), "request")))
	}
	if doc != nil && r.part {
		doc = facts.Part(doc, r.Section)
	}
	if err != nil || doc == nil || take == nil || !q.Totals {
		return doc, err
	}
	for _, d := range doc.ByDirection() {
		if Wants(q.Directions, d.Direction) {
			if err := take(window.Total(doc, d)); err != nil {
				return nil, err
			}
		}
	}
	return doc, nil
}

// wanted returns a function that calls take with those of its windows that are wanted.
func (r *Run) wanted(take func(*window.Window) error) func(*window.Window) error {
	q, levels := r.query, r.levels()
	var from, to time.Time
	var of, undated *mapping.RunInfo // of the section; of windows without a time of day
	isBound := false
	return func(w *window.Window) (err error) {
		if r.part {
			if w.Section != r.Section {
				return nil
			}
			if of == nil {
				info := *w.Run
				info.Name, of = facts.PartPath(info.Name, r.Section), &info
			}
			w.Run = of
		}
		if w.Latency.HasPercentiles() {
			r.withPercentiles++
		}
		if len(q.Jobs) > 0 && w.Level == mapping.Job && w.Job != "" && len(r.jobs) < mostJobs { // the tail of a group of jobs has no name
			if r.jobs == nil {
				r.jobs = map[string]bool{}
			}
			r.jobs[w.Job] = true
			if w.Section != "" {
				r.jobs[w.Section] = true
			}
		}
		if !isBound { // in files, the first window says when the run started
			if from, to, err = q.bounds(w.Run.Name, w.Run.Start); err != nil {
				return err
			}
			isBound = true
		}
		middle := w.Start.Add(w.Length() / 2)
		if slices.Contains(levels, w.Level) && (from.IsZero() || !middle.Before(from)) && (to.IsZero() || middle.Before(to)) &&
			Wants(q.Directions, w.Direction) && Wants(q.Hosts, w.Host) && (Wants(q.Jobs, w.Job) || slices.Contains(q.Jobs, w.Section)) {
			if r.part {
				w.Level = mapping.Cluster
			}
			if !r.hasClock() {
				w = w.WithoutClock()
				if undated == nil {
					undated = w.Run
				}
				w.Run = undated
			}
			return take(w)
		}
		return nil
	}
}

// readStored calls take with at least the wanted windows of a run in the history. With a nil take it reads none.
func (r *Run) readStored(ctx context.Context, take func(*window.Window) error) (*mapping.Run, error) {
	stored, doc, q := r.Stored, r.Stored, r.query
	if r.JoinMS > 0 {
		joined := *stored
		joined.IntervalMS = r.JoinMS
		doc = &joined
	}
	if take == nil || NoWindows(stored) != "" && stored.Documents == (mapping.Documents{}) {
		return doc, nil
	}
	for _, level := range r.levels() {
		isEmpty := level == mapping.Section && len(stored.Sections) == 0 // all its jobs did the same
		if !slices.Contains(stored.Levels, level) && !isEmpty {
			add := "cluster,host"
			if level > mapping.Host {
				add += "," + level.String()
			}
			return nil, RunError{fmt.Errorf("run %s has no documents of level %s: ingest it with --levels %s", r.Name, level, add)}
		}
	}
	wanted := history.Selection{Runs: []string{stored.Run.ID}, Directions: q.Directions, Hosts: q.Hosts, Light: q.Light}
	var err error
	if wanted.From, wanted.To, err = q.bounds(doc.Run.Name, doc.Run.Start); err != nil {
		return nil, err
	}
	if !wanted.From.IsZero() { // the bound is about the middle of a window, which may begin earlier
		const half = 150 // as long as half of the longest window that joining can have made, in intervals
		wanted.From = wanted.From.Add(-half * time.Duration(doc.IntervalMS) * time.Millisecond)
	}
	name := fmt.Sprintf("run %s (%s)", facts.ShortID(stored.Run.ID), facts.Title(stored))
	if c := stored.Run.Compacted; c.From != "" {
		r.Notes = append(r.Notes, fmt.Sprintf("%s: windows of %s, compacted on %s from windows of %s",
			name, facts.Length(stored.IntervalMS), unit.Time(c.At, unit.Day), facts.Length(c.IntervalMS)))
	}
	lack, err := r.lack(ctx, r.levels())
	if err != nil {
		return nil, err
	}
	if lack != "" {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: the history lacks %s: the answer leaves them out; "+
			"ingest the run's files again with --verify to restore them", name, lack))
		warned := *doc
		warned.Warnings, warned.Run.Complete = append(slices.Clone(doc.Warnings), r.Warnings...), false
		doc = &warned
	}
	if r.JoinMS > 0 { // read more at both ends, so that no joined window lacks a stored one
		wanted.Light = false
		length := time.Duration(r.JoinMS) * time.Millisecond
		if !wanted.From.IsZero() {
			wanted.From = wanted.From.Add(-length)
		}
		if !wanted.To.IsZero() {
			wanted.To = wanted.To.Add(length)
		}
	}
	var levels []iter.Seq2[*window.Window, error]
	for _, level := range r.levels() {
		wanted.Level = level
		one := window.Rejoin(r.store.Intervals(ctx, wanted))
		if r.JoinMS > 0 {
			one = window.Join(one, stored, r.JoinMS)
		}
		levels = append(levels, one)
	}
	n, rough := 0, 0
	for w, err := range window.Ordered(levels...) {
		if errors.Is(err, window.ErrUneven) {
			length := facts.Length(r.JoinMS)
			err = usagef("--interval %s: the windows of run %s are not of one length (--interval auto at ingest?): "+
				"leave the option out, or ingest its files again with --interval %s", length, stored.Run.Name, length)
		}
		if err == nil {
			err = take(w)
		}
		if err != nil {
			return nil, err
		}
		if n++; w.IsRough {
			rough++
		}
	}
	if rough > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s: %s joined of stored ones have percentiles that a single request decides: "+
			"stored counts are whole, so those of the files may differ", name, unit.Plural(rough, "window")))
	}
	return doc, nil
}

// lack says which documents of the run are missing. It is empty if none is. It counts them before they are read.
//
// The run may have been replaced, even by the same version again, after it was listed or while its documents were
// counted. Then the number is not that of the documents that are read. So only a second count of a run that stayed as
// it was finds that documents are missing.
func (r *Run) lack(ctx context.Context, levels []mapping.Level) (lack string, err error) {
	id := r.Stored.Run.ID
	if r.Stored.Run.IsShared() { // more is to come, and what hosts have sent is not visible at once
		return "", nil
	}
	for range 2 {
		counts, err := r.store.Count(ctx, []string{id}, levels...)
		if err != nil {
			return "", err
		}
		if lack = counts.LackText(r.Stored, levels...); lack == "" {
			return "", nil
		}
	}
	now, err := r.store.Run(ctx, id)
	if err != nil && !errors.Is(err, history.ErrNotFound) {
		return "", err
	}
	if err != nil || now.Run.Ingest != r.Stored.Run.Ingest || !now.Ingested.Equal(r.Stored.Ingested) {
		return "", nil
	}
	return lack, nil
}

// JoinMS returns the length in milliseconds to which the stored windows of a run are joined, or 0 if they already
// have this length. If they cannot be joined evenly, the error is a [UsageError]. text is the length as the user
// wrote it.
func JoinMS(run *mapping.Run, length time.Duration, text string) (int64, error) {
	again := "ingest its files again with --interval " + text
	least := max(run.IntervalMS, 1)
	multiples := fmt.Sprintf("%s, %s or %s", facts.Length(2*least), facts.Length(5*least), facts.Length(10*least))
	ms := length.Milliseconds()
	switch {
	case length <= 0: // auto
		return 0, usagef("--interval %s: run %s is in the history, whose windows can be joined evenly only: "+
			"use a length such as %s, or %s", text, run.Run.Name, multiples, again)
	case run.IntervalMS <= 0:
		return 0, usagef("--interval %s: run %s has no windows of an even length: leave the option out, or %s",
			text, run.Run.Name, again)
	case length%time.Millisecond != 0 || ms < run.IntervalMS || ms%run.IntervalMS != 0:
		return 0, usagef("--interval %s: run %s is stored in windows of %s, which can only be joined: "+
			"use a multiple, such as %s, or %s", text, run.Run.Name, facts.Length(run.IntervalMS), multiples, again)
	case ms == run.IntervalMS:
		return 0, nil
	}
	return ms, nil
}

// Has reports whether the run may have windows of a level. For a run in the history this is known.
func (r *Run) Has(level mapping.Level) bool {
	if r.part {
		return level == mapping.Cluster
	}
	return r.Stored == nil || slices.Contains(r.Stored.Levels, level)
}

// WhyNoWindows returns why a run that was read has no percentiles over time. It is empty if the run has some, or if a
// warning or a note says so already.
func (r *Run) WhyNoWindows(doc *mapping.Run) string {
	if r.withPercentiles > 0 {
		return ""
	}
	why := cmp.Or(NoWindows(doc), NothingInTime)
	says := func(text string) bool { return strings.Contains(text, why) }
	if slices.ContainsFunc(r.Warnings, says) || slices.ContainsFunc(r.Notes, says) {
		return ""
	}
	return why
}

// NothingInTime says why a run has no percentiles over time, if its document does not.
const NothingInTime = "no percentiles over time: its files do not say what happened when: " +
	"run fio with --write_hist_log=NAME --log_hist_msec=1000 --output-format=json+"

// NoWindows returns why a run has no percentiles over time, and what to do about it. It is empty if the run has some.
func NoWindows(run *mapping.Run) string {
	if run.NoWindows == "" && run.Documents.All() == 0 {
		return NothingInTime
	}
	return run.NoWindows
}

// NoMatch returns the [RunError] for a run without any wanted window. It says why, or what the run has instead: its
// directions, hosts and jobs, where the query chooses among them, or its time.
func (r *Run) NoMatch(doc *mapping.Run) error {
	if why := NoWindows(doc); why != "" && r.withPercentiles == 0 {
		return RunError{fmt.Errorf("%s: %s", doc.Run.Name, why)}
	}
	q := r.query
	if q.WantsAll() && doc.Sync != nil && slices.Equal(q.Directions, []string{mapping.Sync}) {
		return RunError{fmt.Errorf("%s: its syncs are in no window: fio's logs do not have them, and periodic reports do "+
			"(--status-interval=1 --output-format=json+)", doc.Run.Name)}
	}
	var directions, hosts, has []string
	for _, d := range doc.ByDirection() {
		directions = append(directions, mapping.Plural(d.Direction))
	}
	for _, h := range doc.Hosts {
		if h.Name != "" {
			hosts = append(hosts, h.Name)
		}
	}
	if len(q.Directions) > 0 && len(directions) > 0 {
		has = append(has, "the run has "+strings.Join(directions, " and "))
	}
	switch {
	case len(q.Hosts) > 0 && len(hosts) > 0:
		has = append(has, "its hosts: "+List(hosts))
	case len(q.Hosts) > 0:
		has = append(has, "its files name no host")
	}
	if len(r.jobs) > 0 {
		has = append(has, "its jobs: "+List(slices.Sorted(maps.Keys(r.jobs))))
	}
	if q.From != "" || q.To != "" || len(has) == 0 {
		length := doc.Run.End.Sub(doc.Run.Start).Round(time.Millisecond)
		has = append(has, fmt.Sprintf("the run lasted from %s (+0s to +%s)", unit.Span(doc.Run.Start, doc.Run.End), length))
	}
	return RunError{fmt.Errorf("%s: no requests match%s: %s", doc.Run.Name, q, strings.Join(has, "; "))}
}

// Judgement is the result of checking a run against rules.
type Judgement struct {
	Run      mapping.RunInfo // only a name if the files have nothing of a run
	Checked  window.Span     // the time of the checked requests; zero if there are none
	Verdicts []slo.Verdict
}

// Judge checks the requests of a run that q wants against rules. Errors are those of [Run.Read].
func Judge(ctx context.Context, run *Run, q *Query, rules []slo.Rule) (*Judgement, error) {
	e, checked := slo.New(rules), window.Span{}
	take := func(w *window.Window) error {
		checked.Add(w)
		return e.Add(w)
	}
	if q.WantsAll() && !slices.ContainsFunc(rules, slo.Rule.InWindows) { // the totals of the run are enough
		take = nil
	}
	doc, err := run.Read(ctx, q, take)
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return &Judgement{Run: mapping.RunInfo{Name: run.Name}, Verdicts: e.Verdicts()}, nil
	}
	isEmpty := checked.IsZero()
	if q.WantsAll() {
		checked = window.Span{Start: doc.Run.Start, End: doc.Run.End}
		if err := e.SetRun(doc, q.Directions); err != nil {
			return nil, err
		}
	} else {
		e.SetPart(doc, q.Directions)
	}
	j := &Judgement{doc.Run, checked, e.Verdicts()}
	if !run.hasClock() {
		j.Run.Start = time.Time{} // windows count from it
	}
	if !isEmpty || take == nil {
		return j, nil
	}
	run.Warnings = append(run.Warnings, run.NoMatch(doc).Error())
	why := "no requests match"
	if NoWindows(doc) != "" {
		why = "the run has no windows"
	}
	for i := range j.Verdicts {
		if v := &j.Verdicts[i]; v.State == slo.Unknown && (v.Rule.InWindows() || !q.WantsAll()) {
			v.Why = why
		}
	}
	return j, nil
}
