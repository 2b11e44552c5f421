// Package sqlite stores plants, keys and the catalogue in one SQLite file, which several processes
// may use concurrently.
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
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// Options configures a Store. The zero value suits a server.
type Options struct {
	BusyTimeout time.Duration    // how long to wait for a lock of another process; 0 means busyTimeout
	Now         func() time.Time // nil means time.Now
	// KeepSchema fails, instead of creating or upgrading the database, if its schema is not one
	// that this program can use.
	KeepSchema bool
	// Upgraded is called after the schema of an existing database was upgraded. nil disables it.
	Upgraded func(from, to int)

	schema store.Schema // of the program
}

const busyTimeout = 5 * time.Second

// Store is an open database. It is safe for concurrent use.
//
// All writes use one connection, so that writers of this process queue in Go and wait for a file
// lock only if another process holds it.
type Store struct {
	store.Tables
	writer, reader *sql.DB

	path        string
	options     Options
	writeFailed atomic.Bool // the last write failed because of the disk
	users       *os.File    // marks the database as used; see register
}

// Open opens the database in a file, creates the file if it does not exist, and applies schema
// migrations. It fails with herb.CodeRejected while programs that could not use the result of a
// migration use the database.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	schema, err := currentSchema()
	if err != nil {
		return nil, err
	}
	o.schema = schema
	return open(ctx, path, o)
}

func open(ctx context.Context, path string, o Options) (_ *Store, err error) {
	o.BusyTimeout = cmp.Or(o.BusyTimeout, busyTimeout)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.KeepSchema {
		_, err = os.Stat(path)
	} else {
		err = create(path)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	s := &Store{options: o, path: path}
	s.Tables = store.NewTables(s.read, s.write)
	defer func() {
		if err != nil {
			err = errors.Join(mapError("opening the database "+path, err), s.Close())
		}
	}()
	s.users, err = register(path, o.schema.Latest())
	if err != nil {
		return nil, err
	}
	s.writer, err = connect(path, 0, url.Values{"_txlock": {"immediate"}})
	if err != nil {
		return nil, err
	}
	s.writer.SetMaxOpenConns(1)
	if err := s.awaitLock(ctx, func() error { return useWAL(ctx, s.writer) }); err != nil {
		return nil, err
	}
	var had store.SchemaState
	if err := s.awaitLock(ctx, func() (err error) {
		had, err = s.migrate(ctx, path)
		return err
	}); err != nil {
		return nil, err
	}
	if latest := o.schema.Latest(); o.Upgraded != nil && had.Version > 0 && had.Version < latest {
		o.Upgraded(had.Version, latest)
	}
	s.reader, err = connect(path, o.BusyTimeout, url.Values{"_pragma": {"query_only(1)", "cache_size(-2048)"}})
	if err != nil {
		return nil, err
	}
	readers := max(4, 2*runtime.GOMAXPROCS(0))
	s.reader.SetMaxOpenConns(readers)
	s.reader.SetMaxIdleConns(readers)
	return s, nil
}

// Pool returns the use of the connections.
func (s *Store) Pool() store.Pool {
	r, w := s.reader.Stats(), s.writer.Stats()
	return store.Pool{
		InUse: r.InUse + w.InUse, Idle: r.Idle + w.Idle, Max: r.MaxOpenConnections + w.MaxOpenConnections,
		Waits: r.WaitCount + w.WaitCount, Waited: r.WaitDuration + w.WaitDuration,
	}
}

// create creates an empty file that only its owner may read, because it will contain hashes of
// keys; SQLite gives the accompanying files the same mode. An existing file is not opened: closing
// it would drop the locks that this process holds on it.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// connect returns connections with the common settings. A negative cache_size is in KiB.
func connect(path string, busyTimeout time.Duration, more url.Values) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	query := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
		"foreign_keys(1)",
		"synchronous(full)",
		"cache_size(-16384)",
	}}
	for name, values := range more {
		query[name] = append(query[name], values...)
	}
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: query.Encode()}
	connector, err := sqlite.NewConnector(dsn.String())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// useWAL enables the write-ahead log, so that readers and the writer do not block each other.
func useWAL(ctx context.Context, db *sql.DB) error {
	var mode string
	err := db.QueryRowContext(ctx, "PRAGMA journal_mode = wal").Scan(&mode)
	if err == nil && mode != "wal" {
		err = fmt.Errorf("the journal mode is %q and cannot be changed to wal; put the database on a local disk", mode)
	}
	return err
}

// awaitLock calls do until it does not fail because of a lock of another process, for up to
// BusyTimeout. SQLite would check the lock only every 100 ms, so that a process that writes
// continuously, with short breaks, could keep others from writing at all.
func (s *Store) awaitLock(ctx context.Context, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.BusyTimeout)
	defer cancel()
	for {
		err := do()
		if !isBusy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Millisecond):
		}
	}
}

