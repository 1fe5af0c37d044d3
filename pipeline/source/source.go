// Package source finds where bytes come from: it turns paths, folders, archives
// and standard input into one flat, sorted list of files that can each be opened
// as often as needed.
//
// It is the first stage of the pipeline and knows nothing of what the bytes mean.
// Scan looks once at everything. Set is what it found and owns the resources
// behind it. File opens one content, decompressed.
//
// The content decides about the format, never the name: gzip, zstd, xz, bzip2, tar
// (ustar, pax, GNU and v7) and zip, in any nesting. Names only save work: a file that
// Options.Want turns down is looked into only when its suffix promises an archive
// or a compressed file.
//
// A file whose name says nothing can be found by its content (Options.Look), also beside
// the arguments (Options.Beside).
//
// # The same paths, packed or not
//
// A folder a/, an archive a.tar.zst of "a/..." and an archive a.zip of "..." give the
// same pairs of File.Archive ("a") and File.Path. An archive found inside, sub/b.tar.gz,
// contributes its members below sub/b/ with or without a leading "b/" in their names. A
// compressed single file x.log.gz has the path x.log.
//
// # Random access, and the spool
//
// What lies on disk stays there: plain files are opened when they are read, members of
// uncompressed tars and of zips are read in place through one open file per archive.
// What can only be read forwards (a compressed tar, standard input) is read once, and the
// wanted members are kept in one temporary file. So are files compressed with zstd, xz or
// bzip2, when they are opened first: their decoders take up to 128 MiB each, and thousands of
// files are read side by side.
// gzip takes 64 KiB and is decoded with each reading.
//
// # Distrust
//
// Input is not trusted. Names that would lead out of the archive, links and
// devices are refused (only an argument itself may be a link). A Budget bounds what small files may become. What is refused
// or damaged becomes a Problem
// and the scan continues; bytes that came out before the damage are kept, and their
// File says so in Err.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/therootcompany/xz"
)

// Options are the options of a scan. The zero value is ready to use. Each field states its default and its cost.
type Options struct {
	// Stdin is read for the path "-". Default os.Stdin. It can be read once; what
	// is wanted of it is spooled.
	Stdin io.Reader

	// Want reports whether the file with this File.Path is of interest; nil takes
	// all. Unwanted files are neither read nor listed. It must give the same
	// answer for the same path every time: while an archive is being read it is
	// also called with paths that the file may turn out to have.
	Want func(path string) bool

	// Look finds files by their content that Want turns down by their name. The zero
	// value finds none.
	Look Look

	// Named also lists files that are arguments themselves, and plain standard input,
	// without regard to Want: the user named them.
	Named bool

	// Beside also lists files next to an argument, because an argument may be one file of
	// several that belong together: in the folder of a file, in the folder above it,
	// and in the folder of an argument whose topmost folder has a file that Look.Near
	// accepts by its path. Only files that Look.Is or Look.Kin accepts are listed, and no problems
	// with them. Folders with more than 1,000 files are skipped.
	Beside bool

	// Depth is how many archives may lie inside one another; the outermost counts, a compressed tar counts once. Default
	// 4. Deeper ones are a Problem.
	Depth int

	// Budget bounds what the scan and the work on its files take, beyond what each file may. Default new(Budget).
	Budget *Budget

	// Sums makes [File.Sum] known of what is unpacked in the scan. It takes a twentieth of the time. Default false.
	Sums bool

	// TempDir is where the temporary file goes. Default os.TempDir().
	TempDir string

	// Progress is called from the scanning goroutine for every file found and
	// every few megabytes read, so it must be quick. Default none.
	Progress func(Progress)
}

// Look finds files that are of interest though their names say nothing. To bound the work,
// folders with more than 4,000 files that could be looked at are skipped, packed or not, and
// only the first 32 KiB of each file are read. If such a folder has files of interest, that is
// a Problem.
type Look struct {
	// Near reports by its path whether files of interest may lie beside a file: see Beside.
	Near func(path string) bool
	// Name reports by its path whether a file is worth a look at its content.
	Name func(path string) bool
	// Is reports by its first bytes whether a file is of interest.
	Is func(head []byte) bool
	// Kin reports by its path whether a file beside an argument is of interest with
	// any content.
	Kin func(path string) bool
}

// Progress is how far a scan has come.
type Progress struct {
	Files int   // files found so far
	Bytes int64 // bytes of input read forwards so far, as stored (not unpacked)
}

