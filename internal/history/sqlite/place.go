package sqlite

import (
	"errors"
	"io/fs"
	"os"
)

var errPlace = errors.New("the file was removed, or replaced by another one, while it was open: start again")

// checkPlace fails if the file was removed or replaced while it is open. SQLite would read and write a file that no
// other program finds. Another file that is copied over it is not noticed here: SQLite then finds most of its pages
// damaged.
//
// It must not open the file, or one of the files beside it: see [isWritable].
func (s *file) checkPlace() error {
	now, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, s.opened) {
		return errPlace
	}
	return err
}

func isSameTime(a, b fs.FileInfo) bool { return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) }

// emptyLog does a checkpoint and empties the log, unless others read it. Otherwise the log would stay while another
// process has the file open. If another file were then copied over this one, or had been renamed to its path, SQLite
// would apply the old log to it.
func (s *writer) emptyLog() {
	if s.db != nil {
		// on failure, a later checkpoint does it
		_, _ = s.db.Exec(`PRAGMA busy_timeout(0); PRAGMA wal_checkpoint(TRUNCATE)`)
	}
}
