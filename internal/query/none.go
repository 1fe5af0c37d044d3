package query

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Reasons why a run has no windows with percentiles, and options of fio that change it.
const (
	addHistograms = "run fio with --write_hist_log=NAME --log_hist_msec=1000 --output-format=json+"
	OnlyAverages  = "its logs have averages, which have no percentiles: leave out log_avg_msec, or " + addHistograms
	NothingInTime = "its files do not say what happened when: for latency over time " + addHistograms
)

// NoWindows returns why a run has no windows with percentiles, and what to do about it. It is empty if the run has
// some.
func NoWindows(run *mapping.Run) string {
	hasPercentiles := func(d mapping.DirectionTotals) bool { return d.Latency.HasPercentiles() }
	switch {
	case run.NoWindows != "":
		return strings.TrimSuffix(run.NoWindows, ".")
	case run.Documents.All() == 0:
		return NothingInTime
	case len(run.ByDirection()) > 0 && !slices.ContainsFunc(run.ByDirection(), hasPercentiles):
		return OnlyAverages
	}
	return ""
}

// NoMatch returns the [RunError] for a run without any wanted window. It says why, or what the run has instead.
func (r *Run) NoMatch(doc *mapping.Run) error {
	if why := NoWindows(doc); why != "" && r.choice.withPercentiles == 0 {
		return RunError{fmt.Errorf("%s: no windows: %s", doc.Run.Name, why)}
	}
	return RunError{fmt.Errorf("%s: no requests match%s: %s", doc.Run.Name, r.choice.query, strings.Join(r.choice.has(doc), "; "))}
}

// has lists the directions, hosts and jobs of the run, where a choice among them was made.
func (c *choice) has(run *mapping.Run) (texts []string) {
	q := c.query
	var directions, hosts []string
	for _, d := range run.ByDirection() {
		directions = append(directions, d.Direction+"s")
	}
	for _, h := range run.Hosts {
		if h.Name != "" {
			hosts = append(hosts, h.Name)
		}
	}
	if len(q.Directions) > 0 && len(directions) > 0 {
		texts = append(texts, "the run has "+strings.Join(directions, " and "))
	}
	switch {
	case len(q.Hosts) > 0 && len(hosts) > 0:
		texts = append(texts, "its hosts: "+List(hosts))
	case len(q.Hosts) > 0:
		texts = append(texts, "its files name no host")
	}
	if len(c.jobs) > 0 {
		texts = append(texts, "its jobs: "+List(slices.Sorted(maps.Keys(c.jobs))))
	}
	if q.From != "" || q.To != "" || len(texts) == 0 {
		length := run.Run.End.Sub(run.Run.Start).Round(time.Millisecond)
		texts = append(texts, fmt.Sprintf("the run lasted from %s (+0s to +%s)",
			unit.Moments(run.Run.Start, run.Run.End), length))
	}
	return texts
}

// List returns the first eight names, and how many more there are.
func List(names []string) string { return unit.List(names, 8, ", ") }
