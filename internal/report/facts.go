package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// fact is a name and its value.
type fact struct{ Name, Value string }

// known returns the facts that have a value.
func known(list []fact) []fact {
	return slices.DeleteFunc(list, func(f fact) bool { return f.Value == "" })
}

// Facts returns facts about the run.
func (r *run) Facts() []fact {
	d := r.Doc
	began, ended := "not known", ""
	if r.clock().Known {
		began, ended = unit.Moment(d.Run.Start)+" UTC", unit.Moment(d.Run.End)+" UTC"
	}
	var path, cpu string
	if d.Run.Path != d.Run.Name && d.Run.Path != "." {
		path = d.Run.Path
	}
	if d.Fio.UsrCPU > 0 || d.Fio.SysCPU > 0 {
		cpu = fmt.Sprintf("%v %% user, %v %% system", d.Fio.UsrCPU, d.Fio.SysCPU)
	}
	list := []fact{
		{"Note", d.Run.Note},
		{"Archive", d.Run.Archive},
		{"Path", path},
		{"Run", d.Run.ID},
		{"Start", began},
		{"End", ended},
		{"Duration", unit.Elapsed(d.Run.End.Sub(d.Run.Start))},
		{"Clock", clockText(&d.Clock)},
		{"Placed", d.Placed},
		{"Hosts", hostNames(d.Hosts)},
		{"Skew", skew(d.Hosts)},
		{"Jobs", unit.OrNothing(d.Fio.Jobs)},
		{"fio", d.Fio.Version},
		{"CPU of a job", cpu},
		{"Windows", windows(d)},
		{"Bins", r.bins()},
		{"Recovered", recovered(d)},
	}
	for _, name := range slices.Sorted(maps.Keys(d.Run.Labels)) {
		list = append(list, fact{name, d.Run.Labels[name]})
	}
	return known(append(list, fact{"Source", sourceText(&d.Source)}, fact{"Read by", readBy(&d.Program)}))
}

// readBy names the version of fio2es that made the run document. It may be older than the one that makes the page.
func readBy(p *mapping.Program) string {
	if p.Version == "" {
		return ""
	}
	return "fio2es " + p.Version
}

// recovered says how many requests are only in fio's report.
func recovered(d *mapping.Run) string {
	n, of := d.Recovered.Requests, ""
	if n == 0 {
		return ""
	}
	if d.All != nil && d.All.Requests > 0 {
		of = " (" + share(float64(n)/float64(d.All.Requests)) + ")"
	}
	return unit.Count(n) + " requests" + of + ": not in the logs, but in fio's JSON report"
}

// sourceText says from how many files the run was read, and their hash.
func sourceText(s *mapping.Source) string {
	if s.Files == 0 {
		return ""
	}
	text := unit.Plural(s.Files, "file") + ", " + unit.Bytes(s.Bytes)
	if s.Hash != "" {
		text += ", XXH64 " + s.Hash
	}
	return text
}

// Lead returns archive, time, hosts and jobs of the run.
func (r *run) Lead() string {
	d := r.Doc
	var parts []string
	if d.Run.Archive != "" {
		parts = append(parts, d.Run.Archive)
	}
	if r.clock().Known {
		parts = append(parts, facts.Started(d)+" to "+r.endText()+" UTC")
	}
	parts = append(parts, unit.Elapsed(d.Run.End.Sub(d.Run.Start)), unit.Plural(len(d.Hosts), "host"), unit.Plural(d.Fio.Jobs, "job"))
	if d.Fio.Version != "" {
		parts = append(parts, d.Fio.Version)
	}
	return strings.Join(parts, " · ")
}

// endText returns when the run ended. It leaves out the day if the run ended on the day of its start.
func (r *run) endText() string {
	start, end := unit.Moment(r.Doc.Run.Start), unit.Moment(r.Doc.Run.End)[:19]
	if start[:10] == end[:10] {
		return end[11:]
	}
	return end
}

