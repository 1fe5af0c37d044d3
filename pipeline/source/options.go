package source

import (
	"cmp"
	"io"
	"os"
)

// Options are the options of a scan. The zero value is ready to use. Each field states its default and its cost.
type Options struct {
	// Stdin is read for the path "-". Default os.Stdin. It can be read once; what
	// is wanted of it is spooled.
	Stdin io.Reader

	// Want reports whether the file with this File.Path is of interest; nil takes
	// all. Unwanted files are neither read nor listed. It must give the same
	// answer for the same path every time: while an archive is being read it is
	// also called with paths that the file may turn out to have.
	Want func(path string) bool

	// Look finds files by their content that Want turns down by their name. The zero
	// value finds none.
	Look Look

	// Named also lists files that are arguments themselves, and plain standard input,
	// without regard to Want: the user named them.
	Named bool

	// Beside also lists files next to an argument, because an argument may be one file of
	// several that belong together: in the folder of a file, in the folder above it,
	// and in the folder of an argument whose topmost folder has a file that Look.Near
	// accepts. Only files that Look.Is or Look.Kin accepts are listed, and no problems
	// with them. Folders with more than 1,000 files are skipped.
	Beside bool

	// Depth is how many archives may lie inside one another; the outermost counts, a compressed tar counts once. Default
	// 4. Deeper ones are a Problem.
	Depth int

	// Budget bounds what the scan and the work on its files take. Default new(Budget).
	Budget *Budget

	// TempDir is where the temporary file goes. Default os.TempDir().
	TempDir string

	// Sums makes [File.Sum] of contents that are spooled, while they are spooled.
	Sums bool

	// Progress is called from the scanning goroutine for every file found and
	// every few megabytes read, so it must be quick. Default none.
	Progress func(Progress)
}

// Look finds files that are of interest though their names say nothing. A file is looked
// at if Near accepts another file in its folder, or in a folder directly in it. To
// bound the work, folders with more than 1,000 files that could be looked at are
// skipped, packed or not, and only the first 32 KiB of each file are read.
type Look struct {
	// Near reports by its path whether there may be files of interest around a file.
	Near func(path string) bool
	// Name reports by its path whether a file is worth a look at its content.
	Name func(path string) bool
	// Is reports by its first bytes whether a file is of interest.
	Is func(head []byte) bool
	// Kin reports by its path whether a file beside an argument is of interest with
	// any content.
	Kin func(path string) bool
}

// Progress is how far a scan has come.
type Progress struct {
	Files int   // files found so far
	Bytes int64 // bytes of input read forwards so far, as stored (not unpacked)
}

// withDefaults returns the options with every zero replaced by its default.
func (o Options) withDefaults() Options {
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if o.Want == nil {
		o.Want = func(string) bool { return true }
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	never := func(string) bool { return false }
	for _, f := range []*func(string) bool{&o.Look.Near, &o.Look.Name, &o.Look.Kin} {
		if *f == nil {
			*f = never
		}
	}
	if o.Look.Is == nil {
		o.Look.Is = func([]byte) bool { return false }
	}
	o.Depth = cmp.Or(o.Depth, 4)
	if o.Budget == nil {
		o.Budget = new(Budget)
	}
	return o
}
