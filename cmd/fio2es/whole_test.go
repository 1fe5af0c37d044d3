package main

import (
	"database/sql"
	"encoding/json"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/mapping"
)

const exampleArchive = "../../examples/cbt-archive"

// spoil runs SQL statements on the file of a history, to damage it.
func spoil(t *testing.T, db string, statements ...string) {
	t.Helper()
	file, err := sql.Open("sqlite", db)
	check(t, err)
	defer file.Close()
	for _, s := range statements {
		res, err := file.Exec(s)
		check(t, err)
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			t.Fatalf("%s: %d rows, %v", s, n, err)
		}
	}
}

// TestMissingDocuments: rows of a history are lost. Commands that answer from the rest say so, and ingest of the
// same files restores them.
func TestMissingDocuments(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "h.db")
	outAndErr(t, 0, "ingest", allLevels, "--history", db, exampleArchive)
	id := ids(outputOf(t, "runs", "--history", db, "--format", "csv"))[0]
	commands := [][]string{
		{"percentiles", id}, {"heatmap", id}, {"rank", id, "--within", "1ms", "--from", "+0s"}, {"compare", id, id},
		{"sla", id, "--rule", "p99 <= 10s in 99% of windows"}, {"report", id}, {"show", id}, {"export", id, "--as", "csv"},
	}
	before := map[int]string{}
	for i, args := range commands {
		before[i], _ = outAndErr(t, 0, append(args, "--history", db)...)
	}
	spoil(t, db, `DELETE FROM intervals WHERE level = 1 AND ingest = (SELECT number FROM ingests WHERE run LIKE '`+id+`%')
		AND time IN (SELECT time FROM intervals AS i WHERE i.ingest = intervals.ingest ORDER BY time LIMIT 3)`)
	for _, args := range commands {
		out, errs := outAndErr(t, 3, append(args, "--history", db)...)
		if !strings.Contains(errs, "the history lacks ") || !strings.Contains(errs, "of level cluster: ") || !strings.Contains(errs, "run "+id[:8]) {
			t.Errorf("%v:\n%s", args, errs)
		}
		if args[0] == "report" && !strings.Contains(out, "the history lacks ") {
			t.Error("the page says nothing of it")
		}
	}
	outAndErr(t, 3, "push", "--history", db, "--output", filepath.Join(t.TempDir(), "out"))
	// The totals in the run document are not affected.
	outAndErr(t, 0, "rank", id, "--within", "1ms", "--history", db)

	_, errs := outAndErr(t, 0, "ingest", "--verify", allLevels, "--history", db, exampleArchive)
	expect(t, "ingest", errs, "the history lacked ", " of level cluster: its documents are stored again", "; 2 unchanged")
	for i, args := range commands {
		after, _ := outAndErr(t, 0, append(args, "--history", db)...)
		if after != before[i] {
			t.Errorf("%v: not as before", args)
		}
	}
	_, errs = outAndErr(t, 0, "ingest", allLevels, "--history", db, exampleArchive)
	expect(t, "ingest", errs, "0 runs stored", "; 3 unchanged")

	// A part of the files cannot restore it.
	spoil(t, db, `DELETE FROM intervals WHERE level = 2`)
	part := filepath.Join(exampleArchive, "results", "00000000", "id-2b90e1d4", "4krandrw.client01.lab.example.com")
	_, errs = outAndErr(t, 3, "ingest", allLevels, "--history", db, part)
	expect(t, "ingest", errs, "not restored: these are not all files of run ")
}

// documentsBy returns the interval documents of a stand-in by id.
func documentsBy(server *estest.Server) map[string]string {
	out := map[string]string{}
	for _, index := range server.Indices() {
		for id, text := range server.Documents(index) {
			if _, isTwice := out[id]; isTwice {
				id += " in " + index
			}
			if strings.Contains(index, "-latency.") {
				out[id] = string(text)
			}
		}
	}
	return out
}

func post(t *testing.T, address, path, body string) {
	t.Helper()
	res, err := http.Post(address+path, "application/x-ndjson", strings.NewReader(body))
	check(t, err)
	res.Body.Close()
	if res.StatusCode > 299 {
		t.Fatalf("%s: status %d", path, res.StatusCode)
	}
}

// TestMissingDocumentsInCluster: ingest and push restore documents that the cluster lost, and remove what an
// interrupted replacement left.
func TestMissingDocumentsInCluster(t *testing.T) {
	t.Parallel()
	server, address := standIn(t, nil)
	db := filepath.Join(t.TempDir(), "h.db")
	outAndErr(t, 0, "ingest", "--history", db, exampleArchive)
	ways := map[string][]string{
		"ingest": {"ingest", "--verify", "--elasticsearch", address, exampleArchive},
		"push":   {"push", "--history", db, "--elasticsearch", address},
	}
	outAndErr(t, 0, ways["ingest"]...)
	whole := documentsBy(server)
	var run mapping.Run
	for _, text := range server.Documents("fio-runs") {
		check(t, json.Unmarshal(text, &run))
	}
	of := `{"query":{"bool":{"filter":[{"term":{"run.id":"` + run.Run.ID + `"}}]}}}`
	for _, name := range slices.Sorted(maps.Keys(ways)) {
		again := func(want ...string) {
			t.Helper()
			_, errs := outAndErr(t, 0, ways[name]...)
			expect(t, name, errs, want...)
			if got := documentsBy(server); !maps.Equal(got, whole) {
				t.Errorf("%s: %d documents, want %d", name, len(got), len(whole))
			}
		}
		post(t, address, "/fio-latency.*/_delete_by_query?conflicts=proceed&refresh=true", of)
		if n := len(documentsBy(server)); n == len(whole) || n == 0 {
			t.Fatalf("%d documents left", n)
		}
		again(" of level cluster")

		// The interval documents of the next version are there, but its run document is not; or the other way round.
		var bulk strings.Builder
		for id, text := range whole {
			if strings.Contains(text, run.Run.ID) {
				bulk.WriteString(`{"index":{"_index":"fio-latency.cluster-2026","_id":"` + id + `x"}}` + "\n")
				bulk.WriteString(strings.ReplaceAll(text, run.Run.Ingest, "otherversion") + "\n")
			}
		}
		post(t, address, "/_bulk", bulk.String())
		post(t, address, "/_all/_refresh", "")
		again("note: finished replacing " + run.Run.ID[:8])
		searches := server.Requests("_search")
		again("3 ")
		// One search counts all runs. ingest looks up each run with one more search, or two if it had to wait for
		// another run, and what it remembers with one.
		if n, most := server.Requests("_search")-searches, map[string]int{"ingest": 8, "push": 2}[name]; n > most {
			t.Errorf("%s of 3 unchanged runs: %d searches, want %d", name, n, most)
		}
	}
}
