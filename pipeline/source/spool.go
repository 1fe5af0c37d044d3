package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// errSpool marks failures of the spool itself, such as a full disk. They stop a scan, because nothing more can be kept.
var errSpool = errors.New("no room for what is unpacked: TMPDIR names the folder for it")

// spool keeps contents that can be read only once, in one temporary file. It does not compress them: that would take
// longer than the rest of reading (S2, blocks of 64 KB: 1.3 times as long in all). One goroutine adds contents. Any number
// of goroutines may read what was added.
type spool struct {
	dir    string
	sums   bool     // see [Options.Sums]
	file   *os.File // made with the first content
	linked string   // name of file if it could not be removed while open
	end    int64    // bytes in the file
}

// kept is a content that the spool keeps.
type kept struct {
	*io.SectionReader        // of the file; nil before it was added
	sum               uint64 // its XXH64, if the spool makes it
}

// add reads all of r and keeps it as k. cut is the error that ended r early: the content before it is kept. err is a
// failure of the spool.
func (s *spool) add(k *kept, r io.Reader) (cut, err error) {
	if err := s.make(); err != nil {
		return nil, fmt.Errorf("%w: %w", errSpool, err)
	}
	start, in := s.end, &spoolInput{r: r}
	if s.sums {
		in.sum = xxhash.New()
	}
	buf := spoolBuffers.Get().(*[256 << 10]byte)
	defer spoolBuffers.Put(buf)
	if _, err := io.CopyBuffer(spoolEnd{s}, in, buf[:]); err != nil {
		return nil, fmt.Errorf("%w: %w", errSpool, err)
	}
	k.SectionReader = io.NewSectionReader(s.file, start, s.end-start)
	if s.sums {
		k.sum = in.sum.Sum64()
	}
	return in.cut, nil
}

var spoolBuffers = sync.Pool{New: func() any { return new([256 << 10]byte) }}

// spoolInput reads a content. An error of the content is its end, so all other errors are the spool's.
type spoolInput struct {
	r   io.Reader
	sum *xxhash.Digest // nil: none
	cut error
}

func (in *spoolInput) Read(p []byte) (int, error) {
	n, err := in.r.Read(p)
	if in.sum != nil {
		_, _ = in.sum.Write(p[:n]) // never fails
	}
	if err != nil && err != io.EOF {
		in.cut, err = err, io.EOF
	}
	return n, err
}

// make makes the temporary file.
func (s *spool) make() error {
	if s.file != nil {
		return nil
	}
	f, err := os.CreateTemp(s.dir, "spool-*")
	if err != nil {
		return err
	}
	s.file = f
	if os.Remove(f.Name()) != nil { // not every system removes an open file
		s.linked = f.Name()
	}
	return nil
}

// spoolEnd appends to the file of a spool.
type spoolEnd struct{ *spool }

func (s spoolEnd) Write(p []byte) (int, error) {
	n, err := s.file.WriteAt(p, s.end)
	s.end += int64(n)
	return n, err
}

// open returns a reader of the content.
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
