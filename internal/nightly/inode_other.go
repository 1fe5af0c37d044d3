//go:build !linux && !darwin

package nightly

// inode returns nothing, because these systems have nothing in common.
func inode(string) (changed, number int64) { return 0, 0 }
