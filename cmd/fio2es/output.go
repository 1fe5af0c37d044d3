package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// outFile is a file that replaces the one of its name when it is complete: after an error, such as a
// full disk, the old file is unchanged. What is not a regular file, such as a pipe, is written in place.
type outFile struct {
	*os.File
	name string // empty: it is written in place
}

// createFile creates a file. Its close completes it.
func createFile(name string) (*outFile, error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // a link stays, and its target is replaced
	}
	mode := os.FileMode(0o666)
	switch info, err := os.Stat(name); {
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		return &outFile{File: f}, err
	case err == nil:
		old, err := os.OpenFile(name, os.O_WRONLY, 0) // a file that may not be written may not be replaced
		if err != nil {
			return nil, err
		}
		old.Close()
		mode = info.Mode().Perm()
	}
	for i := range 100 {
		part := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.%d.%d.part", filepath.Base(name), os.Getpid(), i))
		f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			if path := (*os.PathError)(nil); errors.As(err, &path) {
				path.Op, path.Path = "create", name // which the user knows
			}
			return nil, err
		}
		return &outFile{f, name}, nil
	}
	return nil, fmt.Errorf("create %s: 100 unfinished files (.%s.*.part) are beside it: remove them", name, filepath.Base(name))
}

// close completes the file. If failed is not nil, the file of its name stays as it was.
func (f *outFile) close(failed error) error {
	if f.name == "" {
		return f.Close()
	}
	err := failed
	if err == nil {
		err = f.Sync() // a full disk may say so only here
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.File.Name(), f.name)
	}
	if err != nil {
		os.Remove(f.File.Name())
	}
	if failed != nil {
		return nil // the caller has it
	}
	return err
}

// writeOutput writes what write writes to stdout, where the name is empty or "-", or replaces a file by it. If write
// fails, the file stays as it was, unless the error only says what is not in it.
func (e *env) writeOutput(name string, write func(io.Writer) error) error {
	if name == "" || name == "-" {
		return write(e.stdout)
	}
	f, err := createFile(name)
	if err != nil {
		return err
	}
	err = write(f)
	failed := err
	if errors.Is(err, errLeftOut) || errors.As(err, new(partialError)) {
		failed = nil
	}
	return errors.Join(err, f.close(failed))
}

// answerWriter is a writer that keeps the first error, so that a command that wrote nothing of
// its answer cannot end well, wherever the error was seen.
type answerWriter struct {
	w   io.Writer
	err error
}

// Write implements [io.Writer].
func (w *answerWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.w.Write(p)
	w.err = err
	return n, err
}
