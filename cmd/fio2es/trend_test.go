package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/mapping"
)

// nights makes a history of two workloads that ran in each of n nights. From night 30 on, random writes take 20 %
// longer, with another fio and another label.
func nights(t *testing.T, n int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "nights.db")
	store, err := sqlite.Open(t.Context(), path)
	check(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	for night := range n {
		for i, mode := range []string{"randread", "randwrite"} {
			times, version, release := math.Exp(0.01*r.NormFloat64()), "fio-3.33", "quincy"
			if night >= 30 {
				version, release = "fio-3.36", "reef"
				if i == 1 {
					times *= 1.2
				}
			}
			h := hist.New(hist.Fio3(0))
			for j := range 1000 {
				h.AddLatency(int64(1e6*times*(1+float64(j)/500)), 1)
			}
			totals := &mapping.Totals{Requests: 1000, Bytes: 4096000, DurationMS: 10000, IOPS: 1000 / times, Bandwidth: 4096000 / times, Latency: mapping.NewLatency(h, nil)}
			run := &mapping.Run{
				Run: mapping.RunInfo{
					ID: fmt.Sprintf("%08x%08x", night*7919+i+1, i), Ingest: "1", Name: fmt.Sprintf("night%d", night), Archive: "nightly",
					Start: time.Date(2026, 1, 1+night, 2, i, 0, 0, time.UTC), End: time.Date(2026, 1, 1+night, 2, i, 10, 0, time.UTC),
					Complete: true, Labels: map[string]string{"release": release},
				},
				CBT: mapping.CBT{Benchmark: "librbdfio", Mode: mode, OpSize: 4096, IODepth: 16}, Fio: mapping.FioInfo{Version: version}, All: totals,
			}
			if i == 0 {
				run.Read = totals
			} else {
				run.Write = totals
			}
			check(t, store.Finish(t.Context(), run))
		}
	}
	check(t, store.Close())
	return path
}

// TestTrend: the change is found at the right run, in all numbers that changed and in no other.
func TestTrend(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	path := nights(t, 60)
	for _, c := range []struct {
		args []string
		code int
		err  string
	}{
		{[]string{"--format", "table"}, 0, ""},
		{[]string{"--format", "table", "--all", "--metrics", "p99,iops"}, 0, ""},
		{[]string{"--format", "json", "--metrics", "p99.9"}, 0, ""},
		{[]string{"--format", "csv", "--metrics", "mean", "--where", "mode ~ WRITE and start < 2026-02-15"}, 0, ""},
		{[]string{"--fail-last", "30", "--metrics", "iops"}, exitMet, "error: --fail-last 30: randwrite 4K qd16: IOPS of writes is worse since run"},
		{[]string{"--fail-last", "3", "--metrics", "iops"}, exitMet, "error: --fail-last 3: randwrite 4K qd16: IOPS of writes is worse since run"},
		{[]string{"--fail-last", "3", "--metrics", "iops", "--where", "not start < 2026-01-31"}, 0, ""},
		{[]string{"--least", "25", "--metrics", "iops"}, 0, ""},
		{[]string{"--where", "bs=8k"}, 0, "no runs match; "},
		{[]string{"--where", "bz=8k"}, exitUsage, `--where bz=8k: column 1: no field is called "bz": did you mean bs, bw?`},
		{[]string{"--metrics", "p98"}, exitUsage, "--metrics p98: want one of IOPS, bandwidth, min, mean"},
		{[]string{"--fail-last", "30", "--where", "bs=8k"}, exitFailed, "error: --fail-last 30: there are no runs to check"},
		{[]string{"--fail-last", "5", "--where", "start < 2026-01-06", "--metrics", "iops"}, 0, "note: --fail-last 5: 2 of 2 numbers not checked: they have fewer than 6 runs"},
		{[]string{"--fail-last", "2"}, exitUsage, "--fail-last 2: want 3 or more"},
		{[]string{"--fail-last", "0"}, exitUsage, "--fail-last 0: want 3 or more"},
		{[]string{"--format", "junit"}, exitUsage, "--format junit is about a gate: add one, such as --fail-last 5"},
		{[]string{"--least", "-1"}, exitUsage, "--least -1%: want 0% to 1000%"},
	} {
		var out, errs strings.Builder
		args := append([]string{"trend", "--history", path}, c.args...)
		if code := run(t.Context(), args, strings.NewReader(""), &out, &errs); code != c.code || !strings.Contains(errs.String(), c.err) || c.err == "" && errs.Len() > 0 {
			t.Errorf("%v: exit code %d, want %d: %s", c.args, code, c.code, &errs)
		}
		if c.err == "" {
			name := strings.NewReplacer("--", "", " ", "-", "/", "", "<", "", "~", "", "=", "").Replace(strings.Join(c.args, " "))
			golden.File(t, filepath.Join("testdata", "trend", name+".txt"), out.String())
		}
	}
}

// TestTrendLeavesOut: runs that cannot be in a series are counted by the reason, and not as examined.
func TestTrendLeavesOut(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	path := nights(t, 3)
	store, err := sqlite.Open(t.Context(), path)
	check(t, err)
	for id, change := range map[string]func(*mapping.Run){
		"00000001": func(run *mapping.Run) { run.Run.Partial = true },
		"00000002": func(run *mapping.Run) { run.All, run.Write = nil, nil },
		"00001ef0": func(run *mapping.Run) { run.Run.Complete = false }, // of its totals nothing is missing,
	} {
		run, err := store.Run(t.Context(), id)
		check(t, err)
		if change(run); store.Finish(t.Context(), run) != nil {
			t.Fatal(id)
		}
	}
	check(t, store.Close())
	var out, errs strings.Builder
	code := run(t.Context(), []string{"trend", "--history", path, "--metrics", "p99"}, strings.NewReader(""), &out, &errs)
	if want := "2 numbers of 2 workloads in 4 runs: 0 changes, 2 with too few runs; left out: 1 without requests, 1 without some of their files\n"; code != 0 || out.String() != want {
		t.Errorf("exit code %d: %s%s, want %s", code, &out, &errs, want)
	}
}

// TestTrendReports: a test report has a case for each number. Markdown has the failed ones below the table.
func TestTrendReports(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	long, short := nights(t, 60), nights(t, 5)
	for name, args := range map[string][]string{
		"report.xml": {"--history", long, "--format", "junit"}, "report.md": {"--history", long, "--format", "markdown"}, "short.xml": {"--history", short, "--format", "junit"},
	} {
		var out, errs strings.Builder
		code := run(t.Context(), append([]string{"trend", "--fail-last", "30", "--metrics", "p99,iops"}, args...), strings.NewReader(""), &out, &errs)
		if want := map[bool]int{true: exitMet, false: 0}[args[1] == long]; code != want {
			t.Errorf("%s: exit code %d, want %d: %s", name, code, want, &errs)
		}
		golden.File(t, filepath.Join("testdata", "trend", name), out.String())
	}
}
