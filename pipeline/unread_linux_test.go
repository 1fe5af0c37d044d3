package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/pipeline"
)

// openAsOther opens an archive as a user who may not read everything, which root may.
func openAsOther(t *testing.T, dir string) *pipeline.Archive {
	t.Helper()
	if os.Geteuid() == 0 {
		if err := syscall.Setresuid(-1, 65534, -1); err != nil { // of all threads, because folders are listed by several
			t.Skip(err)
		}
		defer func() {
			if err := syscall.Setresuid(-1, 0, -1); err != nil {
				t.Fatal(err)
			}
		}()
	}
	a, err := pipeline.Open(t.Context(), []string{dir}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// TestUnreadFolder: a run in whose folder something cannot be opened says that files may be missing. Other runs do not.
func TestUnreadFolder(t *testing.T) {
	dir := t.TempDir()
	spec := fiotest.ArchiveSpec{Runs: 2, Hosts: 1, Jobs: 2, Seconds: 3, Coarseness: 5, Seed: 5}
	if _, err := spec.WriteDir(dir); err != nil {
		t.Fatal(err)
	}
	run := spec.Run(0)
	for at := dir; at != os.TempDir(); at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sub := filepath.Join(dir, run.Path, "sub")
	for _, locked := range []string{"", sub, filepath.Join(dir, run.LogPath(0, 1)), filepath.Join(dir, "elsewhere")} {
		t.Run(filepath.Base(locked), func(t *testing.T) {
			if locked == sub || filepath.Base(locked) == "elsewhere" {
				if err := os.Mkdir(locked, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if locked != "" {
				if err := os.Chmod(locked, 0); err != nil {
					t.Fatal(err)
				}
				defer os.Chmod(locked, 0o755)
			}
			a := openAsOther(t, dir)
			if len(a.Runs) != 2 || (locked == "") != (len(a.Problems) == 0) {
				t.Fatalf("%d runs, problems %v", len(a.Runs), a.Problems)
			}
			for _, r := range a.Runs {
				res, err := Read(t.Context(), r, pipeline.Options{}, func(*window.Window) error { return nil })
				if err != nil {
					t.Fatal(err)
				}
				said := false
				for _, err := range res.Skipped {
					said = said || strings.Contains(err.Error(), locked+" cannot be read, so files of this run may be missing")
				}
				want := strings.HasPrefix(locked, filepath.Join(dir, run.Path)) && r.Path == run.Path
				if said != want || want && res.Run.Run.Complete {
					t.Errorf("%s: said %v, want %v; complete %v: %v", r.Path, said, want, res.Run.Run.Complete, res.Skipped)
				}
			}
		})
	}
}
