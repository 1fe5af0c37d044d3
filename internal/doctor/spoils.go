package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// spoils are what makes numbers mean something else than their reader thinks, the worst first. Each returns a sentence with
// what to do, or "" if the section has no such fault. The sentence has few values, so that it is equal for most sections of a
// job file. What is not known here, such as the cache of a library's engine, is no fault.
var spoils = [...]func(*fioargs.Section, *Machine) string{overwrites, depth, cached, early, unsettled}

// Notes returns what spoils the measurements of a command. Equal sentences are one, for all of their sections.
func Notes(c *fioargs.Command, m *Machine) []string {
	var all []Answers
	for _, s := range c.Jobs {
		all = append(all, Answers{Of: s.Name, Kind: "section", Notes: notesOf(c, s, m)})
	}
	return together(all, (*Answers).notes)
}

// notesOf returns what each of the [spoils] says of a section.
func notesOf(c *fioargs.Command, s *fioargs.Section, m *Machine) (notes [len(spoils)]string) {
	if slices.Contains([]string{"null", "cpp_null", "cpuio", "exec"}, engineOf(s)) { // nothing is read or written
		return notes
	}
	if _, isElsewhere := c.Own("client"); isElsewhere {
		m = &Machine{}
	}
	for i, of := range spoils {
		notes[i] = of(s, m)
	}
	return notes
}

// overwrites finds file systems and swap space on a device that a section writes to. fio itself refuses a device only if
// exactly this name is mounted: neither a disk with mounted partitions, nor another name of the device.
func overwrites(s *fioargs.Section, m *Machine) string {
	if m.Mounted == nil || slices.Equal(directionsOf(s), []fiolog.Direction{fiolog.Read}) {
		return ""
	}
	for _, path := range pathsOf(s) {
		if found := m.Mounted(path); len(found) > 0 {
			return fmt.Sprintf("writes to %s destroy what is in use on it (%s): name another device, or unmount it", path, unit.List(found, 3, ", "))
		}
	}
	return ""
}

// oneAtATime are the engines that return from a request only when it is complete.
var oneAtATime = strings.Fields(`sync psync pvsync pvsync2 mmap splice net netsplice http libhdfs libpmem dev-dax mtd libzbc gfapi
	page_fault ime_psync libcufile libhipfile falloc ftruncate e4defrag
	filecreate filestat filedelete dircreate dirstat dirdelete`)

func depth(s *fioargs.Section, _ *Machine) string {
	switch engine := engineOf(s); {
	case s.Int("iodepth", 1) <= 1 || s.Value("io_submit_mode") == "offload":
	case slices.Contains(oneAtATime, engine):
		return fmt.Sprintf("iodepth has no effect, because ioengine=%s makes one request at a time: use one that queues "+
			"(libaio or io_uring, with direct=1), or numjobs", engine)
	case engine == "libaio" && !isDirect(s) && !trimsOnly(s):
		return "iodepth has no effect, because libaio makes one request at a time without direct=1: add direct=1"
	}
	return ""
}

// throughCache are the engines whose requests go through the page cache without direct=1.
var throughCache = strings.Fields("sync psync vsync pvsync pvsync2 libaio io_uring posixaio")

// cached finds sections that measure the page cache, at least in part. direct=0 means that this is wanted, unless all files fit
// into memory.
func cached(s *fioargs.Section, m *Machine) string {
	size, isKnown := sizeOf(s)
	_, isMeant := s.Get("direct")
	_, isBuffered := s.Get("buffered")
	switch engine := engineOf(s); {
	case !slices.Contains(throughCache, engine) || isDirect(s) || isSynced(s) || trimsOnly(s):
	case engine == "libaio" && depth(s, m) != "": // which says to add direct=1
	case isKnown && size < float64(m.Memory):
		return fmt.Sprintf("files of %s fit into memory (%s), so the page cache answers requests in place of the device: add direct=1, "+
			"or make them larger than memory", unit.Bytes(int64(size)), unit.Bytes(m.Memory))
	case !isMeant && !isBuffered:
		return "without direct=1 the page cache answers requests in place of the device: add it, or direct=0 if this is meant"
	}
	return ""
}

