package pipeline_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// total is what fio counts for corpus/two-jobs-rw.
const total = 20000 + 12000

// TestDamage damages one file of a good run: the rest must be stored, the loss must be
// reported, and the documents and the reported loss must add up.
func TestDamage(t *testing.T) {
	log, out := "out_clat_hist.1.log", "out.txt"
	cases := []struct {
		name, file string
		damage     func(text string) string
		lost       []string // parts of the messages about what was left out
		notes      []string
		complete   bool
		whole      bool // the documents still have all requests
		unknown    bool // no file says how many there were
		surplus    int64
	}{
		{name: "intact", file: log, damage: func(s string) string { return s }, complete: true, whole: true},
		{name: "row of text", file: log, damage: replaceLine(5, "hello\n"), lost: []string{log + ":5:1"}, notes: []string{"1968 read requests", "580 write requests"}},
		{name: "half a last row", file: log, damage: func(s string) string { return s[:len(s)-2000] }, lost: []string{log + ":18:"}, whole: true},
		{
			name: "cut after six rows", file: log, damage: func(s string) string { return strings.Join(strings.SplitAfter(s, "\n")[:6], "") },
			lost: []string{"6968 requests of the report are not in its log, which ends at 3031 ms of 10001"}, notes: []string{"6968 read requests"},
		},
		{name: "impossible count", file: log, damage: func(s string) string {
			return replaceLine(5, strings.Replace(line(s, 5), ", 1, ", ", 18446744073709551615, ", 1))(s)
		}, lost: []string{log + ":5:1", "2^53"}, notes: []string{"1968 read requests"}},
		{name: "duplicate row", file: log, damage: func(s string) string { return replaceLine(5, line(s, 5)+line(s, 5))(s) },
			lost: []string{log + ":6:1", "another row than the one before"}, whole: true},
		{name: "lines twice", file: log, damage: func(s string) string { return replaceLine(5, line(s, 5)+line(s, 6)+line(s, 5)+line(s, 6))(s) },
			lost: []string{log + ":7:1", log + ":8:1"}, whole: true},
		{name: "missing row", file: log, damage: replaceLine(5, ""), lost: []string{log, "read rows are missing before this one"}, notes: []string{"1968 read requests", "580 write requests"}},
		{name: "empty log", file: log, damage: func(string) string { return "" }, lost: []string{"10000 requests of the report are not in its log"}, notes: []string{"6000 write requests are in fio's total and in no window"}},
		{name: "no log", file: log, damage: nil, notes: []string{"10000 read requests", "6000 write requests"}, lost: []string{"job 1 (jobs) served 16000 requests, but its log is missing or cannot be read"}},
		{name: "no report", file: out, damage: nil, notes: []string{"no JSON report for 2 of 2 logs"}, complete: true, unknown: true},
		{name: "half a report", file: out, damage: func(s string) string { return s[:len(s)/2] },
			lost: []string{"want the rest of the JSON document"}, notes: []string{"no JSON report"}, unknown: true},
		{name: "report without bins", file: out, damage: withoutBins, notes: []string{"run fio with --output-format=json+"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := copyCorpus(t, "two-jobs-rw")
			removeFiles(t, dir, "_clat.") // else they are read in place of logs that are lost
			path := filepath.Join(dir, c.file)
			if c.damage == nil {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			} else {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(c.damage(string(text))), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			docs, res := readRun(t, dir, "out", pipeline.Options{Levels: []mapping.Level{mapping.Cluster}})
			sum := int64(0)
			for _, d := range docs {
				sum += d.Requests.Completed
			}
			expectErrors(t, "lost", res.Skipped, c.lost)
			expectErrors(t, "notes", res.Notes, c.notes)
			if res.Run.Run.Complete != c.complete {
				t.Errorf("complete: %v, want %v; %v", res.Run.Run.Complete, c.complete, res.Run.Warnings)
			}
			missing := res.Run.Missing.Requests
			if !c.unknown && sum+missing != total+c.surplus {
				t.Errorf("%d requests in documents and %d missing are not %d", sum, missing, total)
			}
			if (missing == 0) != (c.whole || c.unknown) {
				t.Errorf("%d requests missing", missing)
			}
		})
	}
}

// TestKilled: fio was killed after its second report, and its jobs ran until their end and wrote their logs. The logs count, in windows
// and in the totals of the run.
func TestKilled(t *testing.T) {
	dir := copyCorpus(t, "status-interval")
	removeFiles(t, dir, "_clat.")
	path := filepath.Join(dir, "out.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	reports := bytes.SplitAfter(text, []byte("\n}\n"))
	if err := os.WriteFile(path, bytes.Join(reports[:2], nil), 0o644); err != nil {
		t.Fatal(err)
	}
	docs, res := readRun(t, dir, "out", pipeline.Options{Levels: []mapping.Level{mapping.Cluster}})
	sum := int64(0)
	for _, d := range docs {
		sum += d.Requests.Completed
	}
	const rows = 28808 // requests in rows of the logs
	r := res.Run
	if size := r.Read.Bytes / r.Read.Requests; sum != rows || r.All.Requests != sum || size < 4090 || size > 4100 {
		t.Errorf("%d requests in windows, %d in the run, whose reads have %d bytes each", sum, r.All.Requests, size)
	}
	expectErrors(t, "skipped", res.Skipped, []string{"fio was killed or had no room for its last report"})
}

// TestTornReport: fio was killed after its first report, which it had made while requests completed, so that total_ios is
// not the number of requests in bins. All that it counts is in the run, and in no window.
func TestTornReport(t *testing.T) {
	for name, tt := range map[string]struct {
		by   int // total_ios of one job is larger by
		lost string
	}{
		"torn": {3, "fio was killed, or the report is damaged; its bins are used"}, "damaged": {5000, "its bins are not used"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copyCorpus(t, "status-interval")
			removeFiles(t, dir, "_clat")
			path := filepath.Join(dir, "out.json")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			first := bytes.SplitAfter(text, []byte("\n}\n"))[0]
			at := regexp.MustCompile(`(?s)"total_ios" : (\d+).*?"clat_ns" : {.*?"N" : (\d+)`).FindSubmatchIndex(first)
			counted, _ := strconv.Atoi(string(first[at[2]:at[3]]))
			measured, _ := strconv.Atoi(string(first[at[4]:at[5]]))
			read := func(counted, measured int) *mapping.Run {
				text := fmt.Appendf(slices.Clone(first[:at[2]]), "%d%s%d%s", counted, first[at[3]:at[4]], measured, first[at[5]:])
				if err := os.WriteFile(path, text, 0o644); err != nil {
					t.Fatal(err)
				}
				_, res := readRun(t, dir, "out", pipeline.Options{})
				return res.Run
			}
			before, after := read(counted, measured), read(measured+tt.by, measured+1)
			got, want := after.Read.Requests, before.Read.Requests+int64(tt.by)
			if got != want || after.Run.Complete || !strings.Contains(strings.Join(after.Warnings, "\n"), tt.lost) {
				t.Errorf("%d requests, want %d, complete %v\n%s", got, want, after.Run.Complete, strings.Join(after.Warnings, "\n"))
			}
		})
	}
}

