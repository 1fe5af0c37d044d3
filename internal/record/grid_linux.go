package record

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/late"
)

// inPlace are programs that fio takes the place of when they start it, so it is the process that fio2es started.
var inPlace = []string{"chrt", "env", "ionice", "nice", "numactl", "setarch", "taskset"}

// optionOfThese is an option of such a program, or its value: -c, A=B, 0-3,8, 0x3. Other words may be of another program, such as sudo,
// which stays between, and whose fio may be another user's.
var optionOfThese = late.Regexp(`^(-.*|\w+=.*|[0-9,-]+|0x[0-9a-fA-F]+)$`)

// CanSignal reports whether the fio of a command can be sent signals, because it is the process that fio2es starts. [askOnGrid] looks
// whether it is fio already.
func CanSignal(c *fioargs.Command) bool {
	return !slices.ContainsFunc(c.Before, func(word string) bool {
		return !slices.Contains(inPlace, filepath.Base(word)) && !optionOfThese().MatchString(word)
	})
}

// askOnGrid asks a fio for a report at each multiple of a time since 1970, until the returned function is called. 0: never.
func askOnGrid(fio *os.Process, every time.Duration) (stop func()) {
	if every <= 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for sleepToEdge(ctx, every) {
			if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", fio.Pid)); err == nil && takesReports(string(text)) {
				_ = fio.Signal(syscall.SIGUSR1) // an error means that fio has ended
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// nextEdge returns the first multiple of a time since 1970 that comes after now.
func nextEdge(now time.Time, every time.Duration) time.Time {
	step := every.Milliseconds()
	return time.UnixMilli((now.UnixMilli()/step + 1) * step)
}

// sleepToEdge waits until the clock of the host shows the next multiple of a time since 1970. It returns false if ctx ends before.
func sleepToEdge(ctx context.Context, every time.Duration) bool {
	at := nextEdge(time.Now(), every)
	for left := time.Until(at); left > 0; left = time.Until(at) { // the clock may run a little slower than the timer
		if left > every { // it was set back
			at = nextEdge(time.Now(), every)
			continue
		}
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return false
		}
	}
	return ctx.Err() == nil
}

// takesReports reports whether a process of fio, by its /proc/PID/status, writes a report when it gets SIGUSR1. The signal kills
// a fio that has not begun to run jobs, which does not catch it yet, and one that ends, whose helper thread is gone.
func takesReports(status string) bool {
	has := func(name string, base int, enough func(uint64) bool) bool {
		_, rest, _ := strings.Cut(status, "\n"+name+":")
		value, _, _ := strings.Cut(rest, "\n")
		n, err := strconv.ParseUint(strings.TrimSpace(value), base, 64)
		return err == nil && enough(n)
	}
	return has("SigCgt", 16, func(caught uint64) bool { return caught>>(syscall.SIGUSR1-1)&1 == 1 }) &&
		has("Threads", 10, func(n uint64) bool { return n > 1 })
}
