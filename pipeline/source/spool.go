package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// errSpool marks failures of the spool itself, such as a full disk; they stop a
// scan, because nothing more can be kept.
var errSpool = errors.New("spool failed")

const (
	// spoolPart is how much memory the spool takes at a time.
	spoolPart = 256 << 10
	// chunkLen is how much is read before another goroutine packs it, while the next chunk is decoded. With short
	// chunks the goroutines spend their time on waking each other.
	chunkLen = 32 * packBlock
	// chunksAhead is how many chunks wait for packing at most.
	chunksAhead = 3
)

// chunks has buffers of what is read and not packed yet.
var chunks = sync.Pool{New: func() any { return new([chunkLen]byte) }}

// spool keeps contents that can be read only once: in memory first, then in one temporary file. One goroutine adds
// contents, and another one packs them. Any number of goroutines may read what is kept.
type spool struct {
	dir    string
	memory int64    // bytes that are kept in memory
	codec  Codec    // nil: none
	sums   bool     // see [Options.Sums]
	parts  [][]byte // of spoolPart each, made when they are written to
	file   *os.File // has the contents beyond memory
	linked string   // name of file if it could not be removed while open
	end    int64    // bytes kept

	queue chan chunk // chunks that are not packed yet; nil if no content was added
	done  chan error // why packing ended
}

// kept is a content that the spool keeps. It is complete after [spool.wait].
type kept struct {
	*io.SectionReader
	size int64  // bytes, unpacked
	sum  uint64 // their XXH64, if the spool makes it
}

// chunk is a part of a content. It ends with a line, if it has a complete one and is not the last chunk.
type chunk struct {
	text *[chunkLen]byte
	n    int
	last bool
	pack packer
	of   *kept
}

// packer appends the beginning of text to dst, as one block. It returns how many bytes of text these are.
type packer func(dst, text []byte) (packed []byte, n int)

// add reads all of r and keeps it as k, block by block. It returns the unpacked size. cut is the error that ended r
// early: the content before it is kept. err is a failure of the spool, perhaps with an earlier content.
func (s *spool) add(k *kept, r io.Reader, pack packer) (size int64, cut, err error) {
	if s.queue == nil {
		s.queue, s.done = make(chan chunk, chunksAhead), make(chan error, 1)
		go s.keepAll(s.queue, s.done)
	}
	newChunk := func() chunk { return chunk{text: chunks.Get().(*[chunkLen]byte), pack: pack, of: k} }
	for c := newChunk(); ; {
		var n int
		n, cut = readFull(r, c.text[c.n:])
		size += int64(n)
		c.n += n
		c.last = cut != nil
		var next chunk
		if !c.last {
			next = newChunk()
			end := endOfLines(c.text[:c.n])
			next.n = copy(next.text[:], c.text[end:c.n])
			c.n = end
		}
		select {
		case s.queue <- c:
		case err := <-s.done: // the rest need not be read
			s.done <- err
			return 0, nil, err
		}
		if c.last && cut == io.EOF {
			cut = nil
		}
		if c.last {
			return size, cut, nil
		}
		c = next
	}
}

// keepAll packs what comes out of the queue.
func (s *spool) keepAll(queue <-chan chunk, done chan<- error) {
	start, sum := s.end, xxhash.New()
	for c := range queue {
		if s.sums {
			_, _ = sum.Write(c.text[:c.n]) // never fails
		}
		c.of.size += int64(c.n)
		err := s.keep(c.text[:c.n], c.pack)
		chunks.Put(c.text)
		if err != nil {
			done <- fmt.Errorf("%w: %w", errSpool, err)
			return
		}
		if c.last {
			c.of.SectionReader, c.of.sum = io.NewSectionReader(s, start, s.end-start), sum.Sum64()
			start = s.end
			sum.Reset()
		}
	}
	done <- nil
}

// wait waits until all that was added is kept. It returns a failure of the spool.
func (s *spool) wait() error {
	if s.queue == nil {
		return nil
	}
	close(s.queue)
	s.queue = nil
	return <-s.done
}

func (s *spool) keep(text []byte, pack packer) error {
	packed := packs.Get().(*[mostPacked]byte)
	defer packs.Put(packed)
	for len(text) > 0 {
		block, n := pack(packed[:0], text)
		if err := s.append(block); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// readFull fills buf, or reads to the end of r.
func readFull(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var more int
		more, err = r.Read(buf[n:])
		n += more
	}
	return n, err
}

func (s *spool) append(p []byte) error {
	if s.parts == nil && s.memory > 0 { // all at once, because others read it
		s.parts = make([][]byte, (s.memory+spoolPart-1)/spoolPart)
	}
	for len(p) > 0 && s.end < s.memory {
		i, at := s.end/spoolPart, s.end%spoolPart
		if s.parts[i] == nil {
			s.parts[i] = make([]byte, min(spoolPart, s.memory-s.end))
		}
		n := copy(s.parts[i][at:], p)
		s.end += int64(n)
		p = p[n:]
	}
	if len(p) == 0 {
		return nil
	}
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "spool-*")
		if err != nil {
			return err
		}
		s.file = f
		if os.Remove(f.Name()) != nil { // not every system removes an open file
			s.linked = f.Name()
		}
	}
	n, err := s.file.WriteAt(p, s.end-max(s.memory, 0))
	s.end += int64(n)
	return err
}

// ReadAt implements io.ReaderAt for what was added.
func (s *spool) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && off < s.memory {
		more := copy(p[n:], s.parts[off/spoolPart][off%spoolPart:])
		n += more
		off += int64(more)
	}
	if n == len(p) {
		return n, nil
	}
	more, err := s.file.ReadAt(p[n:], off-max(s.memory, 0))
	return n + more, err
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
