package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// pack writes the files of a folder to an archive: sorted, without users, and all with the same time.
func pack(out, dir string, at time.Time) (err error) {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	switch {
	case strings.HasSuffix(out, ".zip"):
		z := zip.NewWriter(f)
		return errors.Join(each(dir, func(name string, mode fs.FileMode, _ int64) (io.Writer, error) {
			h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: at}
			h.SetMode(mode)
			return z.CreateHeader(h)
		}), z.Close())
	case strings.HasSuffix(out, ".tar.gz"):
		g, _ := gzip.NewWriterLevel(f, gzip.BestCompression)
		t := tar.NewWriter(g)
		return errors.Join(each(dir, func(name string, mode fs.FileMode, size int64) (io.Writer, error) {
			return t, t.WriteHeader(&tar.Header{Name: name, Mode: int64(mode.Perm()), Size: size, ModTime: at, Format: tar.FormatUSTAR})
		}), t.Close(), g.Close())
	}
	return fmt.Errorf("%s: want a name that ends in .tar.gz or .zip", out)
}

// each writes all files of a folder, in the order of their names, to the writers that add returns. The right to run
// a file is kept; other rights are the same for all files.
func each(dir string, add func(name string, mode fs.FileMode, size int64) (io.Writer, error)) error {
	return filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no file", file)
		}
		mode := fs.FileMode(0o644)
		if info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		to, err := add(path.Join(filepath.Base(dir), filepath.ToSlash(rel)), mode, info.Size())
		if err != nil {
			return err
		}
		in, err := os.Open(file)
		if err != nil {
			return err
		}
		defer in.Close()
		_, err = io.Copy(to, in)
		return err
	})
}

// compress replaces a file by its compressed form, without its name and time.
func compress(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := os.Create(name + ".gz")
	if err != nil {
		return err
	}
	g, _ := gzip.NewWriterLevel(f, gzip.BestCompression)
	_, err = g.Write(text)
	return errors.Join(err, g.Close(), f.Close(), os.Remove(name))
}
