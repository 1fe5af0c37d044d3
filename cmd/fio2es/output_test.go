package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fio2es/fio2es/internal/query"
)

// only checks that a folder has one file, with this text.
func only(t *testing.T, name, want string) {
	t.Helper()
	text, err := os.ReadFile(name)
	entries, _ := os.ReadDir(filepath.Dir(name))
	if err != nil || string(text) != want || len(entries) != 1 {
		t.Errorf("%q, %v, in %v", text, err, entries)
	}
}

// TestWriteFile: if the disk is full in the middle, the old file stays, and there is no other file beside it.
func TestWriteFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "report.html")
	writeFile := newEnv(nil, io.Discard, io.Discard).writeOutput
	full := func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		return &fs.PathError{Op: "write", Path: name, Err: syscall.ENOSPC}
	}
	whole := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	if err := writeFile(name, full); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a part is there: %v", err)
	}
	check(t, writeFile(name, whole("old")))
	check(t, os.Chmod(name, 0o640))
	if err := writeFile(name, full); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	only(t, name, "old")
	check(t, writeFile(name, whole("new")))
	only(t, name, "new")
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	link := filepath.Join(t.TempDir(), "link.html")
	check(t, os.Symlink(name, link))
	check(t, writeFile(link, whole("by a link")))
	only(t, name, "by a link")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if err := writeFile("/dev/full", whole("x")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("/dev/full: %v", err)
	}
	if info, err := os.Stat("/dev/full"); err != nil || info.Mode().IsRegular() {
		t.Errorf("/dev/full is %v, %v", info.Mode(), err)
	}
}

// TestReplaceFile: the old file stays until the new one is complete.
func TestReplaceFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name, half, e := filepath.Join(dir, "run.csv"), errors.New("half"), newEnv(nil, io.Discard, io.Discard)
	for _, c := range []struct {
		text string
		err  error
		want string
	}{
		{"first", nil, "first"},
		{"broken", half, "first"},
		{"second", nil, "second"},
		{"broken", query.RunError{Err: half}, "second"},
	} {
		err := e.writeOutput(name, func(w io.Writer) error {
			io.WriteString(w, c.text)
			return c.err
		})
		got, _ := os.ReadFile(name)
		if !errors.Is(err, c.err) || string(got) != c.want {
			t.Errorf("%s: %v, then there is %q", c.text, err, got)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if err := e.writeOutput(filepath.Join(dir, "none", "x"), nil); err == nil {
		t.Error("no folder, no error")
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

// TestStdoutFails: if the answer could not be written, the exit code is not 0. If the reader closes the pipe, the
// command ends without a message.
func TestStdoutFails(t *testing.T) {
	t.Parallel()
	archive := filepath.Join("..", "..", "examples", "cbt-archive")
	settings := ownHistory(t)
	var errs bytes.Buffer
	if code := run(t.Context(), []string{"--config", settings, "ingest", archive}, nil, io.Discard, &errs); code != 0 {
		t.Fatal(code, errs.String())
	}
	for _, args := range [][]string{
		{"--help"}, {"version"}, {"config"}, {"runs"}, {"runs", "--format", "csv"}, {"percentiles", "latest"}, {"percentiles", "--total", "--format", "csv", "latest"}, {"heatmap", "latest"},
		{"heatmap", "--format", "csv", "latest"}, {"rank", "latest", "--within", "1ms"}, {"compare", "latest", "latest"}, {"sla", "latest", "--rule", "iops > 0"}, {"ingest", "--dry-run", archive},
		{"ingest", "--output", "-", archive}, {"push", "--output", "-"}, {"export", "latest", "--as", "hdrlog"}, {"report", "latest", "-o", "-"}, {"setup", "--print"}, {"kibana", "export"}, {"completion", "bash"},
	} {
		for _, c := range []struct {
			err   error
			code  int
			lines int
		}{{syscall.EBADF, exitFailed, 1}, {syscall.ENOSPC, exitFailed, 1}, {syscall.EPIPE, 0, 0}} {
			var errs bytes.Buffer
			code := run(t.Context(), append([]string{"--config", settings}, args...), nil, failing{&fs.PathError{Op: "write", Path: "/dev/stdout", Err: c.err}}, &errs)
			if lines := strings.Count(errs.String(), "error: "); code != c.code || lines < c.lines || c.lines == 0 && lines > 0 {
				t.Errorf("%q, %v: exit code %d\n%s", args, c.err, code, &errs)
			}
		}
	}
}

// TestBrokenPipes: only the pipe of stdout may be closed. A connection that breaks is a failure, also when stdout is
// closed.
func TestBrokenPipes(t *testing.T) {
	t.Parallel()
	broken := &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
	for name, isRead := range map[string]bool{"stdout is open": true, "stdout is closed": false} {
		var errs bytes.Buffer
		stdout := io.Discard
		if !isRead {
			stdout = failing{&fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}}
		}
		e := newEnv(nil, stdout, &errs)
		_, unread := fmt.Fprintln(e.stdout, "text")
		if code := e.conclude(fmt.Errorf("reach elasticsearch: %w", errors.Join(broken, unread))); code != exitFailed || !strings.Contains(errs.String(), "broken pipe") {
			t.Errorf("%s: exit code %d, %q", name, code, &errs)
		}
		if code := e.conclude(unread); code != 0 {
			t.Errorf("%s: exit code %d without the connection", name, code)
		}
	}
}
