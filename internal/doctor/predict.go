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
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// command is a command line of fio, what fio writes besides logs, and what would be known of a run of it.
type command struct {
	*fioargs.Command
	version          fioargs.Version
	formats          []string      // of the report
	hasJSON, hasBins bool          // there is a report that fio2es can read, and it has bins
	status           time.Duration // time between periodic reports; 0 without them
	isClient         bool
	sections         []*section
	jobs             []*job // of the simulated run, in the order of fio
	stages           []*plan.Plan
	remarks          plan.Remarks
}

type section struct {
	*command
	*fioargs.Section
	unmeasured, packed fioargs.Option // options that spoil histogram logs; the first also reports
	rows               time.Duration  // time between rows of histogram logs
	runs               time.Duration  // 0 if the options do not say it
	coarseness         int            // of histogram logs
}

// Predict finds what fio2es will be able to say about each section of a command. version is that of its fio, or zero
// if it is unknown. The plan of a simulated run decides it. TestRealFio compares the answers with those of real runs. m is
// the machine that fio will run on; nil if the command does not have all options of the workload, and so gets no notes.
func Predict(c *fioargs.Command, version fioargs.Version, m *Machine) (all []Answers) {
	of := &command{Command: c, version: version, formats: []string{"normal"}}
	if o, ok := c.Own("output-format"); ok {
		of.formats = strings.Split(o.Value, ",")
	}
	of.hasBins = slices.Contains(of.formats, "json+")
	of.hasJSON = of.hasBins || slices.Contains(of.formats, "json")
	_, of.isClient = c.Own("client")
	if o, ok := c.Own("status-interval"); ok && !of.isClient { // which writes only the last report
		of.status = o.Time()
	}
	for _, one := range c.Jobs {
		s := &section{command: of, Section: one}
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
		s.rows = time.Duration(max(s.Int("log_hist_msec", 0), 0)) * time.Millisecond
		s.runs, s.coarseness = s.Time("runtime"), min(max(s.Int("log_hist_coarseness", 0), 0), 6)
		of.sections = append(of.sections, s)
	}
	of.simulate()
	for _, s := range of.sections {
		all = append(all, s.answers())
		if m != nil {
			all[len(all)-1].Notes = notesOf(c, s.Section, m)
		}
	}
	return all
}

// planned returns the plan of the stage with the section's jobs. Without any it is that of the first stage.
func (s *section) planned() *plan.Plan {
	isHere := func(p *plan.Plan) bool {
		return slices.ContainsFunc(p.Jobs, func(j *plan.Job) bool { return s.jobOf(j.Log, j.Entry).section == s })
	}
	return s.stages[max(slices.IndexFunc(s.stages, isHere), 0)]
}

// answers returns what the plan says of the jobs of the section. Of several, the first with percentiles over time counts.
func (s *section) answers() Answers {
	a := Answers{Of: s.Name, Kind: "section", Jobs: s.Section.Jobs(), From: plan.FromNothing, Whole: Unknown, Start: "mtime"}
	planned := s.planned()
	if len(planned.Jobs) > 0 { // perhaps none of this section, if a log is of several
		a.Start = planned.Clock.String()
	}
	why, isPeriodic := "", false
	for i, j := range planned.Jobs {
		if s.jobOf(j.Log, j.Entry).section != s {
			continue
		}
		alone := *planned
		alone.Jobs = planned.Jobs[i : i+1]
		reason := alone.NoWindows()
		if reason == "" && len(alone.Averages) > 0 { // they replace the windows of all jobs
			reason = alone.WhyNoWindows()
		}
		if why == "" || reason == "" { // the first job, or the first with windows
			a.Start = j.Clock.String()
		}
		if why = reason; why != "" {
			continue
		}
		a.From, a.End, a.Whole = j.Source, Complete, Percentiles
		a.Every = time.Duration(planned.Window) * time.Millisecond
		a.Error = hist.Fio3(0).RelativeError()
		if isPeriodic = j.Entry.HasPeriodic(); a.From == plan.FromHist && j.HasRows {
			a.Error = j.Layout.RelativeError()
		}
		if a.From == plan.FromHist && (j.Entry == nil || !j.Entry.Out.HasBins) {
			a.End = Cut
		}
		break
	}
	if a.From == plan.FromNothing && slices.ContainsFunc(planned.Averages, func(log cbt.Log) bool {
		return slices.ContainsFunc(s.jobs, func(j *job) bool {
			return j.section == s && slices.ContainsFunc(j.logs, func(l *plan.Log) bool { return l.File == log.File })
		})
	}) {
		a.From = Averages
	}
	isMeasured := s.unmeasured.Name == ""
	switch {
	case s.hasBins && isMeasured:
		a.Whole = Percentiles
	case s.hasJSON && a.Whole == Unknown && isMeasured && (s.NumJobs() == 1 || s.IsOn("group_reporting")):
		a.Whole = FioOwn
	case s.hasJSON && a.Whole == Unknown:
		a.Whole = Rates
	}
	s.addLosses(&a, why, isPeriodic)
	return a
}

