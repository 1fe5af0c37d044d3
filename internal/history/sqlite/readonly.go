package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	driver "modernc.org/sqlite"

	"github.com/fio2es/fio2es/internal/history"
)

var errReadOnly = errors.New("it was opened for reading")

// OpenReadOnly opens the history in the file path for reading. It creates nothing and does not wait for writers. It
// fails with [fs.ErrNotExist] if there is no history, and otherwise like [Open].
//
// A file that cannot be written, for example on a read-only medium, is opened as immutable unless a writer has it
// open. If it changes nevertheless, reading fails with [history.ErrReplaced].
func OpenReadOnly(ctx context.Context, path string) (*Store, error) {
	return openReadOnly(ctx, path, busyTimeout)
}

func openReadOnly(ctx context.Context, path string, busy time.Duration) (*Store, error) {
	return newStore(ctx, path, func(s *Store) error { return s.reader.connectIfThere(ctx, busy) })
}

func (s *reader) connectIfThere(ctx context.Context, busy time.Duration) error {
	info, err := os.Stat(s.path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("it is a folder: %w", history.ErrDamaged)
	case !info.Mode().IsRegular():
		return fmt.Errorf("it is no regular file: %w", history.ErrDamaged)
	}
	s.opened = info
	return s.connectReader(ctx, busy)
}

// connectReader tries three ways to connect and takes the first that works. A connection that may write leaves no
// files behind, so it is the first way; the pragma query_only keeps it from writing.
func (s *reader) connectReader(ctx context.Context, busy time.Duration) error {
	var modes []string
	if isWritable(s.path) {
		modes = append(modes, "mode=rw")
	}
	if isThere(s.path+"-shm") || isThere(s.path+"-wal") { // a writer has the file open, or was killed
		modes = append(modes, "mode=ro")
	}
	hasLog := false
	if wal, err := os.Stat(s.path + "-wal"); err == nil {
		hasLog = wal.Size() > 0
	}
	if !hasLog {
		modes = append(modes, "immutable=1")
	}
	var first error
	for _, mode := range modes {
		var err error
		if s.db, err = connect(s.path, mode, busy, "query_only(1)"); err != nil {
			return err
		}
		ok, err := hasTables(ctx, s.db)
		if err == nil && !ok { // an ingest was killed before it created the tables
			return fmt.Errorf("an empty file: %w", fs.ErrNotExist)
		}
		if err == nil {
			s.frozen = mode == "immutable=1"
			return nil
		}
		_ = s.db.Close()
		s.db = nil
		if first = errors.Join(first, err); !isUnopened(err) {
			return err
		}
	}
	if hasLog {
		return fmt.Errorf("its last changes are in %s-wal, which cannot be read without write access to the folder: "+
			"copy both files to a folder of your own, and name that with --history (%w)", s.path, first)
	}
	return first
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// isUnopened reports whether SQLite could not create or open the files beside a history.
func isUnopened(err error) bool {
	const readOnly, ioErr, cantOpen = 8, 10, 14 // codes of SQLite
	var coded *driver.Error
	if !errors.As(err, &coded) {
		return false
	}
	code := coded.Code() & 0xff
	return code == readOnly || code == ioErr || code == cantOpen
}

// check fails if the file is not the one that was opened, or if it was opened as immutable and has changed.
func (s *reader) check() error {
	if now, err := os.Stat(s.path); s.frozen && err == nil && !isSameTime(now, s.opened) {
		return fmt.Errorf("it changed during reading: start again: %w", history.ErrReplaced)
	}
	return s.checkPlace()
}

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
