package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestHeatmapTotals: for any number of columns, all cells together have as many requests as rank counts in the same
// windows. The cells below a band have as many as are within its bound, except for the requests in the bin at the
// bound.
func TestHeatmapTotals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		run  string
		args []string
	}{
		{"two-jobs-rw", nil}, {"stalls", nil}, {"trim-write-read", nil},
		{"coarseness", []string{"--from", "+0s"}}, // windows have coarser bins than the run
		{"mixed-bs", []string{"--direction", "write"}},
		{"stalls", []string{"--from", "+3s", "--to", "+8s"}},
		{"stalls", []string{"--interval", "auto"}},
		{"cbt-archive/results/00000000/id-7c1f03ab", []string{"--host", "hostA,hostC", "--job", "0.1", "--from", "+2s"}},
	} {
		path := filepath.Join("..", "..", "testdata", "corpus", filepath.FromSlash(c.run))
		if strings.HasPrefix(c.run, "cbt-archive") {
			path = filepath.Join("..", "..", "examples", filepath.FromSlash(c.run))
		}
		asked := append([]string{path}, c.args...)
		ranks := rankOf(t, append(asked, "--within", "100us")...)
		rank := ranks[len(ranks)-1] // the row of all directions
		for _, columns := range []string{"1", "3", "7", "240"} {
			all, within := int64(0), int64(0)
			for _, l := range linesOf[heatmapLine](t, 0, append([]string{"heatmap", "--columns", columns}, asked...)...) {
				all += l.Requests
				if l.HighUS <= 100 {
					within += l.Requests
				}
				if l.Requests < 1 || l.HighUS <= l.LowUS || l.EndMS < l.StartMS {
					t.Errorf("%s %v: %+v", c.run, c.args, l)
				}
			}
			if all != rank.Requests || all == 0 {
				t.Errorf("%s %v in %s columns: %d requests, rank has %d", c.run, c.args, columns, all, rank.Requests)
			}
			if within < rank.AtLeast || within > rank.AtMost {
				t.Errorf("%s %v in %s columns: %d requests within 100 µs, rank has %d to %d", c.run, c.args, columns, within, rank.AtLeast, rank.AtMost)
			}
		}
	}
}
