package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// reportsOf returns the periodic reports in a run of the corpus.
func reportsOf(t *testing.T, name string) [][]byte {
	t.Helper()
	return bytes.SplitAfter(unzipped(t, filepath.Join("..", "..", "testdata", "corpus", name, "out.json.gz")), []byte("\n}\n"))
}

// ownHistory returns a settings file that names a history of this test.
func ownHistory(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	name := filepath.Join(dir, "fio2es.yaml")
	check(t, os.WriteFile(name, fmt.Appendf(nil, "history: %q\n", filepath.Join(dir, "history.db")), 0o600))
	return name
}

func appendTo(t *testing.T, file string, text []byte) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	check(t, err)
	defer f.Close()
	if _, err := f.Write(text); err != nil {
		t.Fatal(err)
	}
}

// TestFollow: follow prints the windows of a live run as percentiles does afterwards. It stores the run, and fails
// if the run broke a rule.
func TestFollow(t *testing.T) {
	t.Parallel()
	settings, dir := ownHistory(t), t.TempDir()
	file := filepath.Join(dir, "out.json")
	synctest.Test(t, func(t *testing.T) {
		appendTo(t, file, bytes.Join(reportsOf(t, "status-interval"), nil))
		now := time.Now()
		check(t, os.Chtimes(file, now, now))
		var out, errs bytes.Buffer
		// One reader, because several would wait for one another with a mutex, and the clock of the test stands still
		// meanwhile.
		args := []string{"--config", settings, "follow", "--threads", "1", "--idle", "30s", "--format", "json", "--rule", "read.p99 <= 20us", dir}
		if code := run(t.Context(), args, nil, &out, &errs); code != exitMet {
			t.Errorf("exit code %d\n%s", code, &errs)
		}
		want := call(t, nil, "percentiles", "--levels", "cluster", "--format", "json", file)
		if withoutRuns(out.String()) != withoutRuns(want.stdout) {
			t.Errorf("followed:\n%s\nread when it was over:\n%s", &out, want.stdout)
		}
		expect(t, "follow", errs.String(), "warning: sla read.p99 <= 20us: 002:out: so far, read p99: ", "stored 002:out randrw 4K qd8: ", "error: sla read.p99 <= 20us: 002:out: read p99: ")
	})
	if runs := callWith(t, settings, "runs"); strings.Contains(runs, "live") || strings.Contains(runs, "incomplete") {
		t.Error(runs)
	}
}

// TestStagesWhileTheyGrow: however few reports of fio were there when its stages were first stored, and however far off the
// starts were that these show, the history has each stage once at the end.
func TestStagesWhileTheyGrow(t *testing.T) {
	t.Parallel()
	// Of a fio with status-interval=1 whose first requests hung: the first report is of 28 requests, and the second stage began 6 s later.
	reports := bytes.SplitAfter(unzipped(t, filepath.Join("testdata", "growing.json.gz")), []byte("\n}\n"))
	for first := range len(reports) - 1 {
		settings, file := ownHistory(t), filepath.Join(t.TempDir(), "out.json")
		for _, few := range []int{first + 1, len(reports)} {
			check(t, os.WriteFile(file, bytes.Join(reports[:few], nil), 0o600))
			var errs bytes.Buffer
			if code := run(t.Context(), []string{"--config", settings, "ingest", file}, nil, io.Discard, &errs); code != 0 && code != exitLeftOut {
				t.Fatal(&errs)
			}
		}
		if runs := callWith(t, settings, "runs", "--format", "csv", "--columns", "run,stage,requests"); strings.Count(runs, "\n") != 3 {
			t.Errorf("of %d reports, then all:\n%s", first+1, runs)
		}
	}
}

// TestAppendedWhileTheyGrow: a run whose reports come after those of another one in the same file does not replace that.
func TestAppendedWhileTheyGrow(t *testing.T) {
	t.Parallel()
	reports, dir, settings := reportsOf(t, "status-interval"), t.TempDir(), ownHistory(t)
	stamp := regexp.MustCompile(`"timestamp(?:_ms)?" : \d{10}`)
	for i, few := range []int{len(reports), 4, len(reports)} { // the second run begins 15 s after the first one, and is read twice
		report := bytes.Join(reports[:few], nil)
		if i > 0 {
			report = stamp.ReplaceAllFunc(report, func(text []byte) []byte {
				seconds, err := strconv.Atoi(string(text[len(text)-10:]))
				check(t, err)
				return strconv.AppendInt(text[:len(text)-10], int64(seconds+15), 10)
			})
			report = append(bytes.Join(reports, nil), report...)
		}
		check(t, os.WriteFile(filepath.Join(dir, "out.json"), report, 0o600))
		for _, name := range []string{"out_clat_hist.1.log", "out_clat_hist.2.log"} {
			log := unzipped(t, filepath.Join("..", "..", "testdata", "corpus", "status-interval", name+".gz"))
			if i > 0 { // fio has written another log in its place
				log = log[:bytes.LastIndexByte(log[:len(log)-1], '\n')+1]
			}
			check(t, os.WriteFile(filepath.Join(dir, name), log, 0o600))
		}
		var errs bytes.Buffer
		if code := run(t.Context(), []string{"--config", settings, "ingest", dir}, nil, io.Discard, &errs); code != 0 && code != exitLeftOut {
			t.Fatal(&errs)
		}
	}
	if runs := callWith(t, settings, "runs", "--format", "csv", "--columns", "run,direction,requests"); strings.Count(runs, ",read,20000") != 2 || strings.Count(runs, "\n") != 5 {
		t.Error(runs)
	}
}

