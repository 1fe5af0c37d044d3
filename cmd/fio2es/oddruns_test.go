package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
)

// oddRuns returns runs that each lack something, and their windows.
func oddRuns() (runs []*mapping.Run, windows []*mapping.Interval) {
	h := hist.New(hist.Fio3(0))
	h.AddAt(500, 10)
	latency := mapping.NewLatency(h, nil)
	total := func() *mapping.Totals { return &mapping.Totals{Requests: 10, IOPS: 10, Latency: latency} }
	add := func(id string, change func(*mapping.Run), docs ...*mapping.Interval) {
		r := &mapping.Run{
			Run:        mapping.RunInfo{ID: id, Name: "run " + id, Archive: "lab", Start: storedStart, End: storedStart.Add(1200 * time.Millisecond), Ingest: "1"},
			IntervalMS: 1000, Levels: []mapping.Level{mapping.Cluster}, All: total(), Read: total(), Documents: mapping.Documents{Cluster: len(docs)},
		}
		change(r)
		for _, d := range docs {
			d.Run = mapping.RunRef{ID: r.Run.ID, Name: r.Run.Name, Archive: "lab", Start: r.Run.Start, Ingest: "1"}
		}
		runs, windows = append(runs, r), append(windows, docs...)
	}
	window := func(direction string, from, to int64) *mapping.Interval {
		return storedWindow(direction, from, from, to, h)
	}
	average := window("read", 0, 1000)
	average.Latency, average.DocCount, average.Weighting = mapping.Latency{Mean: 5}, 0, "average"
	// no windows of writes
	add("a1", func(r *mapping.Run) { r.Write = total() }, window("read", 0, 1000))
	// no total of trims
	add("a2", func(*mapping.Run) {}, window("read", 0, 1000), window("trim", 0, 1000))
	// no requests
	add("a3", func(r *mapping.Run) { r.All, r.Read, r.IntervalMS = nil, nil, 0 })
	// averages
	add("a4", func(r *mapping.Run) { r.Read.Latency = mapping.Latency{Mean: 5}; r.All = nil }, average)
	// a run of no length
	add("a5", func(r *mapping.Run) { r.Run.End = r.Run.Start }, window("read", 0, 1))
	// an unknown date
	add("a6", func(r *mapping.Run) { r.Run.Start, r.Run.End = time.Time{}, time.Time{}.Add(4*time.Second) })
	// a short last window
	add("a7", func(*mapping.Run) {}, window("read", 0, 1000), window("read", 1000, 1200), window("write", 0, 1000))
	// figures of fio, but no requests
	add("a8", func(r *mapping.Run) { r.NoWindows = "no log"; r.All.Fio = &mapping.FioLatency{}; r.Read = nil })
	return runs, windows
}

