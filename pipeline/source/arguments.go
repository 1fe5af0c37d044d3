package source

import (
	"io"
	"os"
	"path"
	"path/filepath"
)

// arguments scans the paths that the user named, and files beside them.
type arguments struct {
	*scanner
	stdin   io.Reader
	beside  bool
	given   map[string]bool // absolute paths of the arguments
	visited map[string]bool // folders that were searched for what lies beside
}

func newArguments(s *scanner, opt Options, roots []string) *arguments {
	a := &arguments{scanner: s, stdin: opt.Stdin, beside: opt.Beside, given: map[string]bool{}, visited: map[string]bool{}}
	for _, root := range roots {
		if abs, err := filepath.Abs(root); err == nil && root != "-" {
			a.given[abs] = true
		}
	}
	return a
}

func (a *arguments) scan(root string) {
	if a.ended() {
		return
	}
	before := len(a.set.Files)
	if root == "-" {
		if a.listing != nil {
			a.fatal = ErrPipe
			return
		}
		defer wake(a.notes.ctx, a.stdin)()
		a.stream(item{name: "stdin", origin: origin{root: "-", archive: "stdin"}, rel: "stdin", met: asArgument, layers: 1}, a.pipe(a.stdin))
		a.settle()
		return
	}
	a.path(root)
	a.settle()
	if a.beside {
		a.searchBeside(root, a.set.Files[before:])
	}
}

func (a *arguments) path(arg string) {
	info, err := os.Stat(arg)
	if err != nil {
		a.fail(arg, err)
		return
	}
	abs, err := filepath.Abs(arg)
	if err != nil {
		a.fail(arg, err)
		return
	}
	if info.IsDir() {
		a.folder(arg, baseName(abs))
		return
	}
	it := item{name: arg, origin: origin{root: arg, archive: baseName(filepath.Dir(abs))}, rel: filepath.Base(abs), met: asArgument}
	if a.listing != nil {
		a.list(it, info, nil)
		return
	}
	f, err := openArgument(a.notes.ctx, arg, info)
	if err != nil {
		a.fail(arg, err)
		return
	}
	if info.Mode().IsRegular() {
		a.disk(it, "", arg, f)
		return
	}
	defer f.Close() // a pipe: read once, forwards
	it.layers = 1
	defer wake(a.notes.ctx, f)()
	a.stream(it, a.pipe(f))
}

// baseName returns the last element of an absolute path, or "root" for the root folder.
func baseName(abs string) string {
	base := filepath.Base(abs)
	if len(base) == 1 && os.IsPathSeparator(base[0]) {
		return "root"
	}
	return base
}

// searchBeside lists files beside an argument that may belong to it. found has the files of the argument.
func (a *arguments) searchBeside(root string, found []*File) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return // it was good enough for the argument itself
	}
	isFile, atTop := a.listing.has(root), false // members of an archive that is only listed are not known
	for _, f := range found {
		isFile = isFile || f.Named
		atTop = atTop || path.Dir(f.Path) == "." && a.look.Near(f.Path)
	}
	dir := filepath.Dir(root)
	switch {
	case isFile:
		a.besideIn(dir, filepath.Dir(abs))
		a.besideIn(filepath.Join(dir, ".."), filepath.Dir(filepath.Dir(abs)))
	case atTop && abs == root:
		a.besideIn(dir, dir)
	case atTop:
		a.besideIn(filepath.Join(root, ".."), filepath.Dir(abs))
	}
}

// besideIn lists the files directly in a folder that may belong to an argument. A file that cannot be read is not a
// problem, because it may not belong to one.
func (a *arguments) besideIn(dir, abs string) {
	if a.visited[abs] || a.given[abs] {
		return
	}
	a.visited[abs] = true
	a.quiet = true
	defer func() { a.quiet = false }()
	for _, name := range besideNames(dir) {
		if a.ended() {
			return
		}
		short := trimCompression(name)
		if a.look.Near(short) || !a.want(short) && !a.look.Name(short) || a.isGiven(filepath.Join(abs, name)) {
			continue
		}
		it := item{name: filepath.Join(dir, name), origin: origin{root: dir, archive: baseName(abs)}, rel: name, met: beside}
		if a.listing != nil {
			info, err := os.Lstat(it.name)
			a.list(it, info, err)
		} else if f, err := openNow(it.name); err == nil {
			a.disk(it, "", it.name, f)
		}
	}
	a.settle()
}

// isGiven reports whether a file is an argument, or below one.
func (a *arguments) isGiven(abs string) bool {
	for !a.given[abs] {
		above := filepath.Dir(abs)
		if above == abs {
			return false
		}
		abs = above
	}
	return true
}

// besideNames returns the names of the regular files in a folder, or none if there are too many.
func besideNames(dir string) []string {
	at, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer at.Close()
	entries, err := at.ReadDir(10 * maxLooks) // io.EOF for an empty folder
	if err != nil || len(entries) == 10*maxLooks {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && archiveSuffix(e.Name()) == "" {
			names = append(names, e.Name())
		}
	}
	if len(names) > maxLooks {
		return nil
	}
	return names
}
