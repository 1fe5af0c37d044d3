package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDamagedRunDocument: one of three run documents cannot be read. The others are listed and pushed, and ingest of
// the same files restores it.
func TestDamagedRunDocument(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "h.db")
	outAndErr(t, 0, "ingest", "--history", db, exampleArchive)
	whole := outputOf(t, "runs", "--history", db, "--format", "csv")
	id := ids(whole)[1]
	spoil(t, db, `UPDATE runs SET doc = x'00' WHERE id = '`+id+`'`)
	spoil(t, db, `UPDATE briefs SET doc = x'00' WHERE id = '`+id+`'`)
	out, errs := outAndErr(t, 3, "runs", "--history", db, "--format", "csv")
	if got := ids(out); len(got) != 2 {
		t.Errorf("runs %v", got)
	}
	expect(t, "runs", errs, `the document of run "`+id+`" cannot be read`)
	to := filepath.Join(t.TempDir(), "out")
	_, errs = outAndErr(t, 3, "push", "--history", db, "--output", to)
	expect(t, "push", errs, id, "2 runs with ")
	_, errs = outAndErr(t, 1, "percentiles", id, "--history", db)
	expect(t, "percentiles", errs, "cannot be read")
	_, errs = outAndErr(t, 0, "ingest", "--history", db, exampleArchive)
	expect(t, "ingest", errs, "; 2 unchanged")
	if after := outputOf(t, "runs", "--history", db, "--format", "csv"); after != whole || strings.Count(after, "\n") < 4 {
		t.Errorf("not as before:\n%s", after)
	}
}
