package source

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fio2es/fio2es/internal/alike"
	"github.com/fio2es/fio2es/internal/unit"
)

const (
	// maxFolders bounds folders within folders, because each takes some descriptors.
	maxFolders = 200
	// maxLooks is how many files of one folder may be looked at.
	maxLooks = 4000
	// maxBeside is how many files a folder may have, so that those beside an argument are searched.
	maxBeside = 1000
)

// Scan finds every file under the paths: "-" is standard input, a folder is walked, an archive is entered, a pattern
// that matches no file by name is expanded.
//
// What cannot be read is a Problem in the Set. An error is returned, and no Set, only if an argument does not exist, ctx
// ends, the budget is used up, or the spool cannot be written. The same content reached by two arguments is listed
// twice. The Set must be closed.
//
// A scan that waits for standard input ends with ctx only if the reader has a SetReadDeadline that works, else with the
// next byte.
func Scan(ctx context.Context, paths []string, opt Options) (*Set, error) {
	s, err := scanAll(ctx, paths, opt, nil)
	if err != nil {
		var named *fs.PathError
		if errors.As(err, &named) && named.Op == "stat" { // an argument that does not exist
			return nil, fmt.Errorf("%s: %w", named.Path, named.Err)
		}
		return nil, fmt.Errorf("scan: %w", err)
	}
	s.set.Problems = s.problemList()
	zstds.clear()
	xzs.clear()
	const large = 8 << 20 // of smaller contents the decoders matter less than the time of a collection
	if s.set.spool.end > large {
		runtime.GC() // so that rows are not read beside windows of decoders
	}
	return s.set, nil
}

// ErrPipe says that something can be read only once, so it cannot be listed.
var ErrPipe = errors.New("standard input and pipes cannot be listed")

// List calls each with the files on disk that Scan would open, with the same paths and options: with their names as in [File].Disk, and
// as often as they are met. It opens only folders. If what it lists does not change, neither does the result of a scan, because a change of
// content changes the size or the times of a file. There may be more files than a scan reads. List returns what a scan would refuse by its
// name or kind. It fails like Scan, and with [ErrPipe].
func List(ctx context.Context, paths []string, opt Options, each func(name string, info fs.FileInfo)) ([]*Problem, error) {
	opt.Progress = nil
	s, err := scanAll(ctx, paths, opt, each)
	if err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	return s.problemList(), nil
}

// scanner looks into contents, layer by layer, and lists the files that are wanted. Its methods note problems and return
// no errors. Those that read in a loop check ended.
type scanner struct {
	Options
	ctx     context.Context
	set     *Set
	listed  func(name string, info fs.FileInfo) // is called with files; nil: they are opened
	last    string                              // that was listed
	found   []found                             // under the present argument
	looks   map[lookKey]int                     // files under it that could be looked at, by folder
	given   map[string]bool                     // absolute paths of the arguments
	visited map[string]bool                     // folders that were searched for what lies beside

	problems alike.List[*Problem]
	quiet    bool  // problems do not count
	fatal    error // why the scan ends

	done     Progress
	reported int64 // done.Bytes when it was last reported
}

// lookKey is a folder as it is called inside an archive.
type lookKey struct {
	in  *scope
	dir string
}

// item is a file, or a member of an archive, during the scan.
type item struct {
	name string // for messages
	origin
	in     *scope
	rel    string // name inside in
	mod    Modified
	met    met
	depth  int  // archives around it
	layers int  // archives, compressions and pipes around it
	packed bool // it was decompressed
	again  body // how it is read again; without it, the item must be spooled
}

// origin is the argument that something is found under, and the file on disk that it is in; see [File].
type origin struct {
	root, archive, onDisk string
	budget                *Budget // of that file
}

// met says how the scan met an item.
type met int

const (
	byName     met = iota // in a folder or an archive
	asArgument            // it is the argument itself
	byContent             // its name says nothing: only its content decides
	beside                // it was not named, and lies beside an argument
)

