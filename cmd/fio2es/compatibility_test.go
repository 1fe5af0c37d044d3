package main

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// oldRun is the run in the histories of testdata/histories, which earlier versions made of the example archive.
var oldRun = filepath.Join("..", "..", "examples", "cbt-archive", "results", "00000001")

// answers returns the answers of commands about the old run, from its files or from a history: percentiles of all
// windows and of the whole run. It leaves out the id and the name of the archive, because
// they depend on the ingest. It also leaves out what depends on the end of the last window: before version 3 of the
// documents it ended at a whole second.
func answers(t *testing.T, of ...string) string {
	t.Helper()
	var all strings.Builder
	for _, args := range [][]string{{"percentiles", "--format", "csv"}, {"percentiles", "--total", "--format", "csv"}, {"rank", "--within", "10ms", "--format", "csv"}} {
		c := call(t, nil, append(args, of...)...)
		if c.code != 0 || strings.Count(c.stdout, "\n") < 2 {
			t.Fatalf("%v %v: exit code %d: %s%s", args, of, c.code, c.stdout, c.stderr)
		}
		rows, err := csv.NewReader(strings.NewReader(c.stdout)).ReadAll()
		check(t, err)
		for _, row := range rows {
			for i, cell := range row {
				if !slices.Contains([]string{"run", "archive", "end_ms", "end", "to", "iops"}, rows[0][i]) {
					all.WriteString(cell + ",")
				}
			}
			all.WriteByte('\n')
		}
	}
	return all.String()
}

// TestOldHistories: a history file of each earlier version answers like the files of its run, and is not changed by
// that. An ingest upgrades it.
func TestOldHistories(t *testing.T) {
	t.Parallel()
	want := answers(t, oldRun)
	for version := 1; version <= 5; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			content := unzipped(t, filepath.Join("..", "..", "testdata", "histories", fmt.Sprintf("version-%d.db.gz", version)))
			db := filepath.Join(t.TempDir(), "h.db")
			check(t, os.WriteFile(db, content, 0o600))
			if list := call(t, nil, "runs", "--history", db, "--format", "csv"); list.code != 0 || !strings.Contains(list.stdout, ",1/id-7c1f03ab,") {
				t.Fatalf("no run: %s%s", list.stdout, list.stderr)
			}
			if got := answers(t, "--history", db, "latest"); got != want {
				t.Errorf("other answers:\n%s\nwant\n%s", got, want)
			}
			if after, err := os.ReadFile(db); err != nil || !bytes.Equal(after, content) || versionOf(after) != version {
				t.Errorf("reading changed the file of version %d, %v", versionOf(after), err)
			}
			if c := call(t, nil, "ingest", "--history", db, "--levels", "cluster", oldRun); c.code != 0 {
				t.Fatal(c.stderr)
			}
			if after, err := os.ReadFile(db); err != nil || versionOf(after) != 6 {
				t.Errorf("ingest left version %d, %v", versionOf(after), err)
			}
			if got := answers(t, "--history", db, "latest"); got != want {
				t.Errorf("other answers after the upgrade:\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// versionOf returns the version in the header of an SQLite file.
func versionOf(content []byte) int { return int(binary.BigEndian.Uint32(content[60:])) }

// TestNewerHistory: readers and writers refuse a history of a newer version, and do not change it.
func TestNewerHistory(t *testing.T) {
	t.Parallel()
	content := unzipped(t, filepath.Join("..", "..", "testdata", "histories", "version-5.db.gz"))
	binary.BigEndian.PutUint32(content[60:], 7)
	db := filepath.Join(t.TempDir(), "h.db")
	check(t, os.WriteFile(db, content, 0o600))
	for _, args := range [][]string{{"runs"}, {"percentiles", "latest"}, {"ingest", oldRun}} {
		c := call(t, nil, append(args, "--history", db)...)
		if c.code != 1 || c.stdout != "" || !strings.Contains(c.stderr, "7, this one knows 6: written by a newer version of fio2es") {
			t.Errorf("%v: exit code %d: %s%s", args, c.code, c.stdout, c.stderr)
		}
	}
	if after, err := os.ReadFile(db); err != nil || !bytes.Equal(after, content) {
		t.Errorf("the file was changed, %v", err)
	}
}

// TestOldDocuments: documents that programs with earlier templates stored in a cluster answer like the files of
// their run, also after the next ingest. The run of version 5 was labelled and compacted.
func TestOldDocuments(t *testing.T) {
	t.Parallel()
	want := answers(t, oldRun)
	compacted := filepath.Join(t.TempDir(), "h.db")
	for _, args := range [][]string{{"ingest", "--levels", "cluster", oldRun}, {"compact", "latest", "--to", "2s", "--yes"}} {
		if c := call(t, nil, append(args, "--history", compacted)...); c.code != 0 {
			t.Fatal(c.stderr)
		}
	}
	for version := 1; version <= 7; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			want := want
			_, address := standIn(t, unzipped(t, filepath.Join("..", "..", "testdata", "histories", fmt.Sprintf("documents-%d.ndjson.gz", version))))
			if version == 5 {
				want = answers(t, "--history", compacted, "latest")
				// That program computed percentiles of whole counts alone, also those of a window that was joined with nothing.
				want = strings.NewReplacer(",261.802,1715.468,", ",261.802,1843.2,",
					"34,4.763,185.167,103.624,171.323,208.88,301.9,3459.296,3459.296,3459.296,3459.296,",
					"34,4.512,207.977,85.504,179.2,214.016,264.192,3457.024,3457.024,3457.024,3457.024,").Replace(want)
				labelled := call(t, nil, "runs", "--elasticsearch", address, "label.release=reef", "--format", "csv", "--columns", "run,note")
				if labelled.stdout != "run,note\n5be8a10059e76bb89de8,new switch\n" {
					t.Errorf("labelled: %s%s", labelled.stdout, labelled.stderr)
				}
			}
			if got := answers(t, "--elasticsearch", address, "latest"); got != want {
				t.Errorf("other answers:\n%s\nwant\n%s", got, want)
			}
			if c := call(t, nil, "ingest", "--elasticsearch", address, "--levels", "cluster", oldRun); c.code != 0 {
				t.Fatal(c.stderr)
			}
			if got := answers(t, "--elasticsearch", address, "latest"); got != want {
				t.Errorf("other answers after an ingest:\n%s\nwant\n%s", got, want)
			}
		})
	}
}
