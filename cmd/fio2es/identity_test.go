package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/mapping/templates"
)

// unzipped returns the contents of a gzip file.
func unzipped(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	check(t, err)
	defer f.Close()
	r, err := gzip.NewReader(f)
	check(t, err)
	content, err := io.ReadAll(r)
	check(t, err)
	return content
}

// standIn returns a stand-in cluster with templates and some documents, and its address.
func standIn(t *testing.T, bulk []byte) (*estest.Server, string) {
	t.Helper()
	server := estest.New(templates.Names("fio")...)
	address, stop := server.Start()
	t.Cleanup(stop)
	res, err := http.Post(address+"/_bulk", "application/x-ndjson", bytes.NewReader(bulk))
	check(t, err)
	res.Body.Close()
	res, err = http.Post(address+"/_all/_refresh", "application/json", nil)
	check(t, err)
	res.Body.Close()
	return server, address
}

// TestPushKnowsContents: a run that the cluster has under another id is not pushed again.
func TestPushKnowsContents(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "h.db")
	archive := filepath.Join("..", "..", "examples", "cbt-archive", "results")
	written := call(t, nil, "ingest", "--output", "-", archive)
	if c := call(t, nil, "ingest", "--history", db, archive); c.code != 0 || written.code != 0 {
		t.Fatal(c.stderr, written.stderr)
	}
	var others []byte // the run documents alone, under other ids
	lines := strings.SplitAfter(written.stdout, "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		if strings.Contains(lines[i], `"_index":"fio-runs"`) {
			id := regexp.MustCompile(`"_id":"(\w+)"`).FindStringSubmatch(lines[i])[1]
			document := regexp.MustCompile(`"documents":\{[^}]*\},`).ReplaceAllString(lines[i+1], "")
			others = append(others, strings.ReplaceAll(lines[i]+document, id, "0000"+id[4:])...)
		}
	}
	server, address := standIn(t, others)
	c := call(t, nil, "push", "--history", db, "--elasticsearch", address)
	if c.code != 0 || !strings.Contains(c.stderr, "0 runs with 0 documents pushed; 3 there already") ||
		!strings.Contains(c.stderr, "is already there as 0000") || !strings.Contains(c.stderr, "(and 1 more like this)") {
		t.Errorf("exit code %d\n%s", c.code, c.stderr)
	}
	if n := len(server.Documents("fio-runs")); n != 3 {
		t.Errorf("%d runs in the cluster", n)
	}
}

// TestPushBrings: the cluster has one host's part of a run under another id. The complete run replaces it.
func TestPushBrings(t *testing.T) {
	t.Parallel()
	server, address := standIn(t, nil)
	archive := filepath.Join("..", "..", "examples", "cbt-archive")
	part := filepath.Join(archive, "results", "00000000", "id-2b90e1d4", "4krandrw.client01.lab.example.com")
	db := filepath.Join(t.TempDir(), "h.db")
	for _, args := range [][]string{
		{"ingest", "--elasticsearch", address, part}, {"ingest", "--history", db, archive}, {"push", "--history", db, "--elasticsearch", address},
	} {
		if c := call(t, nil, args...); c.code != 0 {
			t.Fatalf("%v: %s", args, c.stderr)
		}
	}
	if runs := server.Documents("fio-runs"); len(runs) != 3 {
		t.Errorf("%d runs in the cluster", len(runs))
	}
}

// TestPushRenews: documents that an earlier fio2es stored in the cluster lack what they have now. They are sent again, once, and keep
// their labels.
func TestPushRenews(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "h.db")
	archive := filepath.Join("..", "..", "examples", "cbt-archive", "results")
	written := call(t, nil, "ingest", "--output", "-", archive)
	old := regexp.MustCompile(`"workload":\{[^}]*\},|"execution":"\w+","stage":1,`).ReplaceAllString(written.stdout, "")
	server, address := standIn(t, []byte(old))
	documents := func() (texts []string) {
		for _, index := range server.Indices() {
			for _, d := range server.Documents(index) {
				texts = append(texts, string(d))
			}
		}
		return texts
	}
	before := len(documents())
	for i, args := range [][]string{
		{"ingest", "--history", db, archive}, {"label", "latest", "release=reef", "--elasticsearch", address}, {"push", "--history", db, "--elasticsearch", address},
		{"push", "--history", db, "--elasticsearch", address},
	} {
		want := []string{"", "", "3 runs sent again, because an earlier fio2es stored them there without their workload", "0 runs with 0 documents pushed; 3 there already"}[i]
		if c := call(t, nil, args...); c.code != 0 || !strings.Contains(c.stderr, want) {
			t.Errorf("%v: %s", args, c.stderr)
		}
	}
	labelled := 0
	for _, text := range documents() {
		if !strings.Contains(text, `"workload":{"id":"1-`) || !strings.Contains(text, `"execution":"`) {
			t.Error(text)
		}
		if strings.Contains(text, "reef") {
			labelled++
		}
	}
	if after := len(documents()); after != before || labelled < 5 || written.code != 0 {
		t.Errorf("%d documents were %d, %d with a label", after, before, labelled)
	}
}

