package fiotest

import (
	"archive/tar"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// place is where the files of an archive are written.
type place interface {
	// put stores a file. data may be changed afterwards.
	put(name string, data []byte, modified time.Time) error
}

type dirPlace struct {
	root string
	made map[string]bool
}

func (p dirPlace) put(name string, data []byte, modified time.Time) error {
	path := filepath.Join(p.root, filepath.FromSlash(name))
	if dir := filepath.Dir(path); !p.made[dir] {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make folder of archive: %w", err)
		}
		p.made[dir] = true
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	if err := os.Chtimes(path, modified, modified); err != nil {
		return fmt.Errorf("date file of archive: %w", err)
	}
	return nil
}

// tarPlace stores files as entries of a tar stream.
type tarPlace struct{ w *tar.Writer }

func newTarPlace(w io.Writer) tarPlace { return tarPlace{tar.NewWriter(w)} }

func (p tarPlace) put(name string, data []byte, modified time.Time) error {
	h := &tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Mode: 0o644,
		ModTime: modified.Truncate(time.Second), Format: tar.FormatUSTAR,
	}
	if err := p.w.WriteHeader(h); err != nil {
		return fmt.Errorf("write archive: entry %s: %w", name, err)
	}
	if _, err := p.w.Write(data); err != nil {
		return fmt.Errorf("write archive: entry %s: %w", name, err)
	}
	return nil
}
