package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDamagedRunDocument: one of three run documents cannot be read. The others are listed and pushed, and reading the
// same files again restores it.
func TestDamagedRunDocument(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "h.db")
	outAndErr(t, 0, "ingest", "--history", db, exampleArchive)
	whole := outputOf(t, "runs", "--history", db, "--format", "csv")
	id := ids(whole)[1]
	spoil(t, db, `UPDATE runs SET doc = x'00' WHERE id = '`+id+`'`)
	spoil(t, db, `UPDATE summaries SET doc = x'00' WHERE run = '`+id+`'`)
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
	_, errs = outAndErr(t, 0, "ingest", "--verify", "--history", db, exampleArchive)
	expect(t, "ingest", errs, "; 2 unchanged")
	if after := outputOf(t, "runs", "--history", db, "--format", "csv"); after != whole || strings.Count(after, "\n") < 4 {
		t.Errorf("not as before:\n%s", after)
	}
}

// TestPushOntoDamagedRun: a run whose document cannot be read in the other history is not replaced, because it may be a
// better version, and people may have labelled it.
func TestPushOntoDamagedRun(t *testing.T) {
	t.Parallel()
	from, to := filepath.Join(t.TempDir(), "from.db"), filepath.Join(t.TempDir(), "to.db")
	outAndErr(t, 0, "ingest", "--history", from, exampleArchive)
	outAndErr(t, 0, "ingest", "--history", to, "--interval", "2s", exampleArchive)
	found := ids(outputOf(t, "runs", "--history", to, "--format", "csv"))
	spoil(t, to, `UPDATE runs SET doc = x'00' WHERE id = '`+found[0]+`'`)
	spoil(t, to, `UPDATE summaries SET doc = x'00' WHERE run = '`+found[0]+`'`)
	spoil(t, to, `UPDATE runs SET doc = x'00' WHERE id = '`+found[1]+`'`)
	_, errs := outAndErr(t, 3, "push", "--history", from, "--into", to)
	expect(t, "push", errs, found[0][:8], found[1][:8], "is not pushed: the document of this run in the other history cannot be read")
	outAndErr(t, 3, "check", "--history", to, "--repair")
	outAndErr(t, 0, "push", "--history", from, "--into", to)
	out, _ := outAndErr(t, 0, "check", "--history", to)
	expect(t, "check", out, "3 runs with ", "; 0 problems")
}
