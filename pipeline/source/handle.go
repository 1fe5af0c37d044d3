package source

import (
	"container/list"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// idleHandles is how many descriptors stay open though nobody reads from them at
// the moment. With thousands of logs read side by side the bound is what counts: it
// leaves room within the 256 that some systems allow.
const idleHandles = 128

// handles keeps a bounded number of descriptors open between uses. Safe from many
// goroutines.
type handles struct {
	mu     sync.Mutex
	idle   list.List // of *handle, the longest unused first
	closed bool
}

// handle is one archive or folder that is opened on demand and may be closed
// whenever it is not in use.
type handle struct {
	all  *handles
	open func() (io.Closer, error)

	// Guarded by all.mu.
	res     io.Closer
	refs    int
	readers int           // of a file
	elem    *list.Element // where in all.idle, if there
}

// acquire returns what open gives, kept open until release.
func (h *handle) acquire() (io.Closer, error) {
	if res, err := h.take(nil); res != nil || err != nil {
		return res, err
	}
	res, err := h.open() // unlocked: it may be slow, and use another handle
	if err != nil {
		return nil, err
	}
	return h.take(res)
}

// take counts one more user of the open resource, or of fresh if none is open.
func (h *handle) take(fresh io.Closer) (io.Closer, error) {
	h.all.mu.Lock()
	defer h.all.mu.Unlock()
	spare := fresh
	defer func() {
		if spare != nil {
			spare.Close() // only read from: nothing to lose
		}
	}()
	switch {
	case h.all.closed:
		return nil, fs.ErrClosed
	case h.res == nil && fresh == nil:
		return nil, nil
	case h.res == nil:
		h.res, spare = fresh, nil
	}
	if h.elem != nil {
		h.all.idle.Remove(h.elem)
		h.elem = nil
	}
	h.refs++
	return h.res, nil
}

// release ends one use.
func (h *handle) release() {
	h.all.mu.Lock()
	defer h.all.mu.Unlock()
	if h.refs--; h.refs > 0 {
		return
	}
	h.elem = h.all.idle.PushBack(h)
	for h.all.idle.Len() > idleHandles || (h.all.closed && h.all.idle.Len() > 0) {
		h.all.dropOldest()
	}
}

// dropOldest closes the handle unused for longest. The lock is held.
func (a *handles) dropOldest() {
	old := a.idle.Remove(a.idle.Front()).(*handle)
	old.res.Close() // only read from: nothing to lose
	old.res, old.elem = nil, nil
}

// close ends all that is idle; what is in use ends with its release.
func (a *handles) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for a.idle.Len() > 0 {
		a.dropOldest()
	}
}

// drop ends one reader. With the last one it closes what is open: it will not be wanted again.
func (h *handle) drop() {
	h.all.mu.Lock()
	defer h.all.mu.Unlock()
	if h.readers--; h.readers > 0 || h.elem == nil {
		return
	}
	h.all.idle.Remove(h.elem)
	h.res.Close() // only read from: nothing to lose
	h.res, h.elem = nil, nil
}

// ReadAt reads from a handle on a file.
func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	res, err := h.acquire()
	if err != nil {
		return 0, err
	}
	defer h.release()
	return res.(*os.File).ReadAt(p, off)
}

// folder is a handle on a folder below which nothing escapes.
func (a *handles) folder(path string) *handle {
	return &handle{all: a, open: func() (io.Closer, error) { return os.OpenRoot(path) }}
}

// archive is a handle on a file of which positions were noted; it must not have
// changed when it is opened again.
func (a *handles) archive(d diskFile, seen fs.FileInfo) *handle {
	return &handle{all: a, open: func() (io.Closer, error) {
		f, err := d.open()
		if err != nil {
			return nil, err
		}
		now, err := f.Stat()
		if err == nil && !(os.SameFile(now, seen) && now.Size() == seen.Size() && now.ModTime().Equal(seen.ModTime())) {
			err = fmt.Errorf("reopen %s: %w", d.path, ErrChanged)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}}
}

// file is a handle on a file that is read from beginning to end, for one more reader. It is
// that of another reader as long as that has the file open, so that hashing a log whose first
// row was looked at does not open it again. It is closed between two reads when too many
// others are open, and must not have been changed by then.
func (a *handles) file(d *diskFile) *handle {
	a.mu.Lock()
	defer a.mu.Unlock()
	if h := d.last; h != nil && h.res != nil {
		h.readers++
		return h
	}
	var mu sync.Mutex // of seen: two readers may open the file again at once
	var seen fs.FileInfo
	d.last = &handle{all: a, readers: 1, open: func() (io.Closer, error) {
		f, err := d.open()
		if err != nil {
			return nil, err
		}
		now, err := f.Stat()
		mu.Lock()
		defer mu.Unlock()
		if err == nil && seen != nil && !(os.SameFile(now, seen) && now.ModTime().Equal(seen.ModTime())) {
			err = fmt.Errorf("reopen %s: %w", d.path, ErrChanged)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		seen = now
		return f, nil
	}}
	return d.last
}

// diskFile is where a file is on disk.
type diskFile struct {
	dir  *handle // the folder that path is below; nil if path stands alone
	path string  // slash separated if dir is set
	last *handle // that readers got, see [handles.file]
}

// open opens the file for reading; the caller closes it.
func (d *diskFile) open() (*os.File, error) {
	if d.dir == nil {
		return openNow(d.path)
	}
	root, err := d.dir.acquire()
	if err != nil {
		return nil, err
	}
	defer d.dir.release()
	return openIn(root.(*os.Root), filepath.FromSlash(d.path))
}