// Set is the result of a scan. It owns the archives and the spool from which its files are read.
type Set struct {
	// Files are in the order of the arguments and, below each, of their paths in
	// natural order: digits compare as numbers, folders before their siblings.
	Files []*File
	// Problems has what was refused or could not be read, in the order of the scan.
	Problems []*Problem
	// Unread are the folders and files on disk that could not be opened, in the form of File.Name, in the order met.
	Unread []string

	unpacking sync.Mutex // held while the spool is written after the scan
	spool     spool
	archives  []*os.File // members are read in place
	folders   folders
	closed    atomic.Bool
	until     atomic.Pointer[context.Context]
}

// Until makes all readers, also open ones, fail with the error of ctx after ctx has ended. So code that reads gigabytes
// does not have to check ctx. Until with the background context removes the limit.
func (s *Set) Until(ctx context.Context) { s.until.Store(&ctx) }

func (s *Set) ended() error {
	if ctx := s.until.Load(); ctx != nil {
		return (*ctx).Err()
	}
	return nil
}

// Close releases archives and the spool. Then files cannot be opened any more, and readers that are still open may
// fail. A second Close does nothing.
func (s *Set) Close() error {
	s.closed.Store(true)
	s.unpacking.Lock()
	defer s.unpacking.Unlock()
	for _, f := range s.archives {
		f.Close() // only read from: nothing is lost
	}
	s.archives = nil
	s.folders.close()
	return s.spool.close()
}

// File is one content found by a scan. It is valid until its Set is closed.
type File struct {
	// Root is the argument it was found under ("-" for standard input, the match
	// for a pattern).
	Root string
	// Archive is what the argument is called, packed or not: the base name of a
	// folder, an archive's base name without its suffixes, "stdin", and for a
	// plain file the base name of its folder.
	Archive string
	// Path is slash separated and below the argument; see the package comment.
	// It is unique below one Root. A plain file has its base name.
	Path string
	// Size is in unpacked bytes; -1 if not known before reading (a compressed file). In a zip it is what the archive
	// claims.
	Size int64
	Modified
	// Named means that the file is an argument itself, or plain standard input.
	Named bool
	// Beside means that the file was found through Options.Beside: no argument covers
	// it. Root is its folder then.
	Beside bool
	// Err is not nil if the content is known to be cut short: a reader gives what
	// there is and then this error. It wraps ErrDamaged and the cause,
	// io.ErrUnexpectedEOF if the data simply ended.
	Err error
	// Disk is the name of the file on disk that has the content, as in [List]. For a member of an archive, that is the
	// archive. It is "" for a pipe.
	Disk string
	// Packed means that the content is read out of an archive, a compressed file or a pipe.
	Packed bool
	// Torn means that an archive that the file comes from is damaged or cut short, so that other files of it may be
	// missing.
	Torn bool

	name string // see [File.Name]
	body
	set    *Set
	budget *Budget
}

// Name returns the full name for messages. It is the path on disk, and after a "!" the path inside the archive, as in
// "results.tar.zst!inner.tar/00000000/x.log". It is the name as found, so it includes a compression suffix.
func (f *File) Name() string { return printable(f.name) }

// State identifies the content of a file on disk by what the system knows of it. It changes with the content.
type State struct {
	Size    int64
	ModTime time.Time
}

// State returns the state of the file of [File].Disk. It is zero if there is no such file.
func (f *File) State() State {
	info, err := os.Stat(f.Disk)
	if err != nil {
		return State{}
	}
	return State{info.Size(), info.ModTime()}
}

// Budget returns the budget of the file. It is nil for a file that no scan found.
func (f *File) Budget() *Budget { return f.budget }

// Sum returns the size and the XXH64 of the readable part of a content that was unpacked, if the scan was to make sums. ok
// is false for other files. Then the caller has to read the content.
func (f *File) Sum() (size int64, sum uint64, ok bool) {
	if f.kept == nil || !f.set.spool.sums {
		return 0, 0, false
	}
	f.set.unpacking.Lock()
	defer f.set.unpacking.Unlock()
	if f.kept.SectionReader == nil {
		return 0, 0, false
	}
	return f.kept.Size(), f.kept.sum, true
}

