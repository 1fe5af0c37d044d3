package fiolog

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/fio2es/fio2es/internal/late"
)

// Format is a form of fio's output.
type Format uint8

// The formats, the most exact one first.
const (
	JSON   Format = iota
	Normal        // for people: exact numbers of requests and run times, and other numbers rounded
	Terse         // version 3, 4 or 5: a line of numbers for each job, cut to whole microseconds, KiB and IOPS
)

// String returns the name that --output-format has for the format.
func (f Format) String() string { return [...]string{"json", "normal", "terse"}[f] }

// Lines of fio's normal output, without the blanks around them. Up to 2.16 fio wrote io=, bw=, iops= and runt=.
var (
	headerLine  = late.Regexp(`^(?:<\S*> )?(.+): \(g=(\d+)\): rw=(\w+), bs=(.+), ioengine=(\S+), iodepth=(\d+)$`)
	jobLine     = late.Regexp(`^(.+): \(groupid=(\d+), jobs=(\d+)\): err=\s*(\d+)(?: \(.*\))?: pid=(\d+): (.*)$`)
	rateLine    = late.Regexp(`^(read|write|trim|mixed)\s*: (?:IOPS=([^,]+), BW=.+\((\S+)/(\d+)msec\)|io=([^,]+), bw=[^,]+, iops=([^,]+), runt=\s*(\d+)msec)`)
	latencyLine = late.Regexp(`^([sc]?lat|sync) \(([num])sec\): min=\s*(\S+), max=\s*(\S+), avg=\s*(\S+), stdev=\s*(\S+)$`)
	ranksLine   = late.Regexp(`^(?:([sc]?lat|sync)|.*) percentiles \(([num])sec\):$`)
	rankAndTime = late.Regexp(`([\d.]+)th=\[\s*(\d+)\]`)
	cpuLine     = late.Regexp(`^cpu\s*: usr=([\d.]+)%, sys=([\d.]+)%, ctx=(\d+)`)
	issuedLine  = late.Regexp(`^issued\s*(?:rwts?)?\s*: total=(?:r=)?(\d+)[,/](?:w=)?(\d+)[,/](?:d=)?(\d+)(?:,\d+)?,? short=(?:r=)?(\d+)[,/](?:w=)?(\d+)[,/](?:d=)?(\d+)`)
	versionLine = late.Regexp(`^fio-\d\S*$`)
	terseLine   = late.Regexp(`^[345];fio-\d`)
	textBegins  = late.Regexp(`: \(g=\d+\): rw=\w+, bs=|: \(groupid=\d+, jobs=\d+\): err=|(?m)(?:^|\r)[> \t]*(?:[-\d:.,TZ \[\]]*[> \t])?[345];fio-\d`)
)

// quoting is what people and logs of programs put before each line: blanks, ">", and the time.
var quoting = late.Regexp(`^[> \t]*(?:\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?Z?\]?[> \t]+)?`)

// IsText reports whether a text has a line that only fio's normal or terse output has.
func IsText(text []byte) bool {
	isPart := func(part string) bool { return bytes.Contains(text, []byte(part)) } // much faster than the expression
	return (isPart(": (g=") || isPart(": (groupid=") || isPart(";fio-")) && textBegins().Match(text)
}

// texts makes reports of fio's normal and terse output, line by line. It ignores other lines: progress, warnings, and what
// programs and people added. Of periodic reports of one execution it keeps the last.
type texts struct {
	name    string
	line    int
	column  int                  // in which text begins, 1-based
	text    string               // the line
	left    int                  // bytes of memory that further jobs may use
	done    [Terse + 1][]*Report // by format
	wrong   error                // the first number that is none
	report  *Report              // whose jobs follow
	seen    map[jobOf]bool       // its jobs
	known   map[string]bool      // the numbers of jobs in a more exact format, see [Report.Numbers]
	version string
	clients int            // of the fio --client whose results follow, or 0
	first   [Terse + 1]int // in done: the first report of the execution; each client has one

	// Normal output.
	headers  map[group]*header        // of the execution
	last     [2]group                 // of its last section: those of the name, and all
	hasJobs  bool                     // results followed these
	isNext   bool                     // they are of a later fio than the last report
	job      *Job                     // of the lines that follow
	isIssued bool                     // its numbers of requests came
	sizes    [Directions + 1]quantity // of its transfers in each direction and of their sum, as printed
	stats    *DirectionStats
	ranks    *Latency
	unit     int64 // of its percentiles, ns

	// Terse output.
	disks      string // utilization of disks, at the end of the last line
	executions int
	isPeriodic bool // a report of this execution followed another
}

