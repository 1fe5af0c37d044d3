package cbt

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	iterationDir = regexp.MustCompile(`^\d{8}$`)
	sampleDir    = regexp.MustCompile(`^sample\d+$`)            // of pbench-fio
	pbenchDir    = regexp.MustCompile(`^\d+-([a-z]+)-(\d+)KiB`) // of its iterations
	configDir    = regexp.MustCompile(`^id-[0-9A-Fa-f]+$`)
	hashDir      = regexp.MustCompile(`^id-[0-9A-Fa-f]{8}$`) // as CBT makes them
	settingDir   = regexp.MustCompile(`^(osd_ra|raw_ra|client_ra|op_size|concurrent_procs|iodepth|total_iodepth|numjobs)-(\d+)$`)
	modeSizeDir  = regexp.MustCompile(`^([a-z]+)_(\d+)$`)
)

// rbdfio is a class of CBT, and the folder that it puts its own into.
const rbdfio = "rbdfio"

// modes are fio's words for rw, of which layouts with folders make a folder name.
var modes = map[string]bool{
	"read": true, "write": true, "randread": true, "randwrite": true, "rw": true, "readwrite": true,
	"randrw": true, "trim": true, "randtrim": true, "trimwrite": true, "randtrimwrite": true,
}

// place is what the folders above a file say. Folders are below the argument, "." for
// itself, and have no host in them.
type place struct {
	folder string // the file's
	host   string // where a folder has it
	cbt    bool   // in CBT's layout: below an id- folder
	sample bool   // in the folder of a sample of pbench-fio, which folder is then
	config string // the id- folder
	root   string // the archive's, where cbt_config.yaml lies; "" outside the argument
	name   string // for people; "" outside CBT's layout
	total  string // the total_iodepth folder, "" if there is none

	modeSize bool // below a folder MODE_OPSIZE
	noVolume bool // of rbdfio
	known    Settings
	doubt    string // about the host
}

// splitter divides the first folder below an id- folder into its name and a host; nil where
// no host matters.
type splitter func(p *place, top string) (name, host string)

// locate reads the folders above a file. The archive's name counts as one, because the
// user may have given a folder from inside of an archive.
//
// isSample reports whether a folder with the name of a sample of pbench-fio is one; with nil,
// none is.
func locate(archive, dir string, split splitter, isSample func(dir string) bool) place {
	parts := []string{archive}
	if dir != "." {
		parts = append(parts, strings.Split(dir, "/")...)
	}
	p := place{known: Settings{Iteration: -1}}
	first := p.findConfig(parts)
	if !p.cbt {
		if isSample != nil && p.findSample(parts, isSample) {
			return p
		}
		first = findTop(parts)
	}
	if 0 < first && first < len(parts) && split != nil {
		top := parts[first]
		parts[first], p.host = split(&p, top)
	}
	p.folder = join(parts)
	p.below(parts, first)
	if p.cbt {
		p.name = p.forPeople(parts, first)
	}
	return p
}

// join makes the path below the argument, of which the archive's name is no part.
func join(parts []string) string {
	if len(parts) < 2 {
		return "."
	}
	return path.Join(parts[1:]...)
}

// findConfig finds the id- folder and gives the index of what comes below it.
func (p *place) findConfig(parts []string) int {
	for i, part := range parts {
		numbered := i > 0 && iterationDir.MatchString(parts[i-1])
		if !hashDir.MatchString(part) && (!numbered || !configDir.MatchString(part)) {
			continue
		}
		p.cbt, p.config = true, join(parts[:i+1])
		if numbered {
			p.known.Iteration, _ = strconv.Atoi(parts[i-1])
		}
		if numbered && i > 1 {
			p.root = join(parts[:i-1])
		}
		return i + 1
	}
	return len(parts)
}

