package source

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/cespare/xxhash/v2"
)

// errSpool marks failures of the spool itself, such as a full disk. They stop a scan, because nothing more can be kept.
var errSpool = errors.New("no room for what is unpacked: TMPDIR names the folder for it")

// spool keeps contents that can be read only once, in one temporary file. It does not compress them: that would take
// longer than the rest of reading (S2, blocks of 64 KB: 1.3 times as long in all). One goroutine adds contents. Any number
// of goroutines may read what was added.
type spool struct {
	dir    string
	sums   bool     // contents are hashed
	file   *os.File // made with the first content
	linked string   // name of file if it could not be removed while open
	end    int64    // bytes in the file
	block  []byte   // is written next, to a multiple of its size: the system then keeps it as one piece, in a fifth less time
}

// kept is a content that the spool keeps.
type kept struct {
	*io.SectionReader        // of the file; nil before it was added
	sum               uint64 // its XXH64, if the spool has sums
}

// add reads all of r and keeps it as k. cut is the error that ended r early: the content before it is kept. err is a
// failure of the spool.
func (s *spool) add(k *kept, r io.Reader) (cut, err error) {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "spool-*")
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errSpool, err)
		}
		s.file, s.block = f, make([]byte, 256<<10)
		if os.Remove(f.Name()) != nil { // not every system removes an open file
			s.linked = f.Name()
		}
	}
	start, sum := s.end, xxhash.New()
	for cut == nil {
		block, n, more := s.block[s.end%int64(len(s.block)):], 0, 0
		for ; n < len(block) && cut == nil; n += more {
			more, cut = r.Read(block[n:])
		}
		if s.sums {
			_, _ = sum.Write(block[:n]) // never fails
		}
		if _, err := s.file.WriteAt(block[:n], s.end); err != nil {
			return nil, fmt.Errorf("%w: %w", errSpool, err)
		}
		s.end += int64(n)
	}
	if cut == io.EOF {
		cut = nil
	}
	k.SectionReader = io.NewSectionReader(s.file, start, s.end-start)
	k.sum = sum.Sum64()
	return cut, nil
}

func (k *kept) open(*reader) (io.Reader, error) { return io.NewSectionReader(k, 0, k.Size()), nil }

// close removes the temporary file.
func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	if s.linked != "" {
		err = errors.Join(err, os.Remove(s.linked))
	}
	if err != nil {
		return fmt.Errorf("remove spool: %w", err)
	}
	return nil
}

// body is a content that can be read any number of times.
type body struct {
	open opener
	size int64 // see [File].Size
	kept *kept // nil if it is read in place
	cut  error // why it ends too early; else nil
}

// opener begins to read a content. It adds to the reader what must be closed with it.
type opener func(*reader) (io.Reader, error)

// decompressed returns an opener of the content of a compressed stream of kind k, which is charged to budget.
func (s *Set) decompressed(budget *Budget, k kind, packed opener) opener {
	m := &meter{budget: budget}
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
		r.closers = append(r.closers, d)
		return &metered{meter: m, r: d, from: from}, nil
	}
}

// unpackedOnce is decompressed for codecs whose decoders take much memory. The first reading unpacks all of the content
// into the spool, one stream at a time. So open files need no decoders.
func (s *Set) unpackedOnce(budget *Budget, k kind, packed body) body {
	once, unpack := &kept{}, s.decompressed(budget, k, packed.open)
	var cut error // what ended it early
	open := func(r *reader) (io.Reader, error) {
		if !r.unpacks { // a stream in a stream: the outer one is being unpacked, which has locked
			s.unpacking.Lock()
			defer s.unpacking.Unlock()
		}
		if once.SectionReader == nil {
			if s.closed.Load() {
				return nil, fs.ErrClosed
			}
			all := &reader{set: s, unpacks: true}
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
	return body{open, -1, once, packed.cut}
}

// reader is one pass over a content.
type reader struct {
	name    string
	set     *Set
	r       io.Reader
	end     error       // instead of io.EOF
	unpacks bool        // it writes to the spool, so Set.unpacking is locked
	closers []io.Closer // last opened, first closed
}

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
