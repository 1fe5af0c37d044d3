package sqlite

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
)

var errPlace = errors.New("the file was removed, or replaced by another one, while it was open: start again")

// checkPlace fails if the file was removed or replaced while it is open. If it was removed, SQLite would read and
// write a file that no other program finds. If another file was copied over it, SQLite would mix the contents of
// both.
func (s *file) checkPlace() error {
	if isGone, err := s.isGone(); isGone || err != nil {
		return cmp.Or(err, errPlace)
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

// isGone reports whether another file or none has the path.
func (s *file) isGone() (bool, error) {
	now, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return err == nil && !os.SameFile(now, s.opened), err
}

// look is the state of a file and of its log at the same moment.
type look struct {
	file  fs.FileInfo
	index []byte // the part of the file "-shm" about the log
}

func isSameTime(a, b fs.FileInfo) bool { return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) }

// look returns the state of the file. It is not ok while a checkpoint copies the log into the file, or if there is
// no log. Only a checkpoint changes the file while it is open, and it changes the index before and after.
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

// logIndex returns the beginning of the file "-shm" without the marks of readers. isIdle reports that no checkpoint
// is under way. The format is in "WAL-Index File Format" of SQLite's documentation.
func (s *file) logIndex() (index []byte, isIdle bool) {
	const folded, marks, toFold, end = 96, 100, 128, 132 // offsets in the file
	if !s.openIndex() {
		return nil, false
	}
	index = make([]byte, end)
	if _, err := s.index.ReadAt(index, 0); err != nil {
		return nil, false
	}
	return index[:marks], bytes.Equal(index[folded:marks], index[toFold:])
}

// openIndex opens the file "-shm", unless it is open. It reports whether it could.
func (s *file) openIndex() bool {
	now, err := os.Stat(s.path + "-shm")
	if err != nil {
		return false
	}
	if s.index != nil {
		if before, err := s.index.Stat(); err == nil && os.SameFile(before, now) {
			return true
		}
	}
	s.index, err = openFile(s.path+"-shm", os.O_RDONLY)
	return err == nil
}

// emptyLog does a checkpoint and empties the log, unless others read it. Otherwise the log would stay while another
// process has the file open; if another file were then copied over this one, SQLite would apply the old log to it.
// It would also do so to a file that was renamed to this path, so the log of a file that is gone is emptied, too.
func (s *writer) emptyLog() {
	if s.db == nil {
		return
	}
	if isGone, _ := s.isGone(); isGone || s.checkPlace() == nil {
		// on failure, a later checkpoint does it
		_, _ = s.db.Exec(`PRAGMA busy_timeout(0); PRAGMA wal_checkpoint(TRUNCATE)`)
	}
}
