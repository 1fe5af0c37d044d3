package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

const (
	// smallMember is what is compressed in one go.
	smallMember = 256 << 10
	// spoolWindow bounds the memory of each reader of a spooled file, of which
	// callers hold hundreds open; logs repeat themselves well within it.
	spoolWindow = 256 << 10
)

// errSpool marks failures of the spool itself, such as a full disk; they stop a
// scan, as nothing more can be kept.
var errSpool = errors.New("spool failed")

// spool keeps what could be read only once: each member compressed on its own, in
// memory first and in one temporary file after that. One goroutine writes; what
// it has written may be read by many.
type spool struct {
	dir     string
	memory  int64 // bytes that may still be kept in memory
	file    *os.File
	end     int64  // length of file
	linked  string // name of file if it could not be removed while open
	enc     *zstd.Encoder
	in, out []byte       // scratch
	entry   bytes.Buffer // the entry being written, while it fits in memory
	spilled bool         // the entry being written goes to file
	start   int64        // and begins here
}

// add compresses all of r. It returns where the bytes are, how many they are
// unpacked, what ended r early (they are kept up to there), and a failure of the
// spool.
func (s *spool) add(r io.Reader) (at io.ReaderAt, packed, size int64, cut, err error) {
	if err := s.begin(); err != nil {
		return nil, 0, 0, nil, err
	}
	n, cut := fill(r, s.in)
	if cut == nil { // more to come
		size, cut, err = s.stream(r, n)
	} else {
		size = int64(n)
		s.out = s.enc.EncodeAll(s.in[:n], s.out[:0])
		_, err = s.Write(s.out)
	}
	if cut == io.EOF {
		cut = nil
	}
	if err != nil {
		return nil, 0, 0, cut, fmt.Errorf("%w: %w", errSpool, err)
	}
	at, packed = s.finish()
	return at, packed, size, cut, nil
}

// fill reads until buf is full or r ends, and says how r ended. Other than
// io.ReadFull it leaves io.ErrUnexpectedEOF to those who mean it.
func fill(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var more int
		more, err = r.Read(buf[n:])
		n += more
	}
	return n, err
}

// stream compresses the n bytes in s.in and the rest of r.
func (s *spool) stream(r io.Reader, n int) (size int64, cut, err error) {
	s.enc.Reset(s)
	for {
		if _, err := s.enc.Write(s.in[:n]); err != nil {
			return size, cut, err
		}
		size += int64(n)
		if cut != nil {
			break
		}
		n, cut = r.Read(s.in)
	}
	return size, cut, s.enc.Close()
}

// addRaw keeps all of r as it is.
func (s *spool) addRaw(r io.Reader) (at io.ReaderAt, size int64, cut, err error) {
	if err := s.begin(); err != nil {
		return nil, 0, nil, err
	}
	for cut == nil {
		var n int
		n, cut = r.Read(s.in)
		if _, err := s.Write(s.in[:n]); err != nil {
			return nil, 0, cut, fmt.Errorf("%w: %w", errSpool, err)
		}
	}
	if cut == io.EOF {
		cut = nil
	}
	at, size = s.finish()
	return at, size, cut, nil
}

// begin makes ready for one entry.
func (s *spool) begin() error {
	s.entry.Reset()
	s.spilled = false
	if s.enc != nil {
		return nil
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(spoolWindow),
		zstd.WithZeroFrames(true))
	if err != nil {
		return fmt.Errorf("%w: %w", errSpool, err)
	}
	s.enc, s.in = enc, make([]byte, smallMember)
	return nil
}

// Write takes stored bytes of the entry that was begun; it is for the encoder.
func (s *spool) Write(p []byte) (int, error) {
	if !s.spilled && int64(s.entry.Len()+len(p)) <= s.memory {
		return s.entry.Write(p)
	}
	if !s.spilled {
		s.spilled, s.start = true, s.end
		if err := s.append(s.entry.Bytes()); err != nil {
			return 0, err
		}
	}
	return len(p), s.append(p)
}

func (s *spool) append(p []byte) error {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "spool-*")
		if err != nil {
			return err
		}
		s.file = f
		if os.Remove(f.Name()) != nil { // not every system lets go of an open file
			s.linked = f.Name()
		}
	}
	n, err := s.file.WriteAt(p, s.end)
	s.end += int64(n)
	return err
}

// finish returns where the entry is and its length.
func (s *spool) finish() (io.ReaderAt, int64) {
	if s.spilled {
		n := s.end - s.start
		return io.NewSectionReader(s.file, s.start, n), n
	}
	kept := bytes.Clone(s.entry.Bytes())
	s.memory -= int64(len(kept))
	return bytes.NewReader(kept), int64(len(kept))
}

// doneWriting frees what only writing needs.
func (s *spool) doneWriting() {
	s.enc, s.in, s.out, s.entry = nil, nil, nil, bytes.Buffer{}
}

// close removes the temporary file.
func (s *spool) close() error {
	s.doneWriting()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.linked != "" {
		err = errors.Join(err, os.Remove(s.linked))
	}
	if err != nil {
		return fmt.Errorf("remove spool: %w", err)
	}
	return nil
}