func newScanner(ctx context.Context, opt Options, listed func(string, fs.FileInfo)) *scanner {
	never := func(string) bool { return false }
	for _, f := range []*func(string) bool{&opt.Look.Near, &opt.Look.Name, &opt.Look.Kin} {
		if *f == nil {
			*f = never
		}
	}
	if opt.Look.Is == nil {
		opt.Look.Is = func([]byte) bool { return false }
	}
	if opt.Want == nil {
		opt.Want = func(string) bool { return true }
	}
	if opt.Progress == nil {
		opt.Progress = func(Progress) {}
	}
	if opt.Stdin == nil {
		opt.Stdin = os.Stdin
	}
	opt.Depth, opt.Budget = cmp.Or(opt.Depth, 4), cmp.Or(opt.Budget, new(Budget))
	return &scanner{
		Options: opt, ctx: ctx, listed: listed, given: map[string]bool{}, visited: map[string]bool{}, looks: map[lookKey]int{},
		set: &Set{spool: spool{dir: opt.TempDir, sums: opt.Sums}}, problems: alike.List[*Problem]{Shown: 10},
	}
}

// scanAll scans all arguments, or lists them.
func scanAll(ctx context.Context, paths []string, opt Options, listed func(string, fs.FileInfo)) (*scanner, error) {
	roots, err := expand(paths)
	if err != nil {
		return nil, err
	}
	s := newScanner(ctx, opt, listed)
	for _, root := range roots {
		if abs, err := filepath.Abs(root); err == nil && root != "-" {
			s.given[abs] = true
		}
	}
	for _, root := range roots {
		before := len(s.set.Files)
		if !s.ended() {
			s.argument(root)
			s.settle()
		}
		if s.Beside && root != "-" && !s.ended() {
			s.searchBeside(root, s.set.Files[before:])
		}
	}
	if s.ended() {
		return nil, errors.Join(s.fatal, s.set.Close())
	}
	return s, nil
}

// expand returns the files that the arguments name: each that exists, and the matches of patterns.
func expand(args []string) (roots []string, err error) {
	if len(args) == 0 {
		return nil, errors.New("no path given")
	}
	for _, arg := range args {
		_, err := os.Stat(arg)
		switch {
		case arg == "-" || !errors.Is(err, fs.ErrNotExist): // what is wrong with it is found when it is read
			roots = append(roots, arg)
			continue
		case !strings.ContainsAny(arg, "*?["):
			return nil, err
		}
		matches, err := filepath.Glob(arg)
		if err == nil && len(matches) == 0 {
			err = fmt.Errorf("nothing matches: %w", fs.ErrNotExist)
		}
		if err != nil {
			return nil, fmt.Errorf("expand %s: %w", arg, err)
		}
		slices.SortFunc(matches, unit.Compare)
		roots = append(roots, matches...)
	}
	if i := slices.Index(roots, "-"); i >= 0 && slices.Contains(roots[i+1:], "-") {
		return nil, errors.New("standard input can be read only once")
	}
	return roots, nil
}

func (s *scanner) ended() bool {
	if s.fatal == nil {
		s.fatal = s.ctx.Err()
	}
	return s.fatal != nil
}

// fail notes a problem. A failure of the spool ends the scan.
func (s *scanner) fail(name string, err error) {
	if s.ended() {
		return
	}
	if named, ok := err.(*fs.PathError); ok { // the name is another form of this one
		err = named.Err
	}
	p := &Problem{Name: name, Err: err}
	switch {
	case errors.Is(err, errSpool):
		s.fatal = p
	case !s.quiet && s.problems.Add(err.Error(), p):
		s.hold(priceOfFile, name)
	}
}

// problemList returns ten problems of each kind, the last with the number of the others.
func (s *scanner) problemList() (list []*Problem) {
	s.problems.Each(func(_ string, p *Problem, more int) {
		p.Err = alike.Wrap(p.Err, more)
		list = append(list, p)
	})
	return list
}

// failToRead notes a folder or a file that cannot be opened.
func (s *scanner) failToRead(name string, err error) {
	s.fail(name, err)
	s.set.Unread = append(s.set.Unread, name)
}

// hold charges what is kept in memory: n bytes, and a name.
func (s *scanner) hold(bytes int64, name string) {
	if err := s.Budget.Hold(bytes + priceOfName*int64(len(name))); err != nil {
		s.fatal = err
	}
}