// jobOf is a job of an execution. Without group_reporting, jobs of a section have one name.
type jobOf struct {
	name    string
	process int
}

// group names sections: those of a group with a name, or all of the group.
type group struct {
	id   int
	name string // "": all
}

// header is what fio prints of a section before it starts the jobs, or what it prints alike of several.
type header struct {
	sections int
	options  map[string]string
	sizes    [Directions + 1]uint64 // of all requests of each direction, and of all; 0: they differ, or it is not known exactly
	several  bool                   // numjobs is more than 1
}

// add takes a line, or a part of a long one.
func (t *texts) add(text []byte, line int) {
	t.line = line
	t.column = 1
	for part := range bytes.SplitSeq(text, []byte{'\r'}) { // progress ends so
		content := part[len(quoting().Find(part)):]
		t.text = string(bytes.TrimRight(content, " \t\n"))
		t.column += len(part) - len(content)
		t.take()
		if t.column += len(content) + 1; t.report != nil {
			t.report.Bytes += len(part)
		}
	}
}

func (t *texts) take() {
	match := func(line *regexp.Regexp, part string) []string {
		if !strings.Contains(t.text, part) {
			return nil
		}
		return line.FindStringSubmatch(t.text)
	}
	if t.left < 0 {
		return
	}
	if terseLine().MatchString(t.text) {
		t.takeTerse()
		return
	}
	if m := match(headerLine(), ": (g="); m != nil {
		t.takeHeader(m)
		return
	}
	if m := match(jobLine(), ": (groupid="); m != nil {
		t.beginJob(m)
		return
	}
	switch {
	case versionLine().MatchString(t.text):
		t.version = t.text
	case strings.HasPrefix(t.text, "hostname=") && strings.Contains(t.text, ", be="): // of each client
		if t.hasJobs {
			t.endClients()
		}
		t.clients++
	case t.text == "..." && t.headers != nil:
		t.headers[t.last[0]].several, t.headers[t.last[1]].several = true, true
	case strings.HasPrefix(t.text, "Run status group "):
		t.endReport()
	}
	if t.job == nil {
		return
	}
	if m := match(rateLine(), "msec"); m != nil {
		t.takeRates(m)
	} else if strings.HasPrefix(t.text, "fsync/") {
		t.stats, t.ranks = &t.job.Sync, nil
		t.stats.Uncounted = true // the text does not say how many there were
	} else if m := match(latencyLine(), "avg="); m != nil && t.stats != nil {
		unit, l := nanosecondsOf(m[2]), t.latency(m[1])
		l.Min, l.Max = int64(t.number(m[3], 1000).value)*unit, int64(t.number(m[4], 1000).value)*unit
		l.Mean, l.StdDev = t.number(m[5], 1000).value*float64(unit), t.number(m[6], 1000).value*float64(unit)
		l.Step = unit
	} else if m := match(ranksLine(), "percentiles"); m != nil {
		if t.ranks = nil; m[1] != "" && t.stats != nil {
			t.ranks, t.unit = t.latency(m[1]), nanosecondsOf(m[2])
			t.ranks.PercentileStep = t.unit
		}
	} else if strings.HasPrefix(t.text, "|") && t.ranks != nil {
		for _, m := range rankAndTime().FindAllStringSubmatch(t.text, maxRanks) {
			if len(t.ranks.Percentiles) < maxRanks {
				t.ranks.Percentiles = append(t.ranks.Percentiles, Percentile{t.number(m[1], 1).value, t.whole(m[2]) * t.unit})
			}
		}
	} else if m := match(cpuLine(), "usr="); m != nil {
		t.job.UsrCPU, t.job.SysCPU, t.job.Switches = t.number(m[1], 1).value, t.number(m[2], 1).value, t.whole(m[3])
	} else if m := match(issuedLine(), "issued"); m != nil {
		t.isIssued = true
		for d := range t.job.Directions {
			t.job.Directions[d].TotalIOs = uint64(t.whole(m[1+d]))
			if t.whole(m[4+d]) > 0 { // short requests
				t.sizes[d], t.sizes[Directions] = quantity{}, quantity{}
			}
		}
	}
}

