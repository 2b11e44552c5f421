package sqlite

import (
	"errors"
	"sync/atomic"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// diskFault returns a message for an error of the disk or the operating system that is safe to show to clients. It is empty
// for other errors.
func diskFault(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return diskFull
	case errors.Is(err, syscall.EROFS):
		return readOnly
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "the database cannot be opened: too many open files"
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return ""
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return diskFull
	case sqlite3.SQLITE_READONLY:
		return readOnly
	case sqlite3.SQLITE_IOERR:
		return "the database cannot be read or written: I/O error"
	case sqlite3.SQLITE_CANTOPEN:
		return "the database cannot be opened"
	}
	return ""
}

const (
	diskFull = "the database cannot be written: disk full"
	readOnly = "the database cannot be written: it is read-only"
)

// writeHealth records whether the last write failed because of the disk.
type writeHealth struct{ failed atomic.Bool }

func (h *writeHealth) record(err error) {
	if err == nil || diskFault(err) != "" { // other errors say nothing about the disk
		h.failed.Store(err != nil)
	}
}

func (h *writeHealth) failing() bool { return h.failed.Load() }
