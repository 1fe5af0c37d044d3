package doctor

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// blockDevice returns the number of the block device at a path, such as "8:0", or "" if there is none.
func blockDevice(path string) string {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&(os.ModeDevice|os.ModeCharDevice) != os.ModeDevice {
		return ""
	}
	number := uint64(info.Sys().(*syscall.Stat_t).Rdev)
	return fmt.Sprintf("%d:%d", unix.Major(number), unix.Minor(number))
}
