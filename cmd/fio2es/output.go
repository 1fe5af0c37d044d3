package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/fio2es/fio2es/internal/junit"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline/layout"
	"github.com/fio2es/fio2es/pipeline/source"
)

// createFile creates a file that is to be renamed to target when it is complete. If the name is not a regular file but, for
// example, a pipe, target is empty: it is written in place.
func createFile(name string) (f *os.File, target string, err error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // replace the target of a link, and not the link
	}
	mode := os.FileMode(0o666)
	switch info, err := os.Stat(name); {
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		return f, "", err
	case err == nil:
		old, err := os.OpenFile(name, os.O_WRONLY, 0) // a file that must not be written must not be replaced
		if err != nil {
			return nil, "", err
		}
		old.Close()
		if isDatabase(name) {
			return nil, "", usagef("%s is a history, or another database: name another file for the output", name)
		}
		mode = info.Mode().Perm()
	}
	part := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+rand.Text()+".part") // [os.CreateTemp] ignores the mode
	f, err = os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if path := (*os.PathError)(nil); errors.As(err, &path) {
		path.Op, path.Path = "create", name // name the file that the user knows in errors
	}
	return f, name, err
}

// isDatabase reports whether a file is a database of SQLite, which output must not replace.
func isDatabase(name string) bool {
	const magic = "SQLite format 3\x00"
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == magic
}

// isNoInput returns an error if a file is one of those that the command reads, because the output would replace it.
func (e *env) isNoInput(name string) error {
	target, err := os.Stat(name)
	if err != nil || !target.Mode().IsRegular() {
		return nil
	}
	paths := slices.DeleteFunc(slices.Clone(e.flags.Args()), func(arg string) bool { _, err := os.Stat(arg); return err != nil })
	if len(paths) == 0 {
		return nil
	}
	isInput := false
	_, err = source.List(context.Background(), paths, layout.Options(), func(_ string, info fs.FileInfo) {
		isInput = isInput || os.SameFile(info, target)
	})
	if err == nil && isInput { // an error is such as of a pipe, which is not replaced
		return usagef("--output %s: it is read by this command, and would be replaced: name another file", name)
	}
	return nil
}

// writeOutput passes stdout to write if name is empty or "-". Otherwise the output replaces the file. If write
// fails, the old file stays.
func (e *env) writeOutput(name string, write func(io.Writer) error) error {
	if name == "" || name == "-" {
		return write(e.stdout)
	}
	if err := e.isNoInput(name); err != nil {
		return err
	}
	f, target, err := createFile(name)
	if err != nil {
		return err
	}
	if err = write(f); target == "" {
		return errors.Join(err, f.Close())
	}
	if err == nil {
		err = f.Sync() // a full disk may be reported only here
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), target)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// formatJUnit is the format of a test report, which commands that check something write instead of their table.
const formatJUnit = "junit"

// Formats of these commands, and their help.
var checkFormats = append(slices.Clone(table.Formats), formatJUnit)

const checkUsage = tableUsage + "; junit: a test report"

type checks struct {
	format string
	junit.Suite
}

// table returns where the command's table is written, and its format. For a test report the table is discarded.
func (c *checks) table(w io.Writer) (io.Writer, string) {
	if c.format == formatJUnit {
		return io.Discard, table.Text
	}
	return w, c.format
}

// write writes the test report. Below a table in Markdown it lists the checks that did not pass. In other formats
// these are only on stderr.
func (c *checks) write(w io.Writer) error {
	if c.format == formatJUnit {
		return junit.Write(w, c.Suite)
	}
	if c.format != table.Markdown || len(c.Cases) == 0 {
		return nil
	}
	var notes []string
	count := [...]int{junit.Passed: 0, junit.Failed: 0, junit.Errored: 0, junit.Skipped: 0}
	for _, one := range c.Cases {
		count[one.Result]++
		if one.Result != junit.Passed && !slices.Contains(notes, one.Text) {
			notes = append(notes, one.Text)
		}
	}
	below := table.New[junit.Case](w, table.Markdown, nil)
	if err := below.End(fmt.Sprintf("%s: %d passed, %d failed, %d not checked, %d undecided", unit.Plural(len(c.Cases), "check"),
		count[junit.Passed], count[junit.Failed], count[junit.Errored], count[junit.Skipped])); err != nil {
		return err
	}
	return below.End(notes...)
}
