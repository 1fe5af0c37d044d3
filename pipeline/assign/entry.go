package assign

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Parts returns the entries of the report that were combined to this one, or the entry itself.
func (e *Entry) Parts() []*Entry {
	if len(e.parts) == 0 {
		return []*Entry{e}
	}
	return e.parts
}

// NewEntries returns an entry for each job of an output.
func NewEntries(o *Output) (entries []*Entry) {
	same := map[string]int{}
	for _, j := range o.Fio.Jobs {
		same[j.Host+"\x00"+j.Name]++
	}
	next := map[string]int{} // number of the next job of each host
	for i := range o.Fio.Jobs {
		j, options, size := &o.Fio.Jobs[i], o.Options(i), 1
		// Without group_reporting each of the numjobs jobs has an entry, of the same name.
		if same[j.Host+"\x00"+j.Name] == 1 {
			size = max(int(number(options.OptionOfOne("numjobs"))), 1)
		}
		size = max(size, j.Members)
		if n := options.timesOf(j).Jobs; n > size {
			size, options.IsGroup = n, true
		}
		e := &Entry{JobOptions: options, groups: o.Groups, Out: o, Index: i, first: next[j.Host] + 1, Size: size}
		e.Job, e.Ran = e.View(j), e.RanIn(j)
		entries = append(entries, e)
		next[j.Host] += size
	}
	return entries
}

// RanIn returns how long the jobs of the entry had run when a report was written, in milliseconds.
func (e *Entry) RanIn(j *fiolog.Job) int64 {
	times := e.timesOf(j)
	return max(times.Ran, min(j.Runtime/int64(e.Size), times.Most))
}

// View returns the statistics of the entry's job in any report of its fio. It moves the sum of all directions to the only
// direction of the job. If the job has several directions, only the rows of logs separate them. With total it takes the
// bins and percentiles of latencies from submission where there are none of completion latencies; the means stay.
func (e *Entry) View(j *fiolog.Job) *fiolog.Job {
	job := *j
	if j.Mixed != nil {
		mixed := *j.Mixed
		job.Mixed = &mixed
		if directions := e.directions(); len(directions) == 1 {
			job.Directions[directions[0]], job.Mixed = mixed, nil
		}
	}
	for _, of := range job.All() {
		if e.total && isFromSubmission(of) {
			of.FromSubmission = true
			of.Clat.Bins, of.Clat.Layout, of.Clat.N = of.Lat.Bins, of.Lat.Layout, of.Lat.N
			of.Clat.Percentiles, of.Clat.PercentileStep = of.Lat.Percentiles, of.Lat.PercentileStep
		}
	}
	return &job
}

// useTotalLatency uses the bins, or else the percentiles, of latencies from submission if the job has none of completion
// latencies (disable_clat, clat_percentiles=0, lat_percentiles of fio up to 3.17). It reports whether it did.
func (e *Entry) useTotalLatency() bool {
	e.total = slices.ContainsFunc(e.All(), func(of *fiolog.DirectionStats) bool { return isFromSubmission(of) })
	e.Job = e.View(e.Job)
	return e.total
}

// isFromSubmission reports whether only latencies from submission have bins or percentiles.
func isFromSubmission(of *fiolog.DirectionStats) bool {
	if len(of.Clat.Bins)+len(of.Lat.Bins) > 0 {
		return len(of.Clat.Bins) == 0
	}
	return len(of.Clat.Percentiles) == 0 && len(of.Lat.Percentiles) > 0
}

// TerseDoubts says what terse output without a job file does not show: from when latencies of percentiles count, where that makes
// a difference, and up to fio 3.26 whether reads are all requests.
func (e *Entry) TerseDoubts(s *fiolog.DirectionStats) (text string) {
	const alike = 1.05
	if len(e.Own) > 0 || e.Out.Fio.Format != fiolog.Terse {
		return ""
	}
	if s.Lat.Mean > alike*s.Clat.Mean && e.Out.Fio.Unit == hist.Nanoseconds && len(s.Clat.Percentiles) > 0 {
		text += "; percentiles may be of latencies from submission (lat_percentiles)"
	}
	if e.Mixed == nil && e.Out.Fio.CallsAllReads() && !e.Directions[fiolog.Write].Served() && !e.Directions[fiolog.Trim].Served() {
		text += "; reads may be all requests (unified_rw_reporting)"
	}
	if text != "" {
		text += "; the job file beside it says it"
	}
	return text
}

// Histogram returns the bins of one direction in any report of this fio. It is empty without bins.
func (e *Entry) Histogram(of *fiolog.DirectionStats) *hist.Histogram {
	return of.Clat.Histogram(e.groups)
}

// Failed returns the number of requests of a direction that failed. fio counts them but measures no latency. The number
// is negative if fio measured requests that it does not count: they were in flight when ramp_time ended. failed returns
// false if the report is damaged, because the bins have another number of requests than was measured.
func (e *Entry) Failed(of *fiolog.DirectionStats) (int64, bool) {
	n := uint64(0)
	for _, b := range of.Clat.Bins {
		n += b.Count
	}
	if n == 0 || n == of.TotalIOs {
		return 0, true
	}
	if of.Clat.N == n || n < of.TotalIOs && e.Error != 0 {
		return int64(of.TotalIOs) - int64(n), true
	}
	return 0, false
}

