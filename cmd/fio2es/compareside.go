package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// compareSide is a run to compare, or repetitions of it.
type compareSide struct {
	arg    string
	runs   []sideRun
	series map[string][]*compare.Series // by direction, a run each
}

// sideRun is a run, and how the user named it: by a path, or by its id.
type sideRun struct {
	name string
	*mapping.Run
}

// title is the run's name, and that of its archive.
func (r *sideRun) title() string { return r.Run.Run.Archive + ":" + r.Run.Run.Name }

// title names all runs.
func (s *compareSide) title() string {
	var titles []string
	for i := range s.runs {
		titles = append(titles, s.runs[i].title())
	}
	return strings.Join(titles, ",")
}

// ids are those of the runs that are in the history.
func (s *compareSide) ids() string {
	var ids []string
	for i := range s.runs {
		if id := s.runs[i].Run.Run.ID; id != "" {
			ids = append(ids, id)
		}
	}
	return strings.Join(ids, ",")
}

// directions are those that the side has.
func (s *compareSide) directions() []string {
	var names []string
	for _, d := range mapping.Directions {
		if s.series[d] != nil {
			names = append(names, d+"s")
		}
	}
	return names
}

// readSide reads the runs that arg names. With errLeftOut, the side is there, too.
func (a *app) readSide(ctx context.Context, arg string) (*compareSide, error) {
	parts := []string{arg}
	if _, err := os.Lstat(arg); err != nil { // a file may have a comma in its name
		parts = strings.Split(arg, ",")
	}
	side := &compareSide{arg: arg, series: map[string][]*compare.Series{}}
	leftOut := error(nil)
	for _, part := range parts {
		if part == "" {
			return nil, usagef("%q: want runs or paths joined by commas, and between two commas there is none", arg)
		}
		out := &sideOutput{side: side, part: part}
		err := a.windows(ctx, []string{part}, out)
		switch {
		case errors.Is(err, errLeftOut):
			leftOut = err
		case errors.Is(err, errSeveralRuns):
			return nil, a.severalRuns(ctx, part)
		case err != nil:
			return nil, err
		}
	}
	return side, leftOut
}

var errSeveralRuns = errors.New("several runs")

// severalRuns says which runs a path has.
func (a *app) severalRuns(ctx context.Context, path string) error {
	if path == "-" {
		return errors.New("-: several runs, want one")
	}
	archive, err := pipeline.Open(ctx, []string{path}, a.stdin, nil)
	if err != nil {
		return err
	}
	archive.Until(ctx)
	defer archive.Close()
	const most = 8
	var names []string
	for _, r := range archive.Runs {
		names = append(names, r.Path)
	}
	if len(names) > most {
		names = append(names[:most], "and more")
	}
	return fmt.Errorf("%s: %d runs, want one: give the path of one, or ingest them and give its id: %s", path, len(archive.Runs), strings.Join(names, ", "))
}

// sideOutput gathers the windows of one run of a side.
type sideOutput struct {
	side     *compareSide
	part     string
	several  bool
	averages bool
	series   map[string]*compare.Series // by direction
}

func (o *sideOutput) begin(_ string, many bool) {
	o.several, o.series = many, map[string]*compare.Series{}
}

// wants implements [windowOutput].
func (o *sideOutput) wants(run *mapping.Run) (history.Selection, bool, error) {
	return history.Selection{}, true, needsLevel(run, mapping.Cluster)
}

func (o *sideOutput) interval(d *mapping.Interval) error {
	if o.several {
		return errSeveralRuns
	}
	w := compare.Window{Start: d.Window.ElapsedMS, End: d.Window.ElapsedMS + d.Window.MS, Completed: d.Requests.Completed}
	if d.Latency.Layout != "" {
		var err error
		if w.Latency, err = d.Latency.Hist(); err != nil {
			return err
		}
	} else if d.Latency.Mean > 0 {
		o.averages = true
		return nil
	}
	direction := d.Fio.Direction
	if o.series[direction] == nil {
		o.series[direction] = &compare.Series{}
	}
	o.series[direction].Add(w)
	return nil
}

// total implements [windowOutput]: the run is one of the side's.
func (o *sideOutput) total(run *mapping.Run) error {
	switch {
	case o.several:
		return errSeveralRuns
	case len(o.series) == 0 && o.averages:
		return fmt.Errorf("%s: no windows to compare: %s", o.part, cmp.Or(run.NoWindows, onlyAverages))
	case len(o.series) == 0:
		return fmt.Errorf("%s: no windows to compare: %s", o.part, cmp.Or(noWindows(run), nothingInTime))
	}
	name := o.part
	if !isPath(o.part) {
		name = run.Run.ID[:min(len(run.Run.ID), 8)]
	}
	for _, r := range o.side.runs {
		if r.name == name || isPath(name) && filepath.Clean(r.name) == filepath.Clean(name) {
			return usagef("%s: %s is there twice, which makes no repetition", o.side.arg, name)
		}
	}
	o.side.runs = append(o.side.runs, sideRun{name, run.Light()})
	end := run.Run.End.Sub(run.Run.Start).Milliseconds()
	for direction, s := range o.series {
		s.EndBy(end)
		o.side.series[direction] = append(o.side.series[direction], s)
	}
	return nil
}

func (o *sideOutput) flush() error { return nil }

// doubts are what makes runs hard to compare where it differs. What is not known is empty.
var doubts = []struct {
	name string
	of   func(*mapping.Run) string
}{
	{"mode", func(r *mapping.Run) string { return r.CBT.Mode }},
	{"op_size", func(r *mapping.Run) string { return known(r.CBT.OpSize) }},
	{"iodepth", func(r *mapping.Run) string { return known(int64(r.CBT.IODepth)) }},
	{"weighting", func(r *mapping.Run) string { return r.Weighting }},
	{"interval", func(r *mapping.Run) string {
		if r.IntervalMS == 0 {
			return ""
		}
		return unit.Elapsed(time.Duration(r.IntervalMS) * time.Millisecond)
	}},
	{"bins", func(r *mapping.Run) string {
		for _, d := range r.ByDirection() {
			return d.Latency.Layout
		}
		return ""
	}},
}

func known(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// tellDoubts says in what the runs of other differ from the baseline's first.
func (a *app) tellDoubts(base, other *compareSide) {
	first := &base.runs[0]
	for i := range other.runs {
		r := &other.runs[i]
		if differ := doubtful(first.Run, r.Run); differ != "" {
			a.log.Info(fmt.Sprintf("note: comparing %s with %s is doubtful: %s", r.name, first.name, differ))
		}
	}
}

// doubtful says what makes a comparison of two runs doubtful; empty is nothing.
func doubtful(base, other *mapping.Run) string {
	var differ []string
	for _, d := range doubts {
		if is, was := d.of(other), d.of(base); is != was && is != "" && was != "" {
			differ = append(differ, fmt.Sprintf("%s %s, not %s", d.name, is, was))
		}
	}
	return strings.Join(differ, "; ")
}
