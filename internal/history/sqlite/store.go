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

var errReadOnly = errors.New("it was opened for reading")

// busyTimeout is how long a call waits for another process that writes, before it fails with ErrBusy. Tests change it.
var busyTimeout = 10 * time.Second

// Store is the embedded history: one file. While it is open, there are also files with the endings "-wal" and
// "-shm". One process can write at a time; any number can read.
//
// The file is in WAL mode with synchronous=FULL: each Put and each Finish is one transaction and one fsync. So it is
// best to put some hundred documents at a time.
type Store struct {
	path   string
	opened fs.FileInfo // state of the file when it was opened
	spoilt atomic.Bool // SQLite has found damage in the file

	summaries string // the table with the run documents of lists; of a file of an earlier version a query that has its columns

	reads *connections // several, because reads may be nested
	// one connection, so that transactions follow one another; nil if the history was opened for reading
	writes *connections

	mu    sync.Mutex
	begun map[history.Version]int64 // numbers of the versions that this process has begun
}

// newStore opens the store of a file. how makes the connections.
func newStore(ctx context.Context, path string, how func(*Store, context.Context) error) (*Store, error) {
	s := &Store{path: path, summaries: `summaries`, begun: map[history.Version]int64{}}
	err := how(s, ctx)
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

// Open opens the history in the file path for writing. If the file and its folder do not exist, it creates them,
// readable only by the user. It fails with [history.ErrDamaged] (also if the file belongs to another program),
// [history.ErrVersion] or [history.ErrBusy].
func Open(ctx context.Context, path string) (*Store, error) {
	return newStore(ctx, path, (*Store).connectWriter)
}

// OpenReadOnly opens the history in the file path for reading. It creates nothing and does not wait for writers. It
// fails with [fs.ErrNotExist] if there is no history, and otherwise like [Open]. SQLite keeps files beside the history
// also for readers, so on a read-only medium it fails.
func OpenReadOnly(ctx context.Context, path string) (*Store, error) {
	return newStore(ctx, path, (*Store).connectReader)
}

// connectReader connects for reading. The connection may write, because such a connection leaves no files behind; the
// pragma query_only keeps it from writing.
func (s *Store) connectReader(ctx context.Context) (err error) {
	s.opened, err = os.Stat(s.path)
	switch {
	case err != nil:
		return err
	case s.opened.IsDir():
		return fmt.Errorf("it is a folder: %w", history.ErrDamaged)
	case !s.opened.Mode().IsRegular():
		return fmt.Errorf("it is no regular file: %w", history.ErrDamaged)
	}
	if s.reads, err = connect(s.path, "rw", "query_only(1)"); err != nil {
		return err
	}
	version, err := versionOf(ctx, s.reads)
	switch {
	case err == nil && version == 0: // an ingest was killed before it created the tables
		err = fmt.Errorf("an empty file: %w", fs.ErrNotExist)
	case version < schemaVersion:
		s.summaries = `(SELECT id AS run, start, '' AS workload, doc FROM runs)`
	}
	return err
}

// checkPlace fails if the file was removed or replaced while it is open. SQLite would read and write a file that no
// other program finds. Another file that is copied over it is not noticed here: SQLite then finds most of its pages
// damaged.
//
// It does not open the file: when a process closes any of its descriptors of a file, it loses all locks that it has on
// the file (POSIX), and so those of SQLite. Two writers then damage a history. See "How To Corrupt An SQLite Database
// File", 2.2.
func (s *Store) checkPlace() error {
	now, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, s.opened) {
		return errors.New("the file was removed, or replaced by another one, while it was open: start again")
	}
	return err
}

