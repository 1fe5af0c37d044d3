//go:build !linux && !darwin

package nightly

import (
	"io/fs"
	"time"
)

// inode returns the modification time and 0, because these systems have nothing better in common.
func inode(info fs.FileInfo) (changed time.Time, number uint64) { return info.ModTime(), 0 }