// takeHeader takes the line of a section. After a version or results it is of another fio.
func (t *texts) takeHeader(m []string) {
	t.endReport()
	if t.version != "" || t.hasJobs && t.clients == 0 {
		t.headers, t.version, t.hasJobs, t.isNext = nil, "", false, true
	}
	h := header{sections: 1, options: map[string]string{"rw": m[3], "ioengine": m[5], "iodepth": m[6]}}
	const sector = 512
	// The sizes are "(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B" or, in fio 2, "4K-4K/4K-4K/4K-4K".
	kilo := 1024.0
	if strings.HasPrefix(m[4], "(") {
		kilo = 1000
	}
	parts := strings.Split(strings.NewReplacer("(R) ", "", "(W) ", "", "(T) ", "", ", ", "/").Replace(m[4]), "/")
	for d := range min(len(parts), Directions) {
		low, high, _ := strings.Cut(parts[d], "-")
		// fio rounds to four characters. What is not rounded is a multiple of a sector.
		if size := t.number(low, kilo); low == high && (size.step == 1 || size.value > 0 && math.Mod(size.value, sector) == 0) {
			h.sizes[d] = uint64(size.value)
		}
	}
	if r, w, d := h.sizes[Read], h.sizes[Write], h.sizes[Trim]; len(parts) == Directions && r > 0 && w > 0 && d > 0 {
		if h.options["bs"] = fmt.Sprintf("%d,%d,%d", r, w, d); r == w && w == d {
			h.options["bs"], h.sizes[Directions] = strconv.FormatUint(r, 10), r
		}
	}
	if t.headers == nil {
		t.headers = map[group]*header{}
	}
	id := int(t.whole(m[2]))
	t.last = [2]group{{id, m[1]}, {id, ""}}
	for _, of := range t.last {
		same := t.headers[of]
		if same == nil {
			if t.left -= len(m[1]) + len(m[5]) + perHeader; t.left < 0 {
				return
			}
			t.headers[of] = &header{1, maps.Clone(h.options), h.sizes, false}
			continue
		}
		same.sections++
		maps.DeleteFunc(same.options, func(name, value string) bool { return h.options[name] != value })
		for d := range h.sizes {
			if same.sizes[d] != h.sizes[d] {
				same.sizes[d] = 0
			}
		}
	}
}

// beginJob takes the first line of the results of a job.
func (t *texts) beginJob(m []string) {
	t.endJob()
	if m[1] == allClients {
		n := t.whole(m[3]) // lines of jobs
		t.joinClients(Normal, func(jobs []Job) bool { return int64(len(jobs)) == n })
		return
	}
	id := jobOf{m[1], int(t.whole(m[5]))}
	if t.report != nil && (t.report.Format != Normal || t.seen[id]) {
		t.endReport()
	}
	if t.report == nil {
		t.begin(Normal, t.version)
		if at, err := time.Parse(time.ANSIC, strings.TrimSpace(m[6])); err == nil {
			t.report.Timestamp, t.report.IsLocal = at.UnixMilli(), true
		}
	}
	t.seen[id], t.hasJobs, t.isIssued, t.stats, t.ranks = true, true, false, nil, nil
	t.sizes = [Directions + 1]quantity{}
	t.job = &Job{Name: id.name, GroupID: int(t.whole(m[2])), Members: int(min(t.whole(m[3]), mostMembers)), Error: int(t.whole(m[4])), Process: id.process}
}

