package pipeline_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/pipeline"
)

// TestDamagedReportInFolder cuts fio's report beside its log short: the loss must be
// reported, also if the report has another name. A file that is not fio's is no loss.
func TestDamagedReportInFolder(t *testing.T) {
	spec := fiotest.ArchiveSpec{Runs: 1, Hosts: 1, Jobs: 1, Seconds: 5, Coarseness: 5, Seed: 5}
	r := spec.Run(0)
	from := t.TempDir()
	if _, err := spec.WriteDir(from); err != nil {
		t.Fatal(err)
	}
	load := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	log, report := load(r.LogPath(0, 0)), load(r.Path+"/json_output.0."+r.Host(0))
	for _, tt := range []struct {
		name string
		text []byte
		want bool
	}{
		{"x.json", report[:len(report)/2], true},
		{"out.json", report[:len(report)/2], true},
		{"other", report[:len(report)/2], true},
		{"other.json", []byte(`{"a": {"b": `), false},
		{"x.json", report, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string][]byte{"x_clat_hist.1.log": log, tt.name: tt.text} {
				if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			a, err := pipeline.Open(t.Context(), []string{dir}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			if len(a.Runs) != 1 {
				t.Fatalf("%d runs", len(a.Runs))
			}
			res, err := Read(t.Context(), a.Runs[0], pipeline.Options{}, func(*window.Window) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			said := slices.ContainsFunc(res.Skipped, func(err error) bool { return strings.Contains(err.Error(), "the rest of the JSON document") })
			if said != tt.want {
				t.Errorf("lost %v, want the damaged report in it: %v", res.Skipped, tt.want)
			}
		})
	}
}
