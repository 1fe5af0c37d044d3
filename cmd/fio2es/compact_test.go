package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCompactedCluster: compacted runs give the same answers from a cluster as from the embedded history. Neither
// push nor ingest restores the shorter windows, whichever history was compacted.
func TestCompactedCluster(t *testing.T) {
	real, prefixes := cluster(t, "compact", "compacted")
	embeddedAnswers(t)
	at := func(prefix string, args ...string) []string {
		return append(slices.Clone(args), "--elasticsearch="+real.Address, "--prefix="+prefix)
	}
	compact := []string{"compact", "--older-than=now", "--to=3s", "--yes"}
	first, second := prefixes[0], prefixes[1]
	for _, prefix := range prefixes {
		outputOf(t, at(prefix, "setup")...)
	}
	outputOf(t, at(first, "push")...)
	outputOf(t, at(first, compact...)...)
	outputOf(t, at(first, "push")...) // the embedded history still has the shorter windows
	outputOf(t, at(first, "ingest", allLevels, exampleArchive)...)
	outputOf(t, compact...)
	outputOf(t, at(first, "push")...)
	outputOf(t, at(second, "push")...) // has only the longer windows
	for _, args := range slices.DeleteFunc(slices.Clone(clusterQuestions), func(args []string) bool { return args[0] == "report" }) {
		want := outputOf(t, args...)
		for _, prefix := range prefixes {
			if diff := cmp.Diff(want, outputOf(t, at(prefix, args...)...)); diff != "" {
				t.Errorf("%s: embedded and cluster differ:\n%s", strings.Join(args, " "), diff)
			}
		}
	}
	for _, prefix := range prefixes {
		if out := outputOf(t, at(prefix, "check")...); !strings.HasSuffix(out, "3 runs with 301 documents; 0 problems\n") {
			t.Error(out)
		}
	}
}
