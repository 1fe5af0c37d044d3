package mapping

import (
	"cmp"
	"fmt"
	"time"
)

// Interval is one window of one series: one direction of a cluster, a host, a job or a section.
type Interval struct {
	Time      time.Time `json:"@timestamp"` // the window's start
	Level     Level     `json:"level,omitzero"`
	Part      int       `json:"part,omitempty"` // 0, or the number of a further part that Split made
	Window    Window    `json:"interval"`
	Run       RunRef    `json:"run"`
	Workload  Workload  `json:"workload,omitzero"` // of the run, or of the section
	CBT       CBT       `json:"cbt,omitzero"`      // of the run, with the section's own settings
	Host      HostRef   `json:"host,omitzero"`     // empty at levels Cluster and Section
	Fio       FioRef    `json:"fio"`
	Latency   Latency   `json:"latency,omitzero"` // empty if no request completed
	Bounds    *Bounds   `json:"bounds,omitempty"` // of its percentiles; nil: none were wanted
	Requests  Requests  `json:"requests"`
	IOPS      float64   `json:"iops"`                 // completions per second; 0 if not known, and of syncs, and then absent in JSON
	Bandwidth float64   `json:"bandwidth,omitempty"`  // bytes per second, if a log has it
	Weighting string    `json:"weighting,omitempty"`  // "inflight", "completion" or Averaged
	DocCount  int64     `json:"_doc_count,omitempty"` // the sum of the histogram's counts
}

// Averaged is the weighting of documents that were made of fio's averages (log_avg_msec). They have rates and mean
// latencies, but no requests.
const Averaged = "average"

// Window is the time that an interval document covers, from its @timestamp to End.
type Window struct {
	End       time.Time `json:"end"`
	MS        int64     `json:"ms"`         // its length in milliseconds
	ElapsedMS int64     `json:"elapsed_ms"` // its start, in milliseconds since the run's start
	// FromMS and ToMS are when the first job of the series began and the last one ended, in milliseconds since the run's
	// start. Requests show neither, because a job may have none for some windows. ToMS is 0 if it is not known.
	FromMS int64 `json:"from_ms,omitempty"`
	ToMS   int64 `json:"to_ms,omitempty"`
	// Fastest and Slowest are the latencies of the fastest and the slowest request of the whole series in microseconds, if fio's
	// reports have these. Bins are wider, so sums of windows need them. Slowest is 0 if they are not known.
	Fastest float64 `json:"fastest,omitempty"`
	Slowest float64 `json:"slowest,omitempty"`
}

