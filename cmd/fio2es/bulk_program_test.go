package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/mapping"
)

// program returns the program as a separate process, without the user's settings.
func program(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	home := t.TempDir()
	cmd := exec.Command("fio2es", args...)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home)
	return cmd
}

// called is the result of a call of the program in this process.
type called struct {
	code           int
	stdout, stderr string
}

// call runs the program in this process, without the user's settings.
func call(t testing.TB, stdin []byte, args ...string) called {
	t.Helper()
	var out, errs bytes.Buffer
	args = slices.Insert(slices.Clone(args), 1, "--config", emptySettings) // after the command: then no other is made
	code := run(context.Background(), args, bytes.NewReader(stdin), &out, &errs)
	return called{code, out.String(), errs.String()}
}

// generated writes an archive into the new folder dir, and returns the size of its logs in bytes.
func generated(t testing.TB, spec fiotest.ArchiveSpec, dir string) int64 {
	t.Helper()
	size, err := spec.WriteDir(dir)
	check(t, err)
	return size
}

const allLevels = "--levels=cluster,host,section,job"

var levels = []mapping.Level{mapping.Cluster, mapping.Host, mapping.Job}

// documents are the documents of a history by kind and id, as they are stored. They lack the time at which a run was
// stored, because it always differs.
type documents map[string]string

// stored reads a whole history, and checks that it is consistent.
func stored(t testing.TB, path string) documents {
	t.Helper()
	sound(t, path)
	s, err := sqlite.Open(t.Context(), path)
	check(t, err)
	defer s.Close()
	all, counts := documents{}, map[string]*mapping.Documents{}
	for _, l := range levels {
		for d, err := range s.Intervals(t.Context(), history.Selection{Level: l}) {
			check(t, err)
			key := l.String() + " " + d.ID()
			if _, ok := all[key]; ok {
				t.Errorf("two documents %s", key)
			}
			all[key] = string(d.AppendJSON(nil))
			if counts[d.Run.ID] == nil {
				counts[d.Run.ID] = &mapping.Documents{}
			}
			counts[d.Run.ID].Add(l, 1)
		}
	}
	for r, err := range s.Runs(t.Context(), history.RunFilter{}) {
		check(t, err)
		r.Ingested = time.Time{}
		all["run "+r.Run.ID] = string(r.AppendJSON(nil))
		if n := counts[r.Run.ID]; n == nil || *n != r.Documents {
			t.Errorf("run %s has %+v documents, it says %+v", r.Run.Path, n, r.Documents)
		}
		delete(counts, r.Run.ID)
	}
	for id, n := range counts {
		t.Errorf("%+v documents are visible of %s, which is not finished", *n, id)
	}
	return all
}

// sound checks the file of a history with SQLite.
func sound(t testing.TB, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	check(t, err)
	defer db.Close()
	var said string
	if err := db.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&said); err != nil || said != "ok" {
		t.Errorf("integrity check of %s: %s, %v", path, said, err)
	}
	row := db.QueryRowContext(t.Context(), `PRAGMA foreign_key_check`)
	var ignored any
	if err := row.Scan(&ignored, &ignored, &ignored, &ignored); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("%s: documents without an ingest: %v", path, err)
	}
}

func (d documents) runs() int {
	n := 0
	for key := range d {
		if strings.HasPrefix(key, "run ") {
			n++
		}
	}
	return n
}

// within checks that all these documents are in others, byte for byte.
func (d documents) within(t testing.TB, others documents) {
	t.Helper()
	wrong := 0
	for key, text := range d {
		switch other, ok := others[key]; {
		case text == other:
			continue
		case wrong >= 5:
		case !ok:
			t.Errorf("unexpected %s: %.600s", key, text)
		default:
			t.Errorf("%s is another one:\n%s", key, difference(text, other))
		}
		wrong++
	}
	if wrong > 5 {
		t.Errorf("%d documents more differ", wrong-5)
	}
}

// same checks that both have the same documents.
func (d documents) same(t testing.TB, others documents) {
	t.Helper()
	d.within(t, others)
	if len(d) != len(others) {
		t.Errorf("%d documents, want %d", len(d), len(others))
	}
}

// difference shows where two texts differ.
func difference(got, want string) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	piece := func(s string) string { return s[max(i-100, 0):min(i+100, len(s))] }
	return "got  …" + piece(got) + "…\nwant …" + piece(want) + "…"
}

func check(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
