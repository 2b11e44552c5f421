package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"herbarium/internal/herb"
)

// The conditions that PostgreSQL reports, by their codes.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	undefinedTable       = "42P01"
	duplicateTable       = "42P07"
	duplicateObject      = "42710"
	uniqueViolation      = "23505"
	lockNotAvailable     = "55P03"
	readOnlyTransaction  = "25006"
	diskFull             = "53100"

	connectionException   = "08" // classes
	insufficientResources = "53"
	operatorIntervention  = "57" // also a statement that took too long
	queryCanceled         = "57014"
)

// codeOf returns the code of what the database has reported, empty if it has not.
func codeOf(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// isConflict reports whether a transaction was undone because of another one.
func isConflict(err error) bool {
	code := codeOf(err)
	return code == serializationFailure || code == deadlockDetected
}

// isLost reports whether the connection is broken, was refused, or leads to a server that no longer takes writes, as it is
// while another one takes its place. The next connection may be better.
func isLost(err error) bool {
	switch code := codeOf(err); {
	case code == queryCanceled:
		return false
	case code != "":
		return code == readOnlyTransaction || strings.HasPrefix(code, connectionException) ||
			strings.HasPrefix(code, operatorIntervention)
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, driver.ErrBadConn) || pgconn.SafeToRetry(err)
}

// isAway reports whether the same may work later, without anything being mended in this program.
func isAway(err error) bool {
	code := codeOf(err)
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true // also where the server has a reason to refuse us
	}
	return isConflict(err) || isLost(err) || code == lockNotAvailable || code == queryCanceled ||
		strings.HasPrefix(code, insufficientResources) || errors.Is(err, context.DeadlineExceeded)
}

// uncertainError is a commit of which it is not known whether it was done.
type uncertainError struct{ err error }

func (e *uncertainError) Error() string {
	return "it is not known whether this was committed: " + e.err.Error()
}
func (e *uncertainError) Unwrap() error { return e.err }

// commitError returns what the error of a commit means.
func commitError(err error) error {
	if err == nil || isConflict(err) || errors.Is(err, pgx.ErrTxCommitRollback) {
		return err
	}
	if code := codeOf(err); code != "" && !isLost(err) && code != queryCanceled {
		return err // a constraint that is checked last, for example
	}
	return &uncertainError{err}
}

// failed gives an error of the database its place among ours: a database that cannot be reached or is busy is away for now,
// an error that has a code keeps it, and anything else is a fault.
func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*uncertainError](err); ok {
		return herb.Wrap(herb.CodeUnavailable, fmt.Errorf("%s: %w", what, err),
			"the database went away before it confirmed the change, which may or may not have been made; see, or try again")
	}
	if e, ok := errors.AsType[*herb.Error](err); ok {
		return e
	}
	err = fmt.Errorf("%s: %w", what, err)
	if codeOf(err) == readOnlyTransaction {
		return herb.Wrap(herb.CodeUnavailable, err, "%s", readOnly)
	}
	if codeOf(err) == diskFull {
		return herb.Wrap(herb.CodeUnavailable, err, "the database cannot be written: disk full")
	}
	if isAway(err) {
		return herb.Wrap(herb.CodeUnavailable, err, "the database is away or busy; try again")
	}
	return err
}
