package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// errSpool marks failures of the spool itself, such as a full disk; they stop a
// scan, because nothing more can be kept.
var errSpool = errors.New("spool failed")

// spool keeps what is read only once: in memory first, and in one temporary file after
// that. One goroutine writes; what it has written may be read by many.
type spool struct {
	dir    string
	memory int64 // bytes that may still be kept in memory
	file   *os.File
	end    int64  // length of file
	linked string // name of file if it could not be removed while open

	block, entry []byte // scratch
}

// packer appends a block to dst.
type packer func(dst, block []byte) []byte

// add keeps all of r, block by block. It returns what was
// kept, how many bytes that was unpacked, what ended r early (it is kept up to there), and a
// failure of the spool.
func (s *spool) add(r io.Reader, pack packer) (kept *io.SectionReader, size int64, cut, err error) {
	if s.block == nil {
		s.block = make([]byte, packBlock)
	}
	s.entry = s.entry[:0]
	start, isInFile := s.end, false
	for cut == nil {
		var n int
		n, cut = readBlock(r, s.block)
		size += int64(n)
		s.entry = pack(s.entry, s.block[:n])
		if isInFile = isInFile || int64(len(s.entry)) > s.memory; !isInFile {
			continue
		}
		if err := s.append(s.entry); err != nil {
			return nil, 0, nil, fmt.Errorf("%w: %w", errSpool, err)
		}
		s.entry = s.entry[:0]
	}
	if cut == io.EOF {
		cut = nil
	}
	if isInFile {
		return io.NewSectionReader(s.file, start, s.end-start), size, cut, nil
	}
	s.memory -= int64(len(s.entry))
	return io.NewSectionReader(bytes.NewReader(bytes.Clone(s.entry)), 0, int64(len(s.entry))), size, cut, nil
}

// readBlock fills block, as far as r goes.
func readBlock(r io.Reader, block []byte) (n int, err error) {
	for n < len(block) && err == nil {
		var more int
		more, err = r.Read(block[n:])
		n += more
	}
	return n, err
}

// append writes to the temporary file.
func (s *spool) append(p []byte) error {
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
	n, err := s.file.WriteAt(p, s.end)
	s.end += int64(n)
	return err
}

// doneWriting frees what only add needs.
func (s *spool) doneWriting() { s.block, s.entry = nil, nil }

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
