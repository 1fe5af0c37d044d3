//go:build linux

package fiomatrix

import (
	"fmt"
	"os"
	"time"
)

// bootTime returns the difference between Unix milliseconds and the monotonic clock, within 10 ms.
func bootTime() int64 {
	var up float64
	text, err := os.ReadFile("/proc/uptime")
	if err == nil {
		_, err = fmt.Sscan(string(text), &up)
	}
	if err != nil {
		panic(err)
	}
	return time.Now().UnixMilli() - int64(up*1000)
}
