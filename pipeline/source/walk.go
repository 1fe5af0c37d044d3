package source

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// maxFolders bounds folders within folders, as each takes a descriptor.
const maxFolders = 200

// folder scans all below a folder that was given as an argument.
func (s *scanner) folder(ctx context.Context, arg, archive string) error {
	root, err := os.OpenRoot(arg)
	if err != nil {
		return s.fail(ctx, arg, err)
	}
	defer root.Close()
	w := walker{s: s, arg: arg, archive: archive, dir: s.set.handles.folder(arg)}
	return w.walk(ctx, root, "", 0)
}

// walker walks one folder argument. Opening each name in its own folder spares
// the system a walk from the top for every file.
type walker struct {
	s            *scanner
	arg, archive string
	dir          *handle
}

// walk scans the folder at, which is rel below the argument.
func (w *walker) walk(ctx context.Context, at *os.Root, rel string, depth int) error {
	entries, err := readFolder(at)
	if err != nil { // what could be listed is used
		if err := w.s.fail(ctx, filepath.Join(w.arg, rel), err); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.entry(ctx, at, e, path.Join(rel, e.Name()), depth); err != nil {
			return err
		}
	}
	return nil
}

func readFolder(at *os.Root) ([]fs.DirEntry, error) {
	d, err := at.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}

// entry scans one name in the folder at.
func (w *walker) entry(ctx context.Context, at *os.Root, e fs.DirEntry, rel string, depth int) error {
	it := item{name: filepath.Join(w.arg, filepath.FromSlash(rel)), root: w.arg, archive: w.archive, rel: rel}
	if e.IsDir() {
		if depth >= maxFolders {
			return w.s.fail(ctx, it.name, fmt.Errorf("%w: more than %d folders", ErrDepth, maxFolders))
		}
		sub, err := at.OpenRoot(e.Name())
		if err != nil {
			return w.s.fail(ctx, it.name, err)
		}
		defer sub.Close()
		return w.walk(ctx, sub, rel, depth+1)
	}
	if !w.s.interesting(it) {
		return nil
	}
	if !e.Type().IsRegular() {
		return w.s.fail(ctx, it.name, irregular(e.Type()))
	}
	f, err := at.Open(e.Name())
	if err != nil {
		return w.s.fail(ctx, it.name, err)
	}
	defer f.Close()
	return w.s.disk(ctx, it, diskFile{dir: w.dir, path: rel}, f)
}

// irregular is the reason to refuse what is no regular file.
func irregular(mode fs.FileMode) error {
	if mode&fs.ModeSymlink != 0 {
		return ErrLink
	}
	return fmt.Errorf("%w: %v", ErrSpecial, mode.Type())
}

// disk scans the regular file d, which f has open for the while.
func (s *scanner) disk(ctx context.Context, it item, d diskFile, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return s.fail(ctx, it.name, err)
	}
	if !info.Mode().IsRegular() { // replaced since it was listed
		return s.fail(ctx, it.name, irregular(info.Mode()))
	}
	it.mod = info.ModTime()
	return s.random(ctx, it, extent{
		now: f, n: info.Size(), later: origin{file: &d},
		keep: func() io.ReaderAt { return s.set.handles.archive(d, info) },
	})
}
