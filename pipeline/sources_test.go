package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// TestRawSource makes documents of raw completions: nothing is lost, and each window's
// requests and weights are exactly those that completed, or lived, in it.
func TestRawSource(t *testing.T) {
	for _, c := range []struct {
		name, only string
		weighting  int
	}{
		{"two-jobs-rw", "out", 0}, {"stalls", "out", 0}, {"stalls", "out", 1}, {"trim-write-read", "out", 0},
		{"cbt-archive", "results/00000000/id-7c1f03ab", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join("..", "testdata", "corpus", c.name)
			opt := pipeline.Options{Source: pipeline.SourceRaw, Align: pipeline.AlignJob, Levels: []mapping.Level{mapping.Cluster}}
			docs, res := readRun(t, path, c.only, opt)
			if len(res.Skipped) > 0 || !res.Run.Run.Complete {
				t.Errorf("lost %v, complete %v", res.Skipped, res.Run.Run.Complete)
			}
			raw := readRaw(t, path, c.only)
			total := 0
			for _, d := range docs {
				start := time.Duration(d.Window.ElapsedMS) * time.Millisecond
				from := start
				if start == 0 {
					from = -1 // completions in the first millisecond
				}
				direction := slices.Index([]string{"read", "write", "trim"}, d.Fio.Direction)
				exact := fiotest.Exact(raw, direction, from, start+time.Second, 0.5, 0.99)
				if int(d.Requests.Completed) != exact.Requests {
					t.Errorf("%s at %v: %d requests, exactly %d", d.Fio.Direction, start, d.Requests.Completed, exact.Requests)
				}
				weight := fiotest.ExactInflightLong(raw, direction, from, start+time.Second).Weight
				if diff := d.Requests.Weight - weight; diff < -1e-3 || diff > 1e-3 {
					t.Errorf("%s at %v: weight %v, exactly %v", d.Fio.Direction, start, d.Requests.Weight, weight)
				}
				total += int(d.Requests.Completed)
			}
			if total != len(raw) {
				t.Errorf("%d requests in documents, %d in logs", total, len(raw))
			}
		})
	}
}

// TestOnlyRaw reads an archive as upstream CBT writes them: without histogram logs.
func TestOnlyRaw(t *testing.T) {
	dir := copyCorpus(t, "two-jobs-rw")
	removeFiles(t, dir, "_clat_hist.")
	docs, res := readRun(t, dir, "out", pipeline.Options{})
	if got := completed(docs, mapping.Cluster); got != total {
		t.Errorf("%d requests, want %d", got, total)
	}
	if len(res.Skipped) > 0 {
		t.Errorf("lost: %v", res.Skipped)
	}
}

// TestWarningsOfSources: a log of completions has the end of its job, so it lacks nothing without a report. Several
// jobs in one log, whose report has no bins, have latencies.
func TestWarningsOfSources(t *testing.T) {
	raw := copyCorpus(t, "two-jobs-rw")
	removeFiles(t, raw, "_clat_hist.")
	removeFiles(t, raw, "out.txt")
	one := copyCorpus(t, "one-file")
	report := filepath.Join(one, "out.txt")
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`(?s),\s*"bins" : \{[^}]*\}`).ReplaceAll(text, nil)
	if err := os.WriteFile(report, text, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, want, wrong string }{
		{raw, "", "the last part of an interval"},
		{one, "fio's report has no bins", "are disabled"},
	} {
		_, res := readRun(t, c.dir, "out", pipeline.Options{})
		warnings := strings.Join(res.Run.Warnings, "\n")
		if !strings.Contains(warnings, c.want) || strings.Contains(warnings, c.wrong) {
			t.Errorf("warnings %q, want %q and not %q", warnings, c.want, c.wrong)
		}
	}
}

// TestNoRequests: a run that served nothing has no windows for that reason.
func TestNoRequests(t *testing.T) {
	dir := copyCorpus(t, "two-jobs-rw")
	removeFiles(t, dir, ".log")
	report := filepath.Join(dir, "out.txt")
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`(?ms)^\{.*^\}`).Find(text) // the report without fio's normal output
	text = regexp.MustCompile(`(?s),\s*"bins" : \{[^}]*\}`).ReplaceAll(text, nil)
	text = regexp.MustCompile(`"(total_ios|mean|N|min|max)" : [0-9.]+`).ReplaceAll(text, []byte(`"$1" : 0`))
	if err := os.WriteFile(report, text, 0o644); err != nil {
		t.Fatal(err)
	}
	_, res := readRun(t, dir, "out", pipeline.Options{})
	if want := "no percentiles over time: fio served no requests, as its report says"; res.Run.NoWindows != want {
		t.Errorf("no windows: %q, want %q", res.Run.NoWindows, want)
	}
}

