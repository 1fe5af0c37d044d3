package layout

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"

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

// sample is what a folder has of a sample of pbench-fio: its report, and logs in clients/HOST.
type sample struct{ hasReport, hasClients bool }

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
