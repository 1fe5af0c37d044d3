package cbt

import (
	"path"
	"regexp"
	"strings"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

const (
	configName = "benchmark_config.yaml" // of one benchmark
	wholeName  = "cbt_config.yaml"       // of the archive
)

var (
	reportFile   = regexp.MustCompile(`^(?:json_output|output)\.(\d+)(?:\.(.+))?$`)
	bareReport   = regexp.MustCompile(`^(?:json_output|output)(?:\.(.+))?$`)
	volumePrefix = regexp.MustCompile(`^(.*)\.(\d+)$`)
	hashName     = regexp.MustCompile(`^[0-9a-f]{16,}$`)
	monitorDir   = regexp.MustCompile(`^(?:collectl|perf|blktrace|top|visualisation|[a-z_]+_monitoring)(?:\..+)?$`)
)

// Wanted tells whether a file of that path can tell anything about a run: logs of fio,
// its reports and CBT's configuration. Others need not be read.
func Wanted(name string) bool {
	return roleOf(name) != roleNone
}

// role is what a file may be, by its name.
type role uint8

const (
	roleNone   role = iota
	roleLog         // written by fio's write_*_log
	roleConfig      // one of CBT's YAML files
	roleReport      // may be fio's output
	roleLoose       // fio's output only if a log beside it has that prefix
)

func roleOf(name string) role {
	base := path.Base(name)
	if byMonitor(name) {
		return roleNone
	}
	if _, ok := fiolog.ParseName(base); ok {
		return roleLog
	}
	switch {
	case base == configName || base == wholeName:
		return roleConfig
	case ceph(base):
		return roleNone
	case reportFile.MatchString(base):
		return roleReport
	case inRBDFio(path.Dir(name)) && bareReport.MatchString(base):
		return roleReport
	}
	switch path.Ext(base) {
	case ".json", ".txt", ".out":
		return roleReport
	case "":
		// Stores of other programs hold hashes by the thousand.
		if !hashName.MatchString(base) {
			return roleLoose
		}
	}
	return roleNone
}

// byMonitor tells whether a file was written by what CBT lets run beside fio.
func byMonitor(name string) bool {
	parts := strings.Split(path.Dir(name), "/")
	below := false
	for i, p := range parts {
		// A workload may have any name, but settings below it.
		if below && monitorDir.MatchString(p) && (i+1 == len(parts) || !isSetting(parts[i+1])) {
			return true
		}
		below = below || configDir.MatchString(p)
	}
	return false
}

// ceph tells whether CBT got a file from the cluster: these are no fio's output, though
// their names end like it.
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

// parseReport takes apart the name that CBT gives to fio's output. A host may be an
// address, so that its first number looks like a volume: rbdfio has none.
func parseReport(base string, withVolume bool) (volume, host string, ok bool) {
	if !withVolume {
		m := bareReport.FindStringSubmatch(base)
		if m == nil {
			return "", "", false
		}
		return "", m[1], true
	}
	m := reportFile.FindStringSubmatch(base)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// splitPrefix takes the volume off a log's prefix: "output.0" is volume 0 of "output".
func splitPrefix(prefix string) (family, volume string) {
	if m := volumePrefix.FindStringSubmatch(prefix); m != nil {
		return m[1], m[2]
	}
	return prefix, ""
}

// stem is a report's name without what says that it is one.
func stem(base string) string {
	switch ext := path.Ext(base); ext {
	case ".json", ".txt", ".out":
		return strings.TrimSuffix(base, ext)
	}
	return base
}