// TestStatusInterval: with histogram logs, what fio did not log is all that is taken from its reports. Without logs, the
// periodic reports have everything.
func TestStatusInterval(t *testing.T) {
	dir := filepath.Join("..", "testdata", "corpus", "status-interval")
	alone := filepath.Join(t.TempDir(), "out.json")
	if err := os.WriteFile(alone, golden.Gunzip(t, filepath.Join(dir, "out.json.gz")), 0o644); err != nil {
		t.Fatal(err)
	}
	raw := readRaw(t, dir, "out")
	for _, tt := range []struct {
		name, path, prefix string
		recovered          int64
	}{
		{"periodic reports", alone, "", 0},
		{"logs and periodic reports", dir, "out", 3192},
	} {
		docs, res := readRun(t, tt.path, tt.prefix, pipeline.Options{Levels: []mapping.Level{mapping.Cluster, mapping.Job}})
		for _, level := range []mapping.Level{mapping.Cluster, mapping.Job} {
			if got := completed(docs, level); got != int64(len(raw)) {
				t.Errorf("%s: %s: %d requests, want %d", tt.name, level, got, len(raw))
			}
		}
		if len(res.Skipped) > 0 || res.Run.Recovered.Requests != tt.recovered || !res.Run.Run.Complete {
			t.Errorf("%s: lost %v, recovered %d, want %d", tt.name, res.Skipped, res.Run.Recovered.Requests, tt.recovered)
		}
		var cluster []*mapping.Interval
		for _, d := range docs {
			if d.Level == mapping.Cluster {
				cluster = append(cluster, d)
			}
		}
		errs := errorsOf(cluster, raw)
		report(t, tt.name, errs)
		for i, name := range accuracyNames[:4] {
			if m := median(errs[i]); m > 0.6 {
				t.Errorf("%s: %s: median error %.3f %%", tt.name, name, m)
			}
		}
	}
}

// TestStonewall reads periodic reports of two jobs. The second waited for the first to end: fio counted its run time
// from the start, and again from 0 when it began. So they are two stages, and windows follow the reports of each.
func TestStonewall(t *testing.T) {
	docs, results := readStages(t, filepath.Join("..", "testdata", "corpus", "stonewall"), "out", pipeline.Options{Levels: []mapping.Level{mapping.Cluster}})
	if len(results) != 2 {
		t.Fatalf("%d stages, want 2", len(results))
	}
	// requests are as the reports differ
	for i, want := range []struct {
		name, direction string
		requests        []int64
	}{{"out/a", "read", []int64{447, 501, 499, 501, 53}}, {"out/b", "write", []int64{295, 500, 500, 500, 205}}} {
		var requests []int64
		for _, d := range docs[i] {
			requests = append(requests, d.Requests.Completed)
			if start, end := d.Window.ElapsedMS, d.Window.ElapsedMS+d.Window.MS; d.Fio.Direction != want.direction || start < 0 || end > 4500 {
				t.Errorf("%s: %d %ss from %d to %d ms", want.name, d.Requests.Completed, d.Fio.Direction, start, end)
			}
		}
		if diff := cmp.Diff(want.requests, requests); diff != "" {
			t.Errorf("requests of %s (-want +got):\n%s", want.name, diff)
		}
		run := results[i].Run
		if len(results[i].Skipped) > 0 || run.Run.Name != want.name || run.Run.Stage != i+1 || run.Run.Stages != 2 || len(run.ByDirection()) != 1 {
			t.Errorf("%s: %+v, lost: %v", want.name, run.Run, results[i].Skipped)
		}
		if took := run.Run.End.Sub(run.Run.Start); took < 3900*time.Millisecond || took > 4500*time.Millisecond {
			t.Errorf("%s took %v", want.name, took)
		}
	}
	if later := results[1].Run.Run.Start.Sub(results[0].Run.Run.Start); later < 4*time.Second || later > 4500*time.Millisecond {
		t.Errorf("the second stage began %v after the first", later)
	}
}

