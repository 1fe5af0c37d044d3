package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// addLosses adds what a section will lose, and the changes that keep it.
func (s *section) addLosses(a *Answers, job *plan.Job) {
	if !a.From.hasPercentiles() {
		why, changes := s.whyNoRows(), s.histogramChanges()
		if why == "" {
			why = "with these options nothing shows which of its logs belong to which job"
			changes = append(changes, Change{Where: commandLine, Line: "--per_job_logs=1"})
		}
		if a.From == Averages {
			why += ", and averages (log_avg_msec, bandwidth, rates) have no percentiles"
		}
		a.lose("percentiles over time: "+why, changes...)
	}
	if a.From == Logs && s.version.WritesHalf() && !job.Entry.HasPeriodic() {
		least, _ := hist.Fio3(0).Bounds(hist.Fio3(0).Half())
		reports := Change{Where: commandLine, Line: "--status-interval=1"}
		if o, ok := s.Own("status-interval"); ok {
			reports.Old = written(o)
		}
		a.lose(fmt.Sprintf("percentiles over time of each job with a latency of %v or more: the fio here is %v, and fio 3.6 to 3.16 "+
			"write memory in place of such counts into histogram logs; install a newer fio, or let this one write periodic reports",
			time.Duration(least), s.version), append(s.bins(), reports)...)
	}
	if a.End == Cut {
		a.lose("the end of each job, up to "+s.rows().String()+": fio does not log it, and only a report in json+ has it", s.bins()...)
	}
	switch {
	case a.Whole == Percentiles && a.From.hasPercentiles() || s.whyNoBins().Name != "":
	case a.Whole == FioOwn:
		a.lose("percentiles of the whole run, other than those that fio prints: its report has no bins", s.bins()...)
	case a.Whole == Rates:
		a.lose("percentiles of the whole run: fio's own, of several jobs, cannot be merged, and its report has no bins", s.bins()...)
	case a.Whole == Unknown:
		a.lose("the numbers of the whole run: there is no report in JSON", s.bins()...)
	}
	if a.Start == "mtime" && !s.hasJSON() {
		a.lose("a start that is better known than the files' times, and the total of requests: there is no report in JSON", s.bins()...)
	}
	if o, ok := s.Get("log_hist_coarseness"); ok && a.From == Logs && s.coarseness() > 0 {
		finest := hist.Fio3(0).RelativeError()
		a.lose(fmt.Sprintf("accuracy: with log_hist_coarseness=%s percentiles are known to ±%.1f %%, without it to ±%.1f %%", o.Value, 100*a.Error, 100*finest),
			remove(o))
	}
}

// histogramChanges returns the changes with which fio writes usable histogram logs.
func (s *section) histogramChanges() (changes []Change) {
	for _, o := range []fioargs.Option{s.whyNoBins(), s.whyPacked()} {
		if o.Name != "" {
			changes = append(changes, remove(o))
		}
	}
	where, dashes := s.place()
	if _, ok := s.HistogramLog(); !ok {
		changes = append(changes, Change{Where: where, Line: dashes + "write_hist_log=" + s.name()})
	}
	msec, isSet := s.Get("log_hist_msec")
	switch {
	case !isSet:
		changes = append(changes, Change{Where: where, Line: dashes + "log_hist_msec=1000"})
	case msec.Int(0) <= 0:
		changes = append(changes, Change{Where: msec.At, Old: written(msec), Line: dashes + "log_hist_msec=1000"})
	}
	return append(changes, s.bins()...)
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

// bins returns the changes with which fio writes a report with bins to a file. It returns none if fio already does
// so.
func (s *section) bins() []Change {
	if s.hasBins() {
		return nil
	}
	if o, ok := s.Own("output-format"); ok {
		formats := slices.DeleteFunc(slices.Clone(s.formats), func(f string) bool { return f == "json" })
		return []Change{{Where: commandLine, Old: "--output-format=" + o.Value, Line: "--output-format=" + strings.Join(append([]string{"json+"}, formats...), ",")}}
	}
	line := "--output-format=json+"
	if _, ok := s.Own("output"); !ok {
		line += " --output=" + s.name() + ".json"
	}
	return []Change{{Where: commandLine, Line: line}}
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
