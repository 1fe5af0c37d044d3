package source

import (
	"container/list"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
)

// idleHandles is how many files stay open while nothing is read from them. Thousands of logs
// are read side by side, and some systems allow 256 open files.
const idleHandles = 128

// handles keeps a bounded number of files open between reads. Safe from many goroutines.
type handles struct {
	mu     sync.Mutex
	idle   list.List // of *handle, the longest unused first
	closed bool
}

// handle is a file on disk. It is opened when it is read, and closed when too many others
// are open; it must not have changed when it is opened again for the same reader.
type handle struct {
	all  *handles
	dir  string // the folder below which path stays; empty if path stands alone
	path string // slash separated if dir is set

	isArchive bool // it must not change: the places of its members were noted

	opening sync.Mutex  // locked while the file is opened
	seen    fs.FileInfo // when it was opened first; guarded by opening

	// Guarded by all.mu.
	file    *os.File
	reads   int           // under way
	readers int           // of the file as a whole
	elem    *list.Element // in all.idle, while the file is open and nothing reads it
}

// adopt is a handle of a file that was just opened. It counts as a reader of it.
func (a *handles) adopt(dir, path string, f *os.File, info fs.FileInfo) *handle {
	h := &handle{all: a, dir: dir, path: path, seen: info, file: f, reads: 1, readers: 1}
	h.release()
	return h
}

// ReadAt implements io.ReaderAt.
func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	f, err := h.acquire()
	if err != nil {
		return 0, err
	}
	defer h.release()
	return f.ReadAt(p, off)
}

// acquire returns the open file. It stays open until release.
func (h *handle) acquire() (*os.File, error) {
	h.opening.Lock()
	defer h.opening.Unlock()
	if f := h.use(nil); f != nil {
		return f, nil
	}
	f, err := openFile(h.dir, h.path)
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	if err == nil && h.seen != nil && !isSame(h.seen, now) {
		err = fmt.Errorf("reopen %s: %w", h.path, ErrChanged)
	}
	if err == nil {
		h.seen = now
		if h.use(f) != nil {
			return f, nil
		}
		err = fs.ErrClosed
	}
	f.Close()
	return nil, err
}

// isSame reports whether a file was not changed.
func isSame(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// use counts one more read of the open file, which is fresh if that is set. It returns nil if
// no file is open or all are closed for good.
func (h *handle) use(fresh *os.File) *os.File {
	h.all.mu.Lock()
	defer h.all.mu.Unlock()
	if h.all.closed {
		return nil
	}
	if fresh != nil {
		h.file = fresh
	}
	if h.file == nil {
		return nil
	}
	if h.elem != nil {
		h.all.idle.Remove(h.elem)
		h.elem = nil
	}
	h.reads++
	return h.file
}

// release ends one read.
func (h *handle) release() {
	h.all.mu.Lock()
	defer h.all.mu.Unlock()
	if h.reads--; h.reads > 0 {
		return
	}
	h.elem = h.all.idle.PushBack(h)
	for h.all.idle.Len() > idleHandles || h.all.closed && h.all.idle.Len() > 0 {
		h.all.idle.Front().Value.(*handle).drop()
	}
}

// drop closes an idle file. all.mu is locked.
func (h *handle) drop() {
	h.all.idle.Remove(h.elem)
	h.file.Close() // only read from: nothing is lost
	h.file, h.elem = nil, nil
}

// close closes what is idle; what is read is closed with its release.
func (a *handles) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for a.idle.Len() > 0 {
		a.idle.Front().Value.(*handle).drop()
	}
}

// content reads the file from its beginning, as far as it goes then. Readers at the same time
// share the open file, so hashing a log whose first row was looked at does not open it again.
func (h *handle) content(r *reader) (io.Reader, error) {
	h.all.mu.Lock()
	h.readers++
	h.all.mu.Unlock()
	r.closeLater(h)
	if _, err := h.acquire(); err != nil {
		return nil, err
	}
	h.release()
	return io.NewSectionReader(h, 0, math.MaxInt64), nil
}

// Close ends one reader. With the last one the file is closed. The next one may find another
// content, unless it is an archive.
func (h *handle) Close() error {
	h.opening.Lock()
	defer h.opening.Unlock()
	h.all.mu.Lock()
	defer h.all.mu.Unlock()
	if h.readers--; h.readers > 0 {
		return nil
	}
	if h.elem != nil {
		h.drop()
	}
	if !h.isArchive {
		h.seen = nil
	}
	return nil
}

// openFile opens a file for reading. It does not wait where a named pipe has taken its place
// since the folder was listed.
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
