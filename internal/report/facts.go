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
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// fact is a name and a value that is known of a run.
type fact struct{ Name, Value string }

// factList collects facts whose values are known.
type factList []fact

func (f *factList) add(name, value string) {
	if value != "" {
		*f = append(*f, fact{name, value})
	}
}

// facts describe the run itself.
func (r *pageRun) facts() []fact {
	d := r.doc
	var f factList
	f.add("Archive", d.Run.Archive)
	if d.Run.Path != d.Run.Name && d.Run.Path != "." {
		f.add("Path", d.Run.Path)
	}
	f.add("Run", d.Run.ID)
	began, ended := "not known", ""
	if r.clock().Known {
		began, ended = unit.Moment(d.Run.Start)+" UTC", unit.Moment(d.Run.End)+" UTC"
	}
	f.add("Start", began)
	f.add("End", ended)
	f.add("Duration", unit.Elapsed(d.Run.End.Sub(d.Run.Start)))
	f.add("Clock", clockText(&d.Clock))
	f.add("Placed", d.Placed)
	f.add("Hosts", hostNames(d.Hosts))
	f.add("Skew", skew(d.Hosts))
	if d.Fio.Jobs > 0 {
		f.add("Jobs", strconv.Itoa(d.Fio.Jobs))
	}
	f.add("fio", d.Fio.Version)
	if d.Fio.UsrCPU > 0 || d.Fio.SysCPU > 0 {
		f.add("CPU of a job", fmt.Sprintf("%v %% user, %v %% system", d.Fio.UsrCPU, d.Fio.SysCPU))
	}
	f.add("Windows", r.windows())
	f.add("Bins", r.bins())
	if n := d.Recovered.Requests; n > 0 {
		of := ""
		if d.All != nil && d.All.Requests > 0 {
			of = " (" + share(float64(n)/float64(d.All.Requests)) + ")"
		}
		f.add("Recovered", unit.Count(n)+" requests"+of+": not in the logs, but in fio's JSON report")
	}
	for _, name := range slices.Sorted(maps.Keys(d.Run.Labels)) {
		f.add(name, d.Run.Labels[name])
	}
	if s := d.Source; s.Files > 0 {
		text := unit.Plural(s.Files, "file") + ", " + unit.Bytes(s.Bytes)
		if s.Hash != "" {
			text += ", XXH64 " + s.Hash
		}
		f.add("Source", text)
	}
	return f
}

// lead identifies the run: its archive, time, hosts and jobs.
func (r *pageRun) lead() string {
	d := r.doc
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

// endText is when the run ended, without the day if that is the day of its start.
func (r *pageRun) endText() string {
	start, end := unit.Moment(r.doc.Run.Start), unit.Moment(r.doc.Run.End)[:19]
	if start[:10] == end[:10] {
		return end[11:]
	}
	return end
}

// clockNames explain the sources of a run's times.
var clockNames = map[string]string{
	"log_unix_epoch": "rows with absolute times (log_unix_epoch)",
	"job_start":      "job_start in fio's JSON",
	"report":         "when fio wrote its report, less the run time",
	"user":           "set by the user when the run was read",
	"mtime":          "when the logs were last changed, which may be far off",
	"unknown":        "none: the date of the run is not known",
}

// clockText is the source of a run's times and their error.
func clockText(c *mapping.Clock) string {
	text := cmp.Or(clockNames[c.Source], c.Source)
	if text != "" && c.ErrorMS > 0 {
		text += fmt.Sprintf(", ± %d ms", c.ErrorMS)
	}
	return text
}

// hostNames are the first hosts, and how many there are.
func hostNames(hosts []mapping.RunHost) string {
	const most = 8
	var names []string
	for _, h := range hosts {
		if h.Name != "" {
			names = append(names, h.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
	}
	return fmt.Sprintf("%d: %s%s", len(names), strings.Join(names[:min(most, len(names))], ", "), more)
}

// skew is how much later than the first host the last one started.
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

// windows is the length of the windows, and how requests count in them.
func (r *pageRun) windows() string {
	var parts []string
	if ms := r.doc.IntervalMS; ms > 0 {
		parts = append(parts, unit.Elapsed(time.Duration(ms)*time.Millisecond))
	}
	switch r.doc.Weighting {
	case "inflight":
		parts = append(parts, "requests count in each window by the share of their time in it (inflight)")
	case "completion":
		parts = append(parts, "requests count in the window in which they completed (completion)")
	}
	return strings.Join(parts, ", ")
}

// bins is the layout of the histograms and its error.
func (r *pageRun) bins() string {
	for _, t := range r.totals {
		if t.histogram != nil {
			l := t.histogram.Layout()
			return fmt.Sprintf("%s: the error of their middles is at most %s", l, share(l.RelativeError()))
		}
	}
	return "none: averages have no percentiles"
}

// settings are the known settings of the benchmark.
func settings(d *mapping.Run) []fact {
	var list factList
	for _, c := range facts.Settings {
		list.add(c.Heading, c.TextOf(d))
	}
	return list
}

// settingsLine is a line of the settings that matter most.
func settingsLine(d *mapping.Run) string {
	var parts []string
	for i, c := range table.Pick(facts.Settings, "benchmark", "workload", "mode", "op_size", "iodepth", "total_iodepth", "numjobs", "volumes", "iteration") {
		text := c.TextOf(d)
		if text != "" && i > 2 {
			text = c.Heading + " " + text
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " · ")
}

// factsOf are the entries of a map, by name.
func factsOf[V any](values map[string]V) []fact {
	var list []fact
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, fact{name, fmt.Sprint(values[name])})
	}
	return list
}

// moment is a time of day, or the time since the run's start if its date is not known.
func (r *pageRun) moment(t time.Time) string {
	if r.clock().Known {
		return unit.Moment(t)
	}
	return clockTime(r.clock(), t)
}

// clockTime is a time of day, or the time since the run's start if its date is not known.
func clockTime(c chart.Clock, t time.Time) string {
	if c.Known {
		return t.UTC().Format("15:04:05.000")
	}
	return "+" + strconv.FormatFloat(t.Sub(c.Start).Seconds(), 'f', 3, 64) + "s"
}

// worst is the worst windows of a direction: with the highest p99, the slowest request and the lowest IOPS. It is nil
// where no window has a histogram. The slowest request has the latency that it has in the table of numbers.
func (r *pageRun) worst(t *total) *row {
	s := r.series[t.Direction]
	if s == nil || s.worst.p99 == nil || t.histogram == nil {
		return nil
	}
	m := &s.worst
	p99 := cell{Text: shortText(&t.Latency, m.p99.value), Note: r.since(m.p99)}
	slowest, idle := cell{Text: shortText(&t.Latency, t.Latency.Max)}, cell{Text: "-"}
	if m.slowest != nil {
		slowest.Note = r.since(m.slowest)
	}
	switch {
	case m.gap != nil:
		idle = cell{Text: "0", Note: "no windows from " + r.since(m.gap) + " for " + unit.Elapsed(time.Duration(m.gap.value*float64(time.Second)))}
	case m.idle != nil:
		idle = cell{Text: unit.Rate(m.idle.value), Note: r.since(m.idle)}
	}
	return &row{t.Direction, []cell{p99, slowest, idle}}
}

// since is when a moment was: its time of day and the time since the run's start.
func (r *pageRun) since(m *moment) string {
	since := "+" + unit.Elapsed(m.at.Sub(r.doc.Run.Start))
	if r.clock().Known {
		return clockTime(r.clock(), m.at) + " (" + since + ")"
	}
	return since
}