func (t *texts) begin(format Format, version string) {
	t.report, t.seen = &Report{Format: format, Version: version, Client: t.clients > 0, Line: t.line, Unit: unitOf(version)}, map[jobOf]bool{}
}

// takeRates takes the first line of a direction of a job.
func (t *texts) takeRates(m []string) {
	size, runtime, iops, kilo, d := m[3], m[4], m[2], 1000.0, slices.Index([]string{"read", "write", "trim", "mixed"}, m[1])
	if m[5] != "" {
		size, runtime, iops, kilo = m[5], m[7], m[6], 1024
	}
	if whole, rest, ok := strings.Cut(size, "."); ok && (m[5] != "" || strings.HasPrefix(t.version, "fio-2.")) {
		size = whole + strings.TrimLeft(rest, "0123456789") // up to 2.20, 1 KiB and 512 bytes are "1.512KB"
	}
	if t.ranks = nil; d == Directions {
		t.job.Mixed = new(DirectionStats)
	}
	t.stats, t.sizes[d] = t.job.All()[d], t.number(size, kilo)
	t.stats.IOBytes, t.stats.Runtime, t.stats.IOPS = uint64(t.sizes[d].value), t.whole(runtime), t.number(iops, 1000).value
}

func (t *texts) latency(name string) *Latency {
	return map[string]*Latency{"slat": &t.stats.Slat, "clat": &t.stats.Clat, "lat": &t.stats.Lat, "sync": &t.job.Sync.Clat}[name]
}

// endJob adds the job to its report. Its rates come from its numbers of requests and milliseconds, which are exact. So are
// the bytes, if all requests had one size.
func (t *texts) endJob() {
	j := t.job
	if t.job = nil; j == nil {
		return
	}
	of := group{j.GroupID, j.Name}
	if j.Members > 1 {
		of.name = ""
	}
	h := t.headers[of]
	if h == nil {
		h = &header{}
	}
	sections := h.sections
	if t.clients > 1 && sections%t.clients == 0 {
		sections /= t.clients
	}
	j.Options, j.IsSum = maps.Clone(h.options), sections > 1 && j.Members > 1
	if sections == 1 && (!h.several || j.Members > 1) {
		j.Options["numjobs"] = strconv.Itoa(j.Members)
	}
	if j.Mixed != nil {
		isAlone := true // else unified_rw_reporting=both
		for d := range j.Directions {
			s := &j.Directions[d]
			j.Mixed.TotalIOs, isAlone = j.Mixed.TotalIOs+s.TotalIOs, isAlone && s.Runtime == 0
		}
		if isAlone {
			j.Directions = [Directions]DirectionStats{}
		} else {
			j.Mixed = nil
		}
	}
	for d, s := range j.All() {
		if s.Runtime <= 0 {
			continue
		}
		if s.Uncounted = !t.isIssued; t.isIssued {
			s.IOPS = float64(s.TotalIOs) * 1000 / float64(s.Runtime)
		}
		if all := h.sizes[d] * s.TotalIOs; all > 0 && math.Abs(float64(all)-t.sizes[d].value) <= t.sizes[d].step {
			s.IOBytes = all
		}
	}
	if !t.isIssued && t.report.Doubt == "" {
		t.report.Doubt = fmt.Sprintf("job %s has no line \"issued rwts\" before line %d, so its number of requests is unknown: was the file cut?", j.Name, t.line)
	}
	t.addJob(j)
}

func (t *texts) addJob(j *Job) {
	const made = int(unsafe.Sizeof(*j)) + 3*maxRanks*int(unsafe.Sizeof(Percentile{}))
	for _, s := range j.All() {
		if j.Runtime = max(j.Runtime, s.Runtime); s.Runtime > 0 {
			s.BandwidthBytes = uint64(float64(s.IOBytes) * 1000 / float64(s.Runtime))
		}
	}
	if t.left -= made; t.left >= 0 {
		t.report.Jobs, t.report.Memory = append(t.report.Jobs, *j), t.report.Memory+made
	}
}