// TestOddRuns: each command answers for a run that lacks something, or says why not.
func TestOddRuns(t *testing.T) {
	t.Parallel()
	runs, windows := oddRuns()
	file := historyOf(t, runs, windows...)
	one := func(args ...string) {
		t.Helper()
		var out, errs strings.Builder
		code := run(t.Context(), append(args, "--history", file), strings.NewReader(""), &out, &errs)
		if code != 0 && strings.TrimSpace(errs.String()) == "" && (args[0] != "sla" || out.Len() == 0) { // the table of sla has it
			t.Errorf("%v: exit code %d without a word", args, code)
		}
		if code == 0 && out.Len() == 0 && args[len(args)-2] != "-o" {
			t.Errorf("%v: nothing, without a word: %s", args, &errs)
		}
	}
	for _, r := range runs {
		id := r.Run.ID
		for _, more := range [][]string{nil, {"--interval", "2s"}} {
			for _, command := range [][]string{
				{"percentiles", id}, {"percentiles", id, "--format", "csv"}, {"percentiles", id, "--total"},
				{"heatmap", id}, {"heatmap", id, "--format", "svg"}, {"heatmap", id, "--from", "+1s"},
				{"rank", id, "--within", "1ms"}, {"rank", id, "--within", "1ms", "--to", "+1s"}, {"sla", id, "--rule", "p99 <= 1s", "--rule", "iops > 1 in every window"},
				{"sla", id, "--rule", "max <= 1s in every window", "--from", "+1s"}, {"export", id, "--as", "hdrlog"}, {"export", id, "--as", "openmetrics"},
				{"export", id, "--as", "openmetrics", "--windows"}, {"compare", id, "a7"}, {"compare", "a7", id},
				{"show", id}, {"show", id, "--from", "+1s"}, {"show", id, "--format", "json"},
				{"report", id, "--output", "-"}, {"report", id, "a7", "--output", "-"}, {"report", id, "--from", "+1s", "--output", "-"},
			} {
				one(append(command, more...)...)
			}
		}
	}
	one("runs")
	one("runs", "--format", "csv", "--sort", "p99")
	address, _ := startServe(t, file, "127.0.0.1:0")
	for _, page := range []string{"", "?sort=p99", "?sort=max&order=lowest", "runs/a1", "runs/a2", "runs/a4", "runs/a5", "runs/a6", "runs/a7", "compare?run=a1&run=a7"} {
		if code, text := browse(t, address+page); code != 200 {
			t.Errorf("%s: %d %s", page, code, text)
		}
	}
}

// TestServeNoWindows: the page of a run without windows has its numbers, and says why there are no charts.
func TestServeNoWindows(t *testing.T) {
	t.Parallel()
	address, _ := startServe(t, historyOf(t, []*mapping.Run{plainJSON()}), "127.0.0.1:0")
	code, page := browse(t, address+"runs/ff00")
	if code != 200 {
		t.Fatalf("%d: %s", code, page)
	}
	expect(t, "page", page, `<p class="note">no histogram log: run fio with --write_hist_log=NAME`, "90.5µs<small>fio&#39;s own</small>")
	_, list := browse(t, address)
	expect(t, "list", list, `<td data-title="p99">90.5µs*</td>`, "no windows", "* computed by fio")
}

// TestTornArchive: an archive is cut off between two files. A run in it says that others may be missing, until the
// complete archive is read. After that, the cut one changes nothing.
func TestTornArchive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole, err := os.ReadFile(packTwo(t, filepath.Join(dir, "lab")))
	check(t, err)
	second := bytes.Index(whole, []byte("two-jobs-rw"))
	archive, db := filepath.Join(dir, "lab.tar"), filepath.Join(dir, "h.db")
	ingest := func(code int, content []byte, complete int, want string) {
		t.Helper()
		check(t, os.WriteFile(archive, content, 0o600))
		_, errs := outAndErr(t, code, "ingest", "--history", db, archive)
		expect(t, "ingest", errs, want)
		if docs := outputOf(t, "runs", "--history", db, "--format", "document"); strings.Count(docs, `"complete":true`) != complete {
			t.Errorf("want %d complete runs: %s", complete, docs)
		}
	}
	cut := whole[:second] // after the last file of the first run
	ingest(3, cut, 0, "its archive is damaged or cut short, so files of this run may be missing")
	ingest(0, whole, 2, "")
	ingest(3, cut, 2, "which has all of its files")
}

// packTwo makes a folder of two runs, and returns a tar file of it.
func packTwo(t *testing.T, folder string) (packed string) {
	t.Helper()
	for _, run := range []string{"stalls", "two-jobs-rw"} {
		check(t, os.CopyFS(filepath.Join(folder, run), os.DirFS(filepath.Join("..", "..", "testdata", "corpus", run))))
	}
	packed = folder + ".tar"
	f, err := os.Create(packed)
	check(t, err)
	w := tar.NewWriter(f)
	check(t, errors.Join(w.AddFS(os.DirFS(folder)), w.Close(), f.Close()))
	return packed
}
