//go:build linux || darwin

package nightly

import "golang.org/x/sys/unix"

// inode returns when the inode of a file was last changed, also by renaming, and its number.
func inode(name string) (changed, number int64) {
	var s unix.Stat_t
	_ = unix.Stat(name, &s)
	return s.Ctim.Nano(), int64(s.Ino)
}