// argument scans a path that the user named.
func (s *scanner) argument(arg string) {
	if arg == "-" {
		if s.listed != nil {
			s.fatal = ErrPipe
			return
		}
		s.pipe(item{name: "stdin", origin: origin{root: "-", archive: "stdin"}, rel: "stdin", met: asArgument}, s.Stdin)
		return
	}
	info, err := os.Stat(arg)
	var abs string
	if err == nil {
		abs, err = filepath.Abs(arg)
	}
	if err != nil {
		s.fail(arg, err)
		return
	}
	if info.IsDir() {
		root, err := os.OpenRoot(arg)
		if err != nil {
			s.fail(arg, err)
			return
		}
		defer root.Close()
		top := readFolder(root, ".", s.listed != nil)
		defer top.close()
		s.walk(top, origin{root: arg, archive: baseName(abs)}, "", 0)
		return
	}
	it := item{name: arg, origin: origin{root: arg, archive: baseName(filepath.Dir(abs))}, rel: filepath.Base(abs), met: asArgument}
	if s.listed != nil {
		s.list(it, info, nil)
		return
	}
	f, err := openArgument(s.ctx, arg, info)
	switch {
	case err != nil:
		s.fail(arg, err)
	case info.Mode().IsRegular():
		s.disk(it, "", arg, f)
	default:
		defer f.Close()
		s.pipe(it, f)
	}
}

// pipe scans what can be read only once, forwards. A waiting read ends with the context, if r has deadlines.
func (s *scanner) pipe(it item, r io.Reader) {
	if d, ok := r.(interface{ SetReadDeadline(time.Time) error }); ok {
		stop := context.AfterFunc(s.ctx, func() { _ = d.SetReadDeadline(time.Unix(1, 0)) })
		defer stop()
	}
	it.layers, it.budget = 1, s.Budget.of(0)
	s.stream(it, &input{s, r, it.budget})
}

// input reads stored bytes: it ends with the context and reports progress.
type input struct {
	*scanner
	r     io.Reader
	grows *Budget // of a pipe, whose size is not known before; else nil
}

func (in *input) Read(p []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := in.r.Read(p)
	if in.grows != nil {
		in.grows.grow(int64(n))
	}
	const step = 8 << 20
	if in.done.Bytes += int64(n); in.done.Bytes-in.reported >= step {
		in.report()
	}
	return n, err
}

func (s *scanner) report() {
	s.reported = s.done.Bytes
	s.Progress(s.done)
}

// baseName returns the last element of an absolute path, or "root" for the root folder.
func baseName(abs string) string {
	base := filepath.Base(abs)
	if len(base) == 1 && os.IsPathSeparator(base[0]) {
		return "root"
	}
	return base
}

// openFolder is a folder and what it has. A name is opened in its own folder, so the system need not walk from the top.
type openFolder struct {
	*os.Root               // nil if it cannot be opened, or if nothing in it is to be opened
	entries  []fs.DirEntry // sorted, without open databases
	err      error         // some names may be missing
}

