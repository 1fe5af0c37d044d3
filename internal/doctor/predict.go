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
	version fioargs.Version
	formats []string
	status  time.Duration // time between periodic reports; 0 without them
	client  bool
}

// Predict finds what fio2es will be able to say about each section of a command. version is that of its fio, or zero
// if it is unknown.
func Predict(c *fioargs.Command, version fioargs.Version) (all []Answers) {
	of := command{Command: c, version: version, formats: []string{"normal"}}
	if o, ok := c.Own("output-format"); ok {
		of.formats = strings.Split(o.Value, ",")
	}
	if o, ok := c.Own("status-interval"); ok {
		of.status = o.Time()
	}
	_, of.client = c.Own("client")
	for _, s := range c.Jobs {
		p := section{command: &of, Section: s}
		all = append(all, p.answers())
	}
	return all
}

// hasJSON reports whether there is a report that fio2es can read, and hasBins whether it has bins.
func (c *command) hasJSON() bool { return slices.Contains(c.formats, "json") || c.hasBins() }
func (c *command) hasBins() bool { return slices.Contains(c.formats, "json+") }

type section struct {
	*command
	*fioargs.Section
}

func (s *section) answers() Answers {
	a := Answers{Of: s.Name, Jobs: s.Section.Jobs(), From: s.from(), Whole: s.whole(), Start: s.start()}
	switch a.From {
	case Logs:
		if a.End = Cut; s.hasBins() {
			a.End = Complete
		}
		a.Every, a.Error = window(s.rows()), hist.Fio3(s.coarseness()).RelativeError()
	case Completions:
		a.Every, a.End, a.Error = window(0), Complete, hist.Fio3(0).RelativeError()
	case Reports:
		a.Every, a.End, a.Error = window(s.status), Complete, hist.Fio3(0).RelativeError()
	}
	s.addLosses(&a)
	return a
}

// window returns the length of windows for rows that are this far apart.
func window(rows time.Duration) time.Duration {
	return time.Duration(plan.UsualWindow(rows.Milliseconds())) * time.Millisecond
}

// rows returns the time between rows of histogram logs, or 0 if fio writes none.
func (s *section) rows() time.Duration {
	msec, _ := s.Get("log_hist_msec")
	if _, ok := s.HistogramLog(); !ok {
		return 0
	}
	return time.Duration(msec.Int(0)) * time.Millisecond
}

func (s *section) coarseness() int {
	o, _ := s.Get("log_hist_coarseness")
	return min(max(o.Int(0), 0), 6)
}

// from returns the source that the pipeline will choose. It takes averages only if no job of the run has
// percentiles.
func (s *section) from() From {
	if from := s.percentiles(); from != Nothing {
		return from
	}
	for _, other := range s.Command.Jobs {
		if (&section{s.command, other}).percentiles() != Nothing {
			return Nothing
		}
	}
	if s.hasLog("write_lat_log") || s.hasLog("write_bw_log") || s.hasLog("write_iops_log") {
		return Averages
	}
	return Nothing
}

// percentiles returns the source of percentiles: histogram logs, then completions, then periodic reports.
func (s *section) percentiles() From {
	switch {
	case s.whyNoRows() == "":
		return Logs
	case s.average() == 0 && s.hasLog("write_lat_log") && !s.IsOn("gtod_reduce"):
		return Completions
	case s.hasReports():
		return Reports
	}
	return Nothing
}

// hasReports reports whether there are at least three periodic reports with bins. With fewer, their distance is not
// known.
func (s *section) hasReports() bool {
	o, _ := s.Get("runtime")
	const least = 3
	runs := o.Time()
	return s.status > 0 && s.hasBins() && s.whyNoBins() == (fioargs.Option{}) && !s.IsOn("unified_rw_reporting") &&
		(runs == 0 || runs >= (least-1)*s.status)
}

func (s *section) hasLog(name string) bool { _, ok := s.Get(name); return ok }

// average returns log_avg_msec in milliseconds.
func (s *section) average() int {
	o, _ := s.Get("log_avg_msec")
	return o.Int(0)
}

// whyNoBins returns the option that removes latencies from histogram logs and reports.
func (s *section) whyNoBins() fioargs.Option {
	if o, ok := s.NoLatencies(); ok {
		return o
	}
	if o, ok := s.Get("clat_percentiles"); ok && !o.IsOn() {
		return o
	}
	return fioargs.Option{}
}

// whyPacked returns the option with which fio writes addresses of its memory into histogram logs.
func (s *section) whyPacked() fioargs.Option {
	for _, name := range []string{"log_store_compressed", "log_compression"} {
		if o, ok := s.Get(name); ok && o.Value != "0" {
			return o
		}
	}
	return fioargs.Option{}
}

// whyNoRows returns why the histogram logs of the section cannot be used, or "".
func (s *section) whyNoRows() string {
	runs, _ := s.Get("runtime")
	_, hasLog := s.HistogramLog()
	rows := s.rows()
	switch {
	case !hasLog:
		return "write_hist_log is not set, so fio writes no histogram logs"
	case rows <= 0:
		return "log_hist_msec is not set, so the histogram logs are empty"
	case s.whyNoBins().Name != "":
		return s.whyNoBins().Name + " leaves the latencies out of histogram logs and reports"
	case s.whyPacked().Name != "":
		return s.whyPacked().Name + " makes fio write memory addresses in place of counts into histogram logs"
	case s.client && !s.hasBins():
		return "fio --client adds earlier rows to later ones, and only the bins of a report in json+ prove how"
	case runs.Time() > 0 && runs.Time() <= rows && !s.hasBins():
		return fmt.Sprintf("the run of %v ends before the first row of its histogram logs, after %v", runs.Time(), rows)
	}
	return ""
}

// whole returns what is known about all latencies of the section.
func (s *section) whole() Whole {
	isMeasured := s.whyNoBins().Name == ""
	switch {
	case s.hasBins() && isMeasured, s.from().hasPercentiles():
		return Percentiles
	case s.hasJSON() && isMeasured && s.NumJobs() == 1:
		return FioOwn
	case s.hasJSON():
		return Rates
	}
	return Unknown
}

// start returns the evidence for the start of the section's jobs, with a fio before 3.36. (Later reports have the
// start itself.) If jobs run one after another, the report has the end of the last one, and the modification times
// of the logs show when the others ended.
func (s *section) start() string {
	from := s.from()
	isLog := from == Logs || from == Completions
	switch {
	case s.IsOn("log_unix_epoch") && isLog:
		return "log_unix_epoch"
	case !s.hasJSON(), isLog && s.isStaged() && s.status == 0:
		return "mtime"
	}
	return "report"
}

// isStaged reports whether any section waits for others to end.
func (c *command) isStaged() bool {
	return slices.ContainsFunc(c.Jobs, func(s *fioargs.Section) bool { return s.IsOn("stonewall") })
}

// name returns the name for logs and reports: the name of the job file, or of the section.
func (s *section) name() string {
	base := filepath.Base(cmp.Or(s.File, s.Section.Name))
	return strings.TrimSuffix(base, filepath.Ext(base))
}
