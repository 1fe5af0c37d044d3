package sqlite

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
)

var errPlace = errors.New("the file was removed, or replaced by another one, while it was open: start again")

// checkPlace fails if the file was removed or replaced while it is open. SQLite would read and write the file that was
// there before, which no other program finds; or, if another content was copied into the file, answer from both.
func (s *file) checkPlace() error {
	now, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errPlace
	case err != nil:
		return err
	case !os.SameFile(now, s.opened):
		return errPlace
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next, ok := s.look()
	if !ok {
		return nil
	}
	if s.last.file != nil && !isSameTime(s.last.file, next.file) && bytes.Equal(s.last.index, next.index) {
		return errPlace
	}
	s.last = next
	return nil
}

// look is the state of a file and of its log at the same time.
type look struct {
	file  fs.FileInfo
	index []byte // what the file "-shm" says of the log
}

func isSameTime(a, b fs.FileInfo) bool { return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) }

// look fails while the log is folded into the file, and where there is no log. Nothing else changes the file while it is
// open, and folding changes the index before and after it.
func (s *file) look() (look, bool) {
	before, isIdle := s.logIndex()
	if !isIdle {
		return look{}, false
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return look{}, false
	}
	after, _ := s.logIndex()
	return look{info, after}, bytes.Equal(before, after)
}

// logIndex reads the beginning of the file "-shm", without the marks of readers. See "WAL-Index File Format" of SQLite.
func (s *file) logIndex() (index []byte, isIdle bool) {
	const folded, marks, toFold, end = 96, 100, 128, 132 // offsets
	f, err := os.Open(s.path + "-shm")
	if err != nil {
		return nil, false
	}
	defer f.Close()
	index = make([]byte, end)
	if _, err := io.ReadFull(f, index); err != nil {
		return nil, false
	}
	return index[:marks], bytes.Equal(index[folded:marks], index[toFold:])
}

// emptyLog folds the log into the file and empties it, unless others read it. Otherwise it stays while another process
// has the file open, and its pages would become part of a file that is copied to this place.
func (s *writer) emptyLog() {
	if s.db != nil && s.checkPlace() == nil {
		_, _ = s.db.Exec(`PRAGMA busy_timeout(0); PRAGMA wal_checkpoint(TRUNCATE)`) // what stays is folded later
	}
}
