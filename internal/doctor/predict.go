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

// commandLine is the place of options of fio itself.
const commandLine = "command line"

// command is a command line of fio, and what fio writes besides logs.
type command struct {
	*fioargs.Command
	version fioargs.Version
	formats []string
	status  time.Duration // time between periodic reports; 0 without them
	client  bool
	planned *plan.Plan // of a run of the command, with a fio before 3.36 (later ones report the start of each job)
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
	if of.planned = of.plan(); of.planned == nil {
		of.planned = &plan.Plan{}
	}
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
	from, job := s.source()
	a := Answers{Of: s.Name, Jobs: s.Section.Jobs(), From: from, Whole: s.whole(from), Start: "mtime"}
	switch {
	case job != nil:
		a.Start = job.Clock.String()
	case len(s.planned.Jobs) > 0: // a log of several sections
		a.Start = s.planned.Clock.String()
	}
	if from.hasPercentiles() {
		rows := job.Interval
		if from == Logs { // of a log of one row it is not known before it is read
			rows = max(rows, s.rows().Milliseconds())
		}
		a.Every, a.End = time.Duration(plan.UsualWindow(rows))*time.Millisecond, Complete
		a.Error = hist.Fio3(0).RelativeError()
	}
	if from == Logs {
		a.Error = hist.Fio3(s.coarseness()).RelativeError()
		if !s.hasBins() {
			a.End = Cut
		}
	}
	s.addLosses(&a, job)
	return a
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

// source returns what the windows of the section would be made of, and the job that shows it.
func (s *section) source() (From, *plan.Job) {
	first, last := s.numbers()
	from, job := Nothing, (*plan.Job)(nil)
	for _, j := range s.planned.Jobs {
		if j.Number < first || j.Number > last {
			continue
		}
		if job == nil {
			job = j
		}
		if j.HasWindows() {
			return From(j.Source.String()), j
		}
		if slices.ContainsFunc(s.planned.Averages, func(log cbt.Log) bool { return log.Job == j.Number }) {
			from = Averages
		}
	}
	return from, job
}

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
	case s.runs() > 0 && s.runs() <= rows && !s.hasBins():
		return fmt.Sprintf("the run of %v ends before the first row of its histogram logs, after %v", s.runs(), rows)
	}
	return ""
}

// whole returns what is known about all latencies of the section.
func (s *section) whole(from From) Whole {
	isMeasured := s.whyNoBins().Name == ""
	switch {
	case s.hasBins() && isMeasured, from.hasPercentiles():
		return Percentiles
	case s.hasJSON() && isMeasured && s.NumJobs() == 1:
		return FioOwn
	case s.hasJSON():
		return Rates
	}
	return Unknown
}

// name returns the name for logs and reports: the name of the job file, or of the section.
func (s *section) name() string {
	base := filepath.Base(cmp.Or(s.File, s.Section.Name))
	return strings.TrimSuffix(base, filepath.Ext(base))
}
