// Package sqlite keeps plants, keys and the catalogue in one SQLite file, which several processes may use at once.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"modernc.org/sqlite"

	"herbarium/internal/store"
)

// Options adjust a Store. The zero value is what a server wants.
type Options struct {
	// BusyTimeout is how long to wait for another process that is writing. Zero means 5 seconds.
	BusyTimeout time.Duration
	// Readers is the number of connections for cheap reads. Zero means twice the number of processors, but at least 4.
	Readers int
	// ExpensiveReaders is the number of connections for listings that may read all plants. Zero means 2.
	ExpensiveReaders int
	// Now tells the time. Nil means time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	if o.BusyTimeout == 0 {
		o.BusyTimeout = 5 * time.Second
	}
	if o.Readers == 0 {
		o.Readers = max(4, 2*runtime.GOMAXPROCS(0))
	}
	if o.ExpensiveReaders == 0 {
		o.ExpensiveReaders = 2
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Store is an open database. Its methods may be called at the same time.
//
// Everything is written through one connection, so that writers of this process queue in Go and wait for a lock of the
// file only where another process holds it. Listings that may read all plants have connections of their own: however many
// of them wait, writes and cheap reads do not wait for them.
type Store struct {
	store.Tables
	writer    *sql.DB
	reader    *sql.DB
	expensive *sql.DB
	now       func() time.Time
	writes    writeHealth
	st        statements
}

// Open opens the database in a file, which it creates where there is none, and brings its tables up to date.
func Open(ctx context.Context, path string, o Options) (_ *Store, err error) {
	o = o.withDefaults()
	if err := create(path); err != nil {
		return nil, fmt.Errorf("creating the database: %w", err)
	}
	s := &Store{now: o.Now}
	s.Tables = s.tables()
	defer func() {
		if err != nil {
			err = errors.Join(failed("opening the database "+path, err), s.Close())
		}
	}()
	if s.writer, err = connect(path, o, url.Values{"_txlock": {"immediate"}}); err != nil {
		return nil, err
	}
	s.writer.SetMaxOpenConns(1)
	if err := useWAL(ctx, s.writer, o.BusyTimeout); err != nil {
		return nil, err
	}
	if err := migrate(ctx, s.writer); err != nil {
		return nil, err
	}
	if s.st, err = prepare(ctx, s.writer); err != nil {
		return nil, err
	}
	if s.reader, err = connectReaders(path, o, o.Readers); err != nil {
		return nil, err
	}
	s.expensive, err = connectReaders(path, o, o.ExpensiveReaders)
	return s, err
}

// create makes an empty file that only its owner may read, because it will hold hashes of keys; SQLite gives the files
// beside it the same mode. A file that is there is not even opened: closing it would drop the locks that this process
// holds on it.
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

// cacheSize is how much of the file each connection keeps in memory, in KiB as SQLite writes it.
const cacheSize = "-16384"

// connect returns connections with the settings that all of them share.
func connect(path string, o Options, more url.Values) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	query := url.Values{"_pragma": {
		"busy_timeout(" + strconv.FormatInt(o.BusyTimeout.Milliseconds(), 10) + ")",
		"foreign_keys(1)",
		"synchronous(full)",
		"cache_size(" + cacheSize + ")",
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

// connectReaders returns at most n connections that only read.
func connectReaders(path string, o Options, n int) (*sql.DB, error) {
	db, err := connect(path, o, url.Values{"_pragma": {"query_only(1)", "mmap_size(2147418112)"}})
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// useWAL has the file keep a write-ahead log, so that readers and the writer do not wait for each other. SQLite does not
// wait for another process that is doing the same, so we do.
func useWAL(ctx context.Context, db *sql.DB, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		var mode string
		err := db.QueryRowContext(ctx, "PRAGMA journal_mode = wal").Scan(&mode)
		switch {
		case err == nil && mode == "wal":
			return nil
		case err == nil:
			return fmt.Errorf("the journal mode is %q and cannot be changed to wal; put the database on a local disk", mode)
		case !isBusy(err):
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Close closes the database. What was acknowledged is on disk already.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.reader, s.expensive, s.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// Ping reports whether the database answers, and after a write that failed because of the disk whether it can be written
// again.
func (s *Store) Ping(ctx context.Context) error {
	var n int
	err := s.reader.QueryRowContext(ctx, "SELECT count(*) FROM totals").Scan(&n)
	if err == nil && s.writes.failing() {
		return s.probeWrite(ctx)
	}
	return failed("asking the database", err)
}
