package assign

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/layout"
)

// Run is one execution of fio on all its hosts.
type Run struct {
	Archive string // name of the archive or folder
	Path    string // of the run inside it, without hosts; with the log prefix where a folder may have several
	Below   string // the same below the argument that it was found under

	// What fio wrote in the run.
	Logs    []Log    // of histograms, by host, volume and job
	Others  []Log    // of all other kinds: by host, volume, job and kind
	Reports []Report // fio's output, and files that may be
	Cut     string   // how it is known that fio did not write all of its output; else empty
	// OnlyReports means that its logs were left out on purpose, so that windows are those that its reports had while fio ran.
	OnlyReports bool
	Unread      string // a folder or file beside the run's files that could not be opened; else empty

	layout.Settings                // from the path and, after Configure, the configuration
	Config          *evidence.File // benchmark_config.yaml, nil where there is none
	ArchiveConfig   *evidence.File // cbt_config.yaml, nil where there is none

	// Job is fio's job file, as pbench-fio and users store it. It is nil if there is none, and in CBT's layout.
	// Sections are the sections in it. They are empty if the file includes other files.
	Job      *evidence.File
	Sections []*fioargs.Section

	// Doubts are attributions that are likely but not certain, for people to read.
	Doubts   []string
	at       layout.Place
	argument string // that it was found under
	family   string // of the logs' prefixes; "" in the folder of a sample
	guess    string // why its logs are read as one run, if that is not certain
	gone     bool   // it is part of another, or a copy, or has no files left
	into     *Run   // which other

	ran evidence.Span // by its reports or, if others of its folder ran at another time, by its logs; known if MayBeWith needs it
}

// Log is one log of fio.
type Log struct {
	Kind   fiolog.Kind
	Host   string // "" where neither name nor folder says it
	Volume string // of the host: V of output.V; "" where the name has none
	Job    int    // of fio, from 1; 0 for a log of all jobs
	Prefix string // the part of the name before _clat_hist, as fio wrote it
	Stored bool   // written with log_store_compressed
	Client bool   // named as fio --client names its logs, or in the folder of one of its hosts
	File   *evidence.File
}

// Report is a file that may be fio's JSON output.
type Report struct {
	Host, Volume string
	Named        bool // by CBT: it belongs to that host and volume. Else its content decides
	File         *evidence.File

	// Found says why the report belongs to the run. Reports are in the order of Found.
	Found Found
	// Candidate means that another execution of fio may have written the report. Its jobs or its bins must fit the
	// logs. In a run without logs, no report is a candidate.
	Candidate bool
}

// Found says how a report of a run was found. Lower values are more certain.
type Found uint8

// The ways to find a report.
const (
	FoundNamed   Found = iota // as CBT or pbench-fio name it
	FoundPrefix               // in the folder of the logs, with their prefix as its name
	FoundOptions              // its options name the logs
	FoundFolder               // in the folder of the logs
	FoundAbove                // in the folder above the logs, or in a folder next to theirs
)

// String returns a text for people.
func (f Found) String() string {
	return [...]string{"by its name", "by the logs' prefix", "by fio's options", "in the same folder", "in a folder nearby"}[f]
}

// Configure reads the run's configuration files and completes its settings. It returns the whole configuration with dotted names, for
// searching. With an error it returns what could be read.
func (r *Run) Configure(ctx context.Context) (config map[string]any, err error) {
	r.Settings, config, err = layout.Configure(ctx, &r.at, r.CBT, r.Config, r.ArchiveConfig)
	return config, err
}

// Name returns the path for people, without the parts that all paths of an archive of CBT have in common.
func (r *Run) Name() string {
	switch {
	case r.at.Program != layout.OfCBT && r.Path == ".":
		return r.Archive
	case r.at.Program != layout.OfCBT:
		return r.Path
	}
	above, id := path.Split(r.at.Config)
	below := strings.TrimPrefix(r.Path, r.at.Config)
	if id == "." { // the argument is the id- folder
		above, id, below = "", r.Archive, r.Path
	}
	above, iteration := path.Clean(above), ""
	if n := r.at.Known.Iteration; n != nil {
		above, iteration = path.Dir(above), strconv.Itoa(*n)
	}
	if path.Base(above) == "results" {
		above = path.Dir(above)
	}
	return path.Join(above, iteration, id, below)
}

// Test returns the part of the path that runs of one test have in common in all iterations and archives of CBT; of other layouts
// it is the path.
func (r *Run) Test() string {
	if r.at.Program != layout.OfCBT {
		return r.Path
	}
	return path.Join(path.Base(r.at.Config), strings.TrimPrefix(r.Path, r.at.Config))
}

// IsLoose reports whether the user named each log of the run or, without logs, each report. Then only the user's list
// says which files belong together.
func (r *Run) IsLoose() bool {
	if r.isReported() {
		return !slices.ContainsFunc(r.Reports, func(f Report) bool { return !f.File.Named })
	}
	return !slices.ContainsFunc(r.logs(), func(l Log) bool { return !l.File.Named })
}

// MayBeWith reports whether two runs whose logs the user named one by one may be one. It returns false if it is known that
// they ran at different times.
func (r *Run) MayBeWith(o *Run) bool {
	return r.ran.End.IsZero() || o.ran.End.IsZero() || r.ran.IsWith(o.ran)
}

func (r *Run) doubt(text string) { r.Doubts = addNew(r.Doubts, text) }