// Measured returns the number of requests of a direction that have a latency: all that did not fail.
func (e *Entry) Measured(of *fiolog.DirectionStats) int64 {
	failed, _ := e.Failed(of)
	return int64(of.TotalIOs) - failed
}

// InFlight returns how many requests of a direction may have been in flight when ramp_time ended. Logs have them, and the
// requests that a report counts do not.
func (e *Entry) InFlight() (most int64) {
	for _, part := range e.Parts() {
		if part.HasOption("ramp_time") {
			most += int64(max(part.Size, len(part.Jobs))) * max(number(part.Option("iodepth")), 1)
		}
	}
	return most
}

// Miscounted returns an error for a direction whose bins have more or fewer requests than the report counts. isUsed
// says whether the bins are used.
func (e *Entry) Miscounted(s *fiolog.DirectionStats, isUsed bool) error {
	why := "the report is damaged, its bins are not used; copy it again"
	if isUsed {
		why = "fio was killed, or the report is damaged; its bins are used"
	}
	return fmt.Errorf("%s: job %s: its bins have %.0f requests, but total_ios is %d: %s", e.Out.File.Name(), e.Name,
		s.Clat.Histogram(e.groups).Total(), s.TotalIOs, why)
}

func (e *Entry) Describe() string {
	text := fmt.Sprintf("%s: job %d (%s)", e.Out.File.Name(), e.Index+1, e.Name)
	if e.Host != "" {
		text += " of " + e.Host
	}
	return text
}

func (e *Entry) RanFor() time.Duration { return time.Duration(e.Ran) * time.Millisecond }

// ReadsLogs reports whether rows are read from a log of the entry. Rows may lack requests that the report has.
func (e *Entry) ReadsLogs() bool { return slices.ContainsFunc(e.Jobs, (*Job).ReadsLog) }

// HasPeriodic reports whether periodic reports show when the requests of an entry completed. e may be nil.
func (e *Entry) HasPeriodic() bool {
	return e != nil && len(e.Out.Times) >= 3 && e.Out.HasBins && e.Mixed == nil
}

// exceeds reports whether a completion latency may be at or above a limit in nanoseconds.
func (e *Entry) exceeds(limit int64) bool {
	if len(e.parts) > 0 {
		return slices.ContainsFunc(e.parts, func(part *Entry) bool { return part.exceeds(limit) })
	}
	return slices.ContainsFunc(e.All(), func(s *fiolog.DirectionStats) bool {
		l := &s.Clat
		if len(l.Bins) == 0 {
			most := max(l.Max, s.Lat.Max) // logs may have total latencies
			return s.TotalIOs > 0 && (most >= limit || most == 0)
		}
		_, high := l.Layout.Bounds(int(l.Bins[len(l.Bins)-1].Index))
		return high > limit
	})
}

// combine makes one entry of several entries, because nothing says which log belongs to which of them.
func combine(entries []*Entry) *Entry {
	first := entries[0]
	if len(entries) == 1 {
		return first
	}
	sum := *first.Job
	var options []map[string]string
	for _, e := range entries {
		all := map[string]string{} // of all jobs of the entry
		maps.Copy(all, e.Global)
		for name, value := range e.Own {
			if delete(all, name); !e.IsGroup {
				all[name] = value
			}
		}
		options = append(options, all)
	}
	isMixed := false
	one := &Entry{
		JobOptions: JobOptions{JobName: first.JobName, Own: map[string]string{}, Global: fioargs.Common(options), IsGroup: true}, Job: &sum,
		groups: first.groups, Out: first.Out, Index: first.Index, first: first.first, parts: entries,
	}
	for _, e := range entries {
		maps.Copy(one.Own, e.Global)
		maps.Copy(one.Own, e.Own)
		one.Size += e.Size
		one.Ran = max(one.Ran, e.Ran)
		isMixed = isMixed || e.Mixed != nil
	}
	maps.DeleteFunc(one.Own, func(name, _ string) bool { _, isSame := one.Global[name]; return isSame })
	for d := range sum.Directions {
		sum.Directions[d] = addStats(entries, func(e *Entry) *fiolog.DirectionStats { return &e.Directions[d] })
	}
	sum.Sync = addStats(entries, func(e *Entry) *fiolog.DirectionStats { return &e.Sync })
	if isMixed {
		all := addStats(entries, func(e *Entry) *fiolog.DirectionStats { return e.Mixed })
		sum.Mixed = &all
	}
	return one
}