// withoutRuns returns lines of windows without totals and without the name of the run, which logs given by name do
// not have.
func withoutRuns(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.Contains(line, `"level":"run"`) {
			_, after, _ := strings.Cut(line, `"level"`)
			lines = append(lines, after)
		}
	}
	return strings.Join(lines, "")
}

// untilSaid records what is written, and closes said when it contains text.
type untilSaid struct {
	lockedText
	text string
	said chan struct{}
	once sync.Once
}

func (u *untilSaid) Write(p []byte) (int, error) {
	n, err := u.lockedText.Write(p)
	if strings.Contains(u.String(), u.text) {
		u.once.Do(func() { close(u.said) })
	}
	return n, err
}

// TestFollowCluster does the same in a real cluster, where the stored documents of a run are counted each time.
func TestFollowCluster(t *testing.T) {
	real, prefixes := cluster(t, "follow")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	dir := t.TempDir()
	with := func(args ...string) []string {
		return append(args, "--elasticsearch="+real.Address, "--prefix="+prefixes[0])
	}
	outputOf(t, with("setup")...)
	reports := reportsOf(t, "status-interval")
	file := filepath.Join(dir, "out.json")
	appendTo(t, file, bytes.Join(reports[:3], nil))
	ctx, interrupt := context.WithCancel(t.Context())
	over := make(chan int, 1)
	errs := &untilSaid{text: "following ", said: make(chan struct{})}
	go func() {
		over <- run(ctx, with("follow", "--every", "100ms", "--quiet", "1m", dir), nil, io.Discard, errs)
	}()
	select {
	case <-errs.said:
	case code := <-over:
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	appendTo(t, file, bytes.Join(reports[3:8], nil))
	interrupt() // follow has read everything that was written before
	if code := <-over; code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	if runs := outputOf(t, with("runs")...); !strings.Contains(runs, "live") {
		t.Errorf("%s\n%s", runs, errs)
	}
	if live := outputOf(t, with("percentiles", "latest", "--format", "csv")...); strings.Count(live, ",cluster,") < 10 {
		t.Errorf("windows of what was followed:\n%s", live)
	}
	appendTo(t, file, bytes.Join(reports[8:], nil))
	outputOf(t, with("follow", "--every", "100ms", "--quiet", "200ms", "--idle", "500ms", dir)...)
	sorted := func(text string) (lines []string) { // without the run's id, which files do not have
		for line := range strings.Lines(text) {
			_, line, _ = strings.Cut(line, ",")
			lines = append(lines, line)
		}
		slices.Sort(lines) // a history sorts by the actual times
		return lines
	}
	got, want := sorted(outputOf(t, with("percentiles", "latest", "--format", "csv")...)), sorted(outputOf(t, "percentiles", "--format", "csv", dir))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in the cluster (+), of the files (-):\n%s", diff)
	}
	if runs := outputOf(t, with("runs")...); strings.Contains(runs, "live") || strings.Contains(runs, "incomplete") {
		t.Error(runs)
	}
}

// TestRealFioFollow follows the fio that FIO2ES_TEST_FIO names. Windows come while it runs, and have all requests,
// including those of a job that waits for another one. (The start of that job, and so the best place to cut windows,
// is known only when the run is over.)
func TestRealFioFollow(t *testing.T) {
	fio := os.Getenv("FIO2ES_TEST_FIO")
	if fio == "" {
		t.Skip("FIO2ES_TEST_FIO names no fio")
	}
	t.Parallel()
	settings, dir := ownHistory(t), t.TempDir()
	file := filepath.Join(dir, "out.json")
	cmd := exec.CommandContext(t.Context(), fio, "--name=first", "--ioengine=null", "--size=1t", "--time_based", "--runtime=25", "--rate_iops=900,500", "--rw=randrw",
		"--status-interval=1", "--output-format=json+", "--output="+file,
		"--name=second", "--stonewall", "--ioengine=null", "--size=1t", "--time_based", "--runtime=5", "--rate_iops=700", "--rw=randwrite")
	check(t, cmd.Start())
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	var errs bytes.Buffer
	var out lockedText
	ended := make(chan int, 1)
	go func() {
		ended <- run(t.Context(), []string{"--config", settings, "follow", "--every", "500ms", "--quiet", "10s", "--idle", "10s", "--format", "json", dir}, nil, &out, &errs)
	}()
	check(t, <-over)
	meanwhile := strings.Count(out.String(), "\n")
	if runs := callWith(t, settings, "runs"); !strings.Contains(runs, "live") {
		t.Errorf("while fio runs:\n%s", runs)
	}
	if code := <-ended; code != 0 {
		t.Fatalf("exit code %d\n%s", code, &errs)
	}
	if runs := callWith(t, settings, "runs"); strings.Contains(runs, "live") || strings.Contains(runs, "incomplete") {
		t.Errorf("when it was over:\n%s", runs)
	}
	want := call(t, nil, "percentiles", "--levels", "cluster", "--format", "json", file)
	if got, want := requestsIn(t, out.String()), requestsIn(t, want.stdout); !maps.Equal(got, want) || len(want) != 2 {
		t.Errorf("followed %v, read when it was over %v\n%s", got, want, &errs)
	}
	t.Logf("%d windows came while fio ran, %d in all", meanwhile, strings.Count(out.String(), "\n"))
	if meanwhile < 10 {
		t.Errorf("only %d windows came while fio ran", meanwhile)
	}
}

// requestsIn returns the number of requests in lines of windows, by direction.
func requestsIn(t *testing.T, text string) map[string]int64 {
	t.Helper()
	sums := map[string]int64{}
	for _, w := range decoded[percentileLine](t, text) {
		if w.Level != "run" {
			sums[w.Direction] += w.Requests
		}
	}
	return sums
}