// readFolder opens a folder in a folder. If its files are only listed, it stays open only for folders in it.
func readFolder(in *os.Root, name string, onlyList bool) (f openFolder) {
	d, err := in.Open(name)
	if f.err = err; err != nil {
		return f
	}
	f.entries, f.err = d.ReadDir(-1)
	d.Close()
	if !onlyList || slices.ContainsFunc(f.entries, fs.DirEntry.IsDir) {
		if f.Root, err = in.OpenRoot(name); err != nil {
			return openFolder{err: err}
		}
	}
	slices.SortFunc(f.entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	f.entries = withoutDatabases(f.entries)
	return f
}

// below opens the folders in a folder, in their order. It lists the next ones while one is scanned, because the system takes longer for
// that than the scan for its names. stop closes those that were not received.
func (f openFolder) below(onlyList bool) (list <-chan chan openFolder, stop func()) {
	const ahead = 4
	to, done := make(chan chan openFolder, ahead), make(chan struct{})
	go func() {
		defer close(to)
		for _, e := range f.entries {
			if !e.IsDir() {
				continue
			}
			sub := make(chan openFolder, 1)
			go func() { sub <- readFolder(f.Root, e.Name(), onlyList) }()
			select {
			case to <- sub:
			case <-done:
				(<-sub).close()
				return
			}
		}
	}()
	return to, func() {
		close(done)
		for sub := range to {
			(<-sub).close()
		}
	}
}

func (f openFolder) close() {
	if f.Root != nil {
		f.Close()
	}
}

// walk scans a folder, which is dir below the argument.
func (s *scanner) walk(at openFolder, of origin, dir string, depth int) {
	if at.err != nil { // the names that could be listed are used
		s.failToRead(filepath.Join(of.root, dir), at.err)
	}
	var below <-chan chan openFolder
	if depth < maxFolders && slices.ContainsFunc(at.entries, fs.DirEntry.IsDir) {
		var stop func()
		below, stop = at.below(s.listed != nil)
		defer stop()
	}
	// Both are empty or end in a separator.
	above, aboveRel := strings.TrimSuffix(filepath.Join(of.root, filepath.FromSlash(dir), "x"), "x"), strings.TrimSuffix(path.Join(dir, "x"), "x")
	for _, e := range at.entries {
		if s.ended() {
			return
		}
		rel := aboveRel + e.Name()
		it := item{name: above + e.Name(), origin: of, rel: rel}
		switch {
		case e.IsDir() && depth >= maxFolders:
			s.fail(it.name, fmt.Errorf("%w: more than %d folders", ErrDepth, maxFolders))
		case e.IsDir():
			sub := <-<-below
			s.walk(sub, of, rel, depth+1)
			sub.close()
		case s.byName(it):
			s.entry(at.Root, e, it)
		case e.Type().IsRegular() && s.mayLook(it):
			it.met = byContent
			s.entry(at.Root, e, it)
		}
	}
}

// withoutDatabases removes the files of SQLite databases that are open, from the files of one folder. One may be our own history, and a
// process that closes any of its descriptors of a file loses all its locks on it, also those of SQLite.
func withoutDatabases(entries []fs.DirEntry) []fs.DirEntry {
	const shared = "-shm" // memory that the processes of an open database share
	open := map[string]bool{}
	for _, e := range entries {
		if of, ok := strings.CutSuffix(e.Name(), shared); ok {
			open[of], open[of+shared], open[of+"-wal"] = true, true, true
		}
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return open[e.Name()] })
}

// entry scans a file in the folder at.
func (s *scanner) entry(at *os.Root, e fs.DirEntry, it item) {
	switch {
	case !e.Type().IsRegular():
		s.fail(it.name, irregular(e.Type()))
		return
	case s.ended():
		return
	case s.listed != nil:
		info, err := e.Info()
		s.list(it, info, err)
		return
	}
	f, err := openIn(at, path.Base(it.rel))
	switch {
	case err == nil:
		s.disk(it, it.root, it.rel, f)
	case it.met == byName: // else nothing says that it is of interest
		s.failToRead(it.name, err)
	}
}

// irregular returns the reason why something that is not a regular file is refused.
func irregular(mode fs.FileMode) error {
	if mode&fs.ModeSymlink != 0 {
		return ErrLink
	}
	return fmt.Errorf("%w: %v", ErrSpecial, mode.Type())
}

// list notes a file that a scan would open.
func (s *scanner) list(it item, info fs.FileInfo, err error) {
	switch {
	case err != nil:
		s.fail(it.name, err)
	case it.met == asArgument && !info.Mode().IsRegular():
		s.fatal = ErrPipe
	case !info.Mode().IsRegular():
		s.fail(it.name, irregular(info.Mode()))
	default:
		s.last = it.name
		s.listed(it.name, info)
		if it.rel = trimCompression(it.rel); !strings.Contains(it.rel, "/") { // only these decide whether files beside the argument are searched
			s.keep(it, body{size: info.Size()})
		}
	}
}

