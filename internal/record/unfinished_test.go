package record

import (
	"errors"
	"fmt"
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

// TestHideSecrets: after fio has ended, its report and the copies of job files have no secrets, and their times stay.
func TestHideSecrets(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	report := "fio: a=b\n{\n  \"global options\" : {\n    \"http_s3_keyid\" : \"me\",\n    \"http_s3_key\" : \"%s\",\n" +
		"    \"auth_token\" : \"%s\",\n    \"uri\" : \"nbd://a:%s@b/c\"\n  }\n}"
	files := map[string][2]string{ // with a secret, and without it
		"x.json":        {fmt.Sprintf(report, `hun\"ter2`, "hunter=2", "hunter2"), fmt.Sprintf(report, "***", "***", "***")},
		"job-2.fio":     {"[a]\nhttp_pass = hunter2 or 3\nhttp_user=me\n# password\n", "[a]\nhttp_pass =***\nhttp_user=me\n# password\n"},
		"x_clat.1.log":  {"1, 2, 0, 4096\n", "1, 2, 0, 4096\n"},
		"other.fio.txt": {"http_pass=hunter2\n", "http_pass=hunter2\n"}, // not of fio2es
	}
	for _, hasSecrets := range []bool{true, false} {
		e := &Entry{Folder: t.TempDir(), Name: "x", Secrets: hasSecrets}
		for name, text := range files {
			path := filepath.Join(e.Folder, name)
			if err := errors.Join(os.WriteFile(path, []byte(text[0]), 0o600), os.Chtimes(path, at, at)); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.HideSecrets(); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			want := text[0]
			if hasSecrets {
				want = text[1]
			}
			got, err := os.ReadFile(filepath.Join(e.Folder, name))
			if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
				t.Errorf("%s: %v\n%s", name, err, diff)
			}
			if info, err := os.Stat(filepath.Join(e.Folder, name)); err != nil || !info.ModTime().Equal(at) {
				t.Errorf("%s: %v, time %v", name, err, info.ModTime())
			}
		}
		if left, _ := filepath.Glob(filepath.Join(e.Folder, "*")); len(left) != len(files) {
			t.Errorf("left %v", left)
		}
	}
	if err := (&Entry{Folder: t.TempDir(), Name: "x", Secrets: true}).HideSecrets(); err != nil {
		t.Errorf("without a report: %v", err)
	}
}