// early finds sections that end before their runtime, because their files are small.
func early(s *fioargs.Section, _ *Machine) string {
	const speed = 1 << 30 // bytes per second, of an ordinary SSD
	size, ok := fioargs.ParseSize(s.Value("size"))
	for _, name := range []string{"io_size", "number_ios", "loops", "rate", "rate_iops", "thinktime", "fill_device"} {
		_, isSet := s.Get(name)
		ok = ok && !isSet
	}
	takes := float64(size) * float64(s.Jobs()) / speed // seconds
	if !ok || s.IsOn("time_based") || takes >= s.Time("runtime").Seconds() {
		return ""
	}
	return fmt.Sprintf("fio ends before its runtime, once %s a job are done (after %s at 1GiB/s): add time_based",
		unit.Bytes(size), unit.Elapsed(time.Duration(takes*float64(time.Second))))
}

// unsettled finds sections in which the start has weight. Those without a runtime may be there to fill files.
func unsettled(s *fioargs.Section, _ *Machine) string {
	const short = 10 * time.Second
	_, hasRamp := s.Get("ramp_time")
	switch runtime := s.Time("runtime"); {
	case runtime == 0:
	case runtime < short:
		return fmt.Sprintf("%v are too short for caches and queues to settle, and for p99.9: use runtime=60 and ramp_time=10", runtime)
	case !hasRamp:
		return "the first seconds count, in which caches and queues are not filled: add ramp_time=10, or ramp_time=0 if this is meant"
	}
	return ""
}

func directionsOf(s *fioargs.Section) []fiolog.Direction {
	_, directions := fioargs.ParseMode(s.Value("rw"))
	return directions
}

func trimsOnly(s *fioargs.Section) bool { return directionsOf(s)[0] == fiolog.Trim }

func engineOf(s *fioargs.Section) string { return s.Value("ioengine") }

// isDirect reports whether requests bypass the page cache: the last of two options that are opposites counts.
func isDirect(s *fioargs.Section) bool {
	for _, o := range slices.Backward(s.Options) {
		switch o.Name {
		case "direct":
			return o.IsOn()
		case "buffered":
			return !o.IsOn()
		}
	}
	return false
}

// isSynced reports whether the section only writes, and fio waits for the device.
func isSynced(s *fioargs.Section) bool {
	return slices.Equal(directionsOf(s), []fiolog.Direction{fiolog.Write}) &&
		slices.ContainsFunc([]string{"sync", "fsync", "fdatasync", "sync_file_range"}, func(name string) bool {
			o, ok := s.Get(name)
			return ok && o.Value != "0" && o.Value != "none"
		})
}

// sizeOf returns the size of all files of a section. ok is false if its options do not say it.
func sizeOf(s *fioargs.Section) (total float64, ok bool) {
	size, ok := fioargs.ParseSize(s.Value("size"))
	total = float64(size)
	if each, isSet := fioargs.ParseSize(s.Value("filesize")); isSet {
		total, ok = float64(each)*float64(max(s.Int("nrfiles", 1), len(namesOf(s)))), true
	}
	_, isShared := s.Get("filename")
	if _, isApart := s.Get("offset_increment"); isApart || !isShared {
		total *= float64(s.Jobs())
	}
	return total, ok
}

// listed matches a name in a list, in which a colon of a name is written as "\:".
var listed = regexp.MustCompile(`(?:\\.|[^:\\])+`)

func namesIn(list string) (names []string) {
	for _, n := range listed.FindAllString(list, -1) {
		names = append(names, strings.ReplaceAll(n, `\:`, ":"))
	}
	return names
}

// namesOf returns the names of a section's files. Without filename fio takes the name of the section, if there is such a device.
func namesOf(s *fioargs.Section) []string {
	if o, ok := s.Get("filename"); ok {
		return namesIn(o.Value)
	}
	return []string{s.Name}
}

// pathsOf returns the paths of the files. To fio a directory is before any name, also before an absolute one.
func pathsOf(s *fioargs.Section) (paths []string) {
	for _, n := range namesOf(s) {
		dirs, ok := s.Get("directory")
		if !ok {
			paths = append(paths, n)
		}
		for _, dir := range namesIn(dirs.Value) {
			paths = append(paths, dir+"/"+n)
		}
	}
	return paths
}
