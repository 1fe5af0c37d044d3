package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/s2"
)

// errSpool marks failures of the spool itself, such as a full disk. They stop a scan, because nothing more can be kept.
var errSpool = errors.New("spool failed")

// spoolBlock is the block of S2 in the spool. It is short, because all logs of a run are read side by side, and each
// reader has two blocks in memory.
const spoolBlock = 16 << 10

// spool keeps contents that can be read only once in one temporary file, compressed with S2: logs of fio have 10 to 20
// times the bytes. One goroutine adds contents. Any number of goroutines may read what was added.
type spool struct {
	dir    string
	sums   bool     // see [Options.Sums]
	file   *os.File // made with the first content
	linked string   // name of file if it could not be removed while open
	end    int64    // bytes in the file
	pack   *s2.Writer
}

// kept is a content that the spool keeps.
type kept struct {
	*io.SectionReader        // of the file; nil before it was added
	size              int64  // bytes, unpacked
	sum               uint64 // their XXH64, if the spool makes it
}

// add reads all of r and keeps it as k. isRaw says that it is not compressed. cut is the error that ended r early: the
// content before it is kept. err is a failure of the spool.
func (s *spool) add(k *kept, r io.Reader, isRaw bool) (cut, err error) {
	if err := s.make(); err != nil {
		return nil, fmt.Errorf("%w: %w", errSpool, err)
	}
	start, in := s.end, &spoolInput{r: r, kept: k}
	if s.sums {
		in.sum = xxhash.New()
	}
	if isRaw {
		_, err = io.Copy(spoolEnd{s}, in)
	} else {
		s.pack.Reset(spoolEnd{s})
		_, err = s.pack.ReadFrom(in)
		err = errors.Join(err, s.pack.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSpool, err)
	}
	k.SectionReader = io.NewSectionReader(s.file, start, s.end-start)
	if s.sums {
		k.sum = in.sum.Sum64()
	}
	return in.cut, nil
}

// spoolInput reads a content and counts it. An error of the content is its end, so all other errors are the spool's.
type spoolInput struct {
	r    io.Reader
	kept *kept
	sum  *xxhash.Digest // nil: none
	cut  error
}

func (in *spoolInput) Read(p []byte) (int, error) {
	n, err := in.r.Read(p)
	if in.sum != nil {
		_, _ = in.sum.Write(p[:n]) // never fails
	}
	if in.kept.size += int64(n); err != nil && err != io.EOF {
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
	s.file, s.pack = f, s2.NewWriter(nil, s2.WriterBlockSize(spoolBlock), s2.WriterConcurrency(2))
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

// spoolReaders are used again, because each has two blocks in memory.
var spoolReaders = sync.Pool{New: func() any {
	return s2.NewReader(nil, s2.ReaderMaxBlockSize(spoolBlock), s2.ReaderAllocBlock(spoolBlock), s2.ReaderIgnoreCRC())
}}

// unpacked returns an opener of a content that was compressed.
func (k *kept) unpacked(r *reader) (io.Reader, error) {
	u := &spoolReader{spoolReaders.Get().(*s2.Reader)}
	u.Reset(io.NewSectionReader(k, 0, k.Size()))
	r.closeLater(u)
	return u, nil
}

type spoolReader struct{ *s2.Reader }

// Close gives the reader back.
func (u *spoolReader) Close() error {
	if u.Reader != nil {
		u.Reset(nil)
		spoolReaders.Put(u.Reader)
		u.Reader = s2.NewReader(errReader{os.ErrClosed})
	}
	return nil
}

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
