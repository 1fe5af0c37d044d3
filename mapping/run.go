package mapping

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fio2es/fio2es/hist"
)

// PlacedByJob is placed of a run whose jobs each count from their own start, so that its windows have no time of day.
const PlacedByJob = "each job counts from its own start (align: job), so windows have no time of day"

// Run is one run of a benchmark: metadata and totals.
type Run struct {
	Run      RunInfo  `json:"run"`
	Workload Workload `json:"workload,omitzero"`
	CBT      CBT      `json:"cbt,omitzero"`
	// Config is CBT's configuration as found, a JSON object; one flattened field. It stays a text ([Run.Configuration]), because few
	// questions are about it, and lists of runs take twice as long to decode it as all else.
	Config     jsontext.Value `json:"config,omitempty"`
	Fio        FioInfo        `json:"fio,omitzero"`
	Hosts      []RunHost      `json:"hosts,omitempty"`
	Clock      Clock          `json:"clock,omitzero"`
	Weighting  string         `json:"weighting,omitempty"` // "inflight" or "completion"
	IntervalMS int64          `json:"interval_ms,omitempty"`
	Levels     []Level        `json:"levels,omitempty"` // of the interval documents that were made
	// NoWindows says why the run has no interval documents with percentiles, and what to do. It is empty if the run has
	// some.
	NoWindows string `json:"no_windows,omitempty"`
	// Placed says in one sentence how jobs that ran one after another were placed in time, or that nothing shows whether they
	// did. It is empty if all jobs began together. [PlacedByJob] is one of these sentences.
	Placed string `json:"placed,omitempty"`

	All   *Totals `json:"all,omitempty"`
	Read  *Totals `json:"read,omitempty"`
	Write *Totals `json:"write,omitempty"`
	Trim  *Totals `json:"trim,omitempty"`
	Sync  *Totals `json:"sync,omitempty"` // fsync, fdatasync and sync_file_range; not in All

	// Sections are the sections of a run whose jobs did not all do the same, in the order of fio's report. Requests of one
	// section are in no other, and together they are those of the run.
	Sections []RunSection `json:"sections,omitempty"`

	Recovered Lost      `json:"recovered,omitzero"` // not in the logs, but found in fio's JSON
	Missing   Lost      `json:"missing,omitzero"`   // completed according to fio, but in no window of a run that has windows
	Warnings  []string  `json:"warnings,omitempty"`
	SLA       []Verdict `json:"sla,omitempty"`
	Changes   []Change  `json:"changes,omitempty"` // of the run's workload, from this run on; only in a cluster
	Source    Source    `json:"source,omitzero"`
	Documents Documents `json:"documents,omitzero"`
	Ingested  time.Time `json:"ingested,omitzero"` // when this version of the run was stored first
	Program   Program   `json:"fio2es,omitzero"`
}

// ConfigOf returns a configuration as [Run] has it. What JSON does not have becomes a text.
func ConfigOf(config map[string]any) jsontext.Value {
	if len(config) == 0 {
		return nil
	}
	return appendValue(nil, reflect.ValueOf(config))
}

// Configuration decodes Config.
func (r *Run) Configuration() (config map[string]any) {
	_ = json.Unmarshal(r.Config, &config) // what decoded the document has checked it
	return config
}

// RunSection is the jobs of a run that did the same.
type RunSection struct {
	Name     string            `json:"name"` // of the sections in fio's report; no two sections of a run have the same
	Workload Workload          `json:"workload,omitzero"`
	CBT      CBT               `json:"cbt,omitzero"`
	Options  map[string]string `json:"options,omitempty"` // of fio, which all its jobs have
	Jobs     int               `json:"jobs,omitempty"`    // on all hosts
	All      *Totals           `json:"all,omitempty"`
	Read     *Totals           `json:"read,omitempty"`
	Write    *Totals           `json:"write,omitempty"`
	Trim     *Totals           `json:"trim,omitempty"`
	Sync     *Totals           `json:"sync,omitempty"`
	Beside   string            `json:"-"` // settings of the other sections; set in a run document of this section alone
}

// ByDirection returns the totals of the directions in which requests completed.
func (s *RunSection) ByDirection() []DirectionTotals {
	return byDirection(s.All, s.Read, s.Write, s.Trim, s.Sync)
}

