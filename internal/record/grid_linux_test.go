package record

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
)

// TestCanSignal: fio takes the place of nice and the like, which are run here, but not that of sudo.
func TestCanSignal(t *testing.T) {
	for _, c := range []struct {
		before string
		want   bool
	}{
		{"", true}, {"nice", true}, {"nice -n 5", true}, {"/usr/bin/ionice -c2 -n 0", true}, {"taskset -c 0", true}, {"taskset 0x1", true},
		{"env A=b nice", true}, {"sudo", false}, {"sudo -E nice", false}, {"nice sudo", false}, {"strace -o out", false}, {"ionice -c idle", false},
	} {
		before := strings.Fields(c.before)
		if got := CanSignal(&fioargs.Command{Before: before, Program: "fio"}); got != c.want {
			t.Errorf("%s fio: %v", c.before, got)
		}
		if c.want && len(before) > 0 {
			cmd := exec.Command(before[0], append(before[1:], "sh", "-c", "echo $$")...)
			var out strings.Builder
			if cmd.Stdout = &out; cmd.Run() == nil && strings.TrimSpace(out.String()) != strconv.Itoa(cmd.Process.Pid) {
				t.Errorf("%s starts another process", c.before)
			}
		}
	}
}

// TestTakesReports: only a fio that catches SIGUSR1, and whose helper thread runs, is sent one.
func TestTakesReports(t *testing.T) {
	for _, c := range []struct {
		name, status string
		want         bool
	}{
		{"runs jobs", "Name:\tfio\nThreads:\t2\nSigIgn:\t0000000000001000\nSigCgt:\t0000000000004202\n", true},
		{"has not begun", "Name:\tfio\nThreads:\t2\nSigCgt:\t0000000000000000\n", false},
		{"ends", "Name:\tfio\nThreads:\t1\nSigCgt:\t0000000000004202\n", false},
		{"catches SIGUSR2 alone", "Name:\tfio\nThreads:\t2\nSigCgt:\t0000000000000800\n", false},
		{"is gone", "", false},
	} {
		if got := takesReports(c.status); got != c.want {
			t.Errorf("a fio that %s: %v", c.name, got)
		}
	}
}

// TestNextEdge: edges are the multiples of a time since 1970, on all hosts.
func TestNextEdge(t *testing.T) {
	for _, c := range []struct {
		now, every, want int64 // milliseconds
	}{
		{1795944559003, 1000, 1795944560000}, {1795944559999, 1000, 1795944560000}, {1795944560000, 1000, 1795944561000},
		{1795944559003, 7000, 1795944563000}, {1, 30_000, 30_000},
	} {
		if got := nextEdge(time.UnixMilli(c.now), time.Duration(c.every)*time.Millisecond).UnixMilli(); got != c.want {
			t.Errorf("after %d each %d ms: %d, want %d", c.now, c.every, got, c.want)
		}
	}
}

// TestAskOnGrid: when asking ends, its goroutine has ended.
func TestAskOnGrid(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	askOnGrid(self, time.Hour)() // returns at once, and not at the next hour
	askOnGrid(nil, 0)()
}