// Open returns the content, decompressed. It may be called any number of times
// and from any goroutine; each reader belongs to one goroutine and must be closed.
// Reading fails with File.Err at the end of a content that is cut short, with
// ErrTooMuch beyond the budget of the scan, and with fs.ErrClosed after Close.
func (f *File) Open() (io.ReadCloser, error) {
	if f.set == nil || f.set.closed.Load() {
		return nil, fmt.Errorf("open %s: %w", f.Name(), fs.ErrClosed)
	}
	if err := f.set.ended(); err != nil {
		return nil, fmt.Errorf("open %s: %w", f.Name(), err)
	}
	r := &reader{name: f.Name(), end: f.Err, set: f.set}
	var err error
	if r.r, err = f.open(r); err != nil {
		r.Close()
		return nil, fmt.Errorf("open %s: %w", f.Name(), err)
	}
	return r, nil
}

// End returns the last n bytes of the content, or all of a shorter one. Only a compressed content is read as a whole.
func (f *File) End(n int64) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if at, ok := in.(*reader).r.(io.Seeker); ok {
		size, err := at.Seek(0, io.SeekEnd)
		if err == nil {
			_, err = at.Seek(max(size-n, 0), io.SeekStart)
		}
		end := make([]byte, min(size, n))
		if err == nil {
			var read int
			if read, err = io.ReadFull(in, end); err == nil || err == io.EOF || err == io.ErrUnexpectedEOF { // it became shorter
				return end[:read], nil
			}
		}
		return nil, fmt.Errorf("read the end of %s: %w", f.Name(), err)
	}
	var end []byte
	for part := make([]byte, 64<<10); ; {
		read, err := in.Read(part)
		end = append(end, part[:read]...)
		if int64(len(end)) > 2*n || err == io.EOF {
			end = append(end[:0], end[max(int64(len(end))-n, 0):]...)
		}
		switch {
		case err == io.EOF:
			return end, nil
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", f.Name(), err)
		}
	}
}

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

// The reasons for a Problem or for the end of a scan; test with errors.Is.
var (
	// ErrEscapes refuses a member name that is absolute, climbs with "..", is
	// longer than 4,096 bytes or has a NUL or a backslash.
	ErrEscapes = errors.New("name leads out of the archive")
	// ErrLink refuses a symbolic or hard link.
	ErrLink = errors.New("link is not followed")
	// ErrSpecial refuses a device, pipe, socket or unknown kind of member.
	ErrSpecial = errors.New("not a regular file")
	// ErrDepth refuses an archive (or folder) nested too deep.
	ErrDepth = errors.New("nested too deep")
	// ErrDuplicate notes that a path was found more than once and which is used.
	ErrDuplicate = errors.New("path found more than once")
	// ErrDamaged notes that an archive or compressed stream is cut short or
	// corrupt; what came before the damage is used.
	ErrDamaged = errors.New("damaged or cut short")
	// ErrFormat notes content that its name promises to be packed but is not, or
	// that is packed in a way this package does not read.
	ErrFormat = errors.New("format not understood")
	// ErrChanged refuses to read an archive that was changed since the scan.
	ErrChanged = errors.New("file was changed since the scan")
)

// Problem is something that was refused or could not be read while the scan continued.
type Problem struct {
	Name string // where, in the form of File.Name
	Err  error  // why; wraps one of the reasons above or an error of the system
}

// Error returns "name: cause"; a name with unprintable characters is quoted.
func (p *Problem) Error() string { return printable(p.Name) + ": " + p.Err.Error() }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// errEnds is [io.ErrUnexpectedEOF] with a text for users.
var errEnds error = endsEarly{}

type endsEarly struct{}

func (endsEarly) Error() string        { return "it ends too early" }
func (endsEarly) Is(target error) bool { return target == io.ErrUnexpectedEOF }

// damage marks the error of a decoder, once.
func damage(err error) error {
	switch {
	case errors.Is(err, ErrDamaged) || errors.Is(err, ErrFormat) || errors.Is(err, ErrTooMuch):
		return err
	case errors.Is(err, xz.ErrMemlimit):
		return fmt.Errorf("%w: xz dictionary of more than %d bytes", ErrFormat, maxWindow)
	case errors.Is(err, xz.ErrOptions) || errors.Is(err, xz.ErrUnsupportedCheck):
		return fmt.Errorf("%w: %w", ErrFormat, err)
	case errors.Is(err, xz.ErrBuf):
		err = fmt.Errorf("%w: %w", err, errEnds)
	case err == io.ErrUnexpectedEOF:
		err = errEnds
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// printable returns a name without control characters, cut to a length that fits a message.
func printable(name string) string {
	const most = 512
	if len(name) > most {
		name = name[:most] + "..."
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return strconv.Quote(name)
		}
	}
	return name
}
