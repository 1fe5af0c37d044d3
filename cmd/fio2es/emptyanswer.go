package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// What to add to fio's options where a run says nothing over time.
const (
	addHistograms = "run fio with --write_hist_log=NAME --log_hist_msec=1000 --output-format=json+"
	onlyAverages  = "its logs have averages, which have no percentiles: leave out log_avg_msec, or " + addHistograms
	nothingInTime = "its files do not say what happened when: for latency over time " + addHistograms
)

// noWindows is why a run has no windows with percentiles and what to do about it; empty where
// it has some.
func noWindows(run *mapping.Run) string {
	isHistogram := func(d mapping.DirectionTotals) bool { return d.Latency.Layout != "" }
	d := run.Documents
	switch {
	case run.NoWindows != "":
		return strings.TrimSuffix(run.NoWindows, ".")
	case d.Cluster+d.Host+d.Job == 0:
		return nothingInTime
	case len(run.ByDirection()) > 0 && !slices.ContainsFunc(run.ByDirection(), isHistogram):
		return onlyAverages
	}
	return ""
}

// empty is the error of a run none of whose windows were chosen: why, or what there is.
func (c *choice) empty(run *mapping.Run) error {
	if why := noWindows(run); why != "" && c.windows == 0 {
		return fmt.Errorf("%s: no windows: %s", run.Run.Name, why)
	}
	return fmt.Errorf("%s: no requests match%s: %s", run.Run.Name, c.query.flags(), strings.Join(c.there(run), "; "))
}

// flags are those that chose, as the user wrote them, each with a space before it.
func (q *windowQuery) flags() string {
	var b strings.Builder
	for _, f := range []struct {
		name   string
		values []string
	}{{"from", listOf(q.from)}, {"to", listOf(q.to)}, {"direction", q.directions}, {"host", q.hosts}, {"job", q.jobs}} {
		if len(f.values) > 0 {
			fmt.Fprintf(&b, " --%s %s", f.name, strings.Join(f.values, ","))
		}
	}
	return b.String()
}

// listOf is a list of a text, empty where that is.
func listOf(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// there says what the run has of that by which windows were chosen.
func (c *choice) there(run *mapping.Run) (texts []string) {
	q := c.query
	var has, hosts []string
	for _, d := range run.ByDirection() {
		has = append(has, d.Direction+"s")
	}
	for _, h := range run.Hosts {
		if h.Name != "" {
			hosts = append(hosts, h.Name)
		}
	}
	if len(q.directions) > 0 && len(has) > 0 {
		texts = append(texts, "the run has "+strings.Join(has, " and "))
	}
	switch {
	case len(q.hosts) > 0 && len(hosts) > 0:
		texts = append(texts, "its hosts: "+listText(hosts))
	case len(q.hosts) > 0:
		texts = append(texts, "its files name no host")
	}
	if len(c.jobs) > 0 {
		texts = append(texts, "its jobs: "+listText(slices.Sorted(maps.Keys(c.jobs))))
	}
	if q.from != "" || q.to != "" || len(texts) == 0 {
		length := run.Run.End.Sub(run.Run.Start).Round(time.Millisecond)
		texts = append(texts, fmt.Sprintf("the run lasted from %s to %s (+0s to +%s)", unit.Moment(run.Run.Start), unit.Moment(run.Run.End), length))
	}
	return texts
}

// listText is the first of a list, and how many more there are.
func listText(list []string) string {
	const most = 8
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %s more", strings.Join(list[:most], ", "), unit.Count(int64(len(list)-most)))
}
