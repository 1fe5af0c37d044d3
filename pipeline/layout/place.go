package layout

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

// Tree is the folders of a scan, and what their names and CBT's configurations say.
type Tree struct {
	ctx     context.Context           // ends reading
	configs map[Folder]*evidence.File // CBT's YAML files by their paths
	samples map[Folder]sample         // folders that may be of pbench-fio
	roots   map[rootKey]string        // of arguments, see [Tree.RootOf]
	places  map[placeKey]Place
	facts   map[*evidence.File]*Facts
}

// NewTree returns the folders of files.
func NewTree(ctx context.Context, files []*evidence.File) *Tree {
	s := &Tree{
		ctx: ctx, configs: map[Folder]*evidence.File{}, samples: map[Folder]sample{}, roots: map[rootKey]string{},
		places: map[placeKey]Place{}, facts: map[*evidence.File]*Facts{},
	}
	for _, f := range files {
		at := FolderOf(f, f.Path)
		if RoleOf(f.Path) == RoleConfig {
			s.configs[at] = f
		}
		dir := path.Dir(f.Path)
		if path.Base(f.Path) == PBenchReport {
			s.samples[at.In(dir)] = sample{true, s.samples[at.In(dir)].hasClients}
		}
		if above := path.Dir(dir); path.Base(above) == clientsDir && RoleOf(f.Path) == RoleLog {
			at := at.In(path.Dir(above))
			s.samples[at] = sample{s.samples[at].hasReport, true}
		}
	}
	return s
}

// Configs are CBT's YAML files by their paths. The map must not be changed.
func (s *Tree) Configs() map[Folder]*evidence.File { return s.configs }

// Folder is a folder of an archive in which a file was found. The argument is part of it, because archives may have the same name.
type Folder struct{ Argument, Archive, Path string }

// In returns another folder of the archive.
func (f Folder) In(dir string) Folder { return Folder{f.Argument, f.Archive, dir} }

// FolderOf returns a folder of the archive of a file. Files that were named one by one belong together by their folder.
func FolderOf(f *evidence.File, dir string) Folder {
	at := Folder{Argument: filepath.Clean(f.Root), Archive: f.Archive, Path: dir}
	if f.Named && f.Root != "-" {
		at.Argument = filepath.Dir(f.Root)
	}
	return at
}

// Config returns one of CBT's YAML files in a folder. It is nil if there is none, or if the folder is outside the
// argument ("").
func (s *Tree) Config(at Folder, name string) *evidence.File {
	if at.Path == "" {
		return nil
	}
	return s.configs[at.In(path.Join(at.Path, name))]
}

// DirOf returns the folder of a file as it would be if all archives were unpacked, with slashes. Options of fio name
// logs by such paths.
func (s *Tree) DirOf(f *evidence.File) string { return path.Join(s.RootOf(f), path.Dir(f.Path)) }

// rootKey is an argument, or a folder beside one.
type rootKey struct {
	root   string
	beside bool
}

// RootOf returns the folder to which a file's path is relative.
func (s *Tree) RootOf(f *evidence.File) string {
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
	LibRBDFio    = "librbdfio"      // a class of CBT
	RBDFio       = "rbdfio"         // a class of CBT, and the folder that it puts its own into
	PBenchReport = "fio-result.txt" // fio's output in the folder of a sample
	resultsDir   = "results"        // CBT's, in the folder of the archive
	clientsDir   = "clients"        // in it are the folders of the hosts
	Localhost    = "localhost"      // the one host without fio --client
)

// fioClasses are CBT's benchmarks that run fio.
var fioClasses = map[string]bool{"fio": true, LibRBDFio: true, "rawfio": true, RBDFio: true, "kvmrbdfio": true}

// IsFioClass reports whether a benchmark of CBT runs fio.
func IsFioClass(benchmark string) bool { return fioClasses[benchmark] }

// Program is the program that made folders.
type Program uint8

// The programs. People put files into any folders.
const (
	OfPeople Program = iota
	OfCBT            // below an id- folder
	OfSample         // below a folder that is one run, a sample of pbench-fio
)

// Place is what the names of the folders above a file say. Paths of folders are relative to the argument (".") and have
// no host.
type Place struct {
	Program Program
	Folder  string // of the file; with pbench-fio, of the sample
	Host    string // if a folder has it
	Doubt   string // about the host
	Config  string // the id- folder
	Root    string // of the archive, with cbt_config.yaml; "" outside the argument

	ModeSize bool // below a folder MODE_OPSIZE
	Known    mapping.CBT
}

type placeKey struct {
	Folder
	named bool // the file has a host in its own name
}

