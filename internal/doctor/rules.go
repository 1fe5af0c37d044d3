package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// rule is a cause: an option of fio that is set, missing or wrong. Of several rules with the same option, the first that
// applies to a section counts, so that a cause is one message.
type rule struct {
	kind   Kind
	option string
	mends  string                  // see [section.changes]
	says   func(s *section) string // what it means, or "" if the section does not have this cause
}

const unmeasured = "percentiles over time and of the whole run: %s leaves the latencies out of logs and reports"

func (s *section) packed(by string) string {
	return when(s.hasHist && s.isSet(by) && !s.isOverTime(), "percentiles over time: with %s fio writes memory addresses in place of counts into histogram logs", by)
}

// rules are all that is known about options before a run, of each kind the worst first. Sentences have few values, so that one is
// equal for most sections of a job file. What is not known here, such as the cache of a library's engine, is no fault.
// TestRealFio compares what is lost with what ingest says of real runs.
var rules = []rule{
	{lost, "gtod_reduce", "-gtod_reduce", func(s *section) string { return when(s.IsOn("gtod_reduce"), unmeasured, "gtod_reduce") }},
	{lost, "disable_clat", "-disable_clat", func(s *section) string { return when(s.IsOn("disable_clat"), unmeasured, "disable_clat") }},
	{lost, "clat_percentiles", "clat_percentiles=1", func(s *section) string {
		o, isSet := s.Get("clat_percentiles")
		return when(isSet && !o.IsOn() && !s.hasCompletions, unmeasured, "clat_percentiles=0")
	}},
	{lost, "log_store_compressed", "-log_store_compressed", func(s *section) string { return s.packed("log_store_compressed") }},
	{lost, "log_compression", "-log_compression", func(s *section) string { return s.packed("log_compression") }},
	{lost, "write_hist_log", "-log_store_compressed -log_compression write_hist_log log_hist_msec=1000", func(s *section) string {
		why := "fio writes no histogram logs"
		if s.WritesLogs() {
			why = "fio writes averages and rates, which have none, and no histogram logs"
		}
		return when(!s.hasHist && !s.isOverTime(), "percentiles over time: %s", why)
	}},
	{lost, "log_hist_msec", "log_hist_msec=1000", func(s *section) string {
		return when(s.hasHist && s.rows == 0 && !s.isOverTime(), "percentiles over time: without log_hist_msec histogram logs are empty")
	}},
	{lost, "log_hist_msec", "log_hist_msec=100", func(s *section) string {
		return when(s.hasHist && s.isShort() && !s.hasBins && !s.isOverTime(),
			"percentiles over time: the run of %v ends before the first row of its histogram logs, after %v", s.runs, s.rows)
	}},
	{lost, "output-format", "output-format", func(s *section) string {
		return when(s.hasHist && s.isClient && !s.hasBins,
			"percentiles over time: fio --client writes histogram logs with wrong counts, and only a report with bins (json+) shows how to undo it")
	}},
	{lost, "status-interval", "output-format status-interval=1", func(s *section) string {
		least, _ := hist.Fio3(0).Bounds(hist.Fio3(0).Half())
		return when(s.hasRows() && s.version.WritesHalf() && !s.hasPeriodic, "percentiles over time of each job with a latency of %v or more: the fio here is %v, "+
			"and fio 3.6 to 3.16 write memory in place of such counts into histogram logs; install a newer fio, or let this one write periodic reports",
			time.Duration(least), s.version)
	}},
	{lost, "output-format", "output-format", func(s *section) string {
		isTimed := s.hasJSON || s.IsOn("log_unix_epoch")
		end := fmt.Sprintf("the end of each job (up to %v, which fio does not log)", s.rows)
		what := "percentiles of all jobs together (fio prints those of each)"
		switch {
		case s.hasBins || s.hasCompletions && !s.hasRows() && isTimed:
			return ""
		case s.hasRows():
			what = end + ifKnown(!isTimed, " and the exact start")
		case s.hasCompletions:
			what = "the exact start and the total of requests"
		case !s.hasJSON:
			what = "the exact numbers of the whole run (fio prints rounded ones)"
		case s.command.NumJobs() == 1 || s.IsOn("group_reporting"):
			what = "percentiles of the whole run (fio prints a few)"
		}
		return what + ": fio writes no report with bins (json+)"
	}},
	{lost, "log_hist_coarseness", "-log_hist_coarseness", func(s *section) string {
		n := min(max(s.Int("log_hist_coarseness", 0), 0), 6)
		isShort := n <= 2 && s.rows > 0 && s.rows < time.Second // as fio2es chooses rows: see fioargs.RowsFor
		return when(n > 0 && !isShort && (s.hasRows() || !s.isOverTime()), "accuracy: with log_hist_coarseness=%d percentiles are known to ±%.1f %%, without it to ±%.1f %%",
			n, 100*hist.Fio3(n).RelativeError(), 100*hist.Fio3(0).RelativeError())
	}},
	{lost, "fsync", "output-format status-interval=1", func(s *section) string {
		return when(s.syncs() != "" && !s.hasPeriodic,
			"latencies of %s over time: fio measures them apart from those of writes, and only periodic reports have them (json+)", s.syncs())
	}},

	{add, "log_unix_epoch", "log_unix_epoch=1", func(s *section) string { // with which rows say it, as reports do since fio 3.36
		isLater := func(one *fioargs.Section) bool { return one.IsOn("stonewall") }
		return when(slices.ContainsFunc(s.command.Jobs, isLater) && s.hasRows() && s.hasBins && !s.hasPeriodic && !s.IsOn("log_unix_epoch") &&
			s.version.Before(fioargs.HasJobStart), "the start of each stage is known by the times of files alone, which copies may change")
	}},

	// fio refuses a device only if exactly this name is mounted: neither a disk with mounted partitions, nor another name of it.
	{spoils, "filename", "", func(s *section) string {
		for _, path := range s.paths() {
			if s.machine.Mounted == nil || !s.does(fiolog.Write) && !s.does(fiolog.Trim) {
				return ""
			}
			if found := s.machine.Mounted(path); len(found) > 0 {
				return fmt.Sprintf("writes to %s destroy what is in use on it (%s): name another device, or unmount it", path, unit.List(found, 3, ", "))
			}
		}
		return ""
	}},
	{spoils, "ioengine", "", func(s *section) string {
		return when(s.isDeep() && fioargs.IsSynchronous(s.Value("ioengine")), "iodepth has no effect, because ioengine=%s makes one request at a time: "+
			"use one that queues (libaio or io_uring, with direct=1), or numjobs", s.Value("ioengine"))
	}},
	{spoils, "direct", "", func(s *section) string {
		return when(s.isDeep() && s.Value("ioengine") == "libaio" && s.isCached(),
			"iodepth has no effect, because libaio makes one request at a time without direct=1: add direct=1")
	}},
	{spoils, "direct", "", func(s *section) string {
		size, isKnown := s.size()
		return when(s.isCached() && !s.isSynced() && isKnown && size < float64(s.machine.Memory), "files of %s fit into memory (%s), so the page cache answers "+
			"requests in place of the device: add direct=1, or make them larger than memory", unit.Bytes(int64(size)), unit.Bytes(s.machine.Memory))
	}},
	{spoils, "direct", "", func(s *section) string {
		return when(s.isCached() && !s.isSynced() && !s.has("direct", "buffered"),
			"without direct=1 the page cache answers requests in place of the device: add it, or direct=0 if this is meant")
	}},
	{spoils, "time_based", "", func(s *section) string {
		const speed = 1 << 30 // bytes per second, of an ordinary SSD
		size, isKnown := fioargs.ParseSize(s.Value("size"))
		takes := float64(size) * float64(s.Jobs()) / speed // seconds
		isLonger := s.IsOn("time_based") || s.has("io_size", "number_ios", "loops", "rate", "rate_iops", "thinktime", "fill_device")
		return when(isKnown && !isLonger && takes < s.runs.Seconds(), "fio ends before its runtime, once %s a job are done (after %s at 1GiB/s): add time_based",
			unit.Bytes(size), unit.Elapsed(time.Duration(takes*float64(time.Second))))
	}},
	{spoils, "runtime", "", func(s *section) string { // without one, the section may be there to fill files
		return when(s.runs > 0 && s.runs < 10*time.Second, "%v are too short for caches and queues to settle, and for p99.9: use runtime=60 and ramp_time=10", s.runs)
	}},
	{spoils, "runtime", "", func(s *section) string {
		return when(s.runs > 0 && s.does(fiolog.Write) && !s.has("ramp_time"),
			"the first seconds count, in which caches of the device are not filled: add ramp_time=10, or ramp_time=0 if this is meant")
	}},
}

