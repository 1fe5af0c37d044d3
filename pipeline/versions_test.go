package pipeline_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
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
		// With group_reporting, the logs of all jobs of a host show it together: those of one fit as they are, too.
		{name: "clients-group", run: "out", requests: [3]int64{680, 680}, windows: 1360, noted: []string{"undone, as the bins of"}},
		// What is no count is in the columns of latencies that no request had.
		{name: "half-3.7", run: "out", requests: [3]int64{2: 1230}, windows: 1230},
		{name: "half-3.7", run: "out", noBins: true, requests: [3]int64{2: 1230}, windows: 1081, noted: []string{"149 trim requests"}},
		// A third of the requests took longer, and are in no row.
		{name: "half-3.16", run: "out", requests: [3]int64{601, 600}, skipped: []string{"fio 3.6 to 3.16 write memory in place of counts"},
			noted: []string{"601 read requests", "600 write requests"}},
		// The log has what the report does not say: how many requests there were.
		{name: "fio-2.1.10", run: "t", requests: [3]int64{315, 325}, windows: 640, noted: []string{"start taken from"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := copyCorpus(t, c.name)
			if c.noBins {
				editFile(t, filepath.Join(dir, "out.json"), withoutBins)
			}
			docs, res := readRun(t, dir, c.run, pipeline.Options{Levels: []mapping.Level{mapping.Cluster}})
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

// TestDoubledWithoutReport: without its report, a log with the name that fio --client gives is refused, and others are not.
func TestDoubledWithoutReport(t *testing.T) {
	for name, skipped := range map[string][]string{
		"clients-3.42": {"fio --client names logs like this one"}, "two-jobs-rw": nil, "stalls": nil, "coarseness": nil, "epoch": nil,
		"mixed-bs": nil, "trim-write-read": nil,
	} {
		t.Run(name, func(t *testing.T) {
			dir := copyCorpus(t, name)
			removeFiles(t, dir, "out.")
			removeFiles(t, dir, "_clat.")
			a, err := pipeline.Open(t.Context(), []string{dir}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			res, err := Read(t.Context(), a.Runs[0], pipeline.Options{Levels: []mapping.Level{mapping.Cluster}}, func(*window.Window) error { return nil })
			if len(skipped) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				expectErrors(t, "skipped", res.Skipped, nil)
				return
			}
			if res != nil {
				err = errors.Join(append(res.Skipped, err)...)
			}
			expectErrors(t, "refused", []error{err}, skipped)
		})
	}
}

// TestTextOfClients: the text of fio --client has no bins and no names of hosts, so its logs are refused, also those of so few rows
// that these do not show what fio added.
func TestTextOfClients(t *testing.T) {
	of := func(requests int) string {
		return fmt.Sprintf(`
a: (groupid=0, jobs=2): err= 0: pid=%[1]d: Sat Nov 28 10:44:24 2026
  read: IOPS=120, BW=483KiB/s (495kB/s)(1040KiB/2152msec)
    clat (nsec): min=69, max=2891, avg=163.84, stdev=198.70
  issued rwts: total=%[1]d,0,0,0 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
`, requests)
	}
	const begins = "hostname=vm, be=0, 64-bit, os=Linux, arch=x86-64, fio=fio-3.33, flags=1\n<vm> a: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, " +
		"(T) 4096B-4096B, ioengine=null, iodepth=1\n"
	for _, c := range []struct{ text, said string }{
		{begins + of(520), ""},
		{begins + begins + of(520) + of(840), "it has results of 2 of 2 clients, and not the sum"},
	} {
		dir := copyCorpus(t, "clients-group")
		removeFiles(t, dir, "out.json")
		if c.said == "" {
			removeFiles(t, dir, ".0.3")
		}
		if err := os.WriteFile(filepath.Join(dir, "out.txt"), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		docs, res := readRun(t, dir, "out", pipeline.Options{Levels: []mapping.Level{mapping.Cluster}})
		if n, text := completed(docs, mapping.Cluster), fmt.Sprint(res.Skipped); n > 0 || !strings.Contains(text, "fio --client") || !strings.Contains(text, c.said) {
			t.Errorf("%d requests in windows; %s", n, text)
		}
	}
}

// TestHalfWithoutReport: without the report of fio 3.7, the rows that no fio can have counted are refused.
func TestHalfWithoutReport(t *testing.T) {
	dir := copyCorpus(t, "half-3.7")
	removeFiles(t, dir, "out.json")
	for _, log := range []string{"out_clat_hist.1.log", "out_clat_hist.2.log"} {
		editFile(t, filepath.Join(dir, log), func(s string) string { // below 2^53, as other memory is
			return regexp.MustCompile(`\d{16,}`).ReplaceAllString(s, "4294967296")
		})
	}
	_, res := readRun(t, dir, "out", pipeline.Options{Levels: []mapping.Level{mapping.Cluster}})
	expectErrors(t, "skipped", res.Skipped, []string{"more than any job can make; fio 3.6 to 3.16"})
	if n := res.Run.All.Requests; n > 1230 {
		t.Errorf("%d requests, but there were 1230", n)
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

// TestLogsNotWritten: fio writes its histogram logs when it ends. Where a run has none although its options ask for
// them, it may have been killed after its last periodic report.
func TestLogsNotWritten(t *testing.T) {
	dir := copyCorpus(t, "status-interval")
	for _, want := range [][]string{nil, {"the histogram logs of 2 of 2 jobs are not here", "the last one after 10.0 s"}} {
		_, res := readRun(t, dir, "out", pipeline.Options{Levels: []mapping.Level{mapping.Cluster}})
		expectErrors(t, "skipped", res.Skipped, nil)
		expectErrors(t, "notes", res.Notes, want)
		for _, number := range []string{"1", "2"} {
			_ = os.Remove(filepath.Join(dir, "out_clat_hist."+number+".log"))
			_ = os.Remove(filepath.Join(dir, "out_clat."+number+".log"))
		}
	}
}

// TestUncounted: without logs, nothing says how many requests a report without total_ios is about.
func TestUncounted(t *testing.T) {
	dir := copyCorpus(t, "fio-2.1.10")
	removeFiles(t, dir, "_clat.")
	_, res := readRun(t, dir, "out", pipeline.Options{Levels: []mapping.Level{mapping.Cluster}})
	expectErrors(t, "skipped", res.Skipped, nil)
	expectErrors(t, "notes", res.Notes, []string{"fio-2.1.10 in json does not report how many requests there were"})
	if text := errors.Join(res.Notes...).Error(); strings.Contains(text, "served no requests") {
		t.Error(text)
	}
	for name, c := range map[string]struct {
		got  *mapping.Totals
		iops float64 // whole numbers in such reports
		mean float64 // µs
	}{"read": {res.Run.Read, 103, 635.52}, "write": {res.Run.Write, 106, 1949.7}} {
		if c.got == nil || c.got.Requests != 0 || math.Abs(c.got.IOPS-c.iops) > 1 || math.Abs(c.got.Latency.Mean-c.mean) > 0.01 || c.got.Fio == nil {
			t.Errorf("%s: %+v, want %v requests a second and a mean of %v µs", name, c.got, c.iops, c.mean)
		}
	}
}

// TestUncountedRows: the rate of a report that does not count its requests shows how many its log lacks.
func TestUncountedRows(t *testing.T) {
	dir := copyCorpus(t, "fio-2.1.10")
	for _, c := range []struct{ keep, missing float64 }{{1, 0}, {0.5, 0.5}} {
		file := filepath.Join(dir, "t_clat.log")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rows := strings.SplitAfter(string(text), "\n")
		if err := os.WriteFile(file, []byte(strings.Join(rows[:int(float64(len(rows))*c.keep)], "")), 0o600); err != nil {
			t.Fatal(err)
		}
		_, res := readRun(t, dir, "t", pipeline.Options{Levels: []mapping.Level{mapping.Cluster}})
		all := float64(len(rows))
		if got := float64(res.Run.Missing.Requests); math.Abs(got-c.missing*all) > 0.02*all {
			t.Errorf("%v of %v rows: %v requests are missing", c.keep, all, got)
		}
	}
}

// TestUnit reads logs of fio 2, whose latencies are microseconds. Without evidence of that, they are not used.
func TestUnit(t *testing.T) {
	const unknown = "nothing says whether its latencies are ns (fio 3) or us (fio 2)"
	dated := []string{"start taken from the files' modification times"}
	us, ns := hist.Hint{Unit: hist.Microseconds}, hist.Hint{Unit: hist.Nanoseconds}
	for _, c := range []struct {
		name     string
		without  []string // files
		averaged bool     // the log of completions is one of averages
		opt      pipeline.Options
		mean     float64 // of all windows, µs
		skipped  []string
		noted    []string
	}{
		{name: "report", opt: pipeline.Options{Source: pipeline.SourceRaw}, mean: 4518.75},
		{name: "histogram log", without: []string{".json"}, opt: pipeline.Options{Source: pipeline.SourceRaw}, mean: 4518.75, noted: dated},
		{name: "alone", without: []string{".json", "hist"}, skipped: []string{unknown}, noted: []string{"none of its logs can be used"}},
		{name: "alone, us", without: []string{".json", "hist"}, opt: pipeline.Options{Bins: us}, mean: 4518.75, noted: dated},
		{name: "alone, ns", without: []string{".json", "hist"}, opt: pipeline.Options{Bins: ns}, mean: 4.51875, noted: dated},
		{name: "report, ns", opt: pipeline.Options{Source: pipeline.SourceRaw, Bins: ns}, mean: 4.51875,
			skipped: []string{"are not among those of the report"}, noted: []string{"read in ns, as FIO2ES_UNIT says"}},
		{name: "averages and report", without: []string{"hist"}, averaged: true, mean: 4518.75, noted: []string{"averages"}},
		{name: "averages", without: []string{".json", "hist"}, averaged: true, skipped: []string{unknown}, noted: []string{"no percentiles over time"}},
		{name: "averages, us", without: []string{".json", "hist"}, averaged: true, opt: pipeline.Options{Bins: us}, mean: 4518.75, noted: []string{"averages"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := copyCorpus(t, "fio-2.21")
			for _, name := range c.without {
				removeFiles(t, dir, name)
			}
			if c.averaged {
				var rows strings.Builder
				for ms := 500; ms <= 3000; ms += 500 {
					fmt.Fprintf(&rows, "%d, 4519, 1, 0\n", ms)
				}
				if err := os.WriteFile(filepath.Join(dir, "out_clat.1.log"), []byte(rows.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			c.opt.Levels = []mapping.Level{mapping.Cluster}
			docs, res := readRun(t, dir, "out", c.opt)
			expectErrors(t, "skipped", res.Skipped, c.skipped)
			expectErrors(t, "notes", res.Notes, c.noted)
			sum, n := 0.0, 0.0
			for _, d := range docs {
				weight := max(float64(d.Requests.Completed), 1)
				sum += d.Latency.Mean * weight
				n += weight
			}
			if mean := sum / max(n, 1); math.Abs(mean-c.mean) > c.mean/500 {
				t.Errorf("mean %v µs, want %v", mean, c.mean)
			}
		})
	}
}

// TestTotalLatencies: with lat_percentiles, fio up to 3.17 has bins and percentiles from submission. The mean of completion
// latencies is there.
func TestTotalLatencies(t *testing.T) {
	const report = `{"fio version" : "fio-3.1", "timestamp_ms" : 1795309904147, "jobs" : [{"jobname" : "t", "elapsed" : 3,
 "job options" : {"rw" : "randwrite", "lat_percentiles" : "1"},
 "write" : {"io_bytes" : 16384, "total_ios" : 4, "runtime" : 2000, "iops" : 2, "bw" : 8,
  "clat_ns" : {"min" : 5000000, "max" : 5100000, "mean" : 5045375, "stddev" : 1, "percentile" : {"50.000000" : 5013504}%s},
  "lat_ns" : {"min" : 5000100, "max" : 5100100, "mean" : 5047726, "stddev" : 1}}}]}
`
	for bins, note := range map[string]string{
		"":                           "counted from submission",
		`, "bins" : {"5144576" : 4}`: "counted from submission",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "out.json"), fmt.Appendf(nil, report, bins), 0o644); err != nil {
			t.Fatal(err)
		}
		_, res := readRun(t, dir, "out", pipeline.Options{})
		expectErrors(t, "notes", res.Notes, []string{note})
		if text := fmt.Sprint(res.Notes); strings.Contains(text, "disabled") {
			t.Errorf("%s: %s", bins, text)
		}
		if w := res.Run.Write; w.Means.Clat != 5045.375 || math.Abs(w.Latency.Mean-5045) > 120 || (w.Fio == nil) == (bins == "") {
			t.Errorf("%s: mean %v, of fio %v, latencies of fio %v", bins, w.Latency.Mean, w.Means.Clat, w.Fio)
		}
	}
}
