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

// SQLSTATE codes of PostgreSQL.
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
	operatorIntervention  = "57" // includes statement timeouts
	queryCanceled         = "57014"
)

// codeOf returns the SQLSTATE of an error; empty if the database did not report it.
func codeOf(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// isConflict reports whether a transaction was rolled back because of a conflict with another one.
func isConflict(err error) bool {
	code := codeOf(err)
	return code == serializationFailure || code == deadlockDetected
}

// isConnectionLost reports whether the connection is broken, was refused, or leads to a server that no longer accepts
// writes, as during a failover. Another connection may succeed.
func isConnectionLost(err error) bool {
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

// isUnavailable reports whether the operation may succeed later without a change of this program.
func isUnavailable(err error) bool {
	code := codeOf(err)
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true // even if the server states a reason
	}
	return isConflict(err) || isConnectionLost(err) || code == lockNotAvailable || code == queryCanceled ||
		strings.HasPrefix(code, insufficientResources) || errors.Is(err, context.DeadlineExceeded)
}

// uncertainError is a commit whose result is unknown.
type uncertainError struct{ err error }

func (e *uncertainError) Error() string {
	return "unknown whether this was committed: " + e.err.Error()
}
func (e *uncertainError) Unwrap() error { return e.err }

// commitError classifies the error of a commit.
func commitError(err error) error {
	if err == nil || isConflict(err) || errors.Is(err, pgx.ErrTxCommitRollback) {
		return err
	}
	if code := codeOf(err); code != "" && !isConnectionLost(err) && code != queryCanceled {
		return err // for example a deferred constraint
	}
	return &uncertainError{err}
}

// mapError maps a driver error to a herb.Code: a database that is down or busy is unavailable, an error that has a code
// keeps it, and anything else is internal.
func mapError(what string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*uncertainError](err); ok {
		return herb.Wrap(herb.CodeUnavailable, fmt.Errorf("%s: %w", what, err),
			"connection to the database lost during commit; the change may or may not have been made; check, or try again")
	}
	if e, ok := errors.AsType[*herb.Error](err); ok {
		return e
	}
	err = fmt.Errorf("%s: %w", what, err)
	if codeOf(err) == readOnlyTransaction {
		return herb.Wrap(herb.CodeUnavailable, err, "%s", readOnlyMessage)
	}
	if codeOf(err) == diskFull {
		return herb.Wrap(herb.CodeUnavailable, err, "the database cannot be written: disk full")
	}
	if isUnavailable(err) {
		return herb.Wrap(herb.CodeUnavailable, err, "the database is down or busy; try again")
	}
	return err
}
