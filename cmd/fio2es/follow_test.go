package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// reportsOf are the periodic reports that fio wrote in a run of the corpus.
func reportsOf(t *testing.T, name string) [][]byte {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "testdata", "corpus", name, "out.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.SplitAfter(text, []byte("\n}\n"))
}

// ownHistory is a settings file that names a history of the test's own.
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
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(text); err != nil {
		t.Fatal(err)
	}
}

// TestFollow: a run is in the history while it goes on, and as it is when it is over; its
// windows are those that its files say then.
func TestFollow(t *testing.T) {
	t.Parallel()
	settings, dir := ownHistory(t), t.TempDir()
	reports := reportsOf(t, "status-interval")
	file := filepath.Join(dir, "out.json")
	appendTo(t, file, bytes.Join(reports[:3], nil))
	var out, errs bytes.Buffer
	over := make(chan int, 1)
	go func() {
		over <- run(t.Context(), []string{"--config", settings, "follow", "--every", "100ms", "--quiet", "2s", "--idle", "2s", "--format", "json", dir}, nil, &out, &errs)
	}()
	for _, r := range reports[3:] {
		time.Sleep(50 * time.Millisecond)
		appendTo(t, file, r)
	}
	if code := <-over; code != 0 {
		t.Fatalf("exit code %d\n%s", code, &errs)
	}
	if want := call(t, nil, "percentiles", "--levels", "cluster", "--format", "json", file); withoutRuns(out.String()) != withoutRuns(want.stdout) {
		t.Errorf("followed:\n%s\nread when it was over:\n%s", &out, want.stdout)
	}
	runs := callWith(t, settings, "runs")
	if !strings.Contains(errs.String(), "following ") || !strings.Contains(errs.String(), "stored ") || strings.Contains(runs, "live") || strings.Contains(runs, "incomplete") {
		t.Errorf("%s\n%s", &errs, runs)
	}
}

// withoutRuns are lines of windows: without totals, and without the run's name, which logs
// that are named one by one do not have.
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

func callWith(t *testing.T, settings string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), append([]string{"--config", settings}, args...), nil, &out, &errs); code != 0 {
		t.Fatalf("%v: exit code %d\n%s", args, code, &errs)
	}
	return out.String()
}

// TestFollowInterrupted: what was read of a run is in the history after an interrupt, as
// one that is live, and gives way to the whole of it.
func TestFollowInterrupted(t *testing.T) {
	t.Parallel()
	settings, dir := ownHistory(t), t.TempDir()
	reports := reportsOf(t, "status-interval")
	file := filepath.Join(dir, "out.json")
	appendTo(t, file, bytes.Join(reports[:6], nil))
	ctx, interrupt := context.WithCancel(t.Context())
	time.AfterFunc(3*time.Second, interrupt)
	var out, errs bytes.Buffer
	if code := run(ctx, []string{"--config", settings, "follow", "--every", "100ms", "--quiet", "1m", dir}, nil, &out, &errs); code != 0 {
		t.Fatalf("exit code %d\n%s", code, &errs)
	}
	if runs := callWith(t, settings, "runs"); !strings.Contains(runs, "live") {
		t.Errorf("%s\n%s", runs, &errs)
	}
	if n := strings.Count(callWith(t, settings, "percentiles", "latest"), "\n"); n < 10 {
		t.Errorf("%d lines of percentiles", n)
	}
	appendTo(t, file, bytes.Join(reports[6:], nil))
	callWith(t, settings, "ingest", dir)
	if runs := callWith(t, settings, "runs"); strings.Contains(runs, "live") || strings.Contains(runs, "incomplete") {
		t.Error(runs)
	}
}

// TestFollowUnited: where the logs that come at the end have another name than the report,
// what was stored of the run goes; where its files are gone it stays.
func TestFollowUnited(t *testing.T) {
	t.Parallel()
	corpus := filepath.Join("..", "..", "testdata", "corpus", "status-interval")
	tests := []struct {
		name   string
		when   string // runs shows this
		change func(dir string) error
		want   map[string]int // lines of runs, one for each direction
		told   string
	}{
		{"logs come", ",report,", func(dir string) error {
			for _, name := range []string{"out_clat_hist.1.log.gz", "out_clat_hist.2.log.gz"} {
				data, err := os.ReadFile(filepath.Join(corpus, name))
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}, map[string]int{",out,": 2, ",report,": 0}, "stored 002:out"},
		{"the report goes", ",true", func(dir string) error { return os.Remove(filepath.Join(dir, "report.json")) }, map[string]int{",report,": 2}, "following"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			settings, dir := ownHistory(t), filepath.Join(t.TempDir(), "002")
			check(t, os.Mkdir(dir, 0o755))
			appendTo(t, filepath.Join(dir, "report.json"), bytes.Join(reportsOf(t, "status-interval"), nil))
			changed := make(chan error, 1)
			go func() {
				var runs bytes.Buffer
				for !strings.Contains(runs.String(), tt.when) && t.Context().Err() == nil {
					time.Sleep(100 * time.Millisecond)
					run(t.Context(), []string{"--config", settings, "runs", "--format", "csv"}, nil, &runs, io.Discard)
				}
				changed <- tt.change(dir)
			}()
			var out, errs bytes.Buffer
			if code := run(t.Context(), []string{"--config", settings, "follow", "--every", "100ms", "--quiet", "2s", "--idle", "4s", dir}, nil, &out, &errs); code != 0 {
				t.Fatalf("exit code %d\n%s", code, &errs)
			}
			check(t, <-changed)
			runs := callWith(t, settings, "runs", "--format", "csv")
			for name, want := range tt.want {
				if got := strings.Count(runs, name); got != want || !strings.Contains(errs.String(), tt.told) {
					t.Errorf("%d lines of %s, want %d\n%s\n%s", got, name, want, runs, &errs)
				}
			}
		})
	}
}

