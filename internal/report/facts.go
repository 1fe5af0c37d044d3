package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

type fact struct{ Name, Value string }

// known returns the facts that have a value.
func known(list []fact) []fact {
	return slices.DeleteFunc(list, func(f fact) bool { return f.Value == "" })
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

var weightingNames = map[string]string{
	"inflight":   "requests count in each window by the share of their time in it (inflight)",
	"completion": "requests count in the window in which they completed (completion)",
}

// when returns a text if it is known, and otherwise "".
func when(isKnown bool, format string, args ...any) string {
	if !isKnown {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// Facts returns facts about the run.
func (r *run) Facts() []fact {
	d := r.Doc
	elapsed := func(ms int64) string { return unit.Elapsed(time.Duration(ms) * time.Millisecond) }
	began, ended := "not known", ""
	if unit.IsKnown(d.Run.Start) {
		began, ended = unit.Time(d.Run.Start, unit.Moment+unit.InZone), unit.Time(d.Run.End, unit.Moment+unit.InZone)
	}
	clock := cmp.Or(clockNames[d.Clock.Source], d.Clock.Source)
	var names []string
	last := int64(0) // how much later the last host started than the first
	for _, h := range d.Hosts {
		if h.Name != "" {
			names = append(names, h.Name)
		}
		last = max(last, h.SkewMS)
	}
	compacted := d.Run.Compacted
	windows := []string{ // how long they are, and how requests count in them
		when(d.IntervalMS > 0, "%s", elapsed(d.IntervalMS)),
		when(compacted.From != "", "compacted on %s from windows of %s", unit.Time(compacted.At, unit.Day), elapsed(compacted.IntervalMS)),
		weightingNames[d.Weighting],
	}
	bins := "none: averages have no percentiles"
	if i := slices.IndexFunc(r.Totals, func(t *total) bool { return t.histogram != nil }); i >= 0 {
		l := r.Totals[i].histogram.Layout()
		bins = fmt.Sprintf("%s: the error of their middles is at most %s", l, share(l.RelativeError()))
	}
	recovered, of := d.Recovered.Requests, ""
	if d.All != nil && d.All.Requests > 0 {
		of = " (" + share(float64(recovered)/float64(d.All.Requests)) + ")"
	}
	list := []fact{
		{"Note", d.Run.Note}, {"Archive", d.Run.Archive}, {"Path", when(d.Run.Path != d.Run.Name && d.Run.Path != ".", "%s", d.Run.Path)}, {"Run", d.Run.ID},
		{"Start", began}, {"End", ended}, {"Duration", unit.Elapsed(d.Run.End.Sub(d.Run.Start))},
		{"Clock", clock + when(clock != "" && d.Clock.ErrorMS > 0, ",%s", plusMinus(d.Clock.ErrorMS))}, {"Placed", d.Placed},
		{"Hosts", when(len(names) > 0, "%d: %s", len(names), query.List(names))},
		{"Skew", when(last > 0, "the last host started %s after the first", elapsed(last))}, {"Jobs", unit.OrNothing(d.Fio.Jobs)},
		{"fio", d.Fio.Text()}, {"CPU of a job", when(d.Fio.UsrCPU > 0 || d.Fio.SysCPU > 0, "%v %% user, %v %% system", d.Fio.UsrCPU, d.Fio.SysCPU)},
		{"Windows", strings.Join(slices.DeleteFunc(windows, func(text string) bool { return text == "" }), ", ")}, {"Bins", bins},
		{"Recovered", when(recovered > 0, "%s requests%s: not in the logs, but in fio's JSON report", unit.Count(recovered), of)},
	}
	list = append(list, r.labels()...)
	source := when(d.Source.Files > 0, "%s, %s", unit.Plural(d.Source.Files, "file"), unit.Bytes(d.Source.Bytes))
	return known(append(list, fact{"Source", source + when(source != "" && d.Source.Hash != "", ", XXH64 %s", d.Source.Hash)},
		// of the program that made the document, which may be older than this one
		fact{"Read by", when(d.Program.Version != "", "fio2es %s", d.Program.Version)}))
}

// Lead returns archive, time, hosts and jobs of the run.
func (r *run) Lead() string {
	parts := r.lead()
	if r.Doc.Run.Archive != "" {
		parts = append([]string{r.Doc.Run.Archive}, parts...)
	}
	return strings.Join(parts, between)
}

// between separates facts on a line.
const between = " · "

// lead returns time, hosts and jobs of the run.
func (r *run) lead() (parts []string) {
	d := r.Doc
	if unit.IsKnown(d.Run.Start) {
		layout := unit.Second
		if unit.Time(d.Run.Start, unit.Day) == unit.Time(d.Run.End, unit.Day) {
			layout = unit.OfDay
		}
		parts = append(parts, facts.Started(d)+" to "+unit.Time(d.Run.End, layout+unit.InZone))
	}
	parts = append(parts, unit.Elapsed(d.Run.End.Sub(d.Run.Start)))
	if n := len(d.Hosts); n > 0 {
		parts = append(parts, unit.Plural(n, "host"))
	}
	if n := d.Fio.Jobs; n > 0 {
		parts = append(parts, unit.Plural(n, "job"))
	}
	if text := d.Fio.Text(); text != "" {
		parts = append(parts, text)
	}
	return parts
}

// executionLead returns time and version of fio of an execution.
func executionLead(stages []*run) string {
	all := mapping.Run{Run: stages[0].Doc.Run, Fio: mapping.FioInfo{Version: stages[0].Doc.Fio.Version}}
	for _, s := range stages[1:] {
		if s.Doc.Run.End.After(all.Run.End) {
			all.Run.End = s.Doc.Run.End
		}
	}
	return strings.Join((&run{Doc: &all}).lead(), between)
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
	return strings.Join(slices.DeleteFunc(parts, func(text string) bool { return text == "" }), between)
}

// clockTime returns a time of day, with the date if that is not the one of the start.
func clockTime(start, t time.Time) string {
	layout := unit.OfDayMS
	if unit.Time(t, unit.Day) != unit.Time(start, unit.Day) {
		layout = "Jan 2 " + layout
	}
	return unit.Time(t, layout)
}
