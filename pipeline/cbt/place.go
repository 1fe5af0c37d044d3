package cbt

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/evidence"
)

// sorter sorts files into runs. It has each file once, by its place.
type sorter struct {
	ctx  context.Context // ends reading
	left []Left

	files   []*evidence.File
	order   map[*evidence.File]int    // also of files that were found twice
	configs map[folder]*evidence.File // CBT's YAML files by their paths
	samples map[folder]sample         // folders that may be of pbench-fio
	paths   map[string]bool           // of the files, as they would be if all archives were unpacked; made when needed
	roots   map[rootKey]string        // of arguments, see [sorter.rootOf]
	places  map[placeKey]place
	facts   map[*evidence.File]*facts

	runs   []*Run // in the order of their first files
	byName map[runKey]*Run
	byDir  map[folder][]*Run // by the folder of their files, less the host
	logs   map[logKey]*evidence.File

	reports, jobs []*clue
	index         index
}

type folder struct{ argument, archive, path string }

func (f folder) in(dir string) folder { return folder{f.argument, f.archive, dir} }

// folderOf returns a folder of the archive in which a file was found. The argument is part of it, because archives may
// have the same name. Files that were named one by one belong together by their folder.
func folderOf(f *evidence.File, dir string) folder {
	at := folder{argument: filepath.Clean(f.Root), archive: f.Archive, path: dir}
	if f.Named && f.Root != "-" {
		at.argument = filepath.Dir(f.Root)
	}
	return at
}

// newSorter returns a sorter of files. Files that were found twice, because arguments overlap, go to the leftovers.
func newSorter(ctx context.Context, files []*evidence.File) *sorter {
	s := &sorter{
		ctx: ctx, files: make([]*evidence.File, 0, len(files)), order: map[*evidence.File]int{},
		configs: map[folder]*evidence.File{}, samples: map[folder]sample{}, roots: map[rootKey]string{},
		places: map[placeKey]place{}, facts: map[*evidence.File]*facts{},
		byName: map[runKey]*Run{}, byDir: map[folder][]*Run{}, logs: map[logKey]*evidence.File{},
	}
	type key struct {
		folder
		beside bool
	}
	seen := make(map[key]bool, len(files))
	for i, f := range files {
		s.order[f] = i
		at := folderOf(f, f.Path)
		if seen[key{at, f.Beside}] {
			if wanted(f.Path) || f.Named {
				s.leave(f, foundTwice)
			}
			continue
		}
		seen[key{at, f.Beside}] = true
		s.files = append(s.files, f)
		if roleOf(f.Path) == roleConfig {
			s.configs[at] = f
		}
		dir := path.Dir(f.Path)
		if path.Base(f.Path) == pbenchReport {
			s.samples[at.in(dir)] = sample{true, s.samples[at.in(dir)].hasClients}
		}
		if above := path.Dir(dir); path.Base(above) == clientsDir && roleOf(f.Path) == roleLog {
			at := at.in(path.Dir(above))
			s.samples[at] = sample{s.samples[at].hasReport, true}
		}
	}
	return s
}

// config returns one of CBT's YAML files in a folder. It is nil if there is none, or if the folder is outside the
// argument ("").
func (s *sorter) config(at folder, name string) *evidence.File {
	if at.path == "" {
		return nil
	}
	return s.configs[at.in(path.Join(at.path, name))]
}

// dirOf returns the folder of a file as it would be if all archives were unpacked, with slashes. Options of fio name
// logs by such paths.
func (s *sorter) dirOf(f *evidence.File) string { return path.Join(s.rootOf(f), path.Dir(f.Path)) }

// rootKey is an argument, or a folder beside one.
type rootKey struct {
	root   string
	beside bool
}

// rootOf returns the folder to which a file's path is relative.
func (s *sorter) rootOf(f *evidence.File) string {
	key := rootKey{f.Root, f.Beside}
	root, ok := s.roots[key]
	if ok {
		return root
	}
	root, err := filepath.Abs(f.Root)
	if err != nil {
		root = filepath.Clean(f.Root)
	}
	switch {
	case f.Root == "-":
		root = "/stdin"
	case f.Beside:
	case f.Named:
		root = filepath.Dir(root)
	default:
		root = filepath.Join(filepath.Dir(root), f.Archive)
	}
	s.roots[key] = filepath.ToSlash(root)
	return s.roots[key]
}

var (
	iterationDir = regexp.MustCompile(`^\d{8}$`)
	configDir    = regexp.MustCompile(`^id-[0-9A-Fa-f]+$`)
	hashDir      = regexp.MustCompile(`^id-[0-9A-Fa-f]{8}$`) // as CBT makes them
	modeSizeDir  = regexp.MustCompile(`^([a-z]+)_(\d+)$`)
	sampleDir    = regexp.MustCompile(`^sample\d+$`)
	pbenchDir    = regexp.MustCompile(`^\d+-([a-z]+)-(\d+)KiB`) // MODE-SIZE, the folder above
)

