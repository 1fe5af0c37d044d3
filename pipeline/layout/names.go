package layout

import (
	"path"
	"strings"

	"github.com/fio2es/fio2es/internal/late"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

const (
	ConfigName        = "benchmark_config.yaml" // of one benchmark
	ArchiveConfigName = "cbt_config.yaml"       // of the archive
)

var (
	// CBT makes two of these files, and fio2es-fio (fio2es shim) the third, live_output.
	reportFile   = late.Regexp(`^(?:json_output|live_output(?:\.grid\d+s)?|output)\.(\d+)(?:\.(.+))?$`)
	bareReport   = late.Regexp(`^(?:json_output|live_output(?:\.grid\d+s)?|output)(?:\.(.+))?$`) // of rbdfio, which has no volumes
	hostedReport = late.Regexp(`^(.+\.(?:json|out|txt))\.(.+)$`)                                 // with a host, as CBT collects files
	volumePrefix = late.Regexp(`^(.*)\.(\d+)$`)
	unixTime     = late.Regexp(`\d{9,}$`) // with a fraction, in the prefix of other programs
	numberMark   = late.Regexp(`^\.\d+$`)
	hashName     = late.Regexp(`^[0-9a-f]{16,}$`) // other programs store thousands of such files
	cephFile     = late.Regexp(`^(?:ceph_settings\.out|historic_ops\.out|pgautoscaler\.log)`)
	rsyncFile    = late.Regexp(`^\..+\.[0-9A-Za-z]{6}$`) // while it copies
	monitorDir   = late.Regexp(`^(?:collectl|perf|blktrace|top|visualisation|[a-z_]+_monitoring)(?:\..+)?$`)
)

// Role is what a file may be, by its name.
type Role uint8

const (
	RoleNone   Role = iota // of no interest, by its name or its folder
	RoleLoose              // fio's output only if its content says so
	RoleLog                // written by fio's write_*_log
	RoleConfig             // one of CBT's YAML files
	RoleReport             // may be fio's output
	RoleJob                // may be a job file
)

// roles are what files may be by the ends of their names. Other ends say nothing.
var roles = map[string]Role{
	".json": RoleReport, ".txt": RoleReport, ".out": RoleReport, ".fio": RoleJob, ".job": RoleJob,
	".png": RoleNone, ".jpg": RoleNone, ".svg": RoleNone, ".pdf": RoleNone, ".html": RoleNone, ".css": RoleNone, ".js": RoleNone, ".csv": RoleNone,
	".py": RoleNone, ".sh": RoleNone, ".yaml": RoleNone, ".yml": RoleNone, ".xml": RoleNone, ".so": RoleNone, ".o": RoleNone, ".a": RoleNone,
}

// Wanted reports whether a file may be needed, by its path: logs of fio, files that may be its reports, job files, and
// CBT's configuration. For other files the content decides, see [Options].
func Wanted(name string) bool { return RoleOf(name) > RoleLoose }

// Options returns the options of a scan for archives. The scan finds reports of any name near logs. It lists files that
// the user named, under any name, and files beside them that may belong to them.
func Options() source.Options {
	return source.Options{Want: Wanted, Named: true, Beside: true, Look: source.Look{
		Near: func(name string) bool { return RoleOf(name) == RoleLog },
		Name: func(name string) bool { return RoleOf(name) == RoleLoose },
		Is:   evidence.IsOutput,
		Kin:  func(name string) bool { return RoleOf(name) == RoleJob },
	}}
}

func RoleOf(name string) Role {
	dir, base := path.Split(name)
	parts := strings.Split(strings.TrimSuffix(dir, "/"), "/")
	isBelow, isRBDFio := false, false
	for i, dir := range parts {
		// Other programs write files, too, which CBT or pbench-fio runs beside fio. A workload may be named like one of
		// them, but it has settings below it.
		if dir == "sysinfo" || dir == ".rsync-partial" || dir == ".~tmp~" || i > 0 && strings.HasPrefix(dir, "tools-") && sampleDir().MatchString(parts[i-1]) {
			return RoleNone
		}
		if isBelow && monitorDir().MatchString(dir) && (i+1 == len(parts) || !isSetting(parts[i+1])) {
			return RoleNone
		}
		isBelow = isBelow || isConfigDir(dir)
		isRBDFio = isRBDFio || dir == RBDFio || strings.HasPrefix(dir, RBDFio+".")
	}
	_, isLog := fiolog.ParseName(base)
	byEnd, isKnown := roles[path.Ext(base)]
	switch {
	case strings.HasPrefix(base, ".") && rsyncFile().MatchString(base):
		return RoleNone
	case isLog:
		return RoleLog
	case base == ConfigName || base == ArchiveConfigName:
		return RoleConfig
	case reportFile().MatchString(base) || isRBDFio && bareReport().MatchString(base):
		return RoleReport
	case cephFile().MatchString(base) || hashName().MatchString(base): // CBT gets the first from the cluster
		return RoleNone
	case isKnown:
		return byEnd
	}
	_, mark := fiolog.CutCopyMark(base)
	switch {
	case mark == "" && strings.Contains(base, "_clat_hist."): // it can be nothing else, so there is a message
		return RoleLog
	case mark == "" && hostedReport().MatchString(base) && strings.Contains(base, ".json."): // x.json.node01
		return RoleReport
	}
	return RoleLoose
}

// ParseReport splits the name that CBT gives to fio's output. A host may be an IP address, whose first number looks
// like a volume, which rbdfio does not have. The mark of a copy is not part of the host, because the original may be
// gone.
func ParseReport(base string, withVolume bool) (volume, host string, ok bool) {
	if original, mark := fiolog.CutCopyMark(base); mark != "" && !numberMark().MatchString(mark) {
		base = original
	}
	form := bareReport
	if withVolume {
		form = reportFile
	}
	switch m := form().FindStringSubmatch(base); len(m) {
	case 2:
		return "", m[1], true
	case 3:
		return m[1], m[2], true
	}
	return "", "", false
}

// SplitPrefix takes the volume off a log's prefix: "output.0" is volume 0 of "output".
func SplitPrefix(prefix string) (family, volume string) {
	if m := volumePrefix().FindStringSubmatch(prefix); m != nil && !unixTime().MatchString(m[1]) {
		return m[1], m[2]
	}
	return prefix, ""
}

// Stem returns the name of a report or job file without the endings that say that it is one.
func Stem(base string) string {
	base = evidence.CutGrid(base)
	if ext := path.Ext(base); roles[ext] != RoleNone {
		return strings.TrimSuffix(base, ext)
	}
	return base
}

// CutHost takes the host off the name of a report: "x.json.hostA".
func CutHost(base string) (name, host string, ok bool) {
	if m := hostedReport().FindStringSubmatch(base); m != nil {
		return m[1], m[2], true
	}
	return base, "", false
}

// IsReportName reports whether a name is one that CBT gives to fio's output, with the volume.
func IsReportName(base string) bool { return reportFile().MatchString(base) }

// IsNumber reports whether the mark of a copy is a number, as in x.json.1, which may be a volume or another run.
func IsNumber(mark string) bool { return numberMark().MatchString(mark) }