// Workload is what a run or a section measured. Runs with the same settings have the same one: names of hosts, and of CBT's
// volumes and files, do not count.
type Workload struct {
	ID   string `json:"id,omitempty"`   // the version of the rule, "-", and a hash of the settings
	Name string `json:"name,omitempty"` // for people: the most important settings, and the beginning of the hash
}

// Program is the version of fio2es that read the run's files.
type Program struct {
	Version string `json:"version,omitempty"` // such as v1.2.3
}

// RunInfo identifies a run. In JSON it also has the members link ([RunInfo.Link]), compare ([Run.CompareLink]) and hosts,
// the names of all, as in interval documents. Start is also the document's @timestamp.
type RunInfo struct {
	ID       string            `json:"id"` // of RunID
	Name     string            `json:"name,omitempty"`
	Archive  string            `json:"archive,omitempty"`
	Path     string            `json:"path,omitempty"` // of the run inside the archive
	Start    time.Time         `json:"start"`
	End      time.Time         `json:"end,omitzero"`
	Ingest   string            `json:"ingest"` // one version of the run: hash of settings and content, or LiveIngest
	Labels   map[string]string `json:"labels,omitempty"`
	Edited   map[string]string `json:"edited,omitempty"`  // ingest's values of labels that users changed
	Note     string            `json:"note,omitempty"`    // written by users
	Complete bool              `json:"complete"`          // false while the run is followed, or if requests or files are missing
	Partial  bool              `json:"partial,omitempty"` // files are missing or damaged, so totals are those of a part of the run
	Lacks    string            `json:"lacks,omitempty"`   // how many of CBT's clients and volumes have no files: "3 of 4 volumes"

	// Execution is the id of the call of fio whose stage the run is, on all its hosts. Stage is the number of the stage, from
	// 1, Stages how many the execution has, and StageName what the stage is called in it, if there are several.
	Execution string `json:"execution,omitempty"`
	Stage     int    `json:"stage,omitempty"`
	Stages    int    `json:"stages,omitempty"`
	StageName string `json:"stage_name,omitempty"`

	Compacted Compacted `json:"compacted,omitzero"`
}

// LivePrefix begins an Ingest while files grow, because the hash of their contents is not known yet.
const LivePrefix = "live-"

// LiveIngest returns the Ingest of a version that is made while fio runs, from the time when following began.
func LiveIngest(began time.Time) string { return LivePrefix + strconv.FormatInt(began.UnixNano(), 16) }

// Live reports whether this version was made while fio ran. A version that is made from the
// complete files replaces it.
func (r *RunInfo) Live() bool { return strings.HasPrefix(r.Ingest, LivePrefix) }

// Link returns the end of the address of a Kibana dashboard that shows only this run: the time of the run with a second
// around it, and a query for its id. It is a separate field because a format for links in Kibana can use only the value
// of its own field.
func (r *RunInfo) Link() string { return r.link(0, RunField+`:"`+r.ID+`"`) }

// link returns a link to what a query finds in the time of the run and for a time before it.
func (r *RunInfo) link(before time.Duration, query string) string {
	end := r.End
	if end.Before(r.Start) {
		end = r.Start
	}
	from, to := r.Start.Add(-time.Second-before), end.Add(time.Second)
	return "time:(from:'" + from.UTC().Format(timeLayout) + "',to:'" + to.UTC().Format(timeLayout) +
		"'))&_a=(query:(language:kuery,query:'" + query + "')"
}