// connectWriter creates the file if there is none, and connects for writing and for reading.
func (s *Store) connectWriter(ctx context.Context) (err error) {
	if err := create(s.path); err != nil {
		return err
	}
	if s.opened, err = os.Stat(s.path); err != nil {
		return err
	}
	if s.writes, err = connect(s.path, "rwc", "page_size(16384)", "synchronous(full)", "foreign_keys(1)",
		"wal_autocheckpoint(1000)", "journal_size_limit(67108864)"); err != nil {
		return err
	}
	s.writes.SetMaxOpenConns(1)
	if err := s.createTables(ctx); err != nil {
		return err
	}
	// Only after the check of the version, because another program's database must not change. SQLite's busy timeout does
	// not apply to a change of the journal mode, so this waits for other processes that open the file.
	mode := ""
	for deadline := time.Now().Add(busyTimeout); ; {
		err := s.writes.QueryRowContext(ctx, "PRAGMA journal_mode = wal").Scan(&mode)
		if err == nil {
			break
		}
		if !errors.Is(s.fail(ctx, "open", err), history.ErrBusy) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	if mode != "wal" { // for example on a network file system
		return fmt.Errorf("switch to write-ahead log: journal mode stays %q", mode)
	}
	if s.reads, err = connect(s.path, "rwc", "query_only(1)"); err == nil {
		err = cmp.Or(s.reads.prepare(ctx, holding, removed), s.writes.prepare(ctx,
			insertInterval, insertCommon, insertIngest, insertSummary, insertRun, insertFiles, deleteFiles, findRun, existing+otherVersions+`)`))
	}
	return err
}

// Close closes the file. Documents of unfinished ingests stay in it.
func (s *Store) Close() error {
	var errs []error
	if s.writes != nil {
		// Empty the log, unless others read it. Otherwise it would stay while another process has the file open, and if another
		// file were then copied over this one, or renamed to its path, SQLite would apply the old log to it. On failure, a
		// later checkpoint does it.
		_, _ = s.writes.Exec(`PRAGMA busy_timeout(0); PRAGMA wal_checkpoint(TRUNCATE)`)
	}
	// the writer last, because its end copies the log into the file
	for _, db := range []*connections{s.reads, s.writes} {
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
	info, _ := os.Stat(path)
	switch {
	case err == nil:
		return f.Close()
	case errors.Is(err, fs.ErrExist) && info != nil && info.IsDir():
		err = fmt.Errorf("%s is a folder", path)
	case errors.Is(err, fs.ErrExist):
		return nil
	}
	return fmt.Errorf("create file: %w; --history FILE names another place", err)
}

// connect prepares a connection pool. Each connection begins with these pragmas. mode is that of SQLite's URLs: "rw"
// creates no file, "rwc" does.
func connect(path, mode string, pragmas ...string) (*connections, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find folder: %w", err)
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs // C:/… is /C:/… in a URL
	}
	query := url.Values{"mode": {mode}, "_txlock": {"immediate"}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())}}
	query["_pragma"] = append(query["_pragma"], pragmas...)
	dsn := url.URL{Scheme: "file", Path: abs, RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	return &connections{DB: db}, err
}

// transact calls do in a writing transaction: it stores all of it durably, or nothing.
func (s *Store) transact(ctx context.Context, do func(*transaction) error) error {
	if s.writes == nil {
		return errReadOnly
	}
	if s.spoilt.Load() {
		return fmt.Errorf("nothing more is written to a damaged file: %w", history.ErrDamaged)
	}
	tx, err := s.writes.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit there is nothing to undo
	if err := cmp.Or(do(&transaction{tx, s.writes.prepared, map[string]*sql.Stmt{}}), s.checkPlace()); err != nil {
		return err
	}
	return tx.Commit()
}

// fail adds to an error what was tried (verb) and the file, and turns codes of SQLite into errors of package
// history.
func (s *Store) fail(ctx context.Context, verb string, err error) error {
	if err == nil {
		return nil
	}
	const busy, locked, readOnly, io, corrupt, full, cannotOpen, notDatabase = 5, 6, 8, 10, 11, 13, 14, 26 // codes of SQLite
	switch code := codeOf(err); {
	case ctx.Err() != nil:
		err = ctx.Err() // instead of the driver's "interrupted"
	case code == busy, code == locked:
		err = fmt.Errorf("%w: %w", history.ErrBusy, err)
	case code == corrupt:
		s.spoilt.Store(true)
		err = fmt.Errorf("%w: keep a copy of the file; fio2es check says what is damaged: %w", history.ErrDamaged, err)
	case code == full:
		err = fmt.Errorf("%w: free room on its disk, then run the command again: what was stored is kept", err)
	case code == io:
		err = fmt.Errorf("%w: check its disk, and the limits of the system for files: what was stored is kept", err)
	case code == readOnly, code == cannotOpen:
		err = fmt.Errorf("%w: it and its folder must be readable and writable, also to read it, because SQLite keeps files beside it: "+
			"copy it, and %s-wal if that is there, to a folder of your own, and name the copy with --history", err, filepath.Base(s.path))
	case code == notDatabase:
		err = history.ErrDamaged
	}
	return fmt.Errorf("%s history %s: %w", verb, s.path, err)
}

// codeOf returns SQLite's code of an error, or 0.
func codeOf(err error) int {
	if coded, ok := errors.AsType[*driver.Error](err); ok {
		return coded.Code() & 0xff
	}
	return 0
}