// clockNames describes the sources of a run's times.
var clockNames = map[string]string{
	"log_unix_epoch": "rows with absolute times (log_unix_epoch)",
	"job_start":      "job_start in fio's JSON",
	"report":         "when fio wrote its report, less the run time",
	"user":           "set by the user when the run was read",
	"mtime":          "when the logs were last changed, which may be far off",
	"unknown":        "none: the date of the run is not known",
}

// clockText returns the source of a run's times, and their error.
func clockText(c *mapping.Clock) string {
	text := cmp.Or(clockNames[c.Source], c.Source)
	if text != "" && c.ErrorMS > 0 {
		text += fmt.Sprintf(", ± %d ms", c.ErrorMS)
	}
	return text
}

// hostNames returns the number of hosts and the names of the first.
func hostNames(hosts []mapping.RunHost) string {
	var names []string
	for _, h := range hosts {
		if h.Name != "" {
			names = append(names, h.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%d: %s", len(names), query.List(names))
}

// skew says how much later the last host started than the first.
func skew(hosts []mapping.RunHost) string {
	most := int64(0)
	for _, h := range hosts {
		most = max(most, h.SkewMS)
	}
	if most == 0 {
		return ""
	}
	return "the last host started " + unit.Elapsed(time.Duration(most)*time.Millisecond) + " after the first"
}

// windows says how long windows are, and how requests count in them.
func windows(d *mapping.Run) string {
	var parts []string
	if ms := d.IntervalMS; ms > 0 {
		parts = append(parts, unit.Elapsed(time.Duration(ms)*time.Millisecond))
	}
	if c := d.Run.Compacted; c.From != "" {
		parts = append(parts, "compacted on "+c.At.Format(time.DateOnly)+" from windows of "+unit.Elapsed(time.Duration(c.IntervalMS)*time.Millisecond))
	}
	switch d.Weighting {
	case "inflight":
		parts = append(parts, "requests count in each window by the share of their time in it (inflight)")
	case "completion":
		parts = append(parts, "requests count in the window in which they completed (completion)")
	}
	return strings.Join(parts, ", ")
}

// bins returns the layout of the histograms and its error.
func (r *run) bins() string {
	for _, t := range r.Totals {
		if t.histogram != nil {
			l := t.histogram.Layout()
			return fmt.Sprintf("%s: the error of their middles is at most %s", l, share(l.RelativeError()))
		}
	}
	return "none: averages have no percentiles"
}

// Settings returns the known settings of the benchmark.
func (r *run) Settings() []fact {
	var list []fact
	for _, c := range facts.Settings() {
		list = append(list, fact{c.Heading, c.TextOf(r.Doc)})
	}
	return known(list)
}

// Setting returns the most important settings in one line.
func (r *run) Setting() string {
	var parts []string
	for i, c := range facts.SettingColumns("benchmark", "workload", "mode", "op_size", "iodepth", "total_iodepth", "numjobs", "volumes", "iteration") {
		text := c.TextOf(r.Doc)
		if text != "" && i > 2 {
			text = c.Heading + " " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(slices.DeleteFunc(parts, func(text string) bool { return text == "" }), " · ")
}

func (r *run) clock() chart.Clock {
	return chart.Clock{Start: r.Doc.Run.Start, Known: unit.IsKnown(r.Doc.Run.Start)}
}

// moment returns a time of day, or the time since the run's start if its date is not known.
func (r *run) moment(t time.Time) string {
	if r.clock().Known {
		return unit.Moment(t)
	}
	return clockTime(r.clock(), t)
}

// clockTime returns a time of day, or the time since the run's start if its date is not known.
func clockTime(c chart.Clock, t time.Time) string {
	if c.Known {
		return t.UTC().Format("15:04:05.000")
	}
	return "+" + strconv.FormatFloat(t.Sub(c.Start).Seconds(), 'f', 3, 64) + "s"
}

// since returns when a moment was: time of day and time since the run's start.
func (r *run) since(m *moment) string {
	since := "+" + unit.Elapsed(m.at.Sub(r.Doc.Run.Start))
	if r.clock().Known {
		return clockTime(r.clock(), m.at) + " (" + since + ")"
	}
	return since
}
