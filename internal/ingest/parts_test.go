package ingest

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/testcost"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// file is a file of a folder of results.
type file struct {
	name     string
	content  []byte
	modified time.Time
}

var binsOfReport = regexp.MustCompile(`,\s*"bins" : \{[^}]*\}`)

// runOfCBT returns the files of a run on two hosts with two volumes each. Each report is there twice, as printed and its JSON
// alone, one of them without bins.
func runOfCBT(t *testing.T) (files []file) {
	t.Helper()
	for volume := range 2 {
		dir := t.TempDir()
		spec := fiotest.ArchiveSpec{Runs: 1, Hosts: 2, Jobs: 1, Seconds: 3, IOPS: 300, Seed: uint64(volume + 1)}
		if _, err := spec.WriteDir(dir); err != nil {
			t.Fatal(err)
		}
		names, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(spec.Run(0).Path), "*output*"))
		if err != nil || len(names) != 6 {
			t.Fatal(names, err)
		}
		for _, name := range names {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			number := fmt.Sprintf("output.%d", volume)
			content = bytes.ReplaceAll(content, []byte("output.0"), []byte(number))
			if volume == 1 && strings.HasPrefix(filepath.Base(name), "json_output.0.client02") {
				content = binsOfReport.ReplaceAll(content, nil)
			}
			files = append(files, file{strings.Replace(filepath.Base(name), "output.0", number, 1), content, info.ModTime()})
		}
	}
	return files
}

// lab is a folder of results, and the history into which it is ingested.
type lab struct {
	t     *testing.T
	dir   string
	store *sqlite.Store
}

// put makes the folder have these files and no others.
func (l *lab) put(files []file) {
	l.t.Helper()
	old, err := filepath.Glob(filepath.Join(l.dir, "*"))
	for _, name := range old {
		if err == nil {
			err = os.Remove(name)
		}
	}
	for _, f := range files {
		name := filepath.Join(l.dir, f.name)
		if err == nil {
			err = os.WriteFile(name, f.content, 0o600)
		}
		if err == nil {
			err = os.Chtimes(name, f.modified, f.modified)
		}
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// ingest ingests the folder, and returns what was said.
func (l *lab) ingest() (Result, string) {
	l.t.Helper()
	a, err := pipeline.Open(l.t.Context(), []string{l.dir}, nil, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	defer a.Close()
	var said bytes.Buffer
	opt := Options{Log: slog.New(slog.NewTextHandler(&said, nil)), Pipeline: pipeline.Options{Levels: mapping.Levels[:2]}}
	result, err := Runs(l.t.Context(), Target{Sink: l.store, Store: l.store}, a.Runs, opt)
	if err != nil {
		l.t.Fatal(err)
	}
	return result, said.String()
}

// runs returns the runs of the history, each as its documents without ids and names of files, and empties the history.
func (l *lab) runs() (all []string) {
	l.t.Helper()
	var ids []string
	for run, err := range l.store.Runs(l.t.Context(), history.RunFilter{}) {
		if err != nil {
			l.t.Fatal(err)
		}
		ids = append(ids, run.Run.ID)
	}
	for _, id := range ids {
		run, err := l.store.Run(l.t.Context(), id)
		if err != nil {
			l.t.Fatal(err)
		}
		execution := run.Run.Execution
		run.Run.ID, run.Run.Execution, run.Run.Ingest, run.Ingested, run.Source = "", "", "", time.Time{}, mapping.Source{}
		text := string(run.AppendJSON(nil)) + "\n"
		for d, err := range l.store.Intervals(l.t.Context(), history.Selection{Runs: []string{id}}) {
			if err != nil {
				l.t.Fatal(err)
			}
			if d.Run.Execution != execution {
				l.t.Errorf("a document of execution %s, and the run is of %s", d.Run.Execution, execution)
			}
			d.Run.ID, d.Run.Execution, d.Run.Ingest = "", "", ""
			text += string(d.AppendJSON(nil)) + "\n"
		}
		if all = append(all, text); l.store.Delete(l.t.Context(), id) != nil {
			l.t.Fatal("not deleted")
		}
	}
	return all
}

// TestParts: any part of a run is ingested, then another part, then all of it. In the end there is one run with the same
// documents as if all of it had been there at once, and nothing is left out.
func TestParts(t *testing.T) {
	l := &lab{t: t, dir: filepath.Join(t.TempDir(), "lab"), store: openAt(t, filepath.Join(t.TempDir(), "h.db"))}
	defer l.store.Close()
	if err := os.Mkdir(l.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	whole := runOfCBT(t)
	l.put(whole)
	l.ingest()
	want := l.runs()
	if len(want) != 1 || strings.Count(want[0], "\n") < 5 {
		t.Fatalf("%d runs: %.1000s", len(want), want)
	}
	rng := rand.New(rand.NewPCG(testcost.Seed(), 0))
	part := func() (some []file) {
		share := rng.Float64()
		for _, f := range whole {
			if rng.Float64() < share {
				some = append(some, f)
			}
		}
		return some
	}
	const cases = 30
	for n := range cases {
		first, second, names := part(), part(), ""
		if n%2 == 0 { // the folder only grows
			second = slices.Clone(first)
			for _, f := range part() {
				if !slices.ContainsFunc(first, func(o file) bool { return o.name == f.name }) {
					second = append(second, f)
				}
			}
		}
		for _, files := range [][]file{first, second} {
			l.put(files)
			if len(files) > 0 {
				l.ingest()
			}
			for _, f := range files {
				names += " " + f.name
			}
			names += ";"
		}
		l.put(whole)
		result, said := l.ingest()
		if result.LeftOut || len(result.Stored) != 1 {
			t.Errorf("%d,%s: %d runs are stored, left out: %v\n%s", n, names, len(result.Stored), result.LeftOut, said)
		}
		if again, said := l.ingest(); again.LeftOut || len(again.News()) > 0 {
			t.Errorf("%d,%s: again: %s", n, names, said)
		}
		got := l.runs()
		if !slices.Equal(got, want) {
			t.Errorf("%d,%s: %d runs, or other documents:\n%s%s", n, names, len(got), said, cmp.Diff(want, got))
		}
	}
}
