package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// errSpool marks failures of the spool itself, such as a full disk; they stop a
// scan, because nothing more can be kept.
var errSpool = errors.New("spool failed")

const (
	// spoolPart is how much memory the spool takes at a time.
	spoolPart = 256 << 10
	// chunkLen is how much is read before it is packed. What is longer is packed by another goroutine
	// while the next chunk is decoded. With short chunks the goroutines wait for each other.
	chunkLen = 16 * packBlock
	// chunksAhead is how many chunks are between the two.
	chunksAhead = 3
)

// chunks has buffers of what is read and not packed yet.
var chunks = sync.Pool{New: func() any { return new([chunkLen]byte) }}

// spool keeps what is read only once: in memory first, and in one temporary file after
// that. One goroutine adds; what was added may be read by many.
type spool struct {
	dir    string
	memory int64    // bytes that are kept in memory
	codec  Codec    // nil: none
	parts  [][]byte // of spoolPart each, made when they are written to
	file   *os.File // has what follows
	linked string   // name of file if it could not be removed while open
	end    int64    // bytes kept
}

// packer appends the beginning of text to dst, as one block. It returns how many bytes of text these are.
type packer func(dst, text []byte) (packed []byte, n int)

// add keeps all of r, block by block. It returns what was
// kept, how many bytes that was unpacked, what ended r early (it is kept up to there), and a
// failure of the spool.
func (s *spool) add(r io.Reader, pack packer) (kept *io.SectionReader, size int64, cut, err error) {
	start := s.end
	chunk := chunks.Get().(*[chunkLen]byte)
	n, cut := readFull(r, chunk[:])
	if size = int64(n); cut != nil {
		err = s.keep(chunk[:n], pack)
		chunks.Put(chunk)
	} else {
		var more int64
		more, cut, err = s.addLong(chunk, r, pack)
		size += more
	}
	if err != nil {
		return nil, 0, nil, fmt.Errorf("%w: %w", errSpool, err)
	}
	if cut == io.EOF {
		cut = nil
	}
	return io.NewSectionReader(s, start, s.end-start), size, cut, nil
}

// addLong is add for the first chunk and what follows it.
func (s *spool) addLong(first *[chunkLen]byte, r io.Reader, pack packer) (size int64, cut, err error) {
	type part struct {
		chunk *[chunkLen]byte
		n     int
	}
	parts, done := make(chan part, chunksAhead), make(chan error, 1)
	go func() {
		for p := range parts {
			err := s.keep(p.chunk[:p.n], pack)
			chunks.Put(p.chunk)
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for p := (part{first, chunkLen}); ; {
		var next part
		if cut == nil { // what follows the last line may be the beginning of the next one
			end := endOfLines(p.chunk[:p.n])
			next.chunk = chunks.Get().(*[chunkLen]byte)
			next.n = copy(next.chunk[:], p.chunk[end:p.n])
			p.n = end
		}
		select {
		case parts <- p:
		case err := <-done: // the rest need not be read
			return 0, nil, err
		}
		if cut != nil {
			close(parts)
			return size, cut, <-done
		}
		var n int
		n, cut = readFull(r, next.chunk[next.n:])
		next.n += n
		size += int64(n)
		p = next
	}
}

func (s *spool) keep(chunk []byte, pack packer) error {
	packed := packs.Get().(*[mostPacked]byte)
	defer packs.Put(packed)
	for len(chunk) > 0 {
		block, n := pack(packed[:0], chunk)
		if err := s.append(block); err != nil {
			return err
		}
		chunk = chunk[n:]
	}
	return nil
}

// readFull fills buf, as far as r goes.
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