// expectErrors checks that each part is in one of the errors, and that there are none without.
func expectErrors(t *testing.T, what string, errs []error, want []string) {
	t.Helper()
	text := ""
	if err := errors.Join(errs...); err != nil {
		text = err.Error()
	}
	if len(want) == 0 && text != "" {
		t.Errorf("%s: %s", what, text)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s: %q, want %q in it", what, text, w)
		}
	}
}

func line(s string, n int) string { return strings.SplitAfter(s, "\n")[n-1] }

func replaceLine(n int, with string) func(string) string {
	return func(s string) string {
		lines := strings.SplitAfter(s, "\n")
		lines[n-1] = with
		return strings.Join(lines, "")
	}
}

// withoutBins makes json of json+.
func withoutBins(s string) string {
	var out strings.Builder
	skip := false
	for l := range strings.Lines(s) {
		switch {
		case strings.Contains(l, `"bins" : {`):
			skip = true
			out.WriteString(`"none" : 0` + "\n")
		case skip:
			skip = !strings.Contains(l, "}")
		default:
			out.WriteString(l)
		}
	}
	return out.String()
}

// copyCorpus unpacks a folder of the corpus into a new one.
func copyCorpus(t *testing.T, name string) string {
	t.Helper()
	from, to := filepath.Join("..", "testdata", "corpus", name), t.TempDir()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		name, packed := strings.CutSuffix(e.Name(), ".gz")
		if packed {
			in, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if data, err = io.ReadAll(in); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(to, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// copyTree copies the files of a folder, without those that have a part in their name.
func copyTree(t *testing.T, from, to string, without ...string) {
	t.Helper()
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if slices.ContainsFunc(without, func(part string) bool { return strings.Contains(e.Name(), part) }) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStoppedAtTheEnd: fio was stopped between requests until its run ended, so its last row is late, and no slow request and
// no later row shows why. Only if the report has more requests are rows missing.
func TestStoppedAtTheEnd(t *testing.T) {
	var log strings.Builder
	rows := []int{200, 400, 600, 1003}
	for _, at := range rows {
		fmt.Fprintf(&log, "%d, 1, 4096, 9%s\n", at, strings.Repeat(", 0", 28))
	}
	const report = `{"fio version": "fio-3.33", "timestamp_ms": 1700000001003, "jobs": [{"jobname": "a", "elapsed": 2, "job_runtime": 1003,
"job options": {"log_hist_msec": "200", "log_hist_coarseness": "6"}, "write": {"total_ios": %d, "runtime": 1003, "clat_ns": {"N": %[1]d, "bins": {"1": %[1]d}}}}]}`
	for requests, isWhole := range map[int]bool{9 * len(rows): true, 9*len(rows) + 9: false} {
		dir := t.TempDir()
		for name, text := range map[string]string{"out_clat_hist.1.log": log.String(), "out.json": fmt.Sprintf(report, requests)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, res := readRun(t, dir, "out", pipeline.Options{})
		if isFound := strings.Contains(fmt.Sprint(res.Skipped), "rows are missing before this one"); isFound == isWhole || res.Run.Run.Complete != isWhole {
			t.Errorf("%d requests: complete %v, %v", requests, res.Run.Run.Complete, res.Skipped)
		}
	}
}
