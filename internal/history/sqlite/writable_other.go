//go:build !unix

package sqlite

import "os"

// isWritable reports whether this process may write a file.
func isWritable(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	return f.Close() == nil
}
