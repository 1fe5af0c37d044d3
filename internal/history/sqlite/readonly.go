package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/fio2es/fio2es/internal/history"
)

var errReadOnly = errors.New("it was opened for reading")

// OpenReadOnly opens the history in the file path for reading. It creates nothing and does not wait for writers. It
// fails with [fs.ErrNotExist] if there is no history, and otherwise like [Open].
//
// A file that cannot be written, for example on a read-only medium, is opened as immutable unless a writer has it
// open. If it changes nevertheless, reading fails with [history.ErrReplaced].
func OpenReadOnly(ctx context.Context, path string) (*Store, error) {
	return newStore(ctx, path, (*Store).connectReader)
}

// connectReader tries three ways to connect and takes the first that works. A connection that may write leaves no
// files behind, so it is the first way; the pragma query_only keeps it from writing.
func (s *Store) connectReader(ctx context.Context) error {
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
	var modes []string
	if isWritable(s.path) {
		modes = append(modes, "mode=rw")
	}
	_, errIndex := os.Stat(s.path + "-shm")
	log, errLog := os.Stat(s.path + "-wal")
	if errIndex == nil || errLog == nil { // a writer has the file open, or was killed
		modes = append(modes, "mode=ro")
	}
	hasLog := errLog == nil && log.Size() > 0
	if !hasLog {
		modes = append(modes, "immutable=1")
	}
	var first error
	for _, mode := range modes {
		var err error
		if s.reads, err = connect(s.path, mode, "query_only(1)"); err != nil {
			return err
		}
		ok, err := hasTables(ctx, s.reads)
		if err == nil && !ok { // an ingest was killed before it created the tables
			return fmt.Errorf("an empty file: %w", fs.ErrNotExist)
		}
		if err == nil {
			s.frozen = mode == "immutable=1"
			return nil
		}
		_ = s.reads.Close()
		s.reads = nil
		first = errors.Join(first, err)
		// SQLite could not create or open the files beside the history: the next way may do without
		const readOnly, io, cannotOpen = 8, 10, 14 // codes of SQLite
		if code := codeOf(err); code != readOnly && code != io && code != cannotOpen {
			return err
		}
	}
	if hasLog {
		return fmt.Errorf("its last changes are in %s-wal, which cannot be read without write access to the folder: "+
			"copy both files to a folder of your own, and name that with --history (%w)", s.path, first)
	}
	return first
}

// check fails if the file is not the one that was opened, or if it was opened as immutable and has changed.
func (s *Store) check() error {
	now, err := os.Stat(s.path)
	if s.frozen && err == nil && (now.Size() != s.opened.Size() || !now.ModTime().Equal(s.opened.ModTime())) {
		return fmt.Errorf("it changed during reading: start again: %w", history.ErrReplaced)
	}
	return s.checkPlace()
}

// checkPlace fails if the file was removed or replaced while it is open. SQLite would read and write a file that no
// other program finds. Another file that is copied over it is not noticed here: SQLite then finds most of its pages
// damaged.
//
// It must not open the file, or one of the files beside it: see [isWritable].
func (s *Store) checkPlace() error {
	now, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, s.opened) {
		return errors.New("the file was removed, or replaced by another one, while it was open: start again")
	}
	return err
}
