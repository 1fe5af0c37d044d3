//go:build !unix

package memtest

import "time"

// CPUTime is not known here.
func CPUTime() time.Duration { return 0 }
