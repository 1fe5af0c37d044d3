package nightly

import (
	"io/fs"
	"syscall"
	"time"
)

// inode returns when the inode of a file was last changed, which includes renaming, and the inode's number.
func inode(info fs.FileInfo) (changed time.Time, number uint64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctimespec.Unix()), s.Ino
	}
	return info.ModTime(), 0
}
