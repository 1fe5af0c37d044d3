package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/fiotest"
)

// tidyCluster returns a cluster with the runs of an archive, and a function that calls commands with it.
func tidyCluster(t *testing.T) (server *watchedServer, archive string, fio2es func(want int, args ...string) called) {
	t.Helper()
	archive = filepath.Join(t.TempDir(), "lab")
	generated(t, fiotest.ArchiveSpec{Runs: 2, Hosts: 2, Jobs: 1, Seconds: 3, Coarseness: 6, Seed: 3}, archive)
	server, address := newWatched(t)
	fio2es = func(want int, args ...string) called {
		t.Helper()
		c := call(t, nil, append(args, "--elasticsearch", address)...)
		if c.code != want {
			t.Fatalf("%s: exit code %d, want %d:\n%s%s", strings.Join(args, " "), c.code, want, c.stdout, c.stderr)
		}
		return c
	}
	fio2es(0, "ingest", archive)
	return server, archive, fio2es
}

// labelled counts the run documents and the interval documents that have a label.
func labelled(t *testing.T, server *estest.Server, label string) (runs, intervals int) {
	t.Helper()
	name, value, _ := strings.Cut(label, "=")
	has := func(text []byte) bool {
		var d struct {
			Run struct{ Labels map[string]string }
		}
		check(t, json.Unmarshal(text, &d))
		return d.Run.Labels[name] == value
	}
	for _, text := range server.Documents("fio-runs") {
		if has(text) {
			runs++
		}
	}
	for _, text := range documentsBy(server) {
		if has([]byte(text)) {
			intervals++
		}
	}
	return runs, intervals
}

// TestLabelInterrupted: check finds a run whose documents have different labels. The same command, and check
// --repair, give all of them the labels of the run.
func TestLabelInterrupted(t *testing.T) {
	t.Parallel()
	server, archive, fio2es := tidyCluster(t)
	fio2es(0, "label", "latest", "release=reef")
	_, all := labelled(t, server.Server, "release=reef")
	if all == 0 {
		t.Fatal("no interval document has the label")
	}
	for label, finish := range map[string][]string{
		"disk=nvme": {"label", "latest", "disk=nvme"}, "disk=ssd": {"check", "--repair"},
	} {
		server.Script(estest.Fault{Kind: estest.Forbidden, On: "_update_by_query"})
		if c := fio2es(1, "label", "latest", label); !strings.Contains(c.stderr, "the same command does the rest") {
			t.Errorf("%s: %s", label, c.stderr)
		}
		if runs, intervals := labelled(t, server.Server, label); runs != 1 || intervals != 0 {
			t.Errorf("%s: %d runs and %d interval documents", label, runs, intervals)
		}
		if c := fio2es(3, "check"); !strings.Contains(c.stdout, "of its interval documents do not have its labels: fio2es label was interrupted: finish it with --repair") {
			t.Errorf("%s: %s", label, c.stdout)
		}
		fio2es(0, "ingest", archive)
		fio2es(0, finish...)
		if runs, intervals := labelled(t, server.Server, label); runs != 1 || intervals != all {
			t.Errorf("%s: %d runs and %d of %d interval documents after %v", label, runs, intervals, all, finish)
		}
		fio2es(0, "check")
	}
}

// TestLabelsStay: ingest of the same files, with the same or other settings, and push keep labels and notes in the
// cluster and in the embedded history.
func TestLabelsStay(t *testing.T) {
	t.Parallel()
	server, archive, fio2es := tidyCluster(t)
	fio2es(0, "label", "latest", "release=reef", "by=cluster")
	fio2es(0, "note", "latest", "in the cluster")
	before := documentsBy(server.Server)
	fio2es(0, "ingest", archive)
	if diff := cmp.Diff(before, documentsBy(server.Server)); diff != "" {
		t.Errorf("ingested again (-before +after):\n%s", diff)
	}
	fio2es(0, "ingest", archive, "--interval", "2s")
	stayed := func(what string, labels ...string) {
		t.Helper()
		fio2es(0, "check")
		for _, label := range labels {
			if runs, intervals := labelled(t, server.Server, label); runs != 1 || intervals == 0 {
				t.Errorf("%s: %d runs and %d interval documents have %s", what, runs, intervals, label)
			}
		}
		if c := fio2es(0, "runs", "in the cluster"); !strings.Contains(c.stdout, "in the cluster") {
			t.Errorf("%s: no note", what)
		}
	}
	stayed("another version", "release=reef", "by=cluster")

	db := filepath.Join(t.TempDir(), "h.db")
	embedded := func(args ...string) {
		t.Helper()
		if c := call(t, nil, append(args, "--history", db)...); c.code != 0 {
			t.Fatal(c.stderr)
		}
	}
	embedded("ingest", archive)
	embedded("label", "latest", "release=squid", "here=yes")
	embedded("note", "latest", "here")
	fio2es(0, "push", "--history", db) // another version
	stayed("pushed", "release=reef", "by=cluster", "here=yes")
	embedded("label", "latest", "later=yes")
	fio2es(0, "push", "--history", db) // the same version
	stayed("pushed again", "release=reef", "by=cluster", "here=yes", "later=yes")
}

// TestRemovedStays: neither ingest nor push stores a run that was removed from a cluster, except with --restore.
func TestRemovedStays(t *testing.T) {
	t.Parallel()
	server, archive, fio2es := tidyCluster(t)
	db := filepath.Join(t.TempDir(), "h.db")
	if c := call(t, nil, "ingest", archive, "--history", db); c.code != 0 {
		t.Fatal(c.stderr)
	}
	whole := documentsBy(server.Server)
	fio2es(0, "rm", "latest", "--yes")
	for _, way := range [][]string{{"ingest", archive}, {"push", "--history", db}} {
		if c := fio2es(0, way...); !strings.Contains(c.stderr, "note: left out 1 run, removed from the history before (fio2es rm)") {
			t.Errorf("%s: %s", way[0], c.stderr)
		}
		if c := fio2es(0, "runs", "--format", "document"); strings.Count(c.stdout, "\n") != 1 {
			t.Errorf("%s: %s", way[0], c.stdout)
		}
		fio2es(0, "check")
		if c := fio2es(0, append(way, "--restore")...); !strings.Contains(c.stderr, "is stored again") {
			t.Errorf("%s: %s", way[0], c.stderr)
		}
		if diff := cmp.Diff(whole, documentsBy(server.Server)); diff != "" {
			t.Errorf("%s (-before +after):\n%s", way[0], diff)
		}
		fio2es(0, "rm", "latest", "--yes")
	}
}
