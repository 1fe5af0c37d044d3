//go:build !linux && !darwin

package nightly

import "io/fs"

// inode returns nothing, because these systems have nothing in common.
func inode(fs.FileInfo) (changed int64, number uint64) { return 0, 0 }
