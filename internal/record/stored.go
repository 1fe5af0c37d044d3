package record

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Stored returns the folder of a stored run by the folder's name. ok is false if there is no such folder, or if its
// run is not stored yet.
func (f Folders) Stored(name string) (folder string, ok bool) {
	if name == "." || name == ".." || filepath.Base(name) != name {
		return "", false
	}
	folder = filepath.Join(string(f), name)
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() {
		return "", false
	}
	_, err := os.Lstat(folder + entrySuffix)
	return folder, os.IsNotExist(err)
}

// Size returns the size of the files in a folder, in bytes.
func Size(folder string) (sum int64) {
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				sum += info.Size()
			}
		}
		return nil // unreadable files do not count
	})
	return sum
}
