package pipeline

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fio2es/fio2es/mapping"
)

// TestVersions reads real logs of versions of fio that write them wrong, or report otherwise. The requests are those of the
// raw completions.
func TestVersions(t *testing.T) {
	for _, c := range []struct {
		name, run string
		noBins    bool     // of the report
		requests  [3]int64 // read, write, trim
		windows   int64    // requests in windows
		skipped   []string
		noted     []string
	}{
		// Requests of two hosts, whose global options are in an array; rows are doubled.
		{name: "clients-3.42", run: "out", requests: [3]int64{2055, 1589}, windows: 3644, noted: []string{"undone, as the bins of"}},
		// What is no count is in the columns of latencies that no request had.
		{name: "half-3.7", run: "out", requests: [3]int64{2: 1230}, windows: 1230},
		{name: "half-3.7", run: "out", noBins: true, requests: [3]int64{2: 1230}, windows: 1081, noted: []string{"149 trim requests"}},
		// A third of the requests took longer, and are in no row.
		{name: "half-3.16", run: "out", requests: [3]int64{601, 600}, skipped: []string{"fio 3.6 to 3.16 write memory in place of counts"},
			noted: []string{"601 read requests", "600 write requests"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := copyCorpus(t, c.name)
			if c.noBins {
				editFile(t, filepath.Join(dir, "out.json"), withoutBins)
			}
			docs, res := readRun(t, dir, c.run, Options{Levels: []mapping.Level{mapping.Cluster}})
			expectErrors(t, "skipped", res.Skipped, c.skipped)
			expectErrors(t, "notes", res.Notes, c.noted)
			if got := completed(docs, mapping.Cluster); got != c.windows {
				t.Errorf("%d requests in windows, want %d", got, c.windows)
			}
			for i, d := range []*mapping.Totals{res.Run.Read, res.Run.Write, res.Run.Trim} {
				got := int64(0)
				if d != nil {
					got = d.Requests
				}
				if want := c.requests[i]; got != want && !c.noBins {
					t.Errorf("%d requests of direction %d, want %d", got, i, want)
				}
			}
		})
	}
}

func editFile(t *testing.T, path string, edit func(string) string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(edit(string(text))), 0o644); err != nil {
		t.Fatal(err)
	}
}