// Workloads returns the ids of the workloads of the run and of its sections, or none if one of them has no id yet.
func (r *Run) Workloads() (ids []string) {
	ids = append(ids, r.Workload.ID)
	for i := range r.Sections {
		ids = append(ids, r.Sections[i].Workload.ID)
	}
	if slices.Contains(ids, "") {
		return nil
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// hostNames returns the hosts that have names.
func (r *Run) hostNames() (names []string) {
	for i := range r.Hosts {
		if name := r.Hosts[i].Name; name != "" {
			names = append(names, name)
		}
	}
	return names
}

// CompareLink is like [RunInfo.Link], for the run and those of its workload in the 90 days before it.
func (r *Run) CompareLink() string {
	if r.Workload.ID == "" {
		return r.Run.Link()
	}
	return r.Run.link(90*24*time.Hour, WorkloadField+`:"`+r.Workload.ID+`"`)
}

// FioInfo has the version of fio and its options. In JSON it also has the run's directions.
type FioInfo struct {
	Version string `json:"version,omitempty"`
	// Format is "normal" or "terse" if numbers are from such a report. Both round latencies. Normal output rounds bytes to
	// three or four digits if the sizes of requests differ; terse does not count requests.
	Format string `json:"format,omitempty"`
	// Options are those that all jobs have, and those that sections have apart: "1 | 16". One flattened field.
	Options map[string]string `json:"options,omitempty"`
	Jobs    int               `json:"jobs,omitempty"`    // on all hosts
	UsrCPU  float64           `json:"usr_cpu,omitempty"` // percent of one CPU, mean of the jobs
	SysCPU  float64           `json:"sys_cpu,omitempty"`
	// Switches is how often the jobs lost or gave up a CPU, by fio's count; 0 if no report has it.
	Switches int64 `json:"context_switches,omitempty"`
}

// Text returns the version, and where the numbers come from if that is not JSON: "fio-3.33 (normal output)".
func (f *FioInfo) Text() string {
	if f.Format == "" {
		return f.Version
	}
	return strings.TrimSpace(f.Version + " (" + f.Format + " output)")
}

// RunHost is one host that took part in a run.
type RunHost struct {
	Name         string    `json:"name,omitempty"`
	Jobs         int       `json:"jobs,omitempty"`
	Start        time.Time `json:"start,omitzero"`           // of its first job
	SkewMS       int64     `json:"skew_ms"`                  // start minus the start of the run, milliseconds
	Clock        string    `json:"clock,omitempty"`          // where Start comes from
	ClockErrorMS int64     `json:"clock_error_ms,omitempty"` // Start is known to ± this many milliseconds
	// ClockOffsetMS was added to times of the clock of the host, which was compared with that of the history while the run was live.
	ClockOffsetMS int64 `json:"clock_offset_ms,omitempty"`

	// The totals of the host, in a run of several that has reports of all.
	Read  *HostTotals `json:"read,omitempty"`
	Write *HostTotals `json:"write,omitempty"`
	Trim  *HostTotals `json:"trim,omitempty"`
	Sync  *HostTotals `json:"sync,omitempty"`
}

// Of returns the totals of the host in a direction, or nil if there are none.
func (h *RunHost) Of(direction string) *HostTotals {
	return map[string]*HostTotals{"read": h.Read, "write": h.Write, "trim": h.Trim, Sync: h.Sync}[direction]
}

// HostTotals are what reports have of a direction of a host. Its percentiles are those of its windows.
type HostTotals struct {
	Requests int64       `json:"requests"`
	IOPS     float64     `json:"iops,omitempty"` // per second; 0 if not known
	Latency  HostLatency `json:"latency"`
}

// HostLatency is exact, in microseconds, as [Latency.Exact]. It is zero if reports do not have it of all requests.
type HostLatency struct {
	Min    float64 `json:"min,omitempty"`
	Mean   float64 `json:"mean,omitempty"`
	Max    float64 `json:"max,omitempty"`
	StdDev float64 `json:"stddev,omitempty"`
}

// Totals returns the totals of the host and the histogram of its windows, with which percentiles are known or lie between bounds.
func (h *HostTotals) Totals(windows *hist.Histogram) *Totals {
	t := &Totals{Requests: h.Requests, IOPS: h.IOPS, Latency: NewLatency(windows, nil)}
	if l := h.Latency; l.Max > 0 && !windows.IsEmpty() {
		t.Latency.SetExact(&FioLatency{Min: l.Min, Mean: l.Mean, Max: l.Max, StdDev: l.StdDev})
	}
	t.SetUnbinned(max(h.Requests-int64(windows.Total()), 0), windows)
	return t
}

// OfHost returns what the run has of the totals of a host, or nil without requests.
func (t *Totals) OfHost() *HostTotals {
	if t == nil || t.Requests == 0 {
		return nil
	}
	h := &HostTotals{Requests: t.Requests, IOPS: t.IOPS}
	if l := &t.Latency; l.Exact {
		h.Latency = HostLatency{Min: l.Min, Mean: l.Mean, Max: l.Max, StdDev: l.StdDev}
	}
	return h
}

// Clock says where the absolute times of the run come from, and how certain they are. It describes the least certain
// host.
type Clock struct {
	Source  string `json:"source,omitempty"`
	ErrorMS int64  `json:"error_ms,omitempty"` // the run's start is known to ± this many milliseconds
}

// Totals are the totals of one direction of a run, or of all directions.
type Totals struct {
	Requests   int64   `json:"requests,omitempty"` // 0 if not known, as of averages, and then absent in JSON
	Bytes      int64   `json:"bytes,omitempty"`
	DurationMS int64   `json:"duration_ms,omitempty"`
	IOPS       float64 `json:"iops,omitempty"`      // per second; 0 if not known, and of syncs, and then absent in JSON
	Bandwidth  float64 `json:"bandwidth,omitempty"` // bytes per second
	Means      Means   `json:"means,omitzero"`
	Sums       Sums    `json:"sums,omitzero"`
	Latency    Latency `json:"latency,omitzero"`
	// Unbinned are requests that are in no bin: fio counted them, and neither its logs nor its report has bins of them.
	Unbinned int64 `json:"unbinned,omitempty"`
	// Bounds are those between which percentiles lie for certain (confidence 1), if requests are in no bin. Latency has no
	// percentiles then. Without any bins they come from the percentiles of several jobs.
	Bounds *Bounds `json:"bounds,omitempty"`
	// Fio has fio's own numbers, if requests are in no bin.
	Fio *FioLatency `json:"fio,omitempty"`
}

// SetUnbinned sets how many requests are in no bin, and between which latencies percentiles then lie. bins are those of the
// others, and must be those of the latency.
func (t *Totals) SetUnbinned(n int64, bins *hist.Histogram) {
	if t.Unbinned = n; n == 0 || bins.IsEmpty() {
		return
	}
	fastest, slowest := 0.0, math.Inf(1)
	if t.Latency.Exact {
		fastest, slowest = t.Latency.Min*1000, t.Latency.Max*1000
	}
	t.Bounds = &Bounds{Confidence: 1}
	for i, to := range t.Bounds.all() {
		a := bins.PercentileAmong(Percentiles[i].Quantile, float64(n), fastest, slowest)
		if t.Fio != nil { // percentiles that fio listed, each the middle of a bin
			half, step := hist.Fio3(0).RelativeError(), t.Fio.PercentileStep*1000/2
			for _, p := range t.Fio.Percentiles {
				if ns := p.Value * 1000; p.Rank <= Percentiles[i].Rank {
					a.Low = max(a.Low, ns*(1-half)-step)
				} else {
					a.High = min(a.High, ns*(1+half)+step)
				}
			}
		}
		if to.Low = micros(a.Low); !math.IsInf(a.High, 1) {
			to.High = micros(max(a.High, a.Low))
		}
		*Percentiles[i].of(&t.Latency) = 0
	}
}

// KnownBandwidth returns the bandwidth, or NaN if it is not known.
func (t *Totals) KnownBandwidth() float64 {
	if t.Bandwidth == 0 {
		return math.NaN()
	}
	return t.Bandwidth
}

// Sums are sums of fio's own rates over jobs. fio divides the requests of a job by its run time. So the sums are larger
// than IOPS and Bandwidth of [Totals] if the jobs did not run at the same time.
type Sums struct {
	IOPS      float64 `json:"iops,omitempty"`      // per second
	Bandwidth float64 `json:"bandwidth,omitempty"` // bytes per second
}

// FioLatency is what fio computed from latencies, in microseconds. Its percentiles cannot be merged, so there are some only
// if one job, or one group of jobs (group_reporting), served the direction.
type FioLatency struct {
	Min    float64 `json:"min"`
	Mean   float64 `json:"mean,omitempty"` // 0: not known, of several jobs that do not say how many requests they had
	Max    float64 `json:"max"`
	StdDev float64 `json:"stddev,omitempty"`
	// The steps to which fio rounded minimum and maximum, and the percentiles; 0: none.
	Step           float64         `json:"step,omitempty"`
	PercentileStep float64         `json:"percentile_step,omitempty"`
	Percentiles    []FioPercentile `json:"percentiles,omitempty"` // as fio listed them, ranks ascending; in JSON also as p50, p99_9 …
}

// FioPercentile is one percentile as fio printed it.
type FioPercentile struct {
	Rank  float64 `json:"rank"`  // 0 to 100
	Value float64 `json:"value"` // microseconds
}

// Figure returns a number by its name, like [Latency.Figure], in microseconds. ok is false if fio did not list it.
func (f *FioLatency) Figure(name string) (us float64, ok bool) {
	if name == "mean" && f.Mean == 0 {
		return 0, false
	}
	return figure(name, f.Min, f.Mean, f.Max, func(want *Percentile) (float64, bool) {
		for _, p := range f.Percentiles {
			if math.Abs(p.Rank-want.Rank) < 1e-9 {
				return p.Value, true
			}
		}
		return 0, false
	})
}

// StepOf returns the step to which fio rounded a number, by its name; 0: none.
func (f *FioLatency) StepOf(name string) float64 {
	switch name {
	case "min", "max":
		return f.Step
	case "mean":
		return f.Step / 100
	}
	return f.PercentileStep
}

// Means are fio's own mean latencies in microseconds: until submission (slat), from then until completion (clat), and
// both together (lat).
type Means struct {
	Slat float64 `json:"slat,omitempty"`
	Clat float64 `json:"clat,omitempty"`
	Lat  float64 `json:"lat,omitempty"`
}

// Lost counts requests that were not in the logs.
type Lost struct {
	Requests int64 `json:"requests,omitempty"`
}

// Verdict is the result of one rule of a service level agreement.
type Verdict struct {
	Rule  string  `json:"rule"` // including its direction
	Holds bool    `json:"holds"`
	Value float64 `json:"value"` // latencies in microseconds, shares from 0 to 1
	Limit float64 `json:"limit"`
}

// Source lists the files that the run was read from.
type Source struct {
	Files int          `json:"files,omitempty"`
	Bytes int64        `json:"bytes,omitempty"`
	Hash  string       `json:"hash,omitempty"` // over the roles and hashes of all files
	List  []SourceFile `json:"list,omitempty"`
}

// SourceFile is one file that was read.
type SourceFile struct {
	Path  string `json:"path"`
	Role  string `json:"role,omitempty"` // such as RoleReport
	Bytes int64  `json:"bytes"`
	Hash  string `json:"hash,omitempty"` // XXH64 of the unpacked content, hexadecimal

	// Begin is XXH64 of the beginning of a log, up to its [BeginDigits]-th digit other than 0, hexadecimal. It is empty for
	// logs with fewer of these digits. A log that was copied only in part has the Begin of the whole log. Begin of a report is
	// its format, a "-", and XXH64 of the numbers that all formats of fio's output have, or nothing if these may be equal by chance.
	Begin string `json:"begin,omitempty"`

	// Says is XXH64 of what a report says, hexadecimal: its time, options and numbers, without its bins. It is the same in any file, also
	// in one with other text, as CBT cuts json_output.N out of output.N. It is empty if the numbers may be equal by chance.
	Says string `json:"says,omitempty"`
}

// BeginDigits is the number of digits other than 0 in the beginning of a log. Two logs with fewer may be equal by chance.
const BeginDigits = 100

// Documents is the number of interval documents of the run at each level.
type Documents struct {
	Cluster int `json:"cluster,omitempty"`
	Host    int `json:"host,omitempty"`
	Job     int `json:"job,omitempty"`
	Section int `json:"section,omitempty"`
}

// Light returns a shallow copy without the large parts, the histograms and the list of source files, and without the changes, which are
// of the history that the run is in.
func (r *Run) Light() *Run {
	c := r.WithFiles()
	c.Source.List, c.Changes = nil, nil
	return c
}

// WithFiles returns a shallow copy without the histograms.
func (r *Run) WithFiles() *Run {
	c := *r
	without := func(totals ...**Totals) {
		for _, t := range totals {
			if *t != nil {
				total := **t
				total.Latency.Bins = Bins{}
				*t = &total
			}
		}
	}
	without(&c.All, &c.Read, &c.Write, &c.Trim, &c.Sync)
	c.Sections = slices.Clone(r.Sections)
	for i := range c.Sections {
		s := &c.Sections[i]
		without(&s.All, &s.Read, &s.Write, &s.Trim, &s.Sync)
	}
	return &c
}

// All returns the number of documents of all levels.
func (d Documents) All() int { return d.Cluster + d.Host + d.Job + d.Section }

// Of returns the number of documents of a level.
func (d Documents) Of(l Level) int { return *d.count(l) }

// Add adds n to the number of documents of a level.
func (d *Documents) Add(l Level, n int) { *d.count(l) += n }

func (d *Documents) count(l Level) *int {
	switch l {
	case Cluster:
		return &d.Cluster
	case Host:
		return &d.Host
	case Job:
		return &d.Job
	case Section:
		return &d.Section
	}
	return new(int)
}

// Change is a change of level: from this run on, a number of its workload is higher or lower. It depends on the other
// runs, so a history computes it again when runs are added or removed.
type Change struct {
	Direction string  `json:"direction"`
	Metric    string  `json:"metric"`     // the field of the number: "p99_9", "iops"
	Verdict   string  `json:"verdict"`    // "worse" or "better"
	Before    float64 `json:"before"`     // the level before: latencies in microseconds
	After     float64 `json:"after"`      // the level since then
	Percent   float64 `json:"percent"`    // the size of the change: 10 is a tenth more
	BeforeRun string  `json:"before_run"` // the id of the last run before
	Text      string  `json:"text"`       // a sentence for people, with the confidence interval of the size
	// Marked is when the change was first found. Later runs make its numbers more exact, and leave this.
	Marked time.Time `json:"marked,omitzero"`
}

// State returns what is special about a run, in one or two words each. bad reports whether data is missing or a rule is
// broken.
func (r *Run) State() (words []string, bad bool) {
	switch {
	case r.Run.Complete:
	case r.Run.Live():
		words = append(words, "live")
	default:
		words, bad = append(words, "incomplete"), true
		if r.Run.Lacks != "" {
			words = append(words, r.Run.Lacks)
		}
	}
	if r.IsPrecondition() {
		words = append(words, "precondition")
	}
	switch {
	case r.NoWindows == "":
	case r.Documents.All() > 0:
		words = append(words, "averages")
	default:
		words = append(words, "no windows")
	}
	if slices.ContainsFunc(r.SLA, func(v Verdict) bool { return !v.Holds }) {
		words, bad = append(words, "sla broken"), true
	}
	return words, bad
}

// IsPrecondition reports whether the run only prepared volumes. CBT finds such runs by the word in their path, and leaves them
// out of its reports.
func (r *Run) IsPrecondition() bool { return r.CBT.ByCBT() && strings.Contains(r.Run.Path, "precond") }

// ServedNothing reports whether fio has ended and served no requests, because it failed.
func (r *Run) ServedNothing() bool {
	return !r.Run.Live() && strings.HasSuffix(r.NoWindows, NoRequests)
}

// NoRequests ends NoWindows of a run whose report has no requests.
const NoRequests = "fio served no requests, as its report says"

// ShortName returns the run's name without the folders of CBT that are named after settings.
func (r *Run) ShortName() string {
	parts := strings.SplitN(r.Run.Name, "/", 3)
	if !r.CBT.ByCBT() || len(parts) < 3 {
		return r.Run.Name
	}
	name := parts[0] + "/" + parts[1]
	if r.CBT.Workload != "" {
		name += "/" + r.CBT.Workload
	}
	return name
}

// Compacted describes how compaction made this version of a run: it joined the windows of another version to longer
// ones. It is zero for a version that was read from files.
type Compacted struct {
	From       string    `json:"from"`        // run.ingest of the version that was read from files
	IntervalMS int64     `json:"interval_ms"` // length of that version's windows, in milliseconds
	At         time.Time `json:"at"`
}

// Reading returns the run.ingest of the version that was read from files. For a compacted run this is the version that
// it was made from. Two versions with the same reading differ only in the length of windows.
func (r *RunInfo) Reading() string {
	if r.Compacted.From != "" {
		return r.Compacted.From
	}
	return r.Ingest
}

// Compact returns the run document of the version with windows of ms milliseconds, which is a multiple of the run's.
// Totals, files and warnings stay the same. The number of its interval documents is not set yet. The same version
// always gets the same run.ingest, so an interrupted compaction can be repeated.
func (r *Run) Compact(ms int64, at time.Time) *Run {
	c := *r
	c.Run.Compacted.From, c.Run.Compacted.At = r.Run.Reading(), at.UTC().Truncate(time.Millisecond)
	if r.Run.Compacted.From == "" {
		c.Run.Compacted.IntervalMS = r.IntervalMS
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", r.Run.Ingest, ms))
	c.Run.Ingest = hex.EncodeToString(sum[:8])
	c.IntervalMS, c.Documents = ms, Documents{}
	return &c
}
