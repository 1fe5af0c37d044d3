package record

import (
	"errors"
	"os"
	"path/filepath"
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