// addStats adds up the statistics of one direction over entries. of may return nil.
func addStats(entries []*Entry, of func(*Entry) *fiolog.DirectionStats) (sum fiolog.DirectionStats) {
	bins := &hist.Histogram{}
	for _, e := range entries {
		from := of(e)
		if from == nil {
			continue
		}
		sum.IOBytes += from.IOBytes
		sum.TotalIOs += from.TotalIOs
		sum.Uncounted = sum.Uncounted || from.Uncounted
		sum.IOPS += from.IOPS
		sum.BandwidthBytes += from.BandwidthBytes
		sum.Runtime = max(sum.Runtime, from.Runtime)
		sum.Clat.N += from.Clat.N
		bins.AddBins(from.Clat.Layout, from.Clat.Bins)
	}
	sum.Clat.Layout, sum.Clat.Bins = bins.Layout(), bins.Bins()
	return sum
}

// IsOneStage reports whether all jobs were started at once, except for a startdelay in their options. Jobs behind a
// stonewall have another group.
func IsOneStage(entries []*Entry) bool {
	for _, e := range entries {
		_, _, ok := e.Waits()
		if !ok || e.GroupID != entries[0].GroupID || e.HasOption("wait_for") {
			return false
		}
	}
	return true
}

// withoutLogs returns for how many more of fio's jobs than it has here the entry stands: because of group_reporting, of one log for
// all jobs, or of missing logs. Its first job stands for them.
func (e *Entry) withoutLogs() int {
	parts := 0
	for _, part := range e.parts {
		parts += part.Size
	}
	return max(0, max(e.Size, parts)-len(e.Jobs))
}

// listsAll reports whether an option that is not listed has fio's default. Before fio 3, a report may lack global options,
// and that of a group lists one of its sections; fio --client lists none of the second group of a host.
func (e *Entry) listsAll() bool {
	// Without a report, the options are those of a job file. Normal output has some of them.
	isWhole := e.Out == nil || e.Out.Fio.Unit == hist.Nanoseconds && e.Out.Fio.Format == fiolog.JSON
	return isWhole && !e.IsGroup && len(e.Own)+len(e.Global) > 0 && (len(e.Own) > 0 || e.Out == nil || !e.Out.Client)
}

// engine returns the ioengine of an entry, or "" if it is not known.
func (e *Entry) engine() string {
	if e.listsAll() && !e.HasOption("ioengine") {
		return fioargs.OptionDefault("ioengine")
	}
	return e.Option("ioengine")
}

// settings returns the settings that the options of an entry name, and fio's defaults of the others. If they set the shares of reads and of writes, fio takes
// the later one, and options are kept without their order. One section of a group may have another value than the report
// lists for all, so a setting that the requests contradict is unknown.
func (e *Entry) Settings() mapping.CBT {
	mode, directions := fioargs.ParseMode(e.Option("rw"))
	set := mapping.CBT{
		Mode: mode, OpSize: e.requestSize(), IODepth: number(e.Option("iodepth")), NumJobs: number(e.Option("numjobs")),
	}
	if isReplay := e.HasOption("read_iolog"); e.listsAll() && !isReplay {
		orDefault := func(n int64, option string) int64 {
			if !e.HasOption(option) {
				return number(fioargs.OptionDefault(option))
			}
			return n
		}
		set.IODepth, set.NumJobs = orDefault(set.IODepth, "iodepth"), orDefault(set.NumJobs, "numjobs")
		if !e.HasOption("rw") {
			set.Mode = fioargs.OptionDefault("rw")
		}
		if !e.HasOption("bs") && !slices.ContainsFunc(SeveralSizes, e.HasOption) {
			set.OpSize = UsualSize
		}
	}
	if engine := e.engine(); fioargs.IsSynchronous(engine) && e.Option("io_submit_mode") != "offload" {
		set.IODepth = min(set.IODepth, 1)
	}
	if runtime, _ := fioargs.ParseTime(e.Option("runtime")); runtime%time.Second == 0 {
		set.RunSeconds = int64(runtime / time.Second)
	}
	if ramp, _, _ := e.Waits(); ramp%time.Second == 0 {
		set.RampSeconds = int64(ramp / time.Second)
	}
	if fioargs.Mixes(mode) {
		set.RWMixRead = number(e.Option("rwmixread"))
		if e.HasOption("rwmixwrite") {
			writes, err := strconv.ParseInt(e.Option("rwmixwrite"), 10, 32)
			if reads := 100 - writes; err != nil || writes < 0 || reads < 0 || e.HasOption("rwmixread") && set.RWMixRead != reads {
				set.RWMixRead = 0
			} else {
				set.RWMixRead = reads
			}
		} else if e.listsAll() && !e.HasOption("rwmixread") {
			set.RWMixRead = number(fioargs.OptionDefault("rwmixread"))
		}
	}
	if !e.IsGroup {
		return set
	}
	for d := range fiolog.Direction(fiolog.Directions) {
		s := &e.Directions[d]
		isVerify := d == fiolog.Read && e.HasOption("verify")
		if s.TotalIOs > 0 && !slices.Contains(directions, d) && !isVerify {
			set.Mode, set.RWMixRead = "", 0
		}
	}
	for _, s := range e.All() {
		const few = 0.01 // requests that failed, or were in flight at the end of ramp_time
		size := float64(set.OpSize)
		if s.TotalIOs > 0 && math.Abs(float64(s.IOBytes)/float64(s.TotalIOs)-size) > few*size {
			set.OpSize = 0
		}
	}
	return set
}