// TestFollowAlerts: stderr tells when an objective begins to be broken and when it holds
// again; what broke one in the end makes the exit code 4.
func TestFollowAlerts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rule         string
		code         int
		want, absent string
	}{
		// Windows of reads have a p99 of 64 to 233 µs, one of them above 200.
		{"read.p99 <= 200us in 50% of windows", 0, "warning: sla read.p99 <= 200us in 50% of windows: 002:out: read p99 is 202µs in the window until 04:39:35", "error: "},
		{"read.p99 <= 20us", exitMet, "error: sla read.p99 <= 20us: 002:out: read p99: ", "holds again"},
		{"write.iops >= 1100", 0, "", "warning: "}, // the last window is cut
		{"read.p99 <= 1s", 0, "", "sla "},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			settings, dir := ownHistory(t), t.TempDir()
			appendTo(t, filepath.Join(dir, "out.json"), bytes.Join(reportsOf(t, "status-interval"), nil))
			var out, errs bytes.Buffer
			code := run(t.Context(), []string{"--config", settings, "follow", "--rule", tt.rule, "--every", "100ms", "--quiet", "2s", "--idle", "2s", dir}, nil, &out, &errs)
			if code != tt.code || !strings.Contains(errs.String(), tt.want) || strings.Contains(errs.String(), tt.absent) {
				t.Errorf("exit code %d, want %d\n%s\n%s", code, tt.code, &errs, &out)
			}
		})
	}
}

// TestFollowCluster: the same in a real cluster, in which what is stored of a run is counted
// each time.
func TestFollowCluster(t *testing.T) {
	real, prefixes := cluster(t, "follow")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	dir := t.TempDir()
	with := func(args ...string) []string {
		return append(args, "--elasticsearch="+real.Address, "--prefix="+prefixes[0])
	}
	say(t, with("setup")...)
	reports := reportsOf(t, "status-interval")
	file := filepath.Join(dir, "out.json")
	appendTo(t, file, bytes.Join(reports[:3], nil))
	ctx, interrupt := context.WithCancel(t.Context())
	over := make(chan int, 1)
	var out, errs bytes.Buffer
	go func() {
		over <- run(ctx, with("follow", "--every", "100ms", "--quiet", "1m", dir), nil, &out, &errs)
	}()
	for _, r := range reports[3:8] {
		time.Sleep(300 * time.Millisecond)
		appendTo(t, file, r)
	}
	time.Sleep(time.Second)
	interrupt()
	if code := <-over; code != 0 {
		t.Fatalf("exit code %d\n%s", code, &errs)
	}
	if runs := say(t, with("runs")...); !strings.Contains(runs, "live") {
		t.Errorf("%s\n%s", runs, &errs)
	}
	if live := say(t, with("percentiles", "latest", "--format", "csv")...); strings.Count(live, ",cluster,") < 10 {
		t.Errorf("windows of what was followed:\n%s", live)
	}
	appendTo(t, file, bytes.Join(reports[8:], nil))
	say(t, with("follow", "--every", "100ms", "--quiet", "200ms", "--idle", "500ms", dir)...)
	sorted := func(text string) []string { return slices.Sorted(strings.Lines(text)) } // a history goes by true times
	got, want := sorted(say(t, with("percentiles", "latest", "--format", "csv")...)), sorted(say(t, "percentiles", "--format", "csv", dir))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in the cluster (+), of the files (-):\n%s", diff)
	}
	if runs := say(t, with("runs")...); strings.Contains(runs, "live") || strings.Contains(runs, "incomplete") {
		t.Error(runs)
	}
}

// TestRealFioFollow follows the fio that FIO2ES_TEST_FIO names: windows come while it runs, and
// have all requests, also those of a job that waits for another. (When that began, and so
// where windows are best cut, is known only when the run is over.)
func TestRealFioFollow(t *testing.T) {
	fio := os.Getenv("FIO2ES_TEST_FIO")
	if fio == "" {
		t.Skip("FIO2ES_TEST_FIO names no fio")
	}
	settings, dir := ownHistory(t), t.TempDir()
	file := filepath.Join(dir, "out.json")
	cmd := exec.CommandContext(t.Context(), fio, "--name=first", "--ioengine=null", "--size=1t", "--time_based", "--runtime=25", "--rate_iops=900,500", "--rw=randrw",
		"--status-interval=1", "--output-format=json+", "--output="+file,
		"--name=second", "--stonewall", "--ioengine=null", "--size=1t", "--time_based", "--runtime=5", "--rate_iops=700", "--rw=randwrite")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	var errs bytes.Buffer
	var out lockedText
	ended := make(chan int, 1)
	go func() {
		ended <- run(t.Context(), []string{"--config", settings, "follow", "--every", "500ms", "--quiet", "2s", "--idle", "4s", "--format", "json", dir}, nil, &out, &errs)
	}()
	if err := <-over; err != nil {
		t.Fatal(err)
	}
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
		t.Errorf("followed %v, read when it was over %v", got, want)
	}
	t.Logf("%d windows came while fio ran, %d in all", meanwhile, strings.Count(out.String(), "\n"))
	if meanwhile < 10 {
		t.Errorf("only %d windows came while fio ran", meanwhile)
	}
}

// requestsIn are the requests in lines of windows, by direction.
func requestsIn(t *testing.T, text string) map[string]int64 {
	t.Helper()
	sums := map[string]int64{}
	for line := range strings.Lines(text) {
		var w percentileLine
		if err := json.Unmarshal([]byte(line), &w); err != nil {
			t.Fatal(err)
		}
		if w.Level != "run" {
			sums[w.Direction] += w.Requests
		}
	}
	return sums
}