// disk scans a regular file, which f has just opened. It is closed here, unless it is an archive whose members are read
// in place. dir is the folder below which path stays, or empty if path stands alone.
func (s *scanner) disk(it item, dir, path string, f *os.File) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() { // replaced since it was listed
		err = irregular(info.Mode())
	}
	if err != nil {
		f.Close()
		s.fail(it.name, err)
		return
	}
	open := func(r *reader) (io.Reader, error) {
		f, err := s.set.folders.open(dir, path)
		if err == nil {
			r.closers = append(r.closers, f)
		}
		return f, err
	}
	archives := len(s.set.archives)
	it.mod.ModTime, it.onDisk, it.budget = info.ModTime(), it.name, s.Budget.of(info.Size())
	s.random(it, io.NewSectionReader(f, 0, info.Size()), body{open: open, size: info.Size()})
	if len(s.set.archives) == archives {
		f.Close()
	}
}

// openBelow opens a regular file below a folder, or anywhere if dir is empty. Like openIn, it does not wait if a named
// pipe has taken its place since the folder was listed.
func openBelow(dir, name string) (*os.File, error) {
	if dir == "" {
		return os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return openIn(root, filepath.FromSlash(name))
}

func openIn(at *os.Root, name string) (*os.File, error) {
	return at.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// openArgument opens a file that the user named. Opening a named pipe waits for its writer: ctx ends that.
func openArgument(ctx context.Context, name string, info fs.FileInfo) (*os.File, error) {
	if info.Mode().IsRegular() {
		return openBelow("", name)
	}
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened)
	go func() {
		f, err := os.Open(name)
		select {
		case done <- opened{f, err}:
		case <-ctx.Done():
			if err == nil {
				f.Close()
			}
		}
	}()
	select {
	case o := <-done:
		return o.f, o.err
	case <-ctx.Done(): // the goroutine stays until there is a writer
		return nil, ctx.Err()
	}
}

// searchBeside lists files beside an argument that may belong to it. found has the files of the argument.
func (s *scanner) searchBeside(root string, found []*File) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return // it was good enough for the argument itself
	}
	isFile, atTop := false, false
	if s.listed != nil { // members of an archive that is only listed are not known
		isFile = s.last == root
	}
	for _, f := range found {
		isFile = isFile || f.Named
		atTop = atTop || path.Dir(f.Path) == "." && s.Look.Near(f.Path)
	}
	dir := filepath.Dir(root)
	switch {
	case isFile:
		s.besideIn(dir, filepath.Dir(abs))
		s.besideIn(filepath.Join(dir, ".."), filepath.Dir(filepath.Dir(abs)))
	case atTop && abs == root:
		s.besideIn(dir, dir)
	case atTop:
		s.besideIn(filepath.Join(root, ".."), filepath.Dir(abs))
	}
}

// besideIn lists the files directly in a folder that may belong to an argument, unless it has too many. A file that
// cannot be read is not a problem, because it may not belong to one.
func (s *scanner) besideIn(dir, abs string) {
	if s.visited[abs] || s.given[abs] {
		return
	}
	s.visited[abs] = true
	at, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer at.Close()
	d, err := at.Open(".")
	if err != nil {
		return
	}
	entries, err := d.ReadDir(10 * maxBeside) // io.EOF for an empty folder
	d.Close()
	if err != nil || len(entries) == 10*maxBeside {
		return
	}
	entries = slices.DeleteFunc(withoutDatabases(entries), func(e fs.DirEntry) bool { return !e.Type().IsRegular() || suffix(e.Name(), archives) != "" })
	if len(entries) > maxBeside {
		return
	}
	s.quiet = true
	defer func() { s.quiet = false }()
	for _, e := range entries {
		if s.ended() {
			return
		}
		name, short := e.Name(), trimCompression(e.Name())
		if s.Look.Near(short) || !s.Want(short) && !s.Look.Name(short) || s.isGiven(filepath.Join(abs, name)) {
			continue
		}
		s.entry(at, e, item{name: filepath.Join(dir, name), origin: origin{root: dir, archive: baseName(abs)}, rel: name, met: beside})
	}
	s.settle()
}

// isGiven reports whether a file is an argument, or below one.
func (s *scanner) isGiven(abs string) bool {
	for !s.given[abs] {
		above := filepath.Dir(abs)
		if above == abs {
			return false
		}
		abs = above
	}
	return true
}