// RunRef has the fields of the run that every interval document repeats, for searches.
type RunRef struct {
	Pending bool      `json:"pending,omitempty"` // see [PendingField]; only in a cluster
	ID      string    `json:"id"`                // of RunID
	Name    string    `json:"name,omitempty"`
	Archive string    `json:"archive,omitempty"`
	Start   time.Time `json:"start"`
	Ingest  string    `json:"ingest"` // hash of settings and content: one version of the run
	// Execution and Stage are those of [RunInfo].
	Execution string `json:"execution,omitempty"`
	Stage     int    `json:"stage,omitempty"`
	// Hosts are the named hosts whose requests the document has: of clusters and sections all of the run. So a filter finds
	// the documents of a host and of the clusters with it. Who groups by host takes host.name, which documents of several
	// hosts lack: otherwise each host would have the requests of all.
	Hosts  []string          `json:"hosts,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Edit   string            `json:"edit,omitempty"` // of [RunInfo.Edit]
}

// CBT has the settings of a run from the configuration and folders of the Ceph Benchmarking Tool. If CBT did not make
// the run, the settings come from fio's options, and Benchmark is empty or [PBench]. Documents omit fields that are zero.
type CBT struct {
	Benchmark    string `json:"benchmark,omitempty"` // its class, such as "librbdfio"
	Workload     string `json:"workload,omitempty"`
	Mode         string `json:"mode,omitempty"` // such as "randwrite"
	RWMixRead    int64  `json:"rwmixread,omitempty"`
	OpSize       int64  `json:"op_size,omitempty"`       // bytes
	IODepth      int64  `json:"iodepth,omitempty"`       // of a job; 0 with a total
	TotalIODepth int64  `json:"total_iodepth,omitempty"` // of all volumes of a client: CBT divides it over them
	NumJobs      int64  `json:"numjobs,omitempty"`
	Procs        int64  `json:"concurrent_procs,omitempty"`
	Volumes      int64  `json:"volumes,omitempty"` // per client
	Clients      int    `json:"clients,omitempty"`
	OSDs         int    `json:"osds,omitempty"` // on all hosts
	OSDHosts     int    `json:"osd_hosts,omitempty"`
	Pool         string `json:"pool_profile,omitempty"`
	CephVersion  string `json:"ceph_version,omitempty"` // as people wrote it, because CBT does not record it
	OSDReadAhead int64  `json:"osd_ra,omitempty"`       // KiB, as configured
	ReadAhead    int64  `json:"client_ra,omitempty"`
	RunSeconds   int64  `json:"time,omitempty"` // configured seconds
	RampSeconds  int64  `json:"ramp,omitempty"`
	Iteration    *int   `json:"iteration,omitempty"` // counts from 0; nil if CBT made none
}

// PBench is the benchmark of runs of pbench-fio.
const PBench = "pbench-fio"

// ByCBT reports whether CBT started fio, as its folders or its configuration show. Then the names of files and volumes are
// those of one run.
func (c *CBT) ByCBT() bool {
	return c.Benchmark != PBench && (c.Benchmark != "" || c.Workload != "" || c.Iteration != nil)
}

// Of returns the settings with those that a section has of its own.
func (c CBT) Of(section *CBT) CBT {
	c.Mode, c.RWMixRead, c.OpSize, c.IODepth, c.NumJobs = section.Mode, section.RWMixRead, section.OpSize, section.IODepth, section.NumJobs
	return c
}

// HostRef is the host of a document.
type HostRef struct {
	Name string `json:"name,omitempty"`
}

// Describe sets the fields that follow from the document of the run: its execution, hosts, workload and settings. The last
// two are of the section if the document has one.
func (d *Interval) Describe(run *Run) {
	d.Run.Execution, d.Run.Stage, d.Run.Hosts = run.Run.Execution, run.Run.Stage, run.hostNames()
	if d.Host.Name != "" {
		d.Run.Hosts = []string{d.Host.Name}
	}
	d.Workload, d.CBT = run.Workload, run.CBT
	for i := range run.Sections {
		if s := &run.Sections[i]; d.Fio.Section != "" && s.Name == d.Fio.Section {
			d.Workload, d.CBT = s.Workload, run.CBT.Of(&s.CBT)
		}
	}
}

// Series names the series of a document among those of its level, host and direction: the job or the section, or "" if
// there is one series.
func (d *Interval) Series() string { return cmp.Or(d.Fio.Job, d.Fio.Section) }

// FioRef has the fields of an interval document about fio.
type FioRef struct {
	Direction string `json:"direction"`         // one of [Directions], or [AllDirections]
	Job       string `json:"job,omitempty"`     // at level Job only: its number, behind the volume if there are several
	Section   string `json:"section,omitempty"` // at level Section, and at level Job that of the job, in runs with several
	Version   string `json:"version,omitempty"`
}

// Requests counts the requests of a window in two ways.
type Requests struct {
	Completed int64   `json:"completed"` // completions in the window; iops comes from it
	Weight    float64 `json:"weight"`    // total of the histogram, before rounding
}

// Level says whether an interval document is about the cluster, a host, a job or a section. Each level has
// indices of its own, so that no query counts a request twice. The zero value is no level.
type Level uint8

// The levels. Their numbers are in stored histories.
const (
	Cluster Level = iota + 1 // all jobs on all hosts
	Host                     // all jobs on one host
	Job                      // one job on one host
	Section                  // the jobs of a section on all hosts, in runs with several sections: see [Run].Sections
)

// Levels are all levels.
var Levels = [...]Level{Cluster, Host, Job, Section}

var levelNames = [...]string{Cluster: "cluster", Host: "host", Job: "job", Section: "section"}

func (l Level) isKnown() bool { return Cluster <= l && l <= Section }

// String is the level's name in documents and index names.
func (l Level) String() string {
	if l.isKnown() {
		return levelNames[l]
	}
	return fmt.Sprintf("level %d", uint8(l))
}

// ParseLevel is the inverse of [Level.String]; it fails with [ErrIdentity].
func ParseLevel(name string) (Level, error) {
	for _, l := range Levels {
		if l.String() == name {
			return l, nil
		}
	}
	return 0, fmt.Errorf("parse level %q: %w", name, ErrIdentity)
}

// MarshalText is the name; a value that is no level fails with [ErrIdentity].
func (l Level) MarshalText() ([]byte, error) {
	if !l.isKnown() {
		return nil, fmt.Errorf("encode level %d: %w", uint8(l), ErrIdentity)
	}
	return []byte(l.String()), nil
}

// UnmarshalText reads the name; it fails with [ErrIdentity].
func (l *Level) UnmarshalText(text []byte) error {
	parsed, err := ParseLevel(string(text))
	if err != nil {
		return err
	}
	*l = parsed
	return nil
}

// Directions are the names of the directions, in the order of all lists.
var Directions = [...]string{"read", "write", "trim", Sync}

// Sync is the direction of fsync, fdatasync and sync_file_range, which fio measures apart. They are not among all requests, and
// have no IOPS.
const Sync = "sync"

// DirectionTotals are the totals of one direction.
type DirectionTotals struct {
	Direction string // one of Directions
	*Totals
}

// AllDirections stands for all directions together.
const AllDirections = "all"

// Plural is the requests of a direction in a sentence: "reads", "all requests".
func Plural(direction string) string {
	if direction == AllDirections {
		return "all requests"
	}
	return direction + "s"
}

// With returns what the requests of a direction are counted in: the direction and, unless they are syncs, all requests.
func With(direction string) []string {
	if direction == Sync || direction == AllDirections {
		return []string{direction}
	}
	return []string{direction, AllDirections}
}

// Several reports whether all requests are more than those of one of some directions, among which they may be.
func Several(directions []string) bool {
	n := 0
	for _, d := range directions {
		if d != Sync && d != AllDirections {
			n++
		}
	}
	return n != 1
}

// ByDirection returns the totals of the directions in which requests completed, or those of all together if nothing separates
// them (unified_rw_reporting=1).
func (r *Run) ByDirection() []DirectionTotals {
	return byDirection(r.All, r.Read, r.Write, r.Trim, r.Sync)
}

// Of returns the totals of a direction or of [AllDirections], or nil.
func (r *Run) Of(direction string) *Totals {
	switch direction {
	case Directions[0]:
		return r.Read
	case Directions[1]:
		return r.Write
	case Directions[2]:
		return r.Trim
	case Sync:
		return r.Sync
	case AllDirections:
		return r.All
	}
	return nil
}

func byDirection(all *Totals, totals ...*Totals) (list []DirectionTotals) {
	for i, t := range totals {
		if t != nil {
			list = append(list, DirectionTotals{Directions[i], t})
		}
	}
	if all != nil && (len(list) == 0 || list[0].Direction == Sync) {
		list = append([]DirectionTotals{{AllDirections, all}}, list...)
	}
	return list
}
