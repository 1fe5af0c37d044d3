package pipeline

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/source"
)

// executionOf is what Ingest shows to Known, of a run in a folder with these files.
func executionOf(t *testing.T, files map[string][]byte) *Execution {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var found *Execution
	known := func(_ context.Context, e *Execution) (string, *mapping.Run, error) {
		found = e
		return e.Run.ID, &mapping.Run{Run: mapping.RunInfo{Ingest: "other"}, Source: e.Source}, nil
	}
	_, err := Ingest(t.Context(), onlyRun(t, dir), Options{}, &kept{}, known)
	if err != nil || found == nil {
		t.Fatalf("not looked up: %v", err)
	}
	return found
}

// TestExecutionIsOfContents: neither the folder nor the names of files are part of a run's
// id; a report that grew is known by what it said before, also inside another file.
func TestExecutionIsOfContents(t *testing.T) {
	reports := reportsIn(t, filepath.Join("..", "testdata", "corpus", "status-interval", "out.json.gz"))
	early, all := bytes.Join(reports[:4], nil), bytes.Join(reports, nil)
	whole := executionOf(t, map[string][]byte{"out.json": all})
	moved := executionOf(t, map[string][]byte{"moved.json": all})
	if whole.Run.ID != moved.Run.ID || whole.Source.Hash != moved.Source.Hash {
		t.Errorf("moved: id %s, hash %s instead of %s, %s", moved.Run.ID, moved.Source.Hash, whole.Run.ID, whole.Source.Hash)
	}
	before := executionOf(t, map[string][]byte{"out.json": early})
	printed := executionOf(t, map[string][]byte{"out": slices.Concat([]byte("Starting 2 processes\n"), early, []byte("\nall done\n"))})
	other := executionOf(t, map[string][]byte{"out.json": bytes.ReplaceAll(early, []byte(`timestamp_ms" : 1`), []byte(`timestamp_ms" : 2`))})
	for name, e := range map[string]*Execution{"printed": printed, "other": other} {
		if isSame := name == "printed"; mapping.SameExecution(&e.Source, &before.Source) != isSame || e.Source.Contains(&before.Source) != isSame {
			t.Errorf("%s: the same: %v", name, !isSame)
		}
	}
	for name, c := range map[string]struct {
		e    *Execution
		of   *mapping.Source
		want bool
	}{
		"grown": {whole, &before.Source, true}, "the same": {whole, &moved.Source, true}, "shorter": {before, &whole.Source, false},
		"in another file": {whole, &printed.Source, true}, "another": {whole, &other.Source, false}, "nothing": {whole, &mapping.Source{}, false},
	} {
		if got := c.e.HasGrownFrom(c.of); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestGrownWhileRead: a run whose report grows while it is read is found again when more of the report is there, and it is stored again.
func TestGrownWhileRead(t *testing.T) {
	reports := reportsIn(t, filepath.Join("..", "testdata", "corpus", "status-interval", "out.json.gz"))
	dir := t.TempDir()
	name := filepath.Join(dir, "out.json")
	write := func(n int) error { return os.WriteFile(name, bytes.Join(reports[:n], nil), 0o644) }
	if err := write(4); err != nil {
		t.Fatal(err)
	}
	known := func(_ context.Context, e *Execution) (string, *mapping.Run, error) { return e.Run.ID, nil, write(5) }
	first, err := Ingest(t.Context(), onlyRun(t, dir), Options{}, &kept{}, known)
	if err != nil || !slices.ContainsFunc(first.Skipped, func(err error) bool { return errors.Is(err, source.ErrChanged) }) {
		t.Fatalf("%v, %v", err, first.Skipped)
	}
	for _, n := range []int{5, 6} {
		if err := write(n); err != nil {
			t.Fatal(err)
		}
		known = func(_ context.Context, e *Execution) (string, *mapping.Run, error) {
			if !e.HasGrownFrom(&first.Run.Source) {
				t.Errorf("%d reports: the run is not found", n)
			}
			return first.Run.Run.ID, first.Run, nil
		}
		if again, err := Ingest(t.Context(), onlyRun(t, dir), Options{}, &kept{}, known); err != nil || again.Unchanged {
			t.Errorf("%d reports: %v, unchanged %v", n, err, again.Unchanged)
		}
	}
}

// reportsIn are the reports in a file, packed with gzip.
func reportsIn(t *testing.T, name string) [][]byte {
	t.Helper()
	text := string(golden.Gunzip(t, name))
	var reports [][]byte
	for _, part := range strings.SplitAfter(text, "\n}\n") {
		if strings.TrimSpace(part) != "" {
			reports = append(reports, []byte(part))
		}
	}
	if len(reports) < 6 {
		t.Fatalf("%d reports in %s", len(reports), name)
	}
	return reports
}

// TestChangedWhileRead: a log that is written while it is read has no hash, and the run is stored again.
func TestChangedWhileRead(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "x_clat_hist.1.log")
	text := golden.Gunzip(t, filepath.Join("..", "testdata", "corpus", "two-jobs-rw", "out_clat_hist.1.log.gz"))
	if err := os.WriteFile(log, text, 0o644); err != nil {
		t.Fatal(err)
	}
	var stored *mapping.Run
	known := func(_ context.Context, e *Execution) (string, *mapping.Run, error) {
		if stored == nil { // the hash is known, and no row is read yet
			return e.Run.ID, nil, os.WriteFile(log, append(text, "10031, 0"...), 0o644)
		}
		return stored.Run.ID, stored, os.WriteFile(log, text, 0o644)
	}
	for _, isFirst := range []bool{true, false} {
		result, err := Ingest(t.Context(), onlyRun(t, dir), Options{}, &kept{}, known)
		if err != nil || result.Unchanged || result.Run.Run.Complete {
			t.Fatalf("%v, %+v", err, result)
		}
		changed := slices.ContainsFunc(result.Skipped, func(err error) bool { return errors.Is(err, source.ErrChanged) })
		if !changed || result.Run.Source.List[0].Hash != "" {
			t.Errorf("first %v: skipped %q, files %+v", isFirst, result.Skipped, result.Run.Source.List)
		}
		stored = result.Run
	}
	known = func(context.Context, *Execution) (string, *mapping.Run, error) { return stored.Run.ID, stored, nil }
	result, err := Ingest(t.Context(), onlyRun(t, dir), Options{}, &kept{}, known)
	if err != nil || result.Unchanged || !result.Run.Run.Complete || result.Run.Run.Ingest == "" {
		t.Errorf("%v, %+v", err, result)
	}
}