// endReport ends the report. It replaces one before of the same fio, because fio prints sums from the start. That one may lack
// jobs that had not begun. Process ids alone are no proof: in a new container they begin again.
func (t *texts) endReport() {
	t.endJob()
	r := t.report
	if t.report = nil; r == nil {
		return
	}
	all := &t.done[r.Format]
	names, processes := map[string]int{}, map[jobOf]bool{}
	for _, j := range r.Jobs {
		names[j.Name]++
		processes[jobOf{j.Name, j.Process}] = true
	}
	// A job that waits has no process yet.
	isOf := func(j Job) bool { return processes[jobOf{j.Name, j.Process}] || j.Process == 0 && names[j.Name] > 0 }
	if n := len(*all); t.clients <= 1 && n > t.first[r.Format] && !t.isNext && !slices.ContainsFunc((*all)[n-1].Jobs, func(j Job) bool { return !isOf(j) }) {
		t.left += (*all)[n-1].Memory
		*all = (*all)[:n-1]
	}
	t.isNext = false
	if *all = append(*all, r); t.clients <= 1 {
		r.countMembers(1)
	} else if own := (*all)[t.first[r.Format]:]; len(own) > t.clients { // periodic, because a client has one otherwise
		*all = append((*all)[:t.first[r.Format]], t.latest(own)...)
	}
}

// countMembers sets numjobs of jobs without group_reporting: each of them is in the report of each client.
func (r *Report) countMembers(clients int) {
	names := map[string]int{}
	for _, j := range r.Jobs {
		names[j.Name]++
	}
	for i := range r.Jobs {
		if j := &r.Jobs[i]; j.Options["numjobs"] == "" && j.Options != nil && j.Members == 1 && names[j.Name] > clients && names[j.Name]%clients == 0 {
			j.Options["numjobs"] = strconv.Itoa(names[j.Name] / clients)
		}
	}
}

// latest returns reports without those whose jobs are all in later ones.
func (t *texts) latest(reports []*Report) []*Report {
	last := map[jobOf]int{}
	for i, r := range reports {
		for _, j := range r.Jobs {
			last[jobOf{j.Name, j.Process}] = i
		}
	}
	kept := reports[:0:0]
	for i, r := range reports {
		if slices.ContainsFunc(r.Jobs, func(j Job) bool { return last[jobOf{j.Name, j.Process}] == i }) {
			kept = append(kept, r)
		} else {
			t.left += r.Memory
		}
	}
	return kept
}

// joinClients makes one report of those of the clients of a fio --client. isAll compares their jobs with the sum that fio prints
// behind them; it is nil without one.
func (t *texts) joinClients(format Format, isAll func([]Job) bool) {
	t.endReport()
	if reports := t.done[format][t.first[format]:]; len(reports) > 0 {
		all := reports[0]
		for _, r := range reports[1:] {
			all.Jobs, all.Memory, all.Bytes = append(all.Jobs, r.Jobs...), all.Memory+r.Memory, all.Bytes+r.Bytes
			all.Timestamp, all.Doubt = max(all.Timestamp, r.Timestamp), cmp.Or(all.Doubt, r.Doubt)
		}
		slices.SortStableFunc(all.Jobs, func(a, b Job) int { return cmp.Compare(a.GroupID, b.GroupID) })
		all.countMembers(max(t.clients, 1))
		switch all.Client = true; {
		case isAll == nil:
			all.Doubt = cmp.Or(all.Doubt, fmt.Sprintf("it has results of %d of %d clients, and not the sum that fio prints behind all: was fio "+
				"stopped, or the file cut?", len(reports), t.clients))
		case !isAll(all.Jobs):
			all.Doubt = cmp.Or(all.Doubt, "the sum of all clients is not that of their jobs: some jobs are missing; run fio with --output-format=json+")
		case format == Terse:
			all.Doubt = "" // the sum shows that no line is of a job before
		}
		t.done[format] = append(t.done[format][:t.first[format]], all)
	}
	t.first[format] = len(t.done[format])
	t.clients = 0
}

