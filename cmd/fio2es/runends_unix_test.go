//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/record"
	"github.com/fio2es/fio2es/mapping"
)

type fullDisk struct{ ingest.Sink }

var errFull = errors.New("database or disk is full")

func (fullDisk) Finish(context.Context, *mapping.Run) error { return errFull }

// TestRunNotStored: a run that could not be stored after fio had ended is stored by the next ingest, which
// says why, and does not say that fio2es was killed.
func TestRunNotStored(t *testing.T) {
	t.Parallel()
	settings := ownHistory(t)
	var errs bytes.Buffer
	e := newEnv(nil, &bytes.Buffer{}, &errs)
	e.cfg.History = filepath.Join(filepath.Dir(settings), "history.db")
	e.cfg.Prefix = "fio2es"
	// so that the history works again
	callWith(t, settings, "ingest", filepath.Join("..", "..", "examples", "cbt-archive"))
	entry, err := e.folders().Begin(record.Entry{
		Name: "out", History: e.historyName(), Started: time.Now(), Note: "fio ended with exit code 1",
	})
	check(t, err)
	check(t, os.CopyFS(entry.Folder, os.DirFS(filepath.Join("..", "..", "testdata", "corpus", "status-interval"))))
	to, err := e.target(t.Context(), nil)
	check(t, err)
	full := ingest.Target{Sink: fullDisk{to.Sink}, Store: to.Store}
	if _, err := e.finish(t.Context(), full, nil, entry, record.Ending{}); !errors.Is(err, errFull) {
		t.Errorf("on a full disk: %v", err)
	}
	check(t, to.Store.Close())
	callWith(t, settings, "ingest", filepath.Join("..", "..", "examples", "cbt-archive"))
	listed := callWith(t, settings, "runs", "--format", "csv", "--columns", "archive,note", "--where", "archive="+filepath.Base(entry.Folder))
	if !strings.Contains(listed, ",fio ended with exit code 1\n") {
		t.Errorf("its note is not as it was:\n%s", listed)
	}
	if folders, _ := e.folders().Unfinished(); len(folders) > 0 {
		t.Errorf("not stored: %v", folders)
	}
}

// underFio returns the command fio2es run with the fake fio.
func underFio(t *testing.T) *exec.Cmd {
	t.Helper()
	corpus, err := filepath.Abs(filepath.Join("..", "..", "testdata", "corpus"))
	check(t, err)
	p := exec.Command("fio2es", "run", "--", "fio", "--name=rw")
	p.Env = append(os.Environ(), "CORPUS="+corpus, "XDG_DATA_HOME="+t.TempDir())
	return p
}

// TestRunUnread: the output of run is not read to its end, as with "| head". fio runs to its end, and its run is
// stored.
func TestRunUnread(t *testing.T) {
	t.Parallel()
	for _, unread := range []string{"stdout", "stderr", "both"} {
		t.Run(unread, func(t *testing.T) {
			t.Parallel()
			reader, closed, err := os.Pipe()
			check(t, err)
			defer closed.Close()
			check(t, reader.Close())
			p := underFio(t)
			var errs bytes.Buffer
			p.Stdout, p.Stderr = closed, closed
			switch unread {
			case "stdout":
				p.Stderr = &errs
			case "stderr":
				p.Stdout = &errs
			}
			if err := p.Run(); err != nil {
				t.Errorf("%v\n%s", err, &errs)
			}
			next := exec.Command("fio2es", "runs", "--format", "csv", "--columns", "requests,note")
			next.Env = p.Env
			text, err := next.CombinedOutput()
			if want := "direction,requests,note\nread,20000,\n"; err != nil || !strings.HasPrefix(string(text), want) || strings.Contains(string(text), "stored") {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}

// TestRunInterruptedEarly: Ctrl-C while run reads the version of fio ends both. The command says that it was
// interrupted, and nothing about fio --version.
func TestRunInterruptedEarly(t *testing.T) {
	t.Parallel()
	fio := filepath.Join(t.TempDir(), "fio")
	check(t, os.WriteFile(fio, []byte("#!/bin/sh\nkill -s INT -- -$PPID\nexec sleep 600\n"), 0o700))
	p := program(t, "run", "--", fio, "--name=a")
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a signal of the terminal reaches the whole process group
	text, err := p.CombinedOutput()
	if p.ProcessState.ExitCode() != 128+int(syscall.SIGINT) || string(text) != "error: interrupted\n" {
		t.Errorf("%v\n%s", err, text)
	}
}
