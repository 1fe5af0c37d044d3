package doctor

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// commandLine is the place of options of fio itself.
const commandLine = "command line"

// command is a command line of fio, and what fio writes besides logs.
type command struct {
	*fioargs.Command
	version          fioargs.Version
	formats          []string      // of the report
	hasJSON, hasBins bool          // there is a report that fio2es can read, and it has bins
	status           time.Duration // time between periodic reports; 0 without them
	isClient         bool
	isStaged         bool // a section waits for those before it
	hasLogs          bool // a section writes histogram logs; then averages are not used
}

// Predict finds what fio2es will be able to say about each section of a command. version is that of its fio, or zero
// if it is unknown. Only real fio can prove these rules: TestRealFio compares them with the result of ingest.
func Predict(c *fioargs.Command, version fioargs.Version) (all []Answers) {
	of := command{Command: c, version: version, formats: []string{"normal"}}
	if o, ok := c.Own("output-format"); ok {
		of.formats = strings.Split(o.Value, ",")
	}
	of.hasBins = slices.Contains(of.formats, "json+")
	of.hasJSON = of.hasBins || slices.Contains(of.formats, "json")
	if o, ok := c.Own("status-interval"); ok {
		of.status = o.Time()
	}
	_, of.isClient = c.Own("client")
	for i, s := range c.Jobs {
		of.isStaged = of.isStaged || i > 0 && s.IsOn("stonewall")
		if _, ok := s.HistogramLog(); ok {
			every, _ := s.Get("log_hist_msec")
			of.hasLogs = of.hasLogs || every.Int(0) > 0
		}
	}
	for _, s := range c.Jobs {
		p := section{command: &of, Section: s}
		a := p.answers()
		p.addLosses(&a)
		all = append(all, a)
	}
	return all
}

type section struct {
	*command
	*fioargs.Section
	unmeasured, packed fioargs.Option // options that spoil histogram logs; the first also reports
	rows               time.Duration  // time between rows of histogram logs
	noLogs             string         // why the histogram logs cannot be used
	isPeriodic         bool           // the periodic reports have percentiles over time
	coarseness         int            // of the histogram logs
}

// answers returns what will be known, and keeps the reasons for addLosses.
func (s *section) answers() Answers {
	if o, ok := s.NoLatencies(); ok {
		s.unmeasured = o
	} else if o, ok := s.Get("clat_percentiles"); ok && !o.IsOn() {
		s.unmeasured = o
	}
	for _, name := range []string{"log_compression", "log_store_compressed"} {
		if o, ok := s.Get(name); ok && o.Value != "0" {
			s.packed = o
		}
	}
	isMeasured := s.unmeasured.Name == ""
	_, hasLog := s.HistogramLog()
	msec, _ := s.Get("log_hist_msec")
	s.rows = time.Duration(max(msec.Int(0), 0)) * time.Millisecond
	runtime, _ := s.Get("runtime")
	runs := runtime.Time() // 0 if the options do not say it

	// The source of windows, and why it is not the histogram log.
	switch {
	case !hasLog:
		s.noLogs = "write_hist_log is not set, so fio writes no histogram logs"
	case s.rows == 0:
		s.noLogs = "log_hist_msec is not set, so the histogram logs are empty"
	case !isMeasured:
		s.noLogs = s.unmeasured.Name + " leaves the latencies out of histogram logs and reports"
	case s.packed.Name != "":
		s.noLogs = s.packed.Name + " makes fio write memory addresses in place of counts into histogram logs"
	case s.isClient && !s.hasBins:
		s.noLogs = "fio --client adds earlier rows to later ones, and only the bins of a report in json+ prove how"
	case runs > 0 && runs <= s.rows && !s.hasBins:
		s.noLogs = fmt.Sprintf("the run of %v ends before the first row of its histogram logs, after %v", runs, s.rows)
	}
	average, _ := s.Get("log_avg_msec")
	has := func(name string) bool { _, ok := s.Get(name); return ok }
	hasLatencies := has("write_lat_log") && !s.IsOn("gtod_reduce")
	s.isPeriodic = s.status > 0 && s.hasBins && isMeasured && (runs == 0 || s.status < runs)
	isShort := runs > 0 && runs <= s.rows // the only row of the log comes from the report
	from, every := Nothing, time.Duration(0)
	switch {
	case hasLatencies && average.Int(0) == 0 && (s.noLogs != "" || isShort):
		from = Completions
	case s.isPeriodic && (s.noLogs != "" || isShort):
		from, every = Reports, s.status
	case s.noLogs == "":
		o, _ := s.Get("log_hist_coarseness")
		from, every = Logs, s.rows
		s.coarseness = min(max(o.Int(0), 0), 6)
	case (!s.hasLogs || s.packed.Name != "") && (hasLatencies || has("write_bw_log") || has("write_iops_log")):
		from = Averages
	}

	a := Answers{Of: s.Name, Jobs: s.Section.Jobs(), From: from, Whole: Unknown, Start: "mtime"}
	if from.hasPercentiles() {
		a.Every, a.End = time.Duration(plan.UsualWindow(every.Milliseconds()))*time.Millisecond, Complete
		a.Error = hist.Fio3(s.coarseness).RelativeError()
	}
	switch {
	case s.IsOn("log_unix_epoch") && (from == Logs && !isShort || from == Completions):
		a.Start = "log_unix_epoch"
	case s.hasJSON && (!s.isStaged || s.status > 0 || !from.hasPercentiles()):
		a.Start = "report"
	}
	switch {
	case s.hasBins && isMeasured, from.hasPercentiles():
		a.Whole = Percentiles
	case s.hasJSON && isMeasured && s.NumJobs() == 1:
		a.Whole = FioOwn
	case s.hasJSON:
		a.Whole = Rates
	}
	return a
}

