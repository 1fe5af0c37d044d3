package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckHistory: check finds each kind of damage and repairs it, and ingest restores the rest.
func TestCheckHistory(t *testing.T) {
	t.Parallel()
	good := filepath.Join(t.TempDir(), "h.db")
	outAndErr(t, 0, "ingest", "--history", good, exampleArchive)
	file, err := os.ReadFile(good)
	check(t, err)
	for _, c := range []struct {
		damage          string
		found, repaired string
		after           int // exit code of --repair
	}{
		{`DELETE FROM intervals WHERE level = 1 AND ingest = (SELECT ingest FROM intervals WHERE level = 1 GROUP BY ingest HAVING count(*) = 12)`, "it lacks 12 of 12 documents of level cluster", " again with --verify", 3},
		{`UPDATE intervals SET doc = x'0102' WHERE ingest = 1 AND level = 2`, "some of its interval documents cannot be read: ingest cbt-archive:", " again with --force", 3},
		{`UPDATE runs SET doc = x'00' WHERE id = (SELECT run FROM ingests WHERE number = 1)`, "its document cannot be read: ", ": removed: ingest its files again", 3},
		{`UPDATE summaries SET doc = x'00' WHERE run = (SELECT run FROM ingests WHERE number = 1)`, "its document cannot be read: ", ": removed: ingest its files again", 3},
		{`INSERT INTO ingests SELECT 99, run, 'other', 0 FROM ingests WHERE number = 1`, "documents of versions that are not current", "was interrupted: removed\n", 0},
		{`INSERT INTO ingests VALUES (99, 'abcdef', 'other', 0)`, "run abcdef: it has interval documents, but no run document", "was interrupted: removed\n", 0},
	} {
		db := filepath.Join(t.TempDir(), "h.db")
		check(t, os.WriteFile(db, file, 0o600))
		spoil(t, db, c.damage)
		out, _ := outAndErr(t, 3, "check", "--history", db)
		expect(t, c.damage, out, c.found, "; 1 problem\n")
		out, _ = outAndErr(t, c.after, "check", "--history", db, "--repair")
		expect(t, c.damage, out, c.repaired)
		mend := "--verify"
		if strings.Contains(c.repaired, "--force") {
			mend = "--force"
		}
		outAndErr(t, 0, "ingest", mend, "--history", db, exampleArchive)
		out, _ = outAndErr(t, 0, "check", "--history", db)
		expect(t, c.damage, out, "3 runs with 93 documents; 0 problems")
	}
}

// TestCheckHistoryFile flips bytes of the file, in a page that SQLite needs.
func TestCheckHistoryFile(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "h.db")
	outAndErr(t, 0, "ingest", "--history", db, exampleArchive)
	file, err := os.ReadFile(db)
	check(t, err)
	for i := len(file) / 2; i < len(file)/2+40_000; i++ {
		file[i] ^= 0x5a
	}
	check(t, os.WriteFile(db, file, 0o600))
	_, errs := outAndErr(t, 1, "ingest", "--force", "--history", db, exampleArchive)
	expect(t, "ingest", errs, "damaged", "ingest into a new file with --history")
	for _, args := range [][]string{{"check"}, {"check", "--repair"}} {
		out, _ := outAndErr(t, 3, append(args, "--history", db)...)
		expect(t, "check", out, "the file is damaged: ", "ingest all runs into a new file with --history")
		if strings.Contains(out, "removed") {
			t.Errorf("a damaged file was written to:\n%s", out)
		}
	}
}
