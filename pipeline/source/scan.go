package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/pipeline/internal/alike"
)

// Scan finds every file under the paths: "-" is standard input, a folder is walked,
// an archive is entered, a pattern that matches no file by name is expanded.
//
// What cannot be read is a Problem in the Set. An error is returned, and no Set,
// only if an argument does not exist, ctx ends, a limit of Options.Limits is
// passed, or the spool cannot be written. The same content reached by two arguments
// is listed twice. The Set must be closed.
//
// A scan that waits for standard input ends with ctx only if the reader has a
// SetReadDeadline that works, else with the next byte.
func Scan(ctx context.Context, paths []string, opt Options) (*Set, error) {
	opt = opt.withDefaults()
	set := &Set{limits: opt.Limits, spool: spool{dir: opt.TempDir, memory: opt.SpoolMemory}}
	s := &scanner{opt: opt, set: set}
	if err := s.scan(ctx, paths); err != nil {
		return nil, errors.Join(fmt.Errorf("scan: %w", err), set.Close())
	}
	s.alike.More(func(kind string, n int) {
		set.Problems = append(set.Problems, &Problem{Name: "and " + strconv.Itoa(n) + " more like this", Err: errors.New(kind)})
	})
	return set, nil
}

// scanner is the state of one scan. Its methods return an error only if the scan must
// end; all else is noted as a Problem.
type scanner struct {
	opt      Options
	set      *Set
	found    []found         // under the present argument
	looks    map[lookKey]int // files under it that could be looked at, by folder
	sides    besides
	total    int64 // unpacked bytes
	count    int   // files and problems
	names    int64 // bytes of their names
	alike    alike.Counter
	quiet    bool // problems do not count
	done     Progress
	reported int64 // done.Bytes when progress was last reported
	stdin    bool  // was read
}

// item is a file, or a member of an archive, during the scan.
type item struct {
	name    string // for messages
	root    string
	archive string
	in      *scope
	rel     string // name inside in
	mod     modified
	top     bool   // is the argument itself
	depth   int    // archives around it
	layers  int    // archives, compressions and pipes around it
	packed  bool   // was decompressed just now
	again   opener // reads it once more; nil if it must be spooled
	cut     error  // why again ends before its content does
	look    bool   // its name says nothing: only its content decides
	beside  bool   // was not named, but lies beside what was
}

// modified is when a content was last changed, and how well that is known.
type modified struct {
	at    time.Time
	step  time.Duration
	local bool
}

// extent is a run of bytes that can be read in any order.
type extent struct {
	at     io.ReaderAt // valid as long as the set
	off, n int64
	open   opener // the same, for a file that needs no unpacking
	cut    error  // why the extent ends before its content does
}

// within is the extent of n bytes from off.
func within(at io.ReaderAt, off, n int64) extent {
	return extent{at: at, off: off, n: n, open: section(at, off, n)}
}

// reader reads the bytes from the first to the last.
func (x extent) reader() *io.SectionReader { return io.NewSectionReader(x.at, x.off, x.n) }

func (s *scanner) scan(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return errors.New("no path given")
	}
	var roots []string
	for _, arg := range paths {
		matches, err := expand(arg)
		if err != nil {
			return err
		}
		roots = append(roots, matches...)
	}
	s.sides.arguments(roots)
	for _, root := range roots {
		before := len(s.set.Files)
		if err := s.argument(ctx, root); err != nil {
			return err
		}
		if err := s.settle(ctx); err != nil {
			return err
		}
		if !s.opt.Beside || root == "-" {
			continue
		}
		if err := s.beside(ctx, root, s.set.Files[before:]); err != nil {
			return err
		}
	}
	return nil
}

