package pipeline_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/source"
)

// executionOf returns by what a store finds the run in a folder with these files.
func executionOf(t *testing.T, files map[string][]byte) *pipeline.Execution {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var found *pipeline.Execution
	_, err := theStage(t.Context(), onlyRun(t, dir), pipeline.Options{}, true, func(s *pipeline.Stage) (_ *pipeline.Result, err error) {
		found, err = s.Execution(t.Context())
		return nil, err
	})
	if err != nil || found == nil {
		t.Fatalf("nothing can be read: %v", err)
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
	for name, e := range map[string]*pipeline.Execution{"printed": printed, "other": other} {
		if isSame := name == "printed"; mapping.SameExecution(&e.Source, &before.Source) != isSame || e.Source.Contains(&before.Source) != isSame {
			t.Errorf("%s: the same: %v", name, !isSame)
		}
	}
	for name, c := range map[string]struct {
		e    *pipeline.Execution
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

// readWhile makes the documents of the only run of a folder. Its hashes are known, and no row is read yet, when it calls write.
func readWhile(t *testing.T, dir string, write func(*pipeline.Execution) error) *pipeline.Result {
	t.Helper()
	res, err := theStage(t.Context(), onlyRun(t, dir), pipeline.Options{}, true, func(s *pipeline.Stage) (*pipeline.Result, error) {
		e, err := s.Execution(t.Context())
		if err == nil {
			err = write(e)
		}
		if err != nil {
			return nil, err
		}
		_, res, err := documentsOf(t.Context(), s, e.Run)
		return res, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func isChanged(err error) bool { return errors.Is(err, source.ErrChanged) }

// TestGrownWhileRead: a run whose report grows while it is read is found again when more of the report is there, and has not all
// files of that.
func TestGrownWhileRead(t *testing.T) {
	reports := reportsIn(t, filepath.Join("..", "testdata", "corpus", "status-interval", "out.json.gz"))
	dir := t.TempDir()
	name := filepath.Join(dir, "out.json")
	write := func(n int) error { return os.WriteFile(name, bytes.Join(reports[:n], nil), 0o644) }
	if err := write(4); err != nil {
		t.Fatal(err)
	}
	first := readWhile(t, dir, func(*pipeline.Execution) error { return write(5) })
	if !slices.ContainsFunc(first.Skipped, isChanged) {
		t.Fatalf("%v", first.Skipped)
	}
	for _, n := range []int{5, 6} {
		if err := write(n); err != nil {
			t.Fatal(err)
		}
		readWhile(t, dir, func(e *pipeline.Execution) error {
			if stored := &first.Run.Source; !e.HasGrownFrom(stored) || stored.Contains(&e.Source) {
				t.Errorf("%d reports: the run is not found, or whole", n)
			}
			return nil
		})
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

// TestChangedWhileRead: a log that is written while it is read has no hash, so the run does not have all of the files.
func TestChangedWhileRead(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "x_clat_hist.1.log")
	text := golden.Gunzip(t, filepath.Join("..", "testdata", "corpus", "two-jobs-rw", "out_clat_hist.1.log.gz"))
	if err := os.WriteFile(log, text, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, then := range [][]byte{append(text, "10031, 0"...), text} {
		var before *pipeline.Execution
		result := readWhile(t, dir, func(e *pipeline.Execution) error {
			before = e
			return os.WriteFile(log, then, 0o644)
		})
		if !slices.ContainsFunc(result.Skipped, isChanged) || result.Run.Run.Complete || result.Run.Source.List[0].Hash != "" ||
			result.Run.Source.Contains(&before.Source) || before.Source.List[0].Hash == "" {
			t.Errorf("skipped %q, files %+v", result.Skipped, result.Run.Source.List)
		}
	}
	if result := readWhile(t, dir, func(*pipeline.Execution) error { return nil }); !result.Run.Run.Complete || result.Run.Run.Ingest == "" {
		t.Errorf("%+v", result)
	}
}

// TestVersion: another version of the program does not make another version of a run, and another label does. A label without
// a value is removed.
func TestVersion(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "out.json"), reportsIn(t, filepath.Join("..", "testdata", "corpus", "status-interval", "out.json.gz"))[0], 0o644); err != nil {
		t.Fatal(err)
	}
	version := func(opt pipeline.Options) string {
		_, res, err := Documents(t.Context(), onlyRun(t, dir), opt)
		if err != nil {
			t.Fatal(err)
		}
		return res.Run.Run.Ingest
	}
	plain := version(pipeline.Options{})
	for name, c := range map[string]struct {
		opt    pipeline.Options
		isSame bool
	}{
		"program":  {pipeline.Options{Program: "v1.2.3"}, true},
		"no label": {pipeline.Options{Labels: map[string]string{"disk": ""}}, true},
		"label":    {pipeline.Options{Labels: map[string]string{"disk": "nvme"}}, false},
		"settings": {pipeline.Options{Confidence: 0.95}, false},
	} {
		if got := version(c.opt); (got == plain) != c.isSame {
			t.Errorf("%s: version %s, and %s without it", name, got, plain)
		}
	}
}
