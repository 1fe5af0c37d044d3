package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	driver "modernc.org/sqlite"

	"github.com/fio2es/fio2es/internal/history"
)

// busyTimeout is how long a call waits for another process that writes, before it fails with ErrBusy.
const busyTimeout = 10 * time.Second

// Store is the embedded history: one file. While it is open, there are also files with the endings "-wal" and
// "-shm". One process can write at a time; any number can read.
//
// The file is in WAL mode with synchronous=FULL: each Put and each Finish is one transaction and one fsync. So it is
// best to put some hundred documents at a time.
type Store struct {
	*file
	reader
	writer
}

// file is the database file of a history.
type file struct {
	path   string
	opened fs.FileInfo // state of the file when it was opened
	spoilt atomic.Bool // SQLite has found damage in the file
}

// reader reads a history.
type reader struct {
	*file
	db     *sql.DB // several connections, because reads may be nested
	frozen bool    // opened as immutable
}

// writer writes to a history.
type writer struct {
	*file
	// one connection, so that transactions follow one another; nil if the history was opened for reading
	db     *sql.DB
	insert *sql.Stmt

	mu    sync.Mutex
	begun map[version]int64 // numbers of the versions that this process has begun
}

// newStore opens the store of a file. how makes the connections.
func newStore(ctx context.Context, path string, how func(*Store) error) (*Store, error) {
	f := &file{path: path}
	s := &Store{file: f, reader: reader{file: f}, writer: writer{file: f, begun: map[version]int64{}}}
	err := how(s)
	if err == nil {
		err = s.checkPlace()
	}
	if err != nil {
		err = s.fail(ctx, "open", err)
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// version is one version of a run.
type version struct{ run, ingest string }

// Open opens the history in the file path for writing. If the file and its folder do not exist, it creates them,
// readable only by the user. It fails with [history.ErrDamaged] (also if the file belongs to another program),
// [history.ErrVersion] or [history.ErrBusy].
func Open(ctx context.Context, path string) (*Store, error) {
	return open(ctx, path, busyTimeout)
}

func open(ctx context.Context, path string, busy time.Duration) (*Store, error) {
	return newStore(ctx, path, func(s *Store) error { return s.connectWriter(ctx, busy) })
}

// connectWriter creates the file if there is none, and connects for writing and for reading.
func (s *Store) connectWriter(ctx context.Context, busy time.Duration) (err error) {
	path := s.file.path
	if err := create(path); err != nil {
		return err
	}
	if s.opened, err = os.Stat(path); err != nil {
		return err
	}
	if s.writer.db, err = connect(path, "", busy, "page_size(16384)", "synchronous(full)", "foreign_keys(1)",
		"wal_autocheckpoint(1000)", "journal_size_limit(67108864)"); err != nil {
		return err
	}
	s.writer.db.SetMaxOpenConns(1)
	if err := s.createTables(ctx); err != nil {
		return err
	}
	// Only after the check of the version, because another program's database must not change.
	mode, err := s.switchToWAL(ctx, busy)
	if err != nil {
		return err
	}
	if mode != "wal" { // for example on a network file system
		return fmt.Errorf("switch to write-ahead log: journal mode stays %q", mode)
	}
	if s.insert, err = s.writer.db.PrepareContext(ctx, insertInterval); err != nil {
		return err
	}
	s.reader.db, err = connect(path, "", busy, "query_only(1)")
	return err
}

// Close closes the file. Documents of unfinished ingests stay in it.
func (s *Store) Close() error {
	var errs []error
	if s.insert != nil {
		errs = append(errs, s.insert.Close())
	}
	s.emptyLog()
	// the writer last, because its end copies the log into the file
	for _, db := range []*sql.DB{s.reader.db, s.writer.db} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close history %s: %w", s.path, err)
	}
	return nil
}

// create makes the folder and an empty file that only the user may read. SQLite gives the files beside it the same
// rights.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create folder: %w; --history FILE names another place", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		return f.Close()
	case errors.Is(err, fs.ErrExist) && isFolder(path):
		err = fmt.Errorf("%s is a folder", path)
	case errors.Is(err, fs.ErrExist) && isWritable(path):
		return nil
	case errors.Is(err, fs.ErrExist):
		err = &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	}
	return fmt.Errorf("create file: %w; --history FILE names another place", err)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// connect prepares a connection pool. Each connection begins with these pragmas. mode is a parameter of SQLite's
