//go:build unix

package sqlite

import "golang.org/x/sys/unix"

// isWritable reports whether this process may write a file. It does not open the file: when a process closes any of its
// descriptors of a file, it loses all locks that it has on the file (POSIX), and so those of SQLite. Two writers then
// damage a history. See "How To Corrupt An SQLite Database File", 2.2.
func isWritable(path string) bool { return unix.Access(path, unix.W_OK) == nil }
