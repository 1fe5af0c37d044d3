// Package historytest is the test suite that every implementation of history.Store must pass. Stored documents must
// come back equal. No reader may see a part of a run, or two versions of one.
package historytest

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// Run tests the stores that open returns. Each must be empty; Run closes them. What a call has stored must be
// visible to the next call without waiting.
func Run(t *testing.T, open func(t *testing.T) history.Store) {
	Reading(t, open)
	run(t, open, []check{
		{"Empty", testEmpty},
		{"Replace", testReplace},
		{"Again", testAgain},
		{"Ingested", testIngested},
		{"Check", testCheck},
		{"Refused", testRefused},
		{"Unreadable", testUnreadable},
		{"Delete", testDelete},
		{"Annotate", testAnnotate},
		{"AnnotateMany", testAnnotateMany},
		{"AnnotateRefused", testAnnotateRefused},
		{"AnnotateVersions", testAnnotateVersions},
		{"AnnotateAtOnce", testAnnotateAtOnce},
		{"Mark", testMark},
		{"Removed", testRemoved},
		{"Shared", testShared},
		{"SharedReplaced", testSharedReplaced},
		{"Compact", testCompact},
		{"CompactInterrupted", testCompactInterrupted},
		{"CompactReplaced", testCompactReplaced},
	})
}

// Reading is the part of [Run] that depends on how a store reads: the size of pages, and how many pages it reads at
// once.
func Reading(t *testing.T, open func(t *testing.T) history.Store) {
	run(t, open, []check{
		{"RoundTrip", testRoundTrip},
		{"Growing", testGrowing},
		{"Selection", testSelection},
		{"Parts", testParts},
		{"Count", testCount},
		{"Prefix", testPrefix},
		{"Filter", testFilter},
		{"Live", testLive},
		{"Workloads", testWorkloads},
		{"InAnyOrder", testInAnyOrder},
		{"Wanted", testWanted},
		{"Light", testLight},
		{"Holding", testHolding},
		{"ManyHashes", testManyHashes},
		{"Versions", testVersions},
		{"Large", testLarge},
		{"Break", testBreak},
		{"Cancel", testCancel},
		{"Concurrent", testConcurrent},
	})
}

type check struct {
	name string
	test func(*testing.T, history.Store)
}

func run(t *testing.T, open func(t *testing.T) history.Store, checks []check) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			defer func() {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}()
			c.test(t, s)
		})
	}
}

func collect[D any](t *testing.T, seq iter.Seq2[*D, error]) []*D {
	t.Helper()
	var out []*D
	for d, err := range seq {
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		out = append(out, d)
	}
	return out
}

// equal compares two values. what and args say what they are.
func equal(t *testing.T, want, got any, what string, args ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", fmt.Sprintf(what, args...), diff)
	}
}

// isStored checks the document of a run.
func isStored(t *testing.T, s history.Store, want *mapping.Run) {
	t.Helper()
	got, err := s.Run(t.Context(), want.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, want, got, "run")
}

func put(t *testing.T, s history.Store, docs ...*mapping.Interval) {
	t.Helper()
	if err := s.Put(t.Context(), docs); err != nil {
		t.Fatalf("put: %v", err)
	}
}

func finish(t *testing.T, s history.Store, runs ...*mapping.Run) {
	t.Helper()
	for _, r := range runs {
		if err := s.Finish(t.Context(), r); err != nil {
			t.Fatalf("finish: %v", err)
		}
	}
}

// store stores a made run with its first n windows.
func store(t *testing.T, s history.Store, name, ingest string, n int) (*mapping.Run, []*mapping.Interval) {
	t.Helper()
	run, docs := NewRun(name, ingest), Intervals(name, ingest, n)
	put(t, s, docs...)
	finish(t, s, run)
	return run, docs
}

// expect compares the documents that a selection returns with want, in order, with and without histograms.
func expect(t *testing.T, s history.Store, sel history.Selection, want []*mapping.Interval) {
	t.Helper()
	got := collect(t, s.Intervals(t.Context(), sel))
	if diff := cmp.Diff(ids(want), ids(got)); diff != "" {
		t.Errorf("ids of %+v (-want +got):\n%s", sel, diff)
		return
	}
	if diff := Diff(want, got); diff != "" && len(want)+len(got) > 0 {
		t.Errorf("documents of %+v (-want +got):\n%s", sel, diff)
	}
	sel.Light = true
	var light []*mapping.Interval
	for _, d := range want {
		d := *d
		d.Latency.Bins = mapping.Bins{}
		light = append(light, &d)
	}
	if diff := Diff(light, collect(t, s.Intervals(t.Context(), sel))); diff != "" {
		t.Errorf("documents of %+v (-want +got):\n%s", sel, diff)
	}
}

// Diff returns [cmp.Diff] of two lists of documents. If they are equal, it is faster.
func Diff(want, got []*mapping.Interval) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

func ids(docs []*mapping.Interval) []string {
	var out []string
	for _, d := range docs {
		out = append(out, d.ID()+" "+d.Fio.Direction+" "+d.Host.Name+" "+d.Fio.Job)
	}
	return out
}

func names(runs []*mapping.Run) []string {
	var out []string
	for _, r := range runs {
		out = append(out, r.Run.Name)
	}
	return out
}

func filtered(docs []*mapping.Interval, want func(*mapping.Interval) bool) []*mapping.Interval {
	return slices.DeleteFunc(slices.Clone(docs), func(d *mapping.Interval) bool { return !want(d) })
}