// Close closes the database. Acknowledged writes are already on disk.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.reader, s.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if s.users != nil {
		errs = append(errs, s.users.Close())
	}
	return errors.Join(errs...)
}

// Ping reports whether the database answers and, after a write failed because of the disk, whether
// it can be written again.
func (s *Store) Ping(ctx context.Context) error {
	var n int
	err := s.reader.QueryRowContext(ctx, "SELECT count(*) FROM totals").Scan(&n)
	if err == nil && s.writeFailed.Load() {
		return s.ProbeWrite(ctx)
	}
	return mapError("pinging the database", err)
}

// Quiesce writes the write-ahead log back to a database file, so that the file alone is the
// database and can be replaced. It fails if another connection is open. It does not depend on the
// schema version.
func Quiesce(ctx context.Context, path string) error {
	db, err := connect(path, busyTimeout, nil)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	err = errors.Join(err, db.Close())
	if err != nil { // closing the last connection removes the log
		return mapError("closing the database "+path, err)
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		return herb.Errorf(herb.CodeUnavailable, "%s is in use; stop the server and other commands first", path)
	}
	return nil
}

// CreatePlants creates plants in one transaction. A plant that cannot be created has an error in
// its outcome and does not affect the others; if CreatePlants itself fails, nothing was created.
func (s *Store) CreatePlants(ctx context.Context, creations []store.Creation) ([]store.Outcome, error) {
	var b store.Batch
	if err := s.write(ctx, "creating plants", func(ctx context.Context, tx store.Tx) (err error) {
		now := s.options.Now()
		b, err = store.PlanBatch(ctx, tx, creations, now)
		if err != nil {
			return err
		}
		return b.Insert(ctx, tx, now)
	}); err != nil {
		return nil, err
	}
	return b.Outcomes, nil
}

// ReadPlants returns up to limit plants that follow the first n in creation order.
func (s *Store) ReadPlants(ctx context.Context, n, limit int) (store.PlantPage, error) {
	page, err := store.ReadPlants(ctx, s.reader, n, limit)
	return page, mapError("reading plants", err)
}

// write runs do in a transaction that holds the write lock from its start. When it returns nil, the
// changes are committed and synced.
func (s *Store) write(ctx context.Context, what string, do func(context.Context, store.Tx) error) error {
	err := s.awaitLock(ctx, func() error { return inTx(ctx, s.writer, func(tx *sql.Tx) error { return do(ctx, tx) }) })
	if err == nil || diskFault(err) != "" { // other errors do not concern the disk
		s.writeFailed.Store(err != nil)
	}
	return mapError(what, err)
}

// read runs do in a transaction that sees one state of the database.
func (s *Store) read(ctx context.Context, what string, do func(context.Context, store.Tx) error) error {
	return mapError(what, inTx(ctx, s.reader, func(tx *sql.Tx) error { return do(ctx, tx) }))
}

func inTx(ctx context.Context, db *sql.DB, do func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		if undo := tx.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) {
			err = errors.Join(err, undo)
		}
		return err
	}
	err = tx.Commit()
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil { // rolled back because ctx ended
		err = context.Cause(ctx)
	}
	return err
}

// mapError maps a driver error to a herb.Code: a database that is busy or cannot be written is
// unavailable, an error that has a code keeps it, and anything else is internal.
func mapError(what string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*herb.Error](err); ok {
		return e
	}
	err = fmt.Errorf("%s: %w", what, err)
	if isBusy(err) {
		return herb.Wrap(herb.CodeUnavailable, err, "the database is busy; try again")
	}
	if fault := diskFault(err); fault != "" {
		return herb.Wrap(herb.CodeUnavailable, err, "%s", fault)
	}
	return err
}

// primaryCode returns the primary result code of SQLite, 0 for other errors.
func primaryCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// isSharedMemoryFull reports whether the index of the write-ahead log could not grow, which a full
// disk prevents when the database is opened.
func isSharedMemoryFull(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE
}

// isBusy reports whether another connection held a lock for too long.
func isBusy(err error) bool {
	code := primaryCode(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// diskFault returns a message for an error of the disk or the operating system that is safe to show
// to clients. It is empty for other errors.
func diskFault(err error) string {
	switch code := primaryCode(err); {
	case code == sqlite3.SQLITE_FULL, isSharedMemoryFull(err), errors.Is(err, syscall.ENOSPC),
		errors.Is(err, syscall.EDQUOT):
		return "the database cannot be written: disk full"
	case code == sqlite3.SQLITE_READONLY, errors.Is(err, syscall.EROFS):
		return "the database cannot be written: it is read-only"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "the database cannot be opened: too many open files"
	case code == sqlite3.SQLITE_IOERR:
		return "the database cannot be read or written: I/O error"
	case code == sqlite3.SQLITE_CANTOPEN:
		return "the database cannot be opened"
	}
	return ""
}
