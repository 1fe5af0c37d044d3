package record

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Stored is the folder of a run that was stored, by the folder's name. It returns false if there is no such folder, or if
// its run is not stored yet.
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

// Size is how many bytes the files of a folder have.
func Size(folder string) (sum int64) {
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				sum += info.Size()
			}
		}
		return nil // what cannot be read counts nothing
	})
	return sum
}