// endClients ends the reports of a fio --client, which are of one execution.
func (t *texts) endClients() {
	if t.endReport(); t.clients > 1 {
		t.joinClients(Normal, nil)
	}
	t.first[Normal] = len(t.done[Normal])
	t.headers, t.hasJobs, t.isNext, t.clients = nil, false, true, 0
}

// know keeps the numbers of the jobs of a report, so that the same in a less exact format is skipped: that has no jobs that wait.
func (t *texts) know(r *Report) {
	numbers := r.Numbers()
	if t.left -= len(numbers); t.left < 0 {
		return
	}
	if t.known == nil {
		t.known = map[string]bool{}
	}
	for job := range strings.Lines(numbers) {
		t.known[job] = true
	}
}

// isKnown reports whether a report has a job that is there in a more exact format.
func (t *texts) isKnown(r *Report) bool {
	for job := range strings.Lines(r.Numbers()) {
		if t.known[job] {
			return true
		}
	}
	return false
}

// end returns the reports that are not there in a more exact format.
func (t *texts) end() (reports []*Report, err error) {
	headers := t.headers
	t.endClients()
	for _, format := range []Format{Normal, Terse} {
		for _, r := range t.done[format] {
			hasNumbers := slices.ContainsFunc(r.Jobs, func(j Job) bool { return j.Runtime > 0 })
			if !t.isKnown(r) && (hasNumbers || len(t.known) == 0) {
				reports = append(reports, r)
			}
		}
		for _, r := range t.done[format] {
			t.know(r)
		}
	}
	switch {
	case t.left < 0:
		return nil, fmt.Errorf("%s: %w", t.name, errTooManyJobs)
	case t.wrong == nil && len(t.known) == 0 && headers != nil:
		return nil, &SyntaxError{File: t.name, Line: t.line, Column: 1, Got: "the end of the file", Partial: true,
			Want: fmt.Sprintf("the results of job %.40q, which fio writes when all jobs have ended", t.last[0].name)}
	}
	return reports, t.wrong
}

const (
	maxRanks    = 64            // more percentiles than a job has
	mostMembers = 1 << 16       // more jobs than a fio has
	perHeader   = 1 << 10       // bytes
	allClients  = "All clients" // the sum of all other jobs of fio --client
)

// quantity is a number as fio printed it, and the step to which it is rounded.
type quantity struct{ value, step float64 }

// number reads a number of fio, such as "19.9MiB", "12.3k" or "31.25". kilo is what a k stands for that is not "Ki".
func (t *texts) number(s string, kilo float64) quantity {
	digits := strings.TrimRight(s, "kKMGTPEiB")
	value, err := strconv.ParseFloat(digits, 64)
	step, unit := 1.0, 1.0
	if _, decimals, ok := strings.Cut(digits, "."); ok {
		step = math.Pow10(-len(decimals))
	}
	if suffix := strings.TrimSuffix(s[len(digits):], "B"); suffix != "" {
		if strings.HasSuffix(suffix, "i") {
			kilo = 1024
		}
		unit = math.Pow(kilo, float64(1+strings.Index("kmgtpe", strings.ToLower(suffix[:1]))))
	}
	if value *= unit; err != nil || !(value >= 0 && value < 1<<62) {
		t.fail(strings.Index(t.text, s), quoted([]byte(s)), "a number of fio")
		return quantity{}
	}
	return quantity{value, step * unit}
}

func (t *texts) whole(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1<<53 {
		t.fail(strings.Index(t.text, s), quoted([]byte(s)), "a whole number")
		return 0
	}
	return n
}

// fail keeps the error of a place in the line, if it is the first of the file.
func (t *texts) fail(at int, got, want string) {
	if t.wrong == nil {
		t.wrong = &SyntaxError{File: t.name, Line: t.line, Column: t.column + max(at, 0), Got: got, Want: want}
	}
}

func nanosecondsOf(unit string) int64 { return map[string]int64{"n": 1, "u": 1e3, "m": 1e6}[unit] }
