package cbt

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

const (
	configName        = "benchmark_config.yaml" // of one benchmark
	archiveConfigName = "cbt_config.yaml"       // of the archive
)

var (
	// CBT makes two of these files, and fio2es-fio (fio2es shim) the third, live_output.
	reportFile   = regexp.MustCompile(`^(?:json_output|live_output|output)\.(\d+)(?:\.(.+))?$`)
	bareReport   = regexp.MustCompile(`^(?:json_output|live_output|output)(?:\.(.+))?$`)
	volumePrefix = regexp.MustCompile(`^(.*)\.(\d+)$`)
	hashName     = regexp.MustCompile(`^[0-9a-f]{16,}$`)
	monitorDir   = regexp.MustCompile(`^(?:collectl|perf|blktrace|top|visualisation|[a-z_]+_monitoring)(?:\..+)?$`)
)

// wanted reports whether a file may be needed, by its path: logs of fio, files that may be its reports, job files, and
// CBT's configuration. For other files the content decides, see [Options].
func wanted(name string) bool {
	r := roleOf(name)
	return r != roleNone && r != roleLoose
}

// Options returns the options of a scan for [Read]. The scan finds reports of any name near logs. It lists files that
// the user named, under any name, and files beside them that may belong to them.
func Options() source.Options {
	return source.Options{Want: wanted, Named: true, Beside: true, Look: source.Look{
		Near: func(name string) bool { return roleOf(name) == roleLog },
		Name: mayBeReport,
		Is:   hasReport,
		Kin:  func(name string) bool { return roleOf(name) == roleJob },
	}}
}

// foreign are suffixes of files that are no reports of fio.
var foreign = map[string]bool{
	".png": true, ".jpg": true, ".svg": true, ".pdf": true, ".html": true, ".css": true, ".js": true, ".csv": true, ".py": true, ".sh": true,
	".md": true, ".yaml": true, ".yml": true, ".xml": true, ".so": true, ".o": true, ".a": true,
}

// mayBeReport reports whether a file is worth a look although its name does not say what it is. Stores of other
// programs have thousands of files named by hashes.
func mayBeReport(name string) bool {
	base := path.Base(name)
	return roleOf(name) <= roleLoose && !byMonitor(name) && !ceph(base) && !hashName.MatchString(base) && !foreign[path.Ext(base)]
}

// role is what a file may be, by its name.
type role uint8

const (
	roleNone   role = iota
	roleLoose       // fio's output only if its content says so
	roleLog         // written by fio's write_*_log
	roleConfig      // one of CBT's YAML files
	roleReport      // may be fio's output
	roleJob         // may be a job file
)

// roles are what files may be by the ends of their names.
var roles = map[string]role{".json": roleReport, ".txt": roleReport, ".out": roleReport, ".fio": roleJob, ".job": roleJob}

func roleOf(name string) role {
	base := path.Base(name)
	if byMonitor(name) {
		return roleNone
	}
	if _, ok := fiolog.ParseName(base); ok {
		return roleLog
	}
	switch {
	case base == configName || base == archiveConfigName:
		return roleConfig
	case ceph(base):
		return roleNone
	case reportFile.MatchString(base):
		return roleReport
	case inRBDFio(path.Dir(name)) && bareReport.MatchString(base):
		return roleReport
	}
	if path.Ext(base) == "" && !hashName.MatchString(base) {
		return roleLoose
	}
	return roles[path.Ext(base)]
}

// byMonitor reports whether a file was written by a program that CBT or pbench-fio runs beside fio.
func byMonitor(name string) bool {
	parts := strings.Split(path.Dir(name), "/")
	below := false
	for i, p := range parts {
		if p == "sysinfo" || i > 0 && strings.HasPrefix(p, "tools-") && sampleDir.MatchString(parts[i-1]) {
			return true
		}
		// A workload may have any name, but it has settings below it.
		if below && monitorDir.MatchString(p) && (i+1 == len(parts) || !isSetting(parts[i+1])) {
			return true
		}
		below = below || configDir.MatchString(p)
	}
	return false
}

// ceph reports whether CBT got a file from the cluster. Such files are not from fio, although their names end like its
// output.
func ceph(base string) bool {
	return strings.HasPrefix(base, "ceph_settings.out") || strings.HasPrefix(base, "historic_ops.out") ||
		strings.HasPrefix(base, "pgautoscaler.log")
}

func inRBDFio(dir string) bool {
	for p := range strings.SplitSeq(dir, "/") {
		if stem, _, _ := strings.Cut(p, "."); stem == rbdfio {
			return true
		}
	}
	return false
}

// parseReport splits the name that CBT gives to fio's output. A host may be an IP address, whose first number looks
// like a volume, which rbdfio does not have. The mark of a copy is not part of the host, because the original may be
// gone.
func parseReport(base string, withVolume bool) (volume, host string, ok bool) {
	if original, mark := fiolog.CutCopyMark(base); mark != "" && !numberMark.MatchString(mark) {
		base = original
	}
	form := bareReport
	if withVolume {
		form = reportFile
	}
	switch m := form.FindStringSubmatch(base); len(m) {
	case 2:
		return "", m[1], true
	case 3:
		return m[1], m[2], true
	}
	return "", "", false
}

// hostedReport is the name of a report to which a host was appended when it was collected, as CBT does with logs.
var hostedReport = regexp.MustCompile(`^(.+\.(?:json|out|txt))\.(.+)$`)

// splitHost takes the host off the name of a report, if logs of its folder have hosts, too: "x.json.hostA".
func splitHost(base string, runs []*Run) (name, host string) {
	hasHost := func(l Log) bool { return l.Host != "" }
	hasHosts := func(r *Run) bool { return slices.ContainsFunc(r.logs(), hasHost) }
	if m := hostedReport.FindStringSubmatch(base); m != nil && slices.ContainsFunc(runs, hasHosts) {
		return m[1], m[2]
	}
	return base, ""
}

// splitPrefix takes the volume off a log's prefix: "output.0" is volume 0 of "output".
func splitPrefix(prefix string) (family, volume string) {
	if m := volumePrefix.FindStringSubmatch(prefix); m != nil {
		return m[1], m[2]
	}
	return prefix, ""
}

// stem returns the name of a report or job file without the endings that say that it is one.
func stem(base string) string {
	if ext := path.Ext(base); roles[ext] != roleNone {
		return strings.TrimSuffix(base, ext)
	}
	return base
}
