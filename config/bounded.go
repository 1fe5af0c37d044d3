package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// A file above these sizes, in bytes, is refused. Real files are far smaller.
const (
	mostSettings     = 128 << 10 // as in safeyaml
	mostSecret       = 64 << 10
	mostCertificates = 4 << 20 // the authorities of a whole system are about 250 KB
)

// readRegular reads a regular file of at most the given number of bytes. It refuses other files, because a FIFO would
// wait for a writer and /dev/zero has no end. Errors begin with the name of the file.
func readRegular(name string, most int64) ([]byte, error) {
	text, err := readAtMost(name, most)
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

func readAtMost(name string, most int64) ([]byte, error) {
	// The check comes before opening, because opening alone may move a tape.
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, errIrregular
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // O_NONBLOCK: does not wait for a FIFO
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errIrregular
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > most {
		return nil, fmt.Errorf("more than %d bytes", most)
	}
	return text, nil
}

var errIrregular = errors.New("not a regular file")