// TestLayout: the reports that fio writes while it lays out files belong to the same run, although its elapsed time
// then counts from 0 again. Reports after one with requests are of another call of fio, and so of another run.
func TestLayout(t *testing.T) {
	for name, c := range map[string]struct {
		first int64 // requests
		want  []int64
	}{"files are laid out": {0, []int64{250}}, "an earlier run": {7, []int64{7, 250}}} {
		var text strings.Builder
		for i, r := range []struct{ elapsed, requests int64 }{{3, c.first}, {1, 100}, {2, 250}} {
			fmt.Fprintf(&text, "{\n"+`"fio version": "fio-3.33", "timestamp_ms": %d, "jobs": [{"jobname": "a", "elapsed": %d, "job_runtime": %d,
"read": {"total_ios": %d, "runtime": %d, "clat_ns": {"bins": {"100": %d}}}}]`+"\n}\n", 1700000000000+1000*int64(i), r.elapsed, 1000*r.elapsed-100,
				r.requests, min(r.requests, 1)*(1000*r.elapsed-100), r.requests)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "out.json"), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		_, results := readStages(t, dir, "out", pipeline.Options{Window: time.Second})
		var got []int64
		for _, res := range results {
			if got = append(got, res.Run.Read.Requests); len(res.Skipped) > 0 {
				t.Errorf("%s: skipped %v", name, res.Skipped)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %d requests, want %d", name, got, c.want)
		}
	}
}

// TestOnlyReport makes the run's document of fio's JSON when there is no log at all.
func TestOnlyReport(t *testing.T) {
	dir := t.TempDir()
	results := filepath.Join(dir, "lab", "results", "00000000", "id-7c1f03ab")
	if err := os.MkdirAll(results, 0o755); err != nil {
		t.Fatal(err)
	}
	from := filepath.Join("..", "testdata", "corpus", "cbt-archive", "results", "00000000", "id-7c1f03ab")
	for _, name := range []string{"benchmark_config.yaml", "json_output.0.hostA.gz", "json_output.0.hostB.gz"} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(results, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	docs, res := readRun(t, filepath.Join(dir, "lab"), "", pipeline.Options{})
	if len(docs) != 0 {
		t.Errorf("%d interval documents of no log", len(docs))
	}
	if res.Run == nil || res.Run.Write == nil || res.Run.Write.Requests != 12800 || res.Run.Write.Latency.P99 == 0 {
		t.Fatalf("run: %+v; lost %v", res.Run, res.Skipped)
	}
	if len(res.Notes) == 0 {
		t.Error("no note says that there are no logs")
	}
}

func completed(docs []*mapping.Interval, level mapping.Level) int64 {
	sum := int64(0)
	for _, d := range docs {
		if d.Level == level {
			sum += d.Requests.Completed
		}
	}
	return sum
}

func removeFiles(t *testing.T, dir, part string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), part) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestRawInstead: logs of completions are read in place of histogram logs that are missing, are empty, or have rows of zeros
// (clat_percentiles=0), and each such log is named.
func TestRawInstead(t *testing.T) {
	row := regexp.MustCompile(`(?m)^(\d+, \d, \d+), .*$`)
	for want, change := range map[string]func(string) string{
		"no histogram log of job 2":                      nil,
		"the histogram log has no rows":                  func(string) string { return "" },
		"its rows have no requests (clat_percentiles=0)": func(s string) string { return row.ReplaceAllString(s, "$1"+strings.Repeat(", 0", 1856)) },
	} {
		dir := copyCorpus(t, "two-jobs-rw")
		if log := filepath.Join(dir, "out_clat_hist.2.log"); change == nil {
			removeFiles(t, dir, "_clat_hist.2.")
		} else {
			text, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(log, []byte(change(string(text))), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		docs, res := readRun(t, dir, "out", pipeline.Options{})
		if notes := fmt.Sprint(res.Notes); completed(docs, mapping.Cluster) != total || len(res.Skipped) > 0 || !strings.Contains(notes, want) {
			t.Errorf("%s: %d requests, want %d; lost %v, notes %s", want, completed(docs, mapping.Cluster), total, res.Skipped, notes)
		}
	}
}

// TestRawLogMissing: a job whose log of completions is missing is reported, and counted.
func TestRawLogMissing(t *testing.T) {
	dir := copyCorpus(t, "two-jobs-rw")
	removeFiles(t, dir, "_clat_hist.")
	removeFiles(t, dir, "_clat.2.")
	_, res := readRun(t, dir, "out", pipeline.Options{})
	if len(res.Skipped) == 0 || res.Run.Run.Complete || res.Run.Missing.Requests != total/2 {
		t.Errorf("lost %v, complete %v, missing %d", res.Skipped, res.Run.Run.Complete, res.Run.Missing.Requests)
	}
}

// TestShortWindows: windows shorter than the rows would be a guess, and are refused.
func TestShortWindows(t *testing.T) {
	for _, c := range []struct {
		window time.Duration
		want   string // in what is said; empty if all is well
	}{{500 * time.Millisecond, "give --interval 1s or more"}, {960 * time.Millisecond, ""}, {time.Second, ""}} {
		docs, res := readRun(t, filepath.Join("..", "testdata", "corpus", "two-jobs-rw"), "out", pipeline.Options{Window: c.window})
		if c.want == "" && (len(docs) == 0 || len(res.Skipped) > 0) {
			t.Errorf("%v: %d documents, lost %v", c.window, len(docs), res.Skipped)
		}
		if c.want != "" && (len(docs) > 0 || len(res.Skipped) != 1 || !strings.Contains(res.Skipped[0].Error(), c.want)) {
			t.Errorf("%v: %d documents, lost %v, want %q", c.window, len(docs), res.Skipped, c.want)
		}
	}
}

// TestFallBack: a job whose histogram log is gone or empty is read from its completions,
// and the others from theirs.
func TestFallBack(t *testing.T) {
	for _, gone := range []bool{true, false} {
		dir := copyCorpus(t, "two-jobs-rw")
		log := filepath.Join(dir, "out_clat_hist.1.log")
		if err := os.Truncate(log, 0); err != nil {
			t.Fatal(err)
		}
		if gone {
			removeFiles(t, dir, "_clat_hist.1.")
		}
		docs, res := readRun(t, dir, "out", pipeline.Options{Levels: []mapping.Level{mapping.Job}})
		if got := completed(docs, mapping.Job); got != total || len(res.Skipped) > 0 || !res.Run.Run.Complete {
			t.Errorf("gone %v: %d requests, want %d; lost %v, complete %v", gone, got, total, res.Skipped, res.Run.Run.Complete)
		}
	}
}

// TestPeriodicGroups: with group_reporting, and with more logs than the report says jobs, no log names its
// group. The periodic reports have the rows of each group, which is a stage, and the names of the logs the host.
func TestPeriodicGroups(t *testing.T) {
	const group = `{"jobname": %q, "groupid": %d, "elapsed": %d, "job_runtime": %d, "job options": {"log_hist_msec": "1000"},
"read": {"total_ios": %d, "runtime": %[4]d, "clat_ns": {"N": %[5]d, "bins": {"100": %[5]d}}}}`
	var text strings.Builder
	for i, r := range [][2]int{{100, 0}, {200, 0}, {200, 90}, {200, 150}} { // requests of the groups
		a, b := fmt.Sprintf(group, "a", 0, i+1, min(1000*(i+1), 2000), r[0]), fmt.Sprintf(group, "b", 1, i+1, 1000*(i+1)-2000*min(i/2, 1), r[1])
		if r[1] == 0 { // it waits
			b = strings.Replace(b, fmt.Sprintf(`"runtime": %d`, 1000*(i+1)), `"runtime": 0`, 1)
		}
		fmt.Fprintf(&text, "{\n"+`"fio version": "fio-3.33", "timestamp_ms": %d, "jobs": [%s, %s]`+"\n}\n", 1700000000000+1000*int64(i), a, b)
	}
	for name, rows := range map[string]int{"with rows": 40, "without rows": 0} {
		dir := t.TempDir()
		files := map[string]string{"out.json": text.String()}
		for job := range 4 {
			bins := make([]string, 1856)
			for i := range bins {
				bins[i] = "0"
			}
			bins[100] = strconv.Itoa(rows)
			files[fmt.Sprintf("out_clat_hist.%d.log.hostA", job+1)] = "1000, 0, 4096, " + strings.Join(bins, ", ") + "\n"
		}
		for file, content := range files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		docs, results := readStages(t, dir, "out", pipeline.Options{Window: time.Second, Levels: []mapping.Level{mapping.Cluster, mapping.Host}})
		if len(results) != 2 {
			t.Fatalf("%s: %d stages, want 2", name, len(results))
		}
		for i, want := range []int64{200, 150} {
			res := results[i]
			for _, level := range []mapping.Level{mapping.Cluster, mapping.Host} {
				if got := completed(docs[i], level); got != want {
					t.Errorf("%s: %s: %d requests in windows, want %d", name, level, got, want)
				}
			}
			if res.Run.Read.Requests != want || res.Run.Missing.Requests != 0 || !res.Run.Run.Complete || len(res.Skipped) > 0 {
				t.Errorf("%s: %d requests, %d missing, complete %v, skipped %v", name, res.Run.Read.Requests, res.Run.Missing.Requests, res.Run.Run.Complete, res.Skipped)
			}
			if len(res.Run.Hosts) != 1 || res.Run.Hosts[0].Name != "hostA" || strings.Contains(strings.Join(res.Run.Warnings, "\n"), "copy its files again") {
				t.Errorf("%s: hosts %+v, warnings %q", name, res.Run.Hosts, res.Run.Warnings)
			}
		}
	}
}