// findSample finds the folder of a sample of pbench-fio: ITERATION/sampleN, where the logs
// are in clients/HOST. It reports whether the file is one of it.
func (p *place) findSample(parts []string, isSample func(dir string) bool) bool {
	i := len(parts) - 1
	for i >= 0 && !(sampleDir.MatchString(parts[i]) && isSample(join(parts[:i+1]))) {
		i--
	}
	if i < 0 {
		return false
	}
	switch rest := parts[i+1:]; {
	case len(rest) == 0:
	case len(rest) == 2 && rest[0] == clientsDir:
		p.host = rest[1]
	default:
		return false
	}
	p.sample, p.folder = true, join(parts[:i+1])
	p.name = p.folder
	if p.folder == "." {
		p.name = parts[0]
	}
	p.known.Benchmark = Pbench
	if i == 0 {
		return true
	}
	if m := pbenchDir.FindStringSubmatch(parts[i-1]); m != nil && modes[m[1]] {
		p.known.Mode = m[1]
		if kib, err := strconv.ParseInt(m[2], 10, 32); err == nil {
			p.known.OpSize = kib * 1024
		}
	}
	return true
}

// Pbench is the benchmark of runs of pbench-fio.
const Pbench = "pbench-fio"

const (
	pbenchReport = "fio-result.txt" // fio's output in the folder of a sample
	clientsDir   = "clients"        // in it are the folders of the hosts
)

// findTop finds the first of CBT's folders where there is no id- folder above: the user
// moved it. It must look like CBT's beyond doubt, because its host will be split off.
func findTop(parts []string) int {
	tail := len(parts)
	for tail > 1 && isSetting(parts[tail-1]) {
		tail--
	}
	if tail < 2 || len(parts)-tail < 2 {
		return 0
	}
	name, _, dotted := strings.Cut(parts[tail-1], ".")
	workload := strings.HasPrefix(parts[tail], "numjobs-") && strings.Contains(parts[tail+1], "iodepth-")
	if dotted && (workload || isSetting(name)) {
		return tail - 1
	}
	return 0
}

func isSetting(part string) bool {
	m := modeSizeDir.FindStringSubmatch(part)
	return settingDir.MatchString(part) || modes[part] || m != nil && modes[m[1]]
}

// below reads the settings from the folders' names, from the first of CBT's on; outside
// of CBT's layout those that can mean nothing else.
func (p *place) below(parts []string, first int) {
	settings := false
	start := first
	if !p.cbt {
		start = max(first, 1)
	}
	for i := min(start, len(parts)); i < len(parts); i++ {
		part := parts[i]
		if m := settingDir.FindStringSubmatch(part); m != nil {
			settings = true
			p.setting(m[1], m[2])
			if m[1] == "total_iodepth" {
				p.total = join(parts[:i+1])
			}
			continue
		}
		if !p.cbt && first == 0 {
			continue
		}
		m := modeSizeDir.FindStringSubmatch(part)
		switch {
		case modes[part]:
			p.known.Mode = part
		case m != nil && modes[m[1]]:
			p.modeSize = true
			p.known.Mode = m[1]
			p.setting("op_size", m[2])
		case fioClasses[part] && i == first:
			p.known.Benchmark = part
			p.noVolume = part == rbdfio
		}
	}
	if first > 0 && first < len(parts) && (settings || p.host != "") && !isSetting(parts[first]) && p.known.Benchmark == "" {
		p.known.Workload = parts[first]
	}
}

// setting takes a number from a folder's name.
func (p *place) setting(name, digits string) {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil { // too large to be one
		return
	}
	s := &p.known
	to := map[string]*int64{
		"osd_ra": &s.OSDRA, "raw_ra": &s.OSDRA, "client_ra": &s.ClientRA, "op_size": &s.OpSize,
		"concurrent_procs": &s.Procs, "iodepth": &s.IODepth, "total_iodepth": &s.TotalIODepth, "numjobs": &s.NumJobs,
	}
	*to[name] = n
}

// forPeople is the path without what all paths have.
func (p *place) forPeople(parts []string, first int) string {
	above := parts[1:max(first-1, 1)]
	if n := len(above); p.known.Iteration >= 0 && n > 0 {
		above = above[:n-1]
	}
	if n := len(above); n > 0 && above[n-1] == "results" {
		above = above[:n-1]
	}
	name := slices.Clone(above)
	if p.known.Iteration >= 0 {
		name = append(name, strconv.Itoa(p.known.Iteration))
	}
	return path.Join(append(name, parts[first-1:]...)...)
}