const (
	librbdfio    = "librbdfio"      // a class of CBT
	rbdfio       = "rbdfio"         // a class of CBT, and the folder that it puts its own into
	pbenchReport = "fio-result.txt" // fio's output in the folder of a sample
	resultsDir   = "results"        // CBT's, in the folder of the archive
	clientsDir   = "clients"        // in it are the folders of the hosts
	localhost    = "localhost"      // the one host without fio --client
)

// fioClasses are CBT's benchmarks that run fio.
var fioClasses = map[string]bool{"fio": true, librbdfio: true, "rawfio": true, rbdfio: true, "kvmrbdfio": true}

// layout says which program made the folders.
type layout uint8

const (
	ofPeople layout = iota
	ofCBT           // below an id- folder
	ofSample        // below a folder that is one run, a sample of pbench-fio
)

// place is what the names of the folders above a file say. Paths of folders are relative to the argument (".") and have
// no host.
type place struct {
	layout layout
	folder string // of the file; with pbench-fio, of the sample
	host   string // if a folder has it
	doubt  string // about the host
	config string // the id- folder
	root   string // of the archive, with cbt_config.yaml; "" outside the argument

	modeSize bool // below a folder MODE_OPSIZE
	known    mapping.CBT
}

type placeKey struct {
	folder
	named bool // the file has a host in its own name
}

// placeOf finds out which program made the folders above a file, and reads the settings from their names. named means
// that the file's name has a host. The first folder is the archive's name, because the user may have given a folder from
// inside of an archive.
func (s *sorter) placeOf(f *evidence.File, named bool) place {
	dir := folderOf(f, path.Dir(f.Path))
	key := placeKey{dir, named}
	if at, ok := s.places[key]; ok {
		return at
	}
	parts := []string{dir.archive}
	if dir.path != "." {
		parts = append(parts, strings.Split(dir.path, "/")...)
	}
	at, first := place{}, 0 // the index of the first folder that CBT collected from hosts, whose name may have a host
	for i, part := range parts {
		isNumbered := i > 0 && iterationDir.MatchString(parts[i-1])
		if !hashDir.MatchString(part) && (!isNumbered || !configDir.MatchString(part)) {
			continue
		}
		at.layout, at.config, first = ofCBT, join(parts[:i+1]), i+1
		if isNumbered {
			n, _ := strconv.Atoi(parts[i-1]) // of eight digits
			at.known.Iteration = &n
		}
		if isNumbered && i > 1 {
			at.root = join(parts[:i-1])
		}
		break
	}
	if first == 0 && s.readSample(&at, dir, parts) {
		s.places[key] = at
		return at
	}
	if first == 0 {
		// There may be no id- folder because the user moved what is in it. There must be no doubt that CBT made a folder,
		// because a host is split off its name.
		tail := len(parts)
		for tail > 1 && isSetting(parts[tail-1]) {
			tail--
		}
		if tail >= 2 && len(parts)-tail >= 2 {
			name, _, isDotted := strings.Cut(parts[tail-1], ".")
			isWorkload := strings.HasPrefix(parts[tail], "numjobs-") && strings.Contains(parts[tail+1], "iodepth-")
			if isDotted && (isWorkload || isSetting(name)) {
				first = tail - 1
			}
		}
	}
	if 0 < first && first < len(parts) {
		parts[first], at.host = s.split(&at, dir, parts[first], named)
	}
	at.folder = join(parts)
	// Outside of CBT's layout only numbers are settings, because other names may mean anything.
	hasNumbers := false
	for _, part := range parts[max(first, 1):] {
		of, digits, isNumber := folderNumber(part)
		m := modeSizeDir.FindStringSubmatch(part)
		switch {
		case isNumber:
			hasNumbers = true
			setDigits(of(&at.known), digits)
		case first == 0:
		case isMode(part):
			at.known.Mode = part
		case m != nil && isMode(m[1]):
			at.modeSize, at.known.Mode = true, m[1]
			setDigits(&at.known.OpSize, m[2])
		}
	}
	if 0 < first && first < len(parts) {
		switch top := parts[first]; {
		case fioClasses[top]:
			at.known.Benchmark = top
		case (hasNumbers || at.host != "") && !isSetting(top):
			at.known.Workload = top
		}
	}
	s.places[key] = at
	return at
}

// sample is what a folder has of a sample of pbench-fio: its report, and logs in clients/HOST.
type sample struct{ hasReport, hasClients bool }

