package main

import (
	"cmp"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/mapping"
)

// reportWriter puts runs on a page.
type reportWriter struct {
	*app
	page    *report.Page
	query   *windowQuery
	several bool   // arguments
	name    string // of the one that is read

	run    *report.Run
	choice choice
	side   *sideOutput  // the run's windows, to compare them; nil of a run alone
	base   *compareSide // the first run
	runs   int          // on the page
	empty  []error      // runs of which there was nothing
}

func (r *reportWriter) begin(run string, many bool) {
	r.run, r.choice = r.page.Run(), choice{query: r.query}
	if !r.several && !many {
		return
	}
	r.side = &sideOutput{side: &compareSide{arg: run, series: map[string][]*compare.Series{}}, part: r.name}
	r.side.begin(run, false)
}

// wants implements [windowOutput].
func (r *reportWriter) wants(run *mapping.Run) (history.Selection, bool, error) {
	return r.query.wants(run)
}

func (r *reportWriter) interval(d *mapping.Interval) error {
	if takes, err := r.takes(d); err != nil || !takes {
		return err
	}
	if err := r.run.Add(d); err != nil {
		return err
	}
	if r.side == nil || d.Level != mapping.Cluster {
		return nil
	}
	return r.side.interval(d)
}

// takes tells whether a window has a part in the page: of the cluster, or of one of its hosts
// at the same time.
func (r *reportWriter) takes(d *mapping.Interval) (bool, error) {
	of := *d
	of.Level = mapping.Cluster
	return r.choice.takes(&of)
}

// lacksWindows implements [totalsOutput]: the page has numbers, and no charts over time.
func (r *reportWriter) lacksWindows() bool { return r.choice.windows == 0 }

// total ends a run.
func (r *reportWriter) total(run *mapping.Run) error {
	some, err := r.run.End(run)
	if err != nil {
		return err
	}
	if !some {
		r.empty = append(r.empty, r.choice.empty(run))
		return nil
	}
	if r.runs++; r.side == nil {
		return nil
	}
	incomparable := r.side.total(run)
	if r.runs == 1 {
		r.base = r.side.side
		if incomparable != nil {
			r.base.runs = []sideRun{{r.name, run.Light()}}
		}
		return nil
	}
	c := &report.Comparison{Other: r.runs, Title: facts.Title(run), Confidence: reportConfidence}
	if incomparable != nil {
		c.Why = incomparable.Error()
	} else if c.Why = r.whyNot(run); c.Why == "" {
		c.Changes, c.Why = r.changes()
	}
	r.page.Compare(c)
	return nil
}

// reportConfidence is how sure intervals of changes are, as by default in compare.
const reportConfidence = 0.95

// whyNot says what makes a comparison with the first run doubtful; empty is nothing.
func (r *reportWriter) whyNot(run *mapping.Run) string {
	first := r.base.runs[0].Run
	if len(r.base.series) == 0 {
		return "run 1 has no windows: " + cmp.Or(noWindows(first), onlyAverages)
	}
	return doubtful(first, run)
}

// changes compares with the first run, or says why not.
func (r *reportWriter) changes() (changes []report.Change, why string) {
	q := &compareQuery{confidence: reportConfidence}
	if err := q.parse(defaultMetrics, nil); err != nil {
		return nil, err.Error()
	}
	lines, err := r.compareSides(r.base, r.side.side, q)
	if err != nil {
		return nil, err.Error()
	}
	for _, l := range lines {
		changes = append(changes, report.Change{
			Change: l.Change, Direction: l.direction, BaseText: baseText(&l.Change), OtherText: otherText(&l.Change),
			ChangeText: changeText(&l.Change), IntervalText: interval(&l.Change),
		})
	}
	return changes, ""
}

// flush implements [windowOutput]: the page is written when all of its runs are there.
func (r *reportWriter) flush() error { return nil }
