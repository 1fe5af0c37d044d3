//go:build unix

package memtest

import (
	"syscall"
	"time"
)

// CPUTime returns the processor time that this process has used. Unlike elapsed time, it does not depend on other
// work of the machine.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
