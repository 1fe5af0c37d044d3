//go:build unix

package memtest

import (
	"syscall"
	"time"
)

// CPUTime is the time of processors that this process has used, which other work on the machine
// does not change as it does the time that passes.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