// when returns a sentence if it applies, or "".
func when(applies bool, format string, args ...any) string {
	return ifKnown(applies, fmt.Sprintf(format, args...))
}

// Check finds what the options of each section of a command mean for its results. version is that of its fio, or zero if it is
// unknown. m is the machine that fio will run on; nil if the command does not have all options of the workload: then only
// what is lost is found.
func Check(c *fioargs.Command, version fioargs.Version, m *Machine) []Answers {
	kinds := []Kind{lost, add, spoils}
	if m == nil {
		kinds = kinds[:1]
	}
	return check(c, version, m, kinds...)
}

// Notes returns what spoils the measurements of a command. Equal sentences are one, for all of their sections.
func Notes(c *fioargs.Command, m *Machine) (notes []string) {
	for _, f := range together(check(c, fioargs.Version{}, m, spoils)) {
		notes = append(notes, f.What)
	}
	return notes
}

func check(c *fioargs.Command, version fioargs.Version, m *Machine, kinds ...Kind) (all []Answers) {
	for _, one := range c.Jobs {
		s := newSection(c, one, version, m)
		a := Answers{Of: s.Name, Jobs: s.Jobs()}
		isEmpty := slices.Contains(strings.Fields("null cpp_null cpuio exec"), s.Value("ioengine")) // nothing is read or written
		for rank, r := range rules {
			isSaid := slices.ContainsFunc(a.Found, func(f Finding) bool { return f.Option == r.option })
			if isSaid || !slices.Contains(kinds, r.kind) || r.kind == spoils && isEmpty {
				continue
			}
			if what := r.says(s); what != "" {
				a.Found = append(a.Found, Finding{r.kind, r.option, what, s.changes(r.mends), rank})
			}
		}
		all = append(all, a)
	}
	return all
}
