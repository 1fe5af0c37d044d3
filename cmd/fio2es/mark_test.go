package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/mapping"
)

// marksIn returns the runs of a cluster that have marks, by name, with the numbers and verdicts.
func marksIn(t *testing.T, server *estest.Server) string {
	t.Helper()
	var list []string
	for _, text := range server.Documents("fio-runs") {
		var run mapping.Run
		check(t, json.Unmarshal(text, &run))
		words := []string{run.Run.Name}
		for _, c := range run.Changes {
			words = append(words, c.Verdict+" "+c.Metric)
		}
		if len(words) > 1 {
			list = append(list, strings.Join(words, " "))
		}
	}
	slices.Sort(list)
	return strings.Join(list, "; ")
}

// TestMarks: the marks in a cluster are those of the changes in its runs, whichever command changed the runs.
func TestMarks(t *testing.T) {
	isolate(t)
	path := nights(t, 45)
	server, address := standIn(t, nil)
	cluster := "--elasticsearch=" + address
	step := func(want string, args ...string) (stderr string) {
		t.Helper()
		c := call(t, nil, append(args, cluster)...)
		if got := marksIn(t, server); c.code != 0 || got != want {
			t.Fatalf("%v: exit code %d: %s\nmarks %s, want\n%s", args, c.code, c.stderr, got, want)
		}
		return c.stderr
	}
	worse := "night%d worse p50 worse p99 worse p99_9 worse mean worse iops worse bandwidth"
	step("", "push", "--history", path, "--where", "start < 2026-02-02")
	step(fmt.Sprintf(worse, 30), "push", "--history", path)
	if text := step(fmt.Sprintf(worse, 30), "trend", "--mark"); !strings.Contains(text, "6 changes in 90 runs; 0 runs marked differently") {
		t.Error(text)
	}
	updates := server.Requests("_update_by_query")
	step(fmt.Sprintf(worse, 30), "push", "--history", path)
	if server.Requests("_update_by_query") != updates {
		t.Error("nothing was new, and marks were stored")
	}
	into := filepath.Join(t.TempDir(), "into.db")
	step(fmt.Sprintf(worse, 30), "push", "--into", into)
	if c := call(t, nil, "runs", "--history", into, "--format", "document"); c.code != 0 || strings.Count(c.stdout, "\n") != 90 || strings.Contains(c.stdout, `"changes"`) {
		t.Errorf("marks of a cluster are in another history: %d, %.2000s", c.code, c.stdout)
	}
	updates = server.Requests("_update_by_query")
	// a second time, and back
	for _, args := range [][]string{{"push", "--into", into}, {"push", "--history", into}} {
		if text := step(fmt.Sprintf(worse, 30), args...); !strings.Contains(text, "0 runs with 0 documents pushed; 90 there already") {
			t.Errorf("%v: %s", args, text)
		}
	}
	if server.Requests("_update_by_query") != updates {
		t.Error("nothing was new, and marks were stored")
	}
	part := filepath.Join(t.TempDir(), "part.db") // it has no runs before the change, but the cluster has marks
	step(fmt.Sprintf(worse, 30), "push", "--into", part, "--where", "start >= 2026-01-31")
	second, other := standIn(t, nil)
	if c := call(t, nil, "push", "--history", part, "--elasticsearch", other); c.code != 0 || marksIn(t, second) != "" {
		t.Errorf("exit code %d: %s; marks %s", c.code, c.stderr, marksIn(t, second))
	}
	if c := call(t, nil, "push", "--history", into, "--elasticsearch", other); c.code != 0 || marksIn(t, second) != fmt.Sprintf(worse, 30) {
		t.Errorf("exit code %d: %s; marks %s", c.code, c.stderr, marksIn(t, second))
	}
	step(fmt.Sprintf(worse, 31), "rm", "--yes", "name=night30")
	step(fmt.Sprintf(worse, 31), "label", "--where", "name=night31", "x=y")
	step("", "rm", "--yes", "start < 2026-01-31")

	// A wrong mark, for example of an older version, is removed when changes are found again.
	client, err := es.New(es.Config{Addresses: []string{address}})
	check(t, err)
	t.Cleanup(client.Close)
	store := elastic.New(client, "fio")
	latest, err := query.Find(t.Context(), store, query.Latest)
	check(t, err)
	check(t, store.Mark(t.Context(), map[string][]mapping.Change{latest.Run.ID: {{Metric: "p50", Verdict: "worse"}}}))
	if got := marksIn(t, server); got != "night44 worse p50" {
		t.Error(got)
	}
	step("", "trend", "--mark")
}