// URLs, such as "mode=ro"; empty means read, write and create.
func connect(path, mode string, busy time.Duration, pragmas ...string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find folder: %w", err)
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs // C:/… is /C:/… in a URL
	}
	query := url.Values{"_txlock": {"immediate"}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", busy.Milliseconds())}}
	query["_pragma"] = append(query["_pragma"], pragmas...)
	if mode != "" {
		name, value, _ := strings.Cut(mode, "=")
		query.Set(name, value)
	}
	dsn := url.URL{Scheme: "file", Path: abs, RawQuery: query.Encode()}
	return sql.Open("sqlite", dsn.String())
}

// transact calls do in a writing transaction: it stores all of it durably, or nothing.
func (s *writer) transact(ctx context.Context, do func(*sql.Tx) error) error {
	if s.db == nil {
		return errReadOnly
	}
	if s.spoilt.Load() {
		return fmt.Errorf("nothing more is written to a damaged file: %w", history.ErrDamaged)
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit there is nothing to undo
	if err := cmp.Or(do(tx), s.checkPlace()); err != nil {
		return err
	}
	return tx.Commit()
}

// switchToWAL turns on WAL mode. It waits for other processes that open the file, because SQLite's busy timeout does
// not apply to a change of the journal mode.
func (s *writer) switchToWAL(ctx context.Context, patience time.Duration) (mode string, err error) {
	for deadline := time.Now().Add(patience); ; {
		err = s.db.QueryRowContext(ctx, "PRAGMA journal_mode = wal").Scan(&mode)
		if err == nil || !errors.Is(s.fail(ctx, "open", err), history.ErrBusy) || time.Now().After(deadline) {
			return mode, err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// fail adds to an error what was tried (verb) and the file, and turns codes of SQLite into errors of package
// history.
func (s *file) fail(ctx context.Context, verb string, err error) error {
	if err == nil {
		return nil
	}
	const busy, locked, readOnly, io, corrupt, full, cannotOpen, notDatabase = 5, 6, 8, 10, 11, 13, 14, 26 // codes of SQLite
	var coded *driver.Error
	switch {
	case ctx.Err() != nil:
		err = ctx.Err() // instead of the driver's "interrupted"
	case !errors.As(err, &coded):
	case coded.Code()&0xff == busy, coded.Code()&0xff == locked:
		err = fmt.Errorf("%w: %w", history.ErrBusy, err)
	case coded.Code()&0xff == corrupt:
		s.spoilt.Store(true)
		err = fmt.Errorf("%w: keep a copy of the file; fio2es check says what is damaged: %w", history.ErrDamaged, err)
	case coded.Code()&0xff == full:
		err = fmt.Errorf("%w: free room on its disk, then run the command again: what was stored is kept", err)
	case coded.Code()&0xff == io:
		err = fmt.Errorf("%w: check its disk, and the limits of the system for files: what was stored is kept", err)
	case coded.Code()&0xff == readOnly:
		err = fmt.Errorf("%w: its folder must be writable, too: SQLite keeps files beside it", err)
	case coded.Code()&0xff == cannotOpen:
		err = fmt.Errorf("%w: it and its folder must be readable", err)
	case coded.Code()&0xff == notDatabase:
		err = history.ErrDamaged
	}
	return fmt.Errorf("%s history %s: %w", verb, s.path, err)
}