// readSample finds the folder of a sample of pbench-fio: ITERATION/sampleN, or one of any name that has both. It returns false if the file is in no sample.
func (s *sorter) readSample(at *place, dir folder, parts []string) bool {
	isSample := func(i int) bool {
		of, ok := s.samples[dir.in(join(parts[:i+1]))]
		return ok && (of.hasReport && of.hasClients || sampleDir.MatchString(parts[i]))
	}
	i := len(parts) - 1
	for i >= 0 && !isSample(i) {
		i--
	}
	if i < 0 {
		return false
	}
	switch rest := parts[i+1:]; {
	case len(rest) == 0:
	case len(rest) == 2 && rest[0] == clientsDir:
		at.host = rest[1]
	default:
		return false
	}
	at.layout, at.folder, at.known.Benchmark = ofSample, join(parts[:i+1]), mapping.PBench
	if i > 0 {
		if m := pbenchDir.FindStringSubmatch(parts[i-1]); m != nil && isMode(m[1]) {
			at.known.Mode = m[1]
			if kib, err := strconv.ParseInt(m[2], 10, 32); err == nil {
				at.known.OpSize = kib * 1024
			}
		}
	}
	return true
}

// join returns the path below the argument, without the archive's name.
func join(parts []string) string {
	if len(parts) < 2 {
		return "."
	}
	return path.Join(parts[1:]...)
}

// isMode reports whether a name is a value of fio's option rw. Layouts with folders use them as names of folders.
func isMode(name string) bool {
	mode, _ := fioargs.ParseMode(name)
	return mode != "" && !strings.Contains(name, ":")
}

func isSetting(part string) bool {
	_, _, isNumber := folderNumber(part)
	m := modeSizeDir.FindStringSubmatch(part)
	return isNumber || isMode(part) || m != nil && isMode(m[1])
}

// setDigits sets a setting to a number in a folder's name. It ignores a number that is too large.
func setDigits(to *int64, digits string) {
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		*to = n
	}
}

// split divides the first folder below an id- folder into its name and a host. Both may have dots, so only the
// configuration is certain.
func (s *sorter) split(at *place, dir folder, top string, named bool) (name, host string) {
	name, host, ok := strings.Cut(top, ".")
	if !ok || isSetting(name) || fioClasses[name] {
		return name, host
	}
	for _, w := range s.factsIn(s.config(dir.in(at.config), configName)).workloads { // the longest first
		if rest, ok := strings.CutPrefix(top, w); ok && (rest == "" || rest[0] == '.') {
			return w, strings.TrimPrefix(rest, ".")
		}
	}
	if named { // each file has its own
		return top, ""
	}
	for _, h := range s.factsIn(s.config(dir.in(at.root), archiveConfigName)).clients {
		if before, ok := strings.CutSuffix(top, "."+h); ok {
			return before, h
		}
	}
	if strings.Contains(host, ".") {
		at.doubt = fmt.Sprintf("%s: %s is taken for a host: no configuration says where its name begins", top, host)
	}
	return name, host
}

// facts are what CBT's YAML files say and names of files do not.
type facts struct {
	benchmark string
	workloads []string // the longest first
	clients   []string
}

// factsIn reads a YAML file, once. It ignores errors: [Run.Configure] reports them if a run needs the file.
func (s *sorter) factsIn(f *evidence.File) *facts {
	if f == nil {
		return &facts{}
	}
	if known := s.facts[f]; known != nil {
		return known
	}
	of := &facts{}
	s.facts[f] = of
	m, err := f.YAML(s.ctx)
	if err != nil {
		return of
	}
	settings := cluster(m)
	of.benchmark = text(settings["benchmark"])
	for name := range asMap(settings["workloads"]) {
		of.workloads = append(of.workloads, name)
	}
	slices.SortFunc(of.workloads, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	of.clients = hosts(settings["clients"])
	return of
}

// skip finds the id- folders of other benchmarks, by their configurations: they have no log of fio, and their reports have
// the same names as fio's.
func (s *sorter) skip(reports []*evidence.File) map[folder]*Skipped {
	files, skipped := map[folder][]*evidence.File{}, map[folder]*Skipped{}
	for at, f := range s.configs {
		id := at.in(path.Dir(at.path))
		if s.placeOf(f, false).config == id.path && path.Base(f.Path) == configName {
			files[id] = append(files[id], f)
		}
	}
	for _, f := range reports {
		if at := s.placeOf(f, false); at.layout == ofCBT && roleOf(f.Path) != roleNone {
			id := folderOf(f, at.config)
			files[id] = append(files[id], f)
		}
	}
	for _, r := range s.runs {
		delete(files, folder{r.argument, r.Archive, r.at.config}) // it has logs of fio
	}
	for id, of := range files {
		benchmark := s.factsIn(s.config(id, configName)).benchmark
		if benchmark == "" || fioClasses[benchmark] {
			continue
		}
		skipped[id] = &Skipped{
			Path: id.path, Files: of,
			Reason:        benchmark + " does not run fio, as its configuration says",
			archiveConfig: s.config(id.in(s.placeOf(of[0], false).root), archiveConfigName),
		}
	}
	return skipped
}
