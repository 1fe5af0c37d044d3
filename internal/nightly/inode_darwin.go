package nightly

import (
	"io/fs"
	"syscall"
	"time"
)

// inode is when a file was changed in any way, also renamed, and its number.
func inode(info fs.FileInfo) (changed time.Time, number uint64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctimespec.Unix()), s.Ino
	}
	return info.ModTime(), 0
}
