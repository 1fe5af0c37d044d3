package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOtherVersion: readers and writers refuse a history of another version, and do not change it.
func TestOtherVersion(t *testing.T) {
	t.Parallel()
	run := filepath.Join("..", "..", "examples", "cbt-archive", "results", "00000001")
	db := filepath.Join(t.TempDir(), "h.db")
	if c := call(t, nil, "ingest", "--history", db, run); c.code != 0 {
		t.Fatal(c.stderr)
	}
	content, err := os.ReadFile(db)
	check(t, err)
	for _, version := range []uint32{0, 4} {
		binary.BigEndian.PutUint32(content[60:], version) // user_version in the header of an SQLite file
		check(t, os.WriteFile(db, content, 0o600))
		for _, args := range [][]string{{"runs"}, {"percentiles", "latest"}, {"ingest", run}} {
			c := call(t, nil, append(args, "--history", db)...)
			if c.code != 1 || c.stdout != "" || !strings.Contains(c.stderr, "this fio2es reads and writes version 3: made by another version of fio2es") {
				t.Errorf("version %d, %v: exit code %d: %s%s", version, args, c.code, c.stdout, c.stderr)
			}
		}
		if after, err := os.ReadFile(db); err != nil || !bytes.Equal(after, content) {
			t.Errorf("the file was changed, %v", err)
		}
	}
}
