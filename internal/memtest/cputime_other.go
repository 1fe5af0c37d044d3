//go:build !unix

package memtest

import "time"

// CPUTime returns 0, because the time is not known on this system.
func CPUTime() time.Duration { return 0 }
