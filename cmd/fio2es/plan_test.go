package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDryRunOfNothing: a run that has nothing to use is listed with the reason.
func TestDryRunOfNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "lab", "id-7c1f03ab")
	check(t, os.MkdirAll(dir, 0o755))
	check(t, os.WriteFile(filepath.Join(dir, "output.0.h1"), []byte("Total time run: 60\n"), 0o644))
	out, said := outAndErr(t, exitLeftOut, "ingest", "--dry-run", filepath.Dir(dir))
	expect(t, "plan", out, "lab:id-7c1f03ab\nno percentiles over time: a report alone: run fio with")
	expect(t, "messages", said, "lab:id-7c1f03ab: no rows in any of its logs, and no report that can be used")
}