// addLosses adds what will be lost, and the changes that keep it. planned is the plan's reason if it has no percentiles over
// time. An option that is the cause comes first.
func (s *section) addLosses(a *Answers, planned string, isPeriodic bool) {
	report := s.report()
	_, hasLog := s.HistogramLog()
	msec, hasInterval := s.Get("log_hist_msec")
	if !a.hasPercentiles() {
		var changes []Change
		for _, o := range []fioargs.Option{s.unmeasured, s.packed} {
			if o.Name != "" {
				changes = append(changes, remove(o))
			}
		}
		where, dashes := s.place()
		if !hasLog {
			changes = append(changes, Change{Where: where, Line: dashes + "write_hist_log=" + s.name()})
		}
		if !hasInterval {
			changes = append(changes, Change{Where: where, Line: dashes + "log_hist_msec=1000"})
		} else if s.rows == 0 {
			changes = append(changes, Change{Where: msec.At, Old: written(msec), Line: dashes + "log_hist_msec=1000"})
		}
		why := strings.TrimPrefix(planned, plan.NoWindowsPrefix)
		switch {
		case !hasLog:
			why = "write_hist_log is not set, so fio writes no histogram logs"
		case s.rows == 0:
			why = "log_hist_msec is not set, so the histogram logs are empty"
		case s.unmeasured.Name != "":
			why = s.unmeasured.Name + " leaves the latencies out of histogram logs and reports"
		case s.packed.Name != "":
			why = s.packed.Name + " makes fio write memory addresses in place of counts into histogram logs"
		case s.runs > 0 && s.runs <= s.rows:
			why = fmt.Sprintf("the run of %v ends before the first row of its histogram logs, after %v", s.runs, s.rows)
		case len(s.remarks.Skipped) > 0:
			why = strings.TrimPrefix(s.remarks.Skipped[0].Error(), ": ") // after the name of a file, which has none
		}
		if a.From == Averages {
			why += ", and averages (log_avg_msec, bandwidth, rates) have no percentiles"
		}
		if changes = append(changes, report...); len(changes) == 0 { // averages replace its only row, which the report has
			shorter := max(min(s.runs.Milliseconds()/2, 1000), 1)
			changes = append(changes, Change{Where: msec.At, Old: written(msec), Line: fmt.Sprintf("%slog_hist_msec=%d", dashes, shorter)})
		}
		a.lose("percentiles over time: "+why, changes...)
	}
	if a.From == plan.FromHist && s.version.WritesHalf() && !isPeriodic {
		least, _ := hist.Fio3(0).Bounds(hist.Fio3(0).Half())
		reports := Change{Where: fioargs.CommandLine, Line: "--status-interval=1"}
		if o, ok := s.Own("status-interval"); ok {
			reports.Old = written(o)
		}
		a.lose(fmt.Sprintf("percentiles over time of each job with a latency of %v or more: the fio here is %v, and fio 3.6 to 3.16 "+
			"write memory in place of such counts into histogram logs; install a newer fio, or let this one write periodic reports",
			time.Duration(least), s.version), append(report, reports)...)
	}
	if a.End == Cut {
		a.lose("the end of each job, up to "+s.rows.String()+": fio does not log it, and only a report in json+ has it", report...)
	}
	switch {
	case s.unmeasured.Name != "": // named above
	case a.Whole == FioOwn:
		a.lose("percentiles of the whole run, other than those that fio prints: its report has no bins", report...)
	case a.Whole == Rates:
		a.lose("percentiles of the whole run: fio's own, of several jobs, cannot be merged, and its report has no bins", report...)
	case a.Whole == Unknown:
		a.lose("the numbers of the whole run, other than those that fio prints as text, if that is stored: there is no report in JSON", report...)
	}
	if a.Start == "mtime" && !s.hasJSON {
		a.lose("a start that is better known than the files' times, and the total of requests: there is no report in JSON", report...)
	}
	if o, ok := s.Get("log_hist_coarseness"); ok && a.Error > hist.Fio3(0).RelativeError() {
		a.lose(fmt.Sprintf("accuracy: with log_hist_coarseness=%s percentiles are known to ±%.1f %%, without it to ±%.1f %%",
			o.Value, 100*a.Error, 100*hist.Fio3(0).RelativeError()), remove(o))
	}
}

// place returns where to add an option, and the dashes that it needs there. The option applies to all sections,
// unless other sections have their own histogram logs.
func (s *section) place() (where, dashes string) {
	if s.File == "" {
		return fioargs.CommandLine + ", before the first --name", "--"
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
		return []Change{{Where: fioargs.CommandLine, Old: written(o), Line: line}}
	}
	line := "--output-format=json+"
	if _, ok := s.Own("output"); !ok {
		line += " --output=" + s.name() + ".json"
	}
	return []Change{{Where: fioargs.CommandLine, Line: line}}
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
	if o.At == fioargs.CommandLine {
		return "--" + text
	}
	return text
}
