package sqlite

import (
	"os"
	"sync"
)

// descriptors are the files of histories that this package opened itself. They stay open while SQLite may have locks:
// a process that closes any descriptor of a file loses all its locks on that file (POSIX), and then another process
// writes at the same time, which damages the history.
var descriptors struct {
	mu     sync.Mutex
	stores int // number of stores that are open
	files  []*os.File
}

// useDescriptors must be called before a store opens files.
func useDescriptors() {
	descriptors.mu.Lock()
	defer descriptors.mu.Unlock()
	descriptors.stores++
}

// openFile opens a file of a history. Only [releaseDescriptors] closes it.
func openFile(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	descriptors.mu.Lock()
	defer descriptors.mu.Unlock()
	descriptors.files = append(descriptors.files, f)
	return f, nil
}

// releaseDescriptors must be called after a store is closed. It closes the files if no store is open.
func releaseDescriptors() {
	descriptors.mu.Lock()
	defer descriptors.mu.Unlock()
	if descriptors.stores--; descriptors.stores > 0 {
		return
	}
	for _, f := range descriptors.files {
		_ = f.Close() // nothing was written to it
	}
	descriptors.files = nil
}
