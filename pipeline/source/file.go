package source

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Set is the result of a scan. It owns the archives and the spool from which its files are read.
type Set struct {
	// Files are in the order of the arguments and, below each, of their paths in
	// natural order: digits compare as numbers, folders before their siblings.
	Files []*File
	// Problems has what was refused or could not be read, in the order of the scan.
	Problems []*Problem
	// Unread are the folders and files on disk that could not be opened, in the form of File.Name, in the order met.
	Unread []string

	budget    *Budget
	unpacking sync.Mutex // held while the spool is written after the scan
	spool     spool
	archives  []*os.File // members are read in place
	closed    atomic.Bool
	until     atomic.Pointer[context.Context]
}

// Budget returns the budget of the scan.
func (s *Set) Budget() *Budget { return s.budget }

// Until makes all readers, also open ones, fail with the error of ctx after ctx has ended. So code that reads gigabytes
// does not have to check ctx. Until with the background context removes the limit.
func (s *Set) Until(ctx context.Context) { s.until.Store(&ctx) }

// ended is the error of the context that readers end with.
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

	stored
}

// stored says where the content of a file is.
type stored struct {
	name   string // see [File.Name]
	disk   string // see [File.Disk]
	open   opener
	kept   *kept // nil: not in the spool
	packed bool  // read out of an archive, a compressed file or a pipe
	torn   bool  // see [File.IsFromTorn]
	set    *Set
}

// Name returns the full name for messages. It is the path on disk, and after a "!" the path inside the archive, as in
// "results.tar.zst!inner.tar/00000000/x.log". It is the name as found, so it includes a compression suffix.
func (f *File) Name() string { return printable(f.name) }

// Disk returns the name of the file on disk that has the content, as in [Listing]. For a member of an archive, that is
// the archive. It is "" for a pipe.
func (f *File) Disk() string { return f.disk }

// State identifies the content of a file on disk by what the system knows of it. It changes with the content.
type State struct {
	Size    int64
	ModTime time.Time
}

// State returns the state of the file of [File.Disk]. It is zero if there is no such file.
func (f *File) State() State {
	if f.disk == "" {
		return State{}
	}
	info, err := os.Stat(f.disk)
	if err != nil {
		return State{}
	}
	return State{info.Size(), info.ModTime()}
}

// IsFromTorn reports whether an archive that the file comes from is damaged or cut short, so that other files of it may
// be missing.
func (f *File) IsFromTorn() bool { return f.torn }

// Budget returns the budget of the scan. It is nil for a file that no scan found.
func (f *File) Budget() *Budget {
	if f.set == nil {
		return nil
	}
	return f.set.budget
}

// IsPacked reports whether the content is read out of an archive, a compressed file or a pipe.
func (f *File) IsPacked() bool { return f.packed }

// Sum returns the size and the XXH64 of the readable part of the content. ok is false if the scan did not compute them
// ([Options.Sums]). Then the caller has to read the content.
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
		if err != nil {
			return nil, fmt.Errorf("read the end of %s: %w", f.Name(), err)
		}
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

// opener begins to read a content. It adds to the reader what must be closed with it.
type opener func(*reader) (io.Reader, error)

// section returns an opener of the n bytes from off.
func section(at io.ReaderAt, off, n int64) opener {
	return func(*reader) (io.Reader, error) { return io.NewSectionReader(at, off, n), nil }
}

// decompressed returns an opener of the content of a compressed stream of kind k.
func (s *Set) decompressed(k kind, packed opener) opener {
	m := &meter{budget: s.budget}
	return func(r *reader) (io.Reader, error) {
		in, err := packed(r)
		if err != nil {
			return nil, err
		}
		from := &counted{Reader: in}
		d, err := decode(k, from)
		if err != nil {
			return nil, err
		}
		r.closeLater(d)
		return m.reader(d, from), nil
	}
}

// unpackedOnce is decompressed for codecs whose decoders take much memory. The first reading unpacks all of the content
// into the spool, one stream at a time. So open files need no decoders.
func (s *Set) unpackedOnce(k kind, packed body) body {
	once, unpack := &kept{}, s.decompressed(k, packed.open)
	var cut error // what ended it early
	open := func(r *reader) (io.Reader, error) {
		s.unpacking.Lock()
		defer s.unpacking.Unlock()
		if once.SectionReader == nil {
			if s.closed.Load() {
				return nil, fs.ErrClosed
			}
			all := &reader{set: s}
			defer all.Close()
			var err error
			if all.r, err = unpack(all); err != nil {
				return nil, err
			}
			var now kept
			ends, err := s.spool.add(&now, all)
			if err := cmp.Or(s.ended(), err); err != nil { // what was kept is not all
				return nil, err
			}
			*once, cut = now, ends
		}
		if r.end == nil {
			r.end = cut
		}
		return once.open(r)
	}
	return body{open, once, packed.cut}
}

// zipMember returns an opener of a member that the directory of its zip lists.
func (s *Set) zipMember(f *zip.File) opener {
	m := &meter{budget: s.budget}
	return func(r *reader) (io.Reader, error) {
		in, err := f.Open()
		if err != nil {
			return nil, err
		}
		r.closeLater(in)
		return m.reader(in, nil), nil // deflate makes at most 1,032 bytes of one
	}
}

// reader is one pass over a content.
type reader struct {
	name    string
	set     *Set
	r       io.Reader
	end     error       // instead of io.EOF
	closers []io.Closer // last opened, first closed
}

func (r *reader) closeLater(c io.Closer) { r.closers = append(r.closers, c) }

// Read implements io.Reader. Errors do not have the file's name, because callers add it.
func (r *reader) Read(p []byte) (int, error) {
	if r.r == nil {
		return 0, fs.ErrClosed
	}
	if err := r.set.ended(); err != nil {
		return 0, err
	}
	n, err := r.r.Read(p)
	var named *fs.PathError
	switch {
	case err == io.EOF && r.end != nil:
		err = r.end
	case errors.As(err, &named):
		err = named.Err
	}
	return n, err
}

// Close implements io.Closer. A second Close does nothing.
func (r *reader) Close() error {
	var first error
	for i := len(r.closers) - 1; i >= 0; i-- {
		if err := r.closers[i].Close(); err != nil && first == nil {
			first = fmt.Errorf("close %s: %w", r.name, err)
		}
	}
	r.closers, r.r = nil, nil
	return first
}
