package source

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// maxFolders bounds folders within folders, because each takes a descriptor.
const maxFolders = 200

// folder scans all below a folder that was given as an argument.
func (s *scanner) folder(ctx context.Context, arg, archive string) error {
	root, err := os.OpenRoot(arg)
	if err != nil {
		return s.fail(ctx, arg, err)
	}
	defer root.Close()
	w := walker{s: s, arg: arg, archive: archive}
	_, err = w.walk(ctx, root, "", 0)
	return err
}

// walker walks one folder argument. It opens each name in its own folder, so the system
// need not walk from the top for every file.
type walker struct {
	s            *scanner
	arg, archive string
}

// walk scans the folder at, which is rel below the argument. It reports whether Look.Near
// accepts a file directly in it.
func (w *walker) walk(ctx context.Context, at *os.Root, rel string, depth int) (near bool, err error) {
	entries, err := readFolder(at)
	if err != nil { // what could be listed is used
		if err := w.s.fail(ctx, filepath.Join(w.arg, rel), err); err != nil {
			return false, err
		}
	}
	var nameless []fs.DirEntry // of which the names say nothing
	below := false
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		it := w.item(rel, e)
		switch {
		case e.IsDir():
			within, err := w.enter(ctx, at, e, it, depth)
			if err != nil {
				return false, err
			}
			below = below || within
		case w.s.interesting(it):
			near = near || w.s.opt.Look.Near(trimCompression(it.rel))
			if err := w.file(ctx, at, e, it); err != nil {
				return false, err
			}
		case e.Type().IsRegular() && w.s.worthLook(it):
			nameless = append(nameless, e)
		}
	}
	if near || below {
		return near, w.look(ctx, at, rel, nameless)
	}
	return near, nil
}

// look looks at the content of files.
func (w *walker) look(ctx context.Context, at *os.Root, rel string, entries []fs.DirEntry) error {
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		it := w.item(rel, e)
		it.look = true
		if err := w.file(ctx, at, e, it); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) item(rel string, e fs.DirEntry) item {
	rel = path.Join(rel, e.Name())
	return item{name: filepath.Join(w.arg, filepath.FromSlash(rel)), root: w.arg, archive: w.archive, rel: rel}
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

// enter scans a folder in the folder at.
func (w *walker) enter(ctx context.Context, at *os.Root, e fs.DirEntry, it item, depth int) (near bool, err error) {
	if depth >= maxFolders {
		return false, w.s.fail(ctx, it.name, fmt.Errorf("%w: more than %d folders", ErrDepth, maxFolders))
	}
	sub, err := at.OpenRoot(e.Name())
	if err != nil {
		return false, w.s.fail(ctx, it.name, err)
	}
	defer sub.Close()
	return w.walk(ctx, sub, it.rel, depth+1)
}

// file scans a file in the folder at.
func (w *walker) file(ctx context.Context, at *os.Root, e fs.DirEntry, it item) error {
	if !e.Type().IsRegular() {
		return w.s.fail(ctx, it.name, irregular(e.Type()))
	}
	f, err := openIn(at, e.Name())
	if err != nil {
		if it.look {
			return nil // nothing says that it is of interest
		}
		return w.s.fail(ctx, it.name, err)
	}
	return w.s.disk(ctx, it, w.arg, it.rel, f)
}

// irregular is the reason to refuse what is no regular file.
func irregular(mode fs.FileMode) error {
	if mode&fs.ModeSymlink != 0 {
		return ErrLink
	}
	return fmt.Errorf("%w: %v", ErrSpecial, mode.Type())
}

// disk scans a regular file, which f has just opened and which is closed here. See [handle]
// for dir and path.
func (s *scanner) disk(ctx context.Context, it item, dir, path string, f *os.File) error {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() { // replaced since it was listed
		err = irregular(info.Mode())
	}
	if err != nil {
		f.Close()
		return s.fail(ctx, it.name, err)
	}
	h := s.set.handles.adopt(dir, path, f, info)
	defer h.Close()
	it.mod = modified{at: info.ModTime()}
	return s.random(ctx, it, extent{at: h, n: info.Size(), open: h.content})
}