// addLosses adds what will be lost, and the changes that keep it.
func (s *section) addLosses(a *Answers) {
	report := s.report()
	if !a.From.hasPercentiles() {
		var changes []Change
		for _, o := range []fioargs.Option{s.unmeasured, s.packed} {
			if o.Name != "" {
				changes = append(changes, remove(o))
			}
		}
		where, dashes := s.place()
		if _, ok := s.HistogramLog(); !ok {
			changes = append(changes, Change{Where: where, Line: dashes + "write_hist_log=" + s.name()})
		}
		if msec, ok := s.Get("log_hist_msec"); !ok {
			changes = append(changes, Change{Where: where, Line: dashes + "log_hist_msec=1000"})
		} else if s.rows == 0 {
			changes = append(changes, Change{Where: msec.At, Old: written(msec), Line: dashes + "log_hist_msec=1000"})
		}
		why := s.noLogs
		if a.From == Averages {
			why += ", and averages (log_avg_msec, bandwidth, rates) have no percentiles"
		}
		a.lose("percentiles over time: "+why, append(changes, report...)...)
	}
	if a.From == Logs && s.version.WritesHalf() && !s.isPeriodic {
		least, _ := hist.Fio3(0).Bounds(hist.Fio3(0).Half())
		reports := Change{Where: commandLine, Line: "--status-interval=1"}
		if o, ok := s.Own("status-interval"); ok {
			reports.Old = written(o)
		}
		a.lose(fmt.Sprintf("percentiles over time of each job with a latency of %v or more: the fio here is %v, and fio 3.6 to 3.16 "+
			"write memory in place of such counts into histogram logs; install a newer fio, or let this one write periodic reports",
			time.Duration(least), s.version), append(report, reports)...)
	}
	if a.From == Logs && !s.hasBins {
		a.End = Cut
		a.lose("the end of each job, up to "+s.rows.String()+": fio does not log it, and only a report in json+ has it", report...)
	}
	switch {
	case s.unmeasured.Name != "": // named above
	case a.Whole == FioOwn:
		a.lose("percentiles of the whole run, other than those that fio prints: its report has no bins", report...)
	case a.Whole == Rates:
		a.lose("percentiles of the whole run: fio's own, of several jobs, cannot be merged, and its report has no bins", report...)
	case a.Whole == Unknown:
		a.lose("the numbers of the whole run: there is no report in JSON", report...)
	}
	if a.Start == "mtime" && !s.hasJSON {
		a.lose("a start that is better known than the files' times, and the total of requests: there is no report in JSON", report...)
	}
	if o, ok := s.Get("log_hist_coarseness"); ok && s.coarseness > 0 {
		a.lose(fmt.Sprintf("accuracy: with log_hist_coarseness=%s percentiles are known to ±%.1f %%, without it to ±%.1f %%",
			o.Value, 100*a.Error, 100*hist.Fio3(0).RelativeError()), remove(o))
	}
}

// place returns where to add an option, and the dashes that it needs there. The option applies to all sections,
// unless other sections have their own histogram logs.
func (s *section) place() (where, dashes string) {
	if s.File == "" {
		return commandLine + ", before the first --name", "--"
	}
	for _, other := range s.Command.Jobs {
		if _, ok := other.HistogramLog(); ok && other != s.Section && other.File == s.File {
			return s.At + ", [" + s.Section.Name + "]", ""
		}
	}
	return s.File + ", [global]", ""
}

// report returns the change with which fio writes a report with bins to a file. It returns none if fio already does so.
func (s *section) report() []Change {
	if s.hasBins {
		return nil
	}
	if o, ok := s.Own("output-format"); ok {
		formats := slices.DeleteFunc(slices.Clone(s.formats), func(f string) bool { return f == "json" })
		line := "--output-format=" + strings.Join(append([]string{"json+"}, formats...), ",")
		return []Change{{Where: commandLine, Old: written(o), Line: line}}
	}
	line := "--output-format=json+"
	if _, ok := s.Own("output"); !ok {
		line += " --output=" + s.name() + ".json"
	}
	return []Change{{Where: commandLine, Line: line}}
}

// name returns the name for logs and reports: the name of the job file, or of the section.
func (s *section) name() string {
	base := filepath.Base(cmp.Or(s.File, s.Section.Name))
	return strings.TrimSuffix(base, filepath.Ext(base))
}

func remove(o fioargs.Option) Change { return Change{Where: o.At, Old: written(o)} }

// written returns an option as the user wrote it.
func written(o fioargs.Option) string {
	text := o.Name
	if o.Value != "" {
		text += "=" + o.Value
	}
	if o.At == commandLine {
		return "--" + text
	}
	return text
}
