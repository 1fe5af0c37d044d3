package record

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestEntries(t *testing.T) {
	folders := Folders(filepath.Join(t.TempDir(), "runs"))
	if paths, err := folders.Unfinished(); err != nil || len(paths) > 0 {
		t.Errorf("%v, %v", paths, err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	first, err := folders.Begin(Entry{Name: "job", History: "h", Command: []string{"fio"}, Started: at, Labels: map[string]string{"a": "b"}, Note: "n"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := folders.Begin(Entry{Started: at})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"20260102-030405", "20260102-030405-2"}; filepath.Base(first.Folder) != want[0] || filepath.Base(second.Folder) != want[1] {
		t.Errorf("%s, %s", first.Folder, second.Folder)
	}
	paths, err := folders.Unfinished()
	if err != nil || len(paths) != 2 {
		t.Fatalf("%v, %v", paths, err)
	}
	if _, err := Claim(first.path()); !errors.Is(err, ErrRunning) {
		t.Errorf("while it runs: %v", err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	claimed, err := Claim(first.path())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, claimed, cmpopts.IgnoreUnexported(Entry{})); diff != "" {
		t.Error(diff)
	}
	if err := errors.Join(claimed.Done(), second.Discard()); err != nil {
		t.Error(err)
	}
	if paths, err := folders.Unfinished(); err != nil || len(paths) > 0 {
		t.Errorf("%v, %v", paths, err)
	}
	if _, err := os.Stat(first.Folder); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(second.Folder); err == nil {
		t.Error("the folder of a run without contents stays")
	}
	damaged := filepath.Join(string(folders), "x"+entrySuffix)
	if err := os.WriteFile(damaged, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Claim(damaged); err == nil || errors.Is(err, ErrRunning) {
		t.Errorf("damaged: %v", err)
	}
}

// TestPostponed: an entry says why its run is not stored. If a full disk cuts off the last state, the state before
// stays.
func TestPostponed(t *testing.T) {
	folders := Folders(t.TempDir())
	e, err := folders.Begin(Entry{Name: "job", Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	e.Note = "fio ended with exit code 1"
	if err := e.Postpone(errors.New("the disk is full")); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(e.path(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("{\n  \"failed\": \"cut")
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	claimed, err := Claim(e.path())
	if err != nil || claimed.Failed != "the disk is full" || claimed.Note != e.Note || claimed.Folder != e.Folder {
		t.Errorf("%+v, %v", claimed, err)
	}
}

// TestHeld: nothing is removed while a job of a killed fio, which has inherited the lock, may still write its log.
func TestHeld(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no locks")
	}
	folders := Folders(t.TempDir())
	e, err := folders.Begin(Entry{Name: "job", Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	job := exec.Command("cat")
	inherit(job, e)
	stdin, err := job.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	if err := e.Discard(); !errors.Is(err, ErrRunning) {
		t.Errorf("while a job runs: %v", err)
	}
	if err := errors.Join(stdin.Close(), job.Wait()); err != nil {
		t.Fatal(err)
	}
	claimed, err := Claim(e.path())
	if err != nil || !strings.Contains(claimed.Failed, "some of its jobs continued") {
		t.Fatalf("when it has ended: %+v, %v", claimed, err)
	}
	if err := claimed.Discard(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(string(folders)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestWrapped: sudo closes the lock. As long as the command line of a process names files of the folder, its fio
// counts as running, even if it writes nothing for a long time.
func TestWrapped(t *testing.T) {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip(err)
	}
	e, err := Folders(t.TempDir()).Begin(Entry{Name: "job", Started: time.Now(), Wrapped: true})
	if err != nil {
		t.Fatal(err)
	}
	fio := exec.Command("sh", "-c", "read line", filepath.Join(e.Folder, "job"))
	stdin, err := fio.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.Release(), fio.Start()); err != nil {
		t.Fatal(err)
	}
	if _, err := Claim(e.path()); !errors.Is(err, ErrRunning) {
		t.Errorf("while fio runs: %v", err)
	}
	_ = stdin.Close()
	_ = fio.Wait()
	claimed, err := Claim(e.path())
	if err != nil {
		t.Fatalf("when it has ended: %v", err)
	}
	if err := claimed.Discard(); err != nil {
		t.Error(err)
	}
}

// TestPrivateFolders: the folder of runs is beside a history that only its owner can read.
func TestPrivateFolders(t *testing.T) {
	dir := t.TempDir()
	e, err := Folders(filepath.Join(dir, "runs")).Begin(Entry{Started: time.Unix(1_700_000_000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "runs"), e.Folder} {
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "linked")); err != nil {
		t.Skip(err)
	}
	if _, err := Folders(filepath.Join(dir, "linked")).Begin(Entry{Started: time.Unix(1_700_000_000, 0)}); err == nil {
		t.Error("a link is followed")
	}
}
