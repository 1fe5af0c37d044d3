package nightly

import (
	"io/fs"
	"syscall"
)

// inode returns when the inode of a file was last changed, also by renaming, and its number.
func inode(info fs.FileInfo) (changed int64, number uint64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return s.Ctim.Nano(), s.Ino
}
