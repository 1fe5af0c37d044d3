package doctor

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// section is what rules look at: a section of a command, and what fio will write of it.
type section struct {
	*fioargs.Section
	command          *fioargs.Command
	version          fioargs.Version
	machine          *Machine
	formats          []string // of the report
	hasJSON, hasBins bool     // there is a report that fio2es can read, and it has bins
	isClient         bool
	hasHist          bool          // fio writes a histogram log, perhaps a useless one
	rows             time.Duration // time between its rows
	runs             time.Duration // 0 if the options do not say it
	hasCompletions   bool          // a log has a row for each request
	hasPeriodic      bool          // periodic reports show when requests completed
}

func newSection(c *fioargs.Command, one *fioargs.Section, version fioargs.Version, m *Machine) *section {
	s := &section{Section: one, command: c, version: version, machine: m, formats: []string{"normal"}}
	if o, ok := c.Own("output-format"); ok {
		s.formats = strings.Split(o.Value, ",")
	}
	s.hasBins = slices.Contains(s.formats, "json+")
	s.hasJSON = s.hasBins || slices.Contains(s.formats, "json")
	if _, s.isClient = c.Own("client"); s.isClient {
		s.machine = &Machine{}
	}
	s.hasHist = s.has("write_hist_log")
	s.rows = time.Duration(max(s.Int("log_hist_msec", 0), 0)) * time.Millisecond
	s.runs = s.Time("runtime")
	s.hasCompletions = s.has("write_lat_log") && s.Int("log_avg_msec", 0) <= 0
	status, _ := c.Own("status-interval")
	every := status.Time()
	// a client's are not written, and bins of all directions in one say too little
	s.hasPeriodic = s.hasBins && every > 0 && !s.isClient && !s.isSet("unified_rw_reporting") && (s.runs == 0 || s.runs >= 2*every)
	return s
}

func (s *section) isShort() bool { return s.runs > 0 && s.runs <= s.rows }

// hasRows reports whether there will be rows of histograms. Bins replace the row of a run that is shorter than a row.
func (s *section) hasRows() bool {
	return s.hasHist && s.rows > 0 && !s.isSet("log_store_compressed") && !s.isSet("log_compression") && (s.hasBins || !s.isShort() && !s.isClient)
}

// isOverTime reports whether something of what fio writes has percentiles over time.
func (s *section) isOverTime() bool { return s.hasRows() || s.hasCompletions || s.hasPeriodic }

// has reports whether one of some options is set, even if it is set to 0.
func (s *section) has(names ...string) bool {
	return slices.ContainsFunc(s.Options, func(o fioargs.Option) bool { return slices.Contains(names, o.Name) })
}

// isSet reports whether an option is set to a value that turns it on.
func (s *section) isSet(name string) bool {
	o, ok := s.Get(name)
	return ok && o.Value != "0" && o.Value != "none"
}

func (s *section) does(d fiolog.Direction) bool {
	_, directions := fioargs.ParseMode(s.Value("rw"))
	return slices.Contains(directions, d)
}

// syncs returns the option by which fio syncs after writes, or "". It measures these syncs apart.
func (s *section) syncs() string {
	names := strings.Fields("fsync fdatasync sync_file_range")
	if i := slices.IndexFunc(names, s.isSet); i >= 0 && s.does(fiolog.Write) {
		return names[i]
	}
	return ""
}

// isDeep reports whether several requests are to be in flight.
func (s *section) isDeep() bool {
	return s.Int("iodepth", 1) > 1 && s.Value("io_submit_mode") != "offload"
}

// throughCache are the engines whose requests go through the page cache without direct=1.
var throughCache = strings.Fields("sync psync vsync pvsync pvsync2 libaio io_uring posixaio")

// isCached reports whether requests go through the page cache. Of direct and buffered, which are opposites, the last one counts.
func (s *section) isCached() bool {
	isDirect := false
	for _, o := range s.Options {
		if o.Name == "direct" || o.Name == "buffered" {
			isDirect = o.IsOn() == (o.Name == "direct")
		}
	}
	return !isDirect && slices.Contains(throughCache, s.Value("ioengine")) && (s.does(fiolog.Read) || s.does(fiolog.Write))
}

// isSynced reports whether the section only writes, and fio waits for the device.
func (s *section) isSynced() bool {
	return !s.does(fiolog.Read) && !s.does(fiolog.Trim) && (s.syncs() != "" || s.isSet("sync"))
}

// size returns the size of all files. ok is false if the options do not say it.
func (s *section) size() (total float64, ok bool) {
	size, ok := fioargs.ParseSize(s.Value("size"))
	total = float64(size)
	if each, isSet := fioargs.ParseSize(s.Value("filesize")); isSet {
		total, ok = float64(each)*float64(max(s.Int("nrfiles", 1), len(s.paths()))), true
	}
	if s.has("offset_increment") || !s.has("filename") {
		total *= float64(s.Jobs())
	}
	return total, ok
}

// paths returns the paths of the files. Without filename fio takes the name of the section, if there is such a device. A directory
// is before any name, also before an absolute one. A colon of a name is written as "\:".
func (s *section) paths() (paths []string) {
	names := func(list string) []string { return strings.Split(strings.ReplaceAll(list, `\:`, "\x00"), ":") }
	for _, name := range names(cmp.Or(s.Value("filename"), s.Name)) {
		for _, dir := range names(s.Value("directory")) {
			if dir != "" {
				name = dir + "/" + name
			}
			paths = append(paths, strings.ReplaceAll(name, "\x00", ":"))
		}
	}
	return paths
}

// changes returns the changes that mend a section: "name=value" sets an option, "-name" removes it. Values of output-format
// and write_hist_log follow from the command. What is as it should be needs no change.
func (s *section) changes(mends string) (list []string) {
	base := filepath.Base(cmp.Or(s.File, s.Name))
	logName := strings.TrimSuffix(base, filepath.Ext(base))
	for _, mend := range strings.Fields(mends) {
		name, value, _ := strings.Cut(strings.TrimPrefix(mend, "-"), "=")
		value = cmp.Or(value, logName)
		o, isSet := s.Get(name)
		switch {
		case name == "output-format" && s.hasBins, mend[0] == '-' && !s.isSet(name):
		case name == "output-format":
			old, line := s.own(name), "--output-format=json+"
			if others := slices.DeleteFunc(slices.Clone(s.formats), func(f string) bool { return f == "json" }); old != "" && len(others) > 0 {
				line += "," + strings.Join(others, ",")
			} else if old == "" && s.own("output") == "" {
				line += " --output=" + logName + ".json"
			}
			list = append(list, change(fioargs.CommandLine, old, line)...)
		case name == "status-interval":
			list = append(list, change(fioargs.CommandLine, s.own(name), "--"+mend)...)
		case mend[0] == '-':
			list = append(list, change(o.At, written(o), "")...)
		case isSet:
			list = append(list, change(o.At, written(o), written(fioargs.Option{Name: name, Value: value, At: o.At}))...)
		case s.File == "":
			list = append(list, change(fioargs.CommandLine+", before the first --name", "", "--"+name+"="+value)...)
		default:
			list = append(list, change(s.File+", [global]", "", name+"="+value)...)
		}
	}
	return list
}

// own returns an option of fio itself as the user wrote it, or "".
func (s *section) own(name string) string {
	o, ok := s.command.Own(name)
	return ifKnown(ok, written(o))
}

// written returns an option as the user wrote it.
func written(o fioargs.Option) string {
	text := o.Name + ifKnown(o.Value != "", "="+o.Value)
	if o.At == fioargs.CommandLine {
		return "--" + text
	}
	return text
}
