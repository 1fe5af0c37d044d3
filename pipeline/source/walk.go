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
	"syscall"
	"time"
)

// maxFolders bounds folders within folders, because each takes a descriptor.
const maxFolders = 200

// folder scans all below a folder that was given as an argument.
func (s *scanner) folder(arg, archive string) {
	root, err := os.OpenRoot(arg)
	if err != nil {
		s.fail(arg, err)
		return
	}
	defer root.Close()
	w := walker{s, origin{root: arg, archive: archive}}
	w.walk(root, "", 0)
}

// walker walks one folder argument. It opens each name in its own folder, so the system
// need not walk from the top for every file.
type walker struct {
	*scanner
	origin
}

// walk scans the folder at, which is rel below the argument. It reports whether Look.Near
// accepts a file directly in it.
func (w *walker) walk(at *os.Root, rel string, depth int) (near bool) {
	entries, err := readFolder(at)
	if err != nil { // the names that could be listed are used
		w.failToRead(filepath.Join(w.root, rel), err)
	}
	type entry struct {
		fs.DirEntry
		item
	}
	var nameless []entry // their names do not say what they are
	below := false
	for _, e := range entries {
		if w.ended() {
			return false
		}
		rel := path.Join(rel, e.Name())
		it := item{name: filepath.Join(w.root, filepath.FromSlash(rel)), origin: w.origin, rel: rel}
		switch {
		case e.IsDir():
			below = w.enter(at, e.Name(), it, depth) || below
		case w.byName(it):
			near = near || w.look.Near(trimCompression(it.rel))
			w.entry(at, e, it)
		case e.Type().IsRegular() && w.mayLook(it):
			it.met = byContent
			nameless = append(nameless, entry{e, it})
		}
	}
	if near || below {
		for _, n := range nameless {
			w.entry(at, n.DirEntry, n.item)
		}
	}
	return near
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
func (w *walker) enter(at *os.Root, name string, it item, depth int) (near bool) {
	if depth >= maxFolders {
		w.fail(it.name, fmt.Errorf("%w: more than %d folders", ErrDepth, maxFolders))
		return false
	}
	sub, err := at.OpenRoot(name)
	if err != nil {
		w.failToRead(it.name, err)
		return false
	}
	defer sub.Close()
	return w.walk(sub, it.rel, depth+1)
}

// entry scans a file in the folder at.
func (w *walker) entry(at *os.Root, e fs.DirEntry, it item) {
	if !e.Type().IsRegular() {
		w.fail(it.name, irregular(e.Type()))
		return
	}
	if w.ended() {
		return
	}
	if w.listing != nil {
		info, err := e.Info()
		w.list(it, info, err)
		return
	}
	f, err := openIn(at, path.Base(it.rel))
	switch {
	case err == nil:
		w.disk(it, w.root, it.rel, f)
	case it.met != byContent: // else nothing says that it is of interest
		w.failToRead(it.name, err)
	}
}

// failToRead notes a folder or a file that cannot be opened.
func (w *walker) failToRead(name string, err error) {
	w.fail(name, err)
	w.set.Unread = append(w.set.Unread, name)
}

// irregular returns the reason why something that is not a regular file is refused.
func irregular(mode fs.FileMode) error {
	if mode&fs.ModeSymlink != 0 {
		return ErrLink
	}
	return fmt.Errorf("%w: %v", ErrSpecial, mode.Type())
}

// disk scans a regular file, which f has just opened. It is closed here, unless it is an archive whose members are read
// in place. dir is the folder below which path stays, or empty if path stands alone.
func (s *scanner) disk(it item, dir, path string, f *os.File) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() { // replaced since it was listed
		err = irregular(info.Mode())
	}
	if err != nil {
		f.Close()
		s.fail(it.name, err)
		return
	}
	open := func(r *reader) (io.Reader, error) {
		f, err := openFile(dir, path)
		if err == nil {
			r.closeLater(f)
		}
		return f, err
	}
	archives := len(s.set.archives)
	it.mod.ModTime, it.onDisk = info.ModTime(), it.name
	s.set.budget.packed.Add(info.Size())
	s.random(it, extent{at: f, n: info.Size(), body: body{open: open}})
	if len(s.set.archives) == archives {
		f.Close()
	}
}

// openFile opens a file for reading. It does not wait if a named pipe has replaced the file since the folder was
// listed.
func openFile(dir, path string) (*os.File, error) {
	if dir == "" {
		return openNow(path)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return openIn(root, filepath.FromSlash(path))
}

// openArgument opens a file that the user named. Opening a named pipe waits for its writer:
// ctx ends that.
func openArgument(ctx context.Context, name string, info fs.FileInfo) (*os.File, error) {
	if info.Mode().IsRegular() {
		return openNow(name)
	}
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened)
	go func() {
		f, err := os.Open(name)
		select {
		case done <- opened{f, err}:
		case <-ctx.Done():
			if err == nil {
				f.Close()
			}
		}
	}()
	select {
	case o := <-done:
		return o.f, o.err
	case <-ctx.Done(): // the goroutine stays until there is a writer
		return nil, ctx.Err()
	}
}

// openNow opens a regular file. It does not wait if a named pipe has taken its place since
// the folder was listed.
func openNow(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// openIn is openNow for a file in a folder.
func openIn(at *os.Root, name string) (*os.File, error) {
	return at.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// wake makes a waiting read of r end with ctx, if r has deadlines. The function that it
// returns must be called.
func wake(ctx context.Context, r io.Reader) (stop func() bool) {
	d, ok := r.(interface{ SetReadDeadline(time.Time) error })
	if !ok {
		return func() bool { return true }
	}
	return context.AfterFunc(ctx, func() { _ = d.SetReadDeadline(time.Unix(1, 0)) })
}