// expand returns the argument itself if it exists, or the matches of a pattern.
func expand(arg string) ([]string, error) {
	if arg == "-" {
		return []string{arg}, nil
	}
	_, err := os.Stat(arg)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return []string{arg}, nil // what is wrong with it is found when it is read
	}
	if !strings.ContainsAny(arg, "*?[") {
		return nil, err
	}
	matches, globErr := filepath.Glob(arg)
	if globErr != nil {
		return nil, fmt.Errorf("expand %s: %w", arg, globErr)
	}
	if len(matches) == 0 {
		return nil, fmt.Errorf("expand %s: nothing matches: %w", arg, fs.ErrNotExist)
	}
	slices.SortFunc(matches, naturalCompare)
	return matches, nil
}

// argument scans one path.
func (s *scanner) argument(ctx context.Context, arg string) error {
	if arg == "-" {
		return s.standardInput(ctx)
	}
	info, err := os.Stat(arg)
	if err != nil {
		return s.fail(ctx, arg, err)
	}
	abs, err := filepath.Abs(arg)
	if err != nil {
		return s.fail(ctx, arg, err)
	}
	if info.IsDir() {
		return s.folder(ctx, arg, baseName(abs))
	}
	f, err := openArgument(ctx, arg, info)
	if err != nil {
		return s.fail(ctx, arg, err)
	}
	it := item{name: arg, root: arg, rel: filepath.Base(abs), top: true, archive: baseName(filepath.Dir(abs))}
	if !info.Mode().IsRegular() { // a pipe: read once, forwards
		defer f.Close()
		it.layers = 1
		defer wake(ctx, f)()
		return s.stream(ctx, it, s.pipe(ctx, f))
	}
	return s.disk(ctx, it, "", arg, f)
}

// baseName is the last element of an absolute path, and "root" for the topmost.
func baseName(abs string) string {
	base := filepath.Base(abs)
	if len(base) == 1 && os.IsPathSeparator(base[0]) {
		return "root"
	}
	return base
}

func (s *scanner) standardInput(ctx context.Context) error {
	if s.stdin {
		return errors.New("standard input can be read only once")
	}
	s.stdin = true
	defer wake(ctx, s.opt.Stdin)()
	it := item{name: "stdin", root: "-", rel: "stdin", archive: "stdin", top: true, layers: 1}
	return s.stream(ctx, it, s.pipe(ctx, s.opt.Stdin))
}

// pipe guards an input without end: its bytes count as unpacked ones.
func (s *scanner) pipe(ctx context.Context, r io.Reader) io.Reader {
	return s.guard(&input{ctx: ctx, r: r, s: s, isPipe: true}, nil)
}

// guard counts unpacked bytes against the limits of the scan.
func (s *scanner) guard(r io.Reader, packed func() int64) io.Reader {
	return &guard{r: r, limits: &s.set.limits, total: &s.total, packed: packed}
}

// fail notes a problem, unless err is one that ends the scan.
func (s *scanner) fail(ctx context.Context, name string, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	p := &Problem{Name: name, Err: err}
	if errors.Is(err, ErrTooLarge) || errors.Is(err, errSpool) {
		return p
	}
	if s.quiet || !s.alike.Add(err.Error()) {
		return nil
	}
	s.set.Problems = append(s.set.Problems, p)
	return s.more(name)
}

// damaged notes an error of a decoder or an archive.
func (s *scanner) damaged(ctx context.Context, name string, err error) error {
	return s.fail(ctx, name, damage(err))
}

// more counts one file or problem, with its name.
func (s *scanner) more(name string) error {
	if s.names += int64(len(name)); s.names > s.opt.Limits.Names {
		return fmt.Errorf("%w: their names have more than %d bytes: name fewer of them, or folders one by one", ErrTooManyFiles, s.opt.Limits.Names)
	}
	if s.count++; s.count > s.opt.Limits.Files {
		return fmt.Errorf("%w: more than %d: name fewer of them, or folders one by one", ErrTooManyFiles, s.opt.Limits.Files)
	}
	return nil
}

// progress counts n more bytes of input, and reports progress now and then.
func (s *scanner) progress(n int64) {
	const step = 8 << 20
	if s.done.Bytes += n; s.done.Bytes-s.reported >= step {
		s.report()
	}
}

func (s *scanner) report() {
	s.reported = s.done.Bytes
	s.opt.Progress(s.done)
}
