package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// TestDamagedHost damages what an archive has of one host, in ways that its other files
// do not show: the run must say so, and count what is missing if a report says how much.
func TestDamagedHost(t *testing.T) {
	spec := fiotest.ArchiveSpec{Runs: 1, Hosts: 2, Jobs: 2, Seconds: 9, Coarseness: 5, Seed: 5}
	r := spec.Run(0)
	of := func(host int) (requests int64) {
		for j := range spec.Jobs {
			truth, err := r.Log(host, j).Truth()
			if err != nil {
				t.Fatal(err)
			}
			for d := range 3 {
				logged, tail := truth.Requests(d)
				requests += int64(logged + tail)
			}
		}
		return requests
	}
	both := of(0) + of(1)
	report := r.Path + "/json_output.0." + r.Host(1)
	printed := r.Path + "/output.0." + r.Host(1)
	const config = "results/cbt_config.yaml"
	for _, c := range []struct {
		name    string
		damage  map[string]func(string) string // nil: the file is gone
		said    string                         // in the run's warnings
		there   int64                          // requests in documents
		missing int64                          // -1: some of those that are there
	}{
		{"no logs", map[string]func(string) string{r.LogPath(1, 0): nil, r.LogPath(1, 1): nil}, "its log is missing or cannot be read", of(0), of(1)},
		{"nothing of use, and no configuration", map[string]func(string) string{
			r.LogPath(1, 0): nil, r.LogPath(1, 1): nil, report: nil, config: nil,
			printed: func(string) string { return "fio: command not found\n" },
		}, "neither a log nor a report that can be used of " + r.Host(1), of(0), 0},
		{"only the last row", map[string]func(string) string{r.LogPath(1, 0): func(s string) string {
			lines := strings.SplitAfter(s, "\n")
			return lines[len(lines)-2]
		}}, "requests of the report are not in its log", both, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := spec.WriteDir(dir); err != nil {
				t.Fatal(err)
			}
			for name, damage := range c.damage {
				name = filepath.Join(dir, name)
				data, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				if damage == nil {
					err = os.Remove(name)
				} else {
					err = os.WriteFile(name, []byte(damage(string(data))), 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			docs, res := readRun(t, dir, r.Path, pipeline.Options{})
			got, missing := completed(docs, mapping.Cluster), res.Run.Missing.Requests
			if c.missing < 0 && (missing <= 0 || got+missing != c.there) || c.missing >= 0 && (got != c.there || missing != c.missing) {
				t.Errorf("%d requests in documents and %d missing, want %d and %d", got, missing, c.there, c.missing)
			}
			if all := strings.Join(res.Run.Warnings, "\n"); !strings.Contains(all, c.said) {
				t.Errorf("warnings %q, want %q", all, c.said)
			}
		})
	}
}
