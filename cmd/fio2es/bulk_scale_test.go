//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/mapping"
)

// scaleVariable must be set, or TestScale is skipped.
const scaleVariable = "FIO2ES_TEST_SCALE"

// TestScale ingests an archive of a thousand runs with 64 logs each in a process that may have at most 256 files
// open, and checks its memory.
func TestScale(t *testing.T) {
	if os.Getenv(scaleVariable) == "" {
		t.Skip(scaleVariable + "=1 runs it: some minutes, a gigabyte")
	}
	spec := fiotest.ArchiveSpec{Runs: 1000, Hosts: 4, Jobs: 16, Seconds: 6, Coarseness: 3, IOPS: 50, Seed: 7}
	const maxMemory = 400 << 20
	dir := filepath.Join(t.TempDir(), "lab")
	began := time.Now()
	sum := generated(t, spec, dir)
	t.Logf("%d files, %d logs of %d MB, generated in %v", sum.Files, sum.Logs, sum.LogBytes>>20, time.Since(began).Round(time.Second))

	path := filepath.Join(t.TempDir(), "h.db")
	for _, what := range []string{"new", "again"} {
		cmd := program(t, "ingest", "--history", path, dir)
		cmd.Env = append(cmd.Env, filesVariable+"=256")
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		began = time.Now()
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, errs.String()[max(errs.Len()-2000, 0):])
		}
		took := time.Since(began)
		memory := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
		n := scaleCheck(t, path, spec, sum)
		t.Logf("%s: %v, at most %d MB, %.0f documents/s, %.0f MB/s of logs, CPU %v", what, took.Round(10*time.Millisecond), memory>>20,
			float64(n)/took.Seconds(), float64(sum.LogBytes)/1e6/took.Seconds(),
			(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(10*time.Millisecond))
		if memory > maxMemory {
			t.Errorf("%d MB of memory, want %d at most", memory>>20, maxMemory>>20)
		}
		if what == "again" && !strings.Contains(errs.String(), "; 1,000 unchanged") {
			t.Errorf("want 1,000 unchanged: %s", &errs)
		}
		if info, err := os.Stat(path); err == nil {
			t.Logf("history: %d documents, %d MB", n, info.Size()>>20)
		}
	}
}

// scaleCheck compares a history with what was generated, and returns the number of documents.
func scaleCheck(t *testing.T, path string, spec fiotest.ArchiveSpec, sum fiotest.Summary) int {
	t.Helper()
	sound(t, path)
	s, err := sqlite.Open(t.Context(), path)
	check(t, err)
	defer s.Close()
	var got [3]int64
	seen, documents := map[string]bool{}, 0
	for r, err := range s.Runs(t.Context(), history.RunFilter{Light: true}) {
		check(t, err)
		seen[r.Run.Path] = true
		documents += r.Documents.Cluster + r.Documents.Host + r.Documents.Job
		for d, total := range []*mapping.Totals{r.Read, r.Write, r.Trim} {
			if total != nil {
				got[d] += total.Requests
			}
		}
		if !r.Run.Complete || len(r.Warnings) > 0 {
			t.Errorf("%s: %v", r.Run.Path, r.Warnings)
		}
	}
	for i := range spec.Runs {
		if !seen[spec.Run(i).Path] {
			t.Errorf("%s is not in the history", spec.Run(i).Path)
		}
	}
	var want, completed [3]int64
	for d := range want {
		logged, tail := sum.Truth.Requests(d)
		want[d] = int64(logged + tail)
	}
	n := 0
	for d, err := range s.Intervals(t.Context(), history.Selection{Level: mapping.Host}) {
		check(t, err)
		n++
		for i, name := range []string{"read", "write", "trim"} {
			if d.Fio.Direction == name {
				completed[i] += d.DocCount
			}
		}
	}
	if got != want || completed != want {
		t.Errorf("%v requests in runs, %v in %d documents of hosts, want %v", got, completed, n, want)
	}
	if t.Failed() {
		t.Fatal(fmt.Sprint(len(seen), " runs"))
	}
	return documents
}
