package source

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
)

// folders keeps the folders open in which files were opened last: to open a file below an argument opens each folder on the way. It is
// safe for concurrent use.
type folders struct {
	mu   sync.Mutex
	last []*folder // the one that was used last comes first
}

// folder is an open folder.
type folder struct {
	dir, below string // an argument, and the path below it
	root       *os.Root
	users      int // it is closed after the last; one more while it is among the last
}

// open opens a regular file below a folder, or anywhere if dir is empty.
func (s *folders) open(dir, name string) (*os.File, error) {
	if below, base := path.Split(name); dir != "" {
		if in, err := s.take(dir, filepath.FromSlash(below)); err == nil {
			f, err := openIn(in.root, base)
			s.leave(in, err == nil)
			if err == nil {
				return f, nil
			}
		}
	}
	return openBelow(dir, name) // there may be another folder now
}

// take opens a folder, if it is not open.
func (s *folders) take(dir, below string) (*folder, error) {
	const most = 8
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.last, func(f *folder) bool { return f.dir == dir && f.below == below }); i >= 0 {
		f := s.last[i]
		copy(s.last[1:], s.last[:i])
		s.last[0] = f
		f.users++
		return f, nil
	}
	root, err := os.OpenRoot(dir)
	if err == nil && below != "" {
		top := root
		root, err = top.OpenRoot(below)
		top.Close()
	}
	if err != nil {
		return nil, err
	}
	f := &folder{dir, below, root, 2}
	if s.last = slices.Insert(s.last, 0, f); len(s.last) > most {
		s.release(s.last[most])
		s.last = s.last[:most]
	}
	return f, nil
}

// leave ends a use. If the folder is not good, it is not used again.
func (s *folders) leave(f *folder, isGood bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(f)
	if i := slices.Index(s.last, f); i >= 0 && !isGood {
		s.last = slices.Delete(s.last, i, i+1)
		s.release(f)
	}
}

func (s *folders) release(f *folder) {
	if f.users--; f.users == 0 {
		f.root.Close() // only read from: nothing is lost
	}
}

// close closes all folders.
func (s *folders) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.last {
		s.release(f)
	}
	s.last = nil
}
