// Package evidence says what each file is and what it shows before its rows are read: a log, a report of fio, a job file, or
// neither. Each file is looked at once, when that is needed, and what was seen is kept with it.
package evidence

import "github.com/fio2es/fio2es/pipeline/source"

// File is a file of a scan, with what was seen in it.
type File struct {
	*source.File
}

// Of returns a file that was not looked at yet.
func Of(f *source.File) *File { return &File{File: f} }

// All returns files that were not looked at yet.
func All(files []*source.File) []*File {
	all := make([]*File, len(files))
	for i, f := range files {
		all[i] = Of(f)
	}
	return all
}
