package cbt

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Run is one execution of fio on all its hosts. It has logs, or other logs, or reports.
type Run struct {
	Archive string   // name of the archive or folder
	Path    string   // of the run inside it, without hosts; with the log prefix where a folder may have several
	Logs    []Log    // of histograms, by host, volume and job
	Others  []Log    // of all other kinds: by host, volume, job and kind
	Reports []Report // what is fio's output, or may be
	Settings
	Config        *source.File // benchmark_config.yaml, nil where there is none
	ArchiveConfig *source.File // cbt_config.yaml, likewise

	// Job is fio's job file: pbench-fio keeps it, and people do; nil where there is none,
	// and in CBT's layout. JobOptions are the options that all its sections share, with
	// those of [global], by fio's main names and as written.
	Job        *source.File
	JobOptions map[string]string

	// Loose means that the user named each log, or each report of a run without logs, by
	// itself, so that nothing but that says what belongs together.
	Loose bool

	// Doubts are attributions that are likely but not certain, for people to read.
	Doubts []string

	// Budget is that of all runs that were found with this one.
	Budget *Budget

	at       place
	base     string // the folder at.folder, see [sorter.dirOf]
	name     string
	argument string // that it was found under
	gone     bool   // it is part of another, or a copy, or has no files left
	into     *Run   // which other
}

// Log is one log of fio.
type Log struct {
	Kind   fiolog.Kind
	Host   string // "" where neither name nor folder says it
	Volume string // of the host: V of output.V; "" where the name has none
	Job    int    // of fio, from 1; 0 for a log of all jobs
	Prefix string // the part of the name before _clat_hist
	Stored bool   // written with log_store_compressed
	File   *source.File
}

// Report is a file that may be fio's JSON output.
type Report struct {
	Host, Volume string
	Named        bool // by CBT: it belongs to that host and volume. Else its content decides
	File         *source.File

	// Found says why it is thought to be the run's. Reports come in the order of that.
	Found Found
	// Candidate means that it may as well be of another execution of fio: what it says of
	// jobs, or its bins, must fit the logs. The reports of a run without logs are none.
	Candidate bool
}

// Found is how the report of a run was found, the likeliest first.
type Found uint8

// The ways to find a report.
const (
	FoundNamed   Found = iota // as CBT or pbench-fio name it
	FoundPrefix               // in the folder of the logs, with their prefix for a name
	FoundOptions              // its options name the logs
	FoundFolder               // in the folder of the logs
	FoundAbove                // in the folder above, or next to that of the logs
)

// String is for people.
func (f Found) String() string {
	return [...]string{"by its name", "by the logs' prefix", "by fio's options", "in the same folder", "in a folder nearby"}[f]
}

// Settings are what the path and the configuration say about a run. Zero is unknown.
type Settings struct {
	Benchmark    string
	Workload     string
	Mode         string // fio's rw
	OpSize       int64  // bytes
	IODepth      int64  // of a volume; unknown where volumes differ
	TotalIODepth int64  // of all volumes of a client
	NumJobs      int64
	Procs        int64 // concurrent_procs, procs_per_volume, procs_per_endpoint
	Volumes      int64 // volumes per client
	Iteration    int   // -1 if unknown, as outside CBT's layout
	RWMixRead    int64 // percent
	Runtime      int64 // seconds
	Ramp         int64 // seconds
	OSDRA        int64 // read-ahead of the OSDs, or of raw devices; KiB
	ClientRA     int64 // read-ahead of the clients; KiB
	Pool         string
	Hosts        []string // the clients that the configuration names
	Clients      int      // how many these are
	OSDHosts     int
	OSDs         int    // on all hosts; unknown unless osds_per_node is set
	CephVersion  string // as the user wrote it: CBT does not record it
}

// Name is short and for people: the path without what all paths have.
func (r *Run) Name() string { return cmp.Or(r.name, r.Path) }

// HostNames are the hosts that the run has files of, sorted, without the unnamed.
func (r *Run) HostNames() []string {
	var names []string
	for _, l := range r.logs() {
		names = append(names, l.Host)
	}
	for _, f := range r.Reports {
		names = append(names, f.Host)
	}
	return namesIn(names)
}

// namesIn are the names in a list, sorted, each once.
func namesIn(list []string) []string {
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(s string) bool { return s == "" })
}

// MissingHosts are the clients of which the run has no logs, or no reports if it has no
// logs of any host. [Run.Configure] must have been called. Where files do not name their
// hosts nothing is known to be missing.
func (r *Run) MissingHosts() []string {
	have := r.logHosts()
	if len(have) == 0 {
		for _, f := range r.Reports {
			if f.Named {
				have = append(have, f.Host)
			}
		}
	}
	if len(have) == 0 || slices.Contains(have, "") {
		return nil
	}
	var missing []string
	known := false
	for _, name := range r.Hosts {
		if !slices.ContainsFunc(have, func(h string) bool { return SameHost(h, name) }) {
			missing = append(missing, name)
		} else {
			known = true
		}
	}
	if !known { // the configuration is another archive's, or names hosts otherwise
		return nil
	}
	return missing
}

// logHosts are the hosts of the histogram logs, or of the others if there are none.
func (r *Run) logHosts() []string {
	logs := r.Logs
	if len(logs) == 0 {
		logs = r.Others
	}
	var have []string
	for _, l := range logs {
		have = append(have, l.Host)
	}
	slices.Sort(have)
	return slices.Compact(have)
}

// SameHost reports whether two names may be of one host: one may lack the domain.
func SameHost(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

// logs are those of all kinds.
func (r *Run) logs() []Log { return append(r.Logs[:len(r.Logs):len(r.Logs)], r.Others...) }

// isReported reports whether a run has no logs at all.
func (r *Run) isReported() bool { return len(r.Logs)+len(r.Others) == 0 }

// dropLogs removes the logs that drop reports.
func (r *Run) dropLogs(drop func(Log) bool) {
	r.Logs = slices.DeleteFunc(r.Logs, drop)
	r.Others = slices.DeleteFunc(r.Others, drop)
}

// Files are all that the run is made of: logs, reports and configuration.
func (r *Run) Files() []*source.File {
	var files []*source.File
	for _, l := range r.logs() {
		files = append(files, l.File)
	}
	for _, f := range r.Reports {
		files = append(files, f.File)
	}
	for _, f := range []*source.File{r.Config, r.ArchiveConfig, r.Job} {
		if f != nil {
			files = append(files, f)
		}
	}
	return files
}

func compareLogs(a, b Log) int {
	return cmp.Or(cmp.Compare(a.Host, b.Host), compareNumbers(a.Volume, b.Volume), cmp.Compare(a.Job, b.Job),
		cmp.Compare(a.Kind, b.Kind))
}

func compareNumbers(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
