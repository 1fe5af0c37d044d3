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
	"strings"
	"time"
)

// Scan finds every file under the paths: "-" is standard input, a folder is walked,
// an archive is entered, a pattern that matches no file by name is expanded.
//
// What cannot be read is a Problem in the Set. An error is returned, and no Set,
// only if an argument does not exist, ctx ends, the budget is
// used up, or the spool cannot be written. The same content reached by two arguments
// is listed twice. The Set must be closed.
//
// A scan that waits for standard input ends with ctx only if the reader has a
// SetReadDeadline that works, else with the next byte.
func Scan(ctx context.Context, paths []string, opt Options) (*Set, error) {
	s, err := scanAll(ctx, paths, opt, nil)
	if err != nil {
		var named *fs.PathError
		if errors.As(err, &named) && named.Op == "stat" { // an argument that does not exist
			return nil, fmt.Errorf("%s: %w", named.Path, named.Err)
		}
		return nil, fmt.Errorf("scan: %w", err)
	}
	s.set.Problems = s.all()
	return s.set, nil
}

// scanAll scans all arguments, or lists them.
func scanAll(ctx context.Context, paths []string, opt Options, listing *Listing) (*scanner, error) {
	opt = opt.withDefaults()
	roots, err := expandAll(paths)
	if err != nil {
		return nil, err
	}
	s := newScanner(ctx, opt, listing)
	a := newArguments(s, opt, roots)
	for _, root := range roots {
		a.scan(root)
	}
	if s.ended() {
		return nil, errors.Join(s.fatal, s.set.Close())
	}
	return s, nil
}

// expandAll returns the files that the arguments name.
func expandAll(args []string) (roots []string, err error) {
	if len(args) == 0 {
		return nil, errors.New("no path given")
	}
	for _, arg := range args {
		matches, err := expand(arg)
		if err != nil {
			return nil, err
		}
		roots = append(roots, matches...)
	}
	if i := slices.Index(roots, "-"); i >= 0 && slices.Contains(roots[i+1:], "-") {
		return nil, errors.New("standard input can be read only once")
	}
	return roots, nil
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

// scanner looks into contents, layer by layer, and lists the files that are wanted.
type scanner struct {
	notes
	intake
	interest
	found []found // under the present argument
	depth int     // limit of archives inside one another
	set   *Set

	listing *Listing // nil: files are opened
}

func newScanner(ctx context.Context, opt Options, listing *Listing) *scanner {
	s := &scanner{
		interest: interest{want: opt.Want, named: opt.Named, look: opt.Look},
		depth:    opt.Depth,
		listing:  listing,
		set:      &Set{budget: opt.Budget, spool: spool{dir: opt.TempDir, sums: opt.Sums}},
	}
	s.notes = notes{ctx: ctx, budget: opt.Budget}
	s.intake = intake{ctx: ctx, budget: opt.Budget, progress: opt.Progress}
	return s
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
type origin struct{ root, archive, onDisk string }

// met says how the scan met an item.
type met int

const (
	byName     met = iota // in a folder or an archive
	asArgument            // it is the argument itself
	byContent             // its name says nothing: only its content decides
	beside                // it was not named, and lies beside an argument
)

// body is a content that can be read any number of times.
type body struct {
	open opener
	kept *kept // nil if it is read in place
	cut  error // why it ends too early; else nil
}

// extent is a run of bytes that can be read in any order.
type extent struct {
	at     io.ReaderAt // valid as long as the set
	off, n int64
	body   // the same, for a file that needs no unpacking
}

// within is the extent of n bytes from off.
func within(at io.ReaderAt, off, n int64) extent {
	return extent{at: at, off: off, n: n, body: body{open: section(at, off, n)}}
}

// reader reads the bytes from the first to the last.
func (x extent) reader() *io.SectionReader { return io.NewSectionReader(x.at, x.off, x.n) }

// Modified is when a content was last changed, and how well that is known.
type Modified struct {
	// ModTime is when the content was last changed, or zero if not recorded.
	ModTime time.Time
	// ModStep is how finely ModTime is recorded: the true time is up to ModStep
	// later. Zero is exact, as on disk.
	ModStep time.Duration
	// ModLocal means that ModTime is the reading of a clock in an unknown time
	// zone, taken as UTC: a zip without Unix times has nothing better. Differences
	// between the files of one archive are right, unless the clock was put forward
	// or back between them (summer time).
	ModLocal bool
}

// intake counts the stored bytes that a scan reads forwards.
type intake struct {
	ctx      context.Context
	budget   *Budget
	progress func(Progress)
	done     Progress
	reported int64 // done.Bytes when it was last reported
}

// input reads stored bytes: it ends with the context and reports progress.
func (in *intake) input(r io.Reader) io.Reader { return &input{intake: in, r: r} }

// pipe reads an input without end.
func (in *intake) pipe(r io.Reader) io.Reader { return &input{intake: in, r: r, isPipe: true} }

func (in *intake) file() {
	in.done.Files++
	in.report()
}

func (in *intake) report() {
	in.reported = in.done.Bytes
	in.progress(in.done)
}

// input is a reader of stored bytes.
type input struct {
	*intake
	r      io.Reader
	isPipe bool
}

func (in *input) Read(p []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := in.r.Read(p)
	if in.isPipe {
		in.budget.packed.Add(int64(n))
	}
	const step = 8 << 20
	if in.done.Bytes += int64(n); in.done.Bytes-in.reported >= step {
		in.report()
	}
	return n, err
}