// written returns the logs and reports.
func (r *Run) written() (files []*evidence.File) {
	for _, l := range r.logs() {
		files = append(files, l.File)
	}
	for _, f := range r.Reports {
		files = append(files, f.File)
	}
	return files
}

// Files returns all files of the run: logs, reports and configuration.
func (r *Run) Files() []*evidence.File {
	return slices.DeleteFunc(append(r.written(), r.Config, r.ArchiveConfig, r.Job), func(f *evidence.File) bool { return f == nil })
}

// IsFromTorn reports whether a file of the run comes from an archive that is damaged or cut short.
func (r *Run) IsFromTorn() bool {
	return slices.ContainsFunc(r.Files(), func(f *evidence.File) bool { return f.Torn })
}

// MayLackFiles reports whether the run may have further files in a place that could not be read.
func (r *Run) MayLackFiles() bool { return r.Unread != "" || r.IsFromTorn() }

// NoteUnread sets Unread to the first of the places that lies in the folder of all logs and reports of the run.
func (r *Run) NoteUnread(places []string) {
	var names []string
	for _, f := range r.written() {
		names = append(names, f.Name())
	}
	if len(names) == 0 || r.IsLoose() {
		return
	}
	folder := names[0]
	for _, name := range names {
		for folder == names[0] || !strings.HasPrefix(name, folder) {
			folder = folder[:strings.LastIndexByte(strings.TrimSuffix(folder, "/"), '/')+1]
		}
	}
	if i := slices.IndexFunc(places, func(place string) bool { return strings.HasPrefix(place, folder) }); i >= 0 {
		r.Unread = places[i]
	}
}

// MissingHosts returns the clients without any file in the run. The caller must have called [Run.Configure]. If logs or
// reports do not name their hosts, it returns none.
func (r *Run) MissingHosts() []string {
	logs := r.Logs
	if len(logs) == 0 {
		logs = r.Others
	}
	var have []string
	for _, l := range logs {
		have = append(have, l.Host)
	}
	for _, f := range r.Reports {
		if f.Named {
			have = append(have, f.Host)
		}
	}
	have = slices.Compact(have) // logs are in the order of hosts
	missing := without(r.Hosts, func(name string) bool {
		return slices.ContainsFunc(have, func(host string) bool { return SameHost(host, name) })
	})
	// If none of its hosts has files, the configuration is from another archive, or it uses other names for the hosts.
	if len(missing) == 0 || len(missing) == len(r.Hosts) || slices.Contains(have, "") {
		return nil
	}
	return missing
}

// SameHost reports whether two names may name the same host: one of them may lack the domain.
func SameHost(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

// VolumesPerClient returns in how many volumes, 0 … n-1, each client ran fio, or 0 if the configuration does not say it. A total
// I/O depth of less than the volumes leaves the last ones out, as CBT does. [Run.Configure] must have been called.
func (r *Run) VolumesPerClient() int {
	if r.Config == nil || r.Benchmark != layout.LibRBDFio {
		return 0
	}
	n := r.Volumes
	if r.TotalIODepth > 0 {
		n = min(n, r.TotalIODepth)
	}
	return int(min(n, 1<<16))
}

// EmptyReports returns the files of fio's output that CBT named after a host and a volume and that are empty: fio was killed
// before it wrote them.
func (r *Run) EmptyReports() []Report {
	return without(r.Reports, func(f Report) bool {
		return r.at.Program != layout.OfCBT && r.Workload == "" || !f.Named || !f.File.IsEmpty()
	})
}

// HostNames returns the names of the hosts on which fio wrote files, sorted. Hosts without a name are left out.
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

// namesIn returns the names in a list, sorted, each once.
func namesIn(list []string) []string {
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(s string) bool { return s == "" })
}

func (r *Run) logs() []Log { return slices.Concat(r.Logs, r.Others) }

// isReported reports whether there are no logs at all.
func (r *Run) isReported() bool { return len(r.Logs)+len(r.Others) == 0 }

func (r *Run) add(l Log) {
	if l.Kind.IsHistogram() {
		r.Logs = append(r.Logs, l)
	} else {
		r.Others = append(r.Others, l)
	}
}

func (r *Run) dropLogs(drop func(Log) bool) {
	r.Logs = slices.DeleteFunc(r.Logs, drop)
	r.Others = slices.DeleteFunc(r.Others, drop)
}

// hasPrefix reports whether a name is the prefix of a log, or the common part of prefixes that differ by their volumes.
func (r *Run) hasPrefix(name string) bool {
	return slices.ContainsFunc(r.logs(), func(l Log) bool {
		family, _ := layout.SplitPrefix(l.Prefix)
		return name == l.Prefix || name == family
	})
}

// commonPath returns the path that all are, or the folder that they are in.
func commonPath(paths ...string) string {
	common := paths[0]
	for _, p := range paths[1:] {
		for common != p && common != "." && common != "/" && !strings.HasPrefix(p, strings.TrimSuffix(common, "/")+"/") {
			common = path.Dir(common)
		}
	}
	return common
}

func compareLogs(a, b Log) int {
	return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(len(a.Volume), len(b.Volume)), cmp.Compare(a.Volume, b.Volume),
		cmp.Compare(a.Job, b.Job), cmp.Compare(a.Kind, b.Kind))
}

// without returns a copy of a list without the items for which drop returns true.
func without[T any](list []T, drop func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), drop)
}

// addNew appends what is not in a list yet.
func addNew[T comparable](list []T, one T) []T {
	if slices.Contains(list, one) {
		return list
	}
	return append(list, one)
}