// wanted reports whether the item is an argument, was found by its content, or may come to have a path that is wanted.
func (s *scanner) wanted(it item) bool {
	return it.met == byContent || it.met == beside || it.met == asArgument && s.Named && !promisesPacked(it.rel) ||
		it.in.mayBe(it.rel, s.Want)
}

// byName reports whether the item is worth a look at its content by what it is called.
func (s *scanner) byName(it item) bool { return promisesPacked(it.rel) || s.wanted(it) }

// mayLook reports whether the content of a file that is not wanted by its name may be of interest, and counts the file.
func (s *scanner) mayLook(it item) bool {
	const perFolder = 1200 // bytes in memory, without its name
	if promisesPacked(it.rel) || !it.in.mayBe(it.rel, s.Look.Name) {
		return false
	}
	key := lookKey{it.in, path.Dir(it.rel)}
	if s.looks[key]++; s.looks[key] == 1 {
		s.hold(perFolder, key.dir)
	}
	return s.looks[key] <= maxLooks
}

// isForeign reports whether a file has a content of no interest. It is false for files whose names decide. head is the
// beginning of the content; more of it may be in buf.
func (s *scanner) isForeign(it item, k kind, head []byte, buf *bufio.Reader) bool {
	switch {
	case it.met != byContent && it.met != beside:
		return false
	case k != plain:
		return it.met == byContent || k.isArchive()
	case promisesPacked(it.rel):
		return true
	}
	if buf != nil {
		head, _ = buf.Peek(lookLen) // of what ends early the beginning may be good
	}
	return !(it.met == beside && it.in.mayBe(it.rel, s.Look.Kin)) && !s.Look.Is(head)
}

// found is a file whose path is not settled yet.
type found struct {
	file   *File
	in     *scope
	rel    string
	layers int
	met    met
}

// settle gives the files of one argument their final paths, drops those that are no longer wanted or are found twice,
// and adds the rest to the set in order.
func (s *scanner) settle() {
	for _, f := range s.found {
		f.file.Path, f.file.Torn = f.in.path(f.rel), f.in.isTorn()
	}
	looks, full := map[string]int{}, map[string]bool{}
	for key, more := range s.looks {
		looks[path.Dir(key.in.path(path.Join(key.dir, "x")))] += more
	}
	// Files found twice are grouped by where, so that a folder beside its own archive is one problem and not a hundred
	// thousand.
	type double struct {
		lost, used *File
		more       int
	}
	var doubles []*double
	where := map[[2]*scope]*double{}
	last := make(map[string]found, len(s.found)) // what is used, by path
	for _, f := range s.found {
		if dir := path.Dir(f.file.Path); f.met == byContent {
			if looks[dir] > maxLooks {
				s.fail(dir, fmt.Errorf("it has %d files whose names do not say what they are, and files of interest among them: "+
					"at most %d are looked at; give these names that end in .json", looks[dir], maxLooks))
				looks[dir] = 0
				full[dir] = true
			}
			if full[dir] || !s.Look.Name(f.file.Path) {
				continue
			}
		} else if f.in != nil && !s.Want(f.file.Path) {
			continue
		}
		if lost, twice := last[f.file.Path]; twice {
			if f.layers > lost.layers { // the less packed one is the more trustworthy
				lost, f = f, lost
			} // else the last one, as unpacking would have overwritten the other
			at := [2]*scope{lost.in, f.in}
			if known := where[at]; known != nil && lost.in != f.in {
				known.more++
			} else {
				where[at] = &double{lost: lost.file, used: f.file}
				doubles = append(doubles, where[at])
			}
		}
		last[f.file.Path] = f
	}
	s.found = nil
	clear(s.looks)
	begin := len(s.set.Files)
	for _, f := range last {
		s.set.Files = append(s.set.Files, f.file)
	}
	slices.SortFunc(s.set.Files[begin:], func(a, b *File) int { return unit.Compare(a.Path, b.Path) })
	for _, d := range doubles {
		instead := d.used.Name() + " instead"
		switch {
		case d.more > 0:
			instead += fmt.Sprintf(", and so for %d more", d.more)
		case d.used.name == d.lost.name:
			instead = "the last one"
		}
		s.fail(d.lost.name, fmt.Errorf("%w: used %s", ErrDuplicate, instead))
	}
}
