package source

import (
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// maxHandles is the largest number of files on disk that are open. Thousands of logs are read at the same time, and
// some systems allow 256 open files.
const maxHandles = 128

// handles limits the number of open files. Several goroutines may use it.
type handles struct {
	mu     sync.Mutex
	open   []*handle // the first opened first; their readers may have closed some
	closed bool
}

// handle is a file on disk. It is opened when it is read, and closed when too many others are open. When it is opened
// again for the same reader, it must not have changed.
type handle struct {
	all  *handles
	dir  string // the folder below which path stays; empty if path stands alone
	path string // slash separated if dir is set

	isArchive bool // it must not change: the places of its members were noted

	mu      sync.RWMutex // locked for reading while the file is read
	file    *os.File
	seen    fs.FileInfo // when it was opened first
	readers int         // of the file as a whole
}

// adopt returns a handle of a file that was just opened. The handle counts as one reader of it.
func (a *handles) adopt(dir, path string, f *os.File, info fs.FileInfo) *handle {
	h := &handle{all: a, dir: dir, path: path, seen: info, file: f, readers: 1}
	a.add(h)
	return h
}

// add counts an open file, and closes the file that was opened first if there are too many. The caller must not have
// locked a handle. It returns false if all are closed for good.
func (a *handles) add(h *handle) bool {
	a.mu.Lock()
	isOpen, first := !a.closed, h
	if isOpen {
		a.open = append(a.open, h)
	}
	if len(a.open) > maxHandles {
		first = a.open[0]
		a.open = slices.Delete(a.open, 0, 1)
	}
	a.mu.Unlock()
	if first != h || !isOpen {
		first.shut()
	}
	return isOpen
}

func (a *handles) close() {
	a.mu.Lock()
	open := a.open
	a.open, a.closed = nil, true
	a.mu.Unlock()
	for _, h := range open {
		h.shut()
	}
}

// ReadAt implements io.ReaderAt.
func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	h.mu.RLock()
	for h.file == nil {
		h.mu.RUnlock()
		if err := h.reopen(); err != nil {
			return 0, err
		}
		h.mu.RLock()
	}
	defer h.mu.RUnlock()
	return h.file.ReadAt(p, off)
}

func (h *handle) reopen() error {
	if isNew, err := h.open(); err != nil || !isNew {
		return err
	}
	if !h.all.add(h) {
		return fs.ErrClosed
	}
	return nil
}

// open opens the file, unless it is open.
func (h *handle) open() (isNew bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.file != nil {
		return false, nil
	}
	f, err := openFile(h.dir, h.path)
	if err != nil {
		return false, err
	}
	now, err := f.Stat()
	if err == nil && h.seen != nil && !isSame(h.seen, now) {
		err = fmt.Errorf("reopen %s: %w", h.path, ErrChanged)
	}
	if err != nil {
		f.Close()
		return false, err
	}
	h.file, h.seen = f, now
	return true, nil
}

// isSame reports whether a file was not changed.
func isSame(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// shut locks mu and calls drop.
func (h *handle) shut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop()
}

// drop closes the file if it is open. mu is locked.
func (h *handle) drop() {
	if h.file != nil {
		h.file.Close() // only read from: nothing is lost
		h.file = nil
	}
}

// content returns a reader of the file from its beginning. Readers at the same time share the open file, so hashing a
// log whose first row is being read does not open it again.
func (h *handle) content(r *reader) (io.Reader, error) {
	h.mu.Lock()
	h.readers++
	h.mu.Unlock()
	r.closeLater(h)
	if err := h.reopen(); err != nil {
		return nil, err
	}
	return io.NewSectionReader(h, 0, math.MaxInt64), nil
}

// Close ends one reader. The last one closes the file. A later reader may find another content, unless the file is an
// archive.
func (h *handle) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.readers--; h.readers > 0 {
		return nil
	}
	h.drop()
	if !h.isArchive {
		h.seen = nil
	}
	return nil
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
