package nightly_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/internal/testcost"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

func TestMain(m *testing.M) {
	testcost.Lower()
	m.Run()
}

func pool(t *testing.T) (runs []string) {
	t.Helper()
	for seed := range uint64(2) {
		dir := t.TempDir()
		if _, err := (fiotest.ArchiveSpec{Runs: 2, Hosts: 2, Jobs: 1, Seconds: 2, Seed: seed}).WriteDir(dir); err != nil {
			t.Fatal(err)
		}
		found, err := filepath.Glob(filepath.Join(dir, "results", "*", "id-*"))
		if err != nil || len(found) != 2 {
			t.Fatal(found, err)
		}
		runs = append(runs, found...)
	}
	return runs
}

// archive is a folder of runs that changes from night to night.
type archive struct {
	*rapid.T
	dir   string
	pool  []string
	edits int
}

func (a *archive) check(err error) {
	if err != nil {
		a.Helper()
		a.Fatal(err)
	}
}

// files returns the files below a folder of the archive.
func (a *archive) files() (names []string) {
	a.check(filepath.WalkDir(a.dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	}))
	return names
}

func (a *archive) file() string {
	if names := a.files(); len(names) > 0 {
		return rapid.SampledFrom(names).Draw(a.T, "file")
	}
	return ""
}

// slot returns a folder of the archive for a run.
func (a *archive) slot() string {
	n := rapid.IntRange(0, 3).Draw(a.T, "slot")
	return filepath.Join(a.dir, fmt.Sprintf("%08d", n), "id-0000000a")
}

// write replaces a file by a new one with another inode and the old modification time, as rsync does.
func (a *archive) write(name string, text []byte) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if info, err := os.Stat(name); err == nil {
		at = info.ModTime()
	}
	a.edits++
	part := filepath.Join(a.dir, fmt.Sprintf("part%d", a.edits))
	a.check(os.WriteFile(part, text, 0o600))
	a.check(os.Chtimes(part, at, at))
	a.check(os.MkdirAll(filepath.Dir(name), 0o700))
	a.check(os.Rename(part, name))
}

// edit changes the archive in one way.
func (a *archive) edit() {
	switch rapid.IntRange(0, 8).Draw(a.T, "edit") {
	case 0, 1: // add a run, or replace one
		from, to := rapid.SampledFrom(a.pool).Draw(a.T, "run"), a.slot()
		a.check(os.RemoveAll(to))
		files, err := os.ReadDir(from)
		a.check(err)
		for _, f := range files {
			text, err := os.ReadFile(filepath.Join(from, f.Name()))
			a.check(err)
			a.write(filepath.Join(to, f.Name()), text)
		}
	case 2:
		a.check(os.RemoveAll(a.slot()))
	case 3: // change a digit of a log
		if name := a.file(); strings.Contains(name, "_hist") {
			text, err := os.ReadFile(name)
			a.check(err)
			a.write(name, bytes.Replace(text, []byte(", 1,"), []byte(", 2,"), 1))
		}
	case 4: // cut off the log
		if name := a.file(); name != "" {
			text, err := os.ReadFile(name)
			a.check(err)
			a.write(name, text[:len(text)*2/3])
		}
	case 5:
		if name := a.file(); name != "" {
			a.check(os.Remove(name))
		}
	case 6: // change the modification time
		if name := a.file(); name != "" {
			a.edits++
			at := time.Date(2026, 2, 1, 0, 0, a.edits, 0, time.UTC)
			a.check(os.Chtimes(name, at, at))
		}
	case 7:
		a.write(filepath.Join(a.slot(), "notes.txt"), []byte("nothing"))
	case 8: // pack a run
		if slot := a.slot(); isThere(slot) {
			a.pack(slot)
			a.check(os.RemoveAll(slot))
		}
	}
}

func isThere(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// pack writes a tar of a folder beside it.
func (a *archive) pack(slot string) {
	var text bytes.Buffer
	packed := gzip.NewWriter(&text)
	w := tar.NewWriter(packed)
	a.check(w.AddFS(os.DirFS(filepath.Dir(slot))))
	a.check(errors.Join(w.Close(), packed.Close()))
	a.write(filepath.Dir(slot)+".tar.gz", text.Bytes())
}

// TestNights edits an archive at random between nights. A history whose ingests remember must be equal to one whose
// ingests read all files. A damage must be reported as long as it exists.
func TestNights(t *testing.T) {
	runs, at := pool(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		at++
		base := filepath.Join(t.TempDir(), fmt.Sprint(at))
		a := &archive{T: rt, dir: filepath.Join(base, "lab"), pool: runs}
		a.check(os.MkdirAll(a.dir, 0o700))
		a.edit()
		remembers := &keeper{tb: rt, file: filepath.Join(base, "a.db")}
		reads := &keeper{tb: rt, file: filepath.Join(base, "b.db"), forgets: true}
		both := []*keeper{remembers, reads}
		for _, k := range both {
			k.open()
			defer func() { k.store.Close() }()
		}
		var opt pipeline.Options
		for range rapid.IntRange(2, 3).Draw(rt, "nights") {
			for range rapid.IntRange(0, 2).Draw(rt, "edits") {
				a.edit()
			}
			switch rapid.IntRange(0, 7).Draw(rt, "other") {
			case 0:
				remembers.recreate()
				reads.recreate()
			case 1:
				opt.Labels = map[string]string{"site": rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "label")}
			case 2:
				byPeople := rapid.Bool().Draw(rt, "removed by people")
				for _, k := range both {
					remove(rt, k, byPeople)
				}
			}
			isKilled := rapid.IntRange(0, 5).Draw(rt, "killed") == 0
			damage := remembers.night(opt, a.dir, isKilled)
			want := reads.night(opt, a.dir, false)
			if want > damage {
				rt.Errorf("%d messages of damage, reading all: %d", damage, want)
			}
			if diff := cmp.Diff(reads.content(), remembers.content()); diff != "" {
				rt.Fatalf("history (-reading all +remembering):\n%s", diff)
			}
		}
		damage := remembers.night(opt, a.dir, false)
		if again := remembers.night(opt, a.dir, false); again != damage {
			rt.Errorf("%d messages of damage, and %d in the next night", damage, again)
		}
	})
}

// remove removes the first run of a history.
func remove(t *rapid.T, k *keeper, byPeople bool) {
	runs := k.runs()
	if len(runs) == 0 {
		return
	}
	err := k.store.Delete(context.Background(), runs[0].Run.ID)
	if byPeople {
		err = errors.Join(err, k.store.MarkRemoved(context.Background(), mapping.NewRemoved(runs[0], "", time.Unix(1, 0))))
	}
	if err != nil {
		t.Fatal(err)
	}
}