// PlaceOf finds out which program made the folders above a file, and reads the settings from their names. named means
// that the file's name has a host. The first folder is the archive's name, because the user may have given a folder from
// inside of an archive.
func (s *Tree) PlaceOf(f *evidence.File, named bool) Place {
	dir := FolderOf(f, path.Dir(f.Path))
	key := placeKey{dir, named}
	if at, ok := s.places[key]; ok {
		return at
	}
	parts := []string{dir.Archive}
	if dir.Path != "." {
		parts = append(parts, strings.Split(dir.Path, "/")...)
	}
	at, first := Place{}, 0 // the index of the first folder that CBT collected from hosts, whose name may have a host
	for i, part := range parts {
		isNumbered := i > 0 && iterationDir.MatchString(parts[i-1])
		if !hashDir.MatchString(part) && (!isNumbered || !configDir.MatchString(part)) {
			continue
		}
		at.Program, at.Config, first = OfCBT, join(parts[:i+1]), i+1
		if isNumbered {
			n, _ := strconv.Atoi(parts[i-1]) // of eight digits
			at.Known.Iteration = &n
		}
		if isNumbered && i > 1 {
			at.Root = join(parts[:i-1])
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
		parts[first], at.Host = s.split(&at, dir, parts[first], named)
	}
	at.Folder = join(parts)
	// Outside of CBT's layout only numbers are settings, because other names may mean anything.
	hasNumbers := false
	for _, part := range parts[max(first, 1):] {
		of, digits, isNumber := folderNumber(part)
		m := modeSizeDir.FindStringSubmatch(part)
		switch {
		case isNumber:
			hasNumbers = true
			setDigits(of(&at.Known), digits)
		case first == 0:
		case isMode(part):
			at.Known.Mode = part
		case m != nil && isMode(m[1]):
			at.ModeSize, at.Known.Mode = true, m[1]
			setDigits(&at.Known.OpSize, m[2])
		}
	}
	if 0 < first && first < len(parts) {
		switch top := parts[first]; {
		case fioClasses[top]:
			at.Known.Benchmark = top
		case (hasNumbers || at.Host != "") && !isSetting(top):
			at.Known.Workload = top
		}
	}
	s.places[key] = at
	return at
}

// sample is what a folder has of a sample of pbench-fio: its report, and logs in clients/HOST.
type sample struct{ hasReport, hasClients bool }

// readSample finds the folder of a sample of pbench-fio: ITERATION/sampleN, or one of any name that has both. It returns false if the file is in no sample.
func (s *Tree) readSample(at *Place, dir Folder, parts []string) bool {
	isSample := func(i int) bool {
		of, ok := s.samples[dir.In(join(parts[:i+1]))]
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
		at.Host = rest[1]
	default:
		return false
	}
	at.Program, at.Folder, at.Known.Benchmark = OfSample, join(parts[:i+1]), mapping.PBench
	if i > 0 {
		if m := pbenchDir.FindStringSubmatch(parts[i-1]); m != nil && isMode(m[1]) {
			at.Known.Mode = m[1]
			if kib, err := strconv.ParseInt(m[2], 10, 32); err == nil {
				at.Known.OpSize = kib * 1024
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
func (s *Tree) split(at *Place, dir Folder, top string, named bool) (name, host string) {
	name, host, ok := strings.Cut(top, ".")
	if !ok || isSetting(name) || fioClasses[name] {
		return name, host
	}
	for _, w := range s.FactsIn(s.Config(dir.In(at.Config), ConfigName)).Workloads { // the longest first
		if rest, ok := strings.CutPrefix(top, w); ok && (rest == "" || rest[0] == '.') {
			return w, strings.TrimPrefix(rest, ".")
		}
	}
	if named { // each file has its own
		return top, ""
	}
	for _, h := range s.FactsIn(s.Config(dir.In(at.Root), ArchiveConfigName)).Clients {
		if before, ok := strings.CutSuffix(top, "."+h); ok {
			return before, h
		}
	}
	if strings.Contains(host, ".") {
		at.Doubt = fmt.Sprintf("%s: %s is taken for a host: no configuration says where its name begins", top, host)
	}
	return name, host
}

// Facts are what CBT's YAML files say and names of files do not.
type Facts struct {
	Benchmark string
	Workloads []string // the longest first
	Clients   []string
}

// FactsIn reads a YAML file, once. It ignores errors: [Configure] reports them if a run needs the file.
func (s *Tree) FactsIn(f *evidence.File) *Facts {
	if f == nil {
		return &Facts{}
	}
	if known := s.facts[f]; known != nil {
		return known
	}
	of := &Facts{}
	s.facts[f] = of
	m, err := f.YAML(s.ctx)
	if err != nil {
		return of
	}
	settings := cluster(m)
	of.Benchmark = text(settings["benchmark"])
	for name := range asMap(settings["workloads"]) {
		of.Workloads = append(of.Workloads, name)
	}
	slices.SortFunc(of.Workloads, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	of.Clients = hosts(settings["clients"])
	return of
}

// TotalOf returns the total_iodepth folder of an iodepth folder, if a path ends in them, or "".
func TotalOf(dir string) string {
	total := path.Dir(dir)
	_, digits, _ := folderNumber(path.Base(total))
	if digits == "" || !strings.HasPrefix(path.Base(total), "total_iodepth-") || !strings.HasPrefix(path.Base(dir), "iodepth-") {
		return ""
	}
	return total
}