// TestPushFromCluster: the runs of a cluster are copied into an embedded history, document by document, and back.
func TestPushFromCluster(t *testing.T) {
	t.Parallel()
	_, address := standIn(t, nil)
	archive, dir := filepath.Join("..", "..", "examples", "cbt-archive"), t.TempDir()
	a, b := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")
	for _, args := range [][]string{
		{"ingest", "--history", a, archive, "--levels", "cluster,host,job"}, {"label", "latest", "release=reef", "--history", a},
		{"push", "--history", a, "--elasticsearch", address}, {"push", "--elasticsearch", address, "--into", b},
		{"push", "--history", b, "--elasticsearch", address}, {"push", "--elasticsearch", address, "--into", a},
	} {
		c := call(t, nil, args...)
		if c.code != 0 {
			t.Fatalf("%v: %s", args, c.stderr)
		}
		if args[1] != "--elasticsearch" && args[2] == b && !strings.Contains(c.stderr, "0 runs with 0 documents pushed; 3 there already") {
			t.Errorf("%v: %s", args, c.stderr)
		}
	}
	want, got := call(t, nil, "push", "--history", a, "--output", "-"), call(t, nil, "push", "--history", b, "--output", "-")
	if want.stdout != got.stdout || want.stdout == "" || strings.Count(want.stdout, "reef") < 10 {
		t.Errorf("%d and %d bytes of documents", len(want.stdout), len(got.stdout))
	}
}

// ids returns the runs in a table of runs in CSV, each once.
func ids(csv string) (ids []string) {
	for _, line := range strings.Split(strings.TrimSpace(csv), "\n")[1:] {
		id, _, _ := strings.Cut(line, ",")
		ids = append(ids, id)
	}
	return slices.Compact(ids)
}

// TestHalfCopied: a run was stored while its files were copied, with a log cut, its report cut or not there yet. The whole
// files are a version of the same run, and replace it. A cut copy never replaces the whole run without --force.
func TestHalfCopied(t *testing.T) {
	t.Parallel()
	whole := map[string][]byte{}
	for _, name := range []string{"out.txt", "out_clat_hist.1.log", "out_clat_hist.2.log"} {
		whole[name] = unzipped(t, filepath.Join("..", "..", "testdata", "corpus", "two-jobs-rw", name+".gz"))
	}
	const one, two, report = "out_clat_hist.1.log", "out_clat_hist.2.log", "out.txt"
	type part map[string]int // percent of each file
	for name, c := range map[string]struct {
		first, then part
		cluster     bool // too; the rest decides in the same way there
	}{
		"a log alone, by little": {part{one: 99}, part{one: 100}, false},
		"one of two logs":        {part{one: 100, two: 60}, part{one: 100, two: 100}, true},
		"the logs of a report":   {part{one: 60, two: 30, report: 100}, part{one: 100, two: 100, report: 100}, false},
		"one log of a report":    {part{one: 100, two: 60, report: 100}, part{one: 100, two: 100, report: 100}, false},
		"within the first row":   {part{one: 1, two: 1, report: 100}, part{one: 100, two: 100, report: 100}, true},
		"an empty log":           {part{one: 0, two: 0, report: 100}, part{one: 100, two: 100, report: 100}, false},
		"the report comes later": {part{one: 100, two: 60}, part{one: 100, two: 100, report: 100}, true},
		"the report is cut, too": {part{one: 60, two: 30, report: 50}, part{one: 100, two: 100, report: 100}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			write := func(p part) string {
				dir := filepath.Join(t.TempDir(), "lab")
				check(t, os.Mkdir(dir, 0o700))
				for name, percent := range p {
					check(t, os.WriteFile(filepath.Join(dir, name), whole[name][:len(whole[name])*percent/100], 0o600))
				}
				return dir
			}
			cut, all := write(c.first), write(c.then)
			fresh := filepath.Join(t.TempDir(), "fresh.db")
			call(t, nil, "ingest", "--history", fresh, all)
			want := documentTexts(t, "--history="+fresh)
			stores := []string{"--history=" + filepath.Join(t.TempDir(), "h.db")}
			if c.cluster {
				_, address := standIn(t, nil)
				stores = append(stores, "--elasticsearch="+address)
			}
			for _, at := range stores {
				requests := func(args ...string) string {
					if c := call(t, nil, append(args, at)...); c.code != 0 && c.code != exitLeftOut {
						t.Fatalf("%v: exit code %d\n%s", args, c.code, c.stderr)
					}
					return call(t, nil, "runs", "--format", "csv", "--columns", "run,requests", at).stdout
				}
				requests("ingest", cut)
				stored := requests("ingest", all)
				if want := requests("ingest", "--force", all); stored != want || len(ids(stored)) != 1 {
					t.Errorf("the whole run after its part: %q, want %q", stored, want)
				}
				if got := requests("ingest", cut); got != stored {
					t.Errorf("the part after the whole run: %q, want %q", got, stored)
				}
				if got := requests("ingest", "--verify", all); got != stored {
					t.Errorf("the whole run again: %q, want %q", got, stored)
				}
				if got := documentTexts(t, at); got != want {
					t.Errorf("%s: documents differ from those of the whole run alone:\n%s", at, gocmp.Diff(want, got))
				}
				call(t, nil, "ingest", "--force", cut, at)
				if got := documentTexts(t, at); got == want {
					t.Error("--force does not store the part")
				}
			}
		})
	}
}

// documentTexts returns the windows of all runs of a history in CSV, without the columns that name the run.
func documentTexts(t *testing.T, at string) (text string) {
	t.Helper()
	for _, id := range ids(call(t, nil, "runs", "--format", "csv", at).stdout) {
		c := call(t, nil, "percentiles", id, "--levels=cluster", "--format", "csv", at)
		for line := range strings.Lines(c.stdout) {
			_, rest, _ := strings.Cut(line, ",")
			text += rest
		}
	}
	return text
}
