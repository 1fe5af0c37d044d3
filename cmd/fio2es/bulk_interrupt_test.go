package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/internal/testcost"
)

// TestInterrupted kills an ingest at random moments, until one call completes. After each stop, the history must be
// sound and show only complete runs. At the end it must equal the history of an undisturbed ingest.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	// Many small runs, and some whose documents are stored in several parts.
	many, long := filepath.Join(t.TempDir(), "many"), filepath.Join(t.TempDir(), "long")
	generated(t, fiotest.ArchiveSpec{Runs: 10, Hosts: 2, Jobs: 4, Seconds: 4, Coarseness: 4, Seed: 1}, many)
	generated(t, fiotest.ArchiveSpec{Runs: 2, Hosts: 2, Jobs: 4, Seconds: 100, Coarseness: 6, IOPS: 10, Seed: 2}, long)
	ingest := func(history string) *exec.Cmd {
		return program(t, "ingest", allLevels, "--threads", "2", "--history", history, many, long)
	}

	undisturbed := filepath.Join(t.TempDir(), "h.db")
	began := time.Now()
	if out, err := ingest(undisturbed).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	took := time.Since(began)
	want := stored(t, undisturbed)
	if n := want.runs(); n != 12 {
		t.Fatalf("%d runs, want 12", n)
	}
	t.Logf("undisturbed: %d documents in %v", len(want), took)

	for i, signal := range []os.Signal{os.Interrupt, os.Kill} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(testcost.Seed(), uint64(i)))
			path := filepath.Join(t.TempDir(), "h.db")
			begun := time.Now()
			var shown []int // number of runs after each stop
			for ended := false; !ended; {
				delay := time.Duration(rng.Float64() * 0.6 * float64(took))
				if time.Since(begun) > 250*time.Millisecond {
					delay = time.Hour // let the last call complete
				}
				ended = stopped(t, ingest(path), signal, delay)
				if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
					shown = append(shown, 0) // no history was created yet
					continue
				}
				got := stored(t, path)
				got.within(t, want)
				shown = append(shown, got.runs())
				if ended {
					got.same(t, want)
				}
				if t.Failed() {
					t.Fatalf("seed %d: after %v", testcost.Seed(), shown)
				}
			}
			t.Logf("runs in the history after each stop: %v", shown)
		})
	}
}

// stopped sends the program a signal after a delay, and checks how it ends. byItself reports that the program ended
// before.
func stopped(t *testing.T, cmd *exec.Cmd, signal os.Signal, delay time.Duration) (byItself bool) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	check(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return concluded(t, err, signal, errs.String())
	case <-time.After(delay):
		_ = cmd.Process.Signal(signal)
		return concluded(t, <-ended, signal, errs.String())
	}
}

// concluded checks the exit code and the last message of the program.
func concluded(t *testing.T, err error, signal os.Signal, said string) (byItself bool) {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return true
	case !errors.As(err, &exit):
		t.Fatal(err)
	case !exit.Exited(): // killed, or interrupted before it could handle signals
	case signal == os.Kill || !slices.Contains([]int{130, 143}, exit.ExitCode()) || !strings.HasSuffix(said, "interrupted\n"):
		t.Fatalf("after %v: %v\n%s", signal, err, said)
	}
	return false
}
