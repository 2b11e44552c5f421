package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"herbarium/internal/herb"
)

// SQLSTATE codes of PostgreSQL.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	uniqueViolation      = "23505"
	lockNotAvailable     = "55P03"
	readOnlyTransaction  = "25006"
	idleTransaction      = "25P03" // the server ended the session of a transaction that was idle for too long
	longTransaction      = "25P04" // or that took too long
	diskFull             = "53100"
	noSuchDatabase       = "3D000"
	noPrivilege          = "42501"

	connectionException   = "08" // classes
	invalidAuthorization  = "28"
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

// errTaken reports that another node has used an ID or idempotency key of a batch in the meantime.
var errTaken = errors.New("the id or idempotency key of a plant was used in the meantime")

// isTaken reports whether the database rejected a plant for the reason of errTaken.
func isTaken(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == uniqueViolation && (e.ConstraintName == "plants_id" || e.ConstraintName == "retries_pkey")
}

// errStalled reports that a connection did not answer in time.
var errStalled = errors.New("the connection to the database does not answer")

// isConflict reports whether a transaction was rolled back because of a conflict with another one.
func isConflict(err error) bool {
	code := codeOf(err)
	return code == serializationFailure || code == deadlockDetected || errors.Is(err, errTaken)
}

// isConnectionLost reports whether the connection is broken, was refused, or leads to a server that
// no longer accepts writes, as during a failover. Another connection may succeed.
func isConnectionLost(err error) bool {
	switch code := codeOf(err); {
	case code == queryCanceled:
		return false
	case code != "":
		return code == readOnlyTransaction || code == idleTransaction || code == longTransaction ||
			strings.HasPrefix(code, connectionException) ||
			strings.HasPrefix(code, operatorIntervention)
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, errStalled) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) ||
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
	if err == nil || isConflict(err) || errors.Is(err, pgx.ErrTxCommitRollback) || codeOf(err) == readOnlyTransaction {
		return err
	}
	if code := codeOf(err); code != "" && !isConnectionLost(err) && code != queryCanceled {
		return err // for example a deferred constraint
	}
	return &uncertainError{err}
}

// mapError maps a driver error to a herb.Code: a database that is down or busy is unavailable, an
// error that has a code keeps it, and anything else is internal.
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
	if !isUnavailable(err) {
		return err
	}
	return unavailable(err)
}

// unavailable returns an error with herb.CodeUnavailable and a message that is safe to show to
// clients.
func unavailable(err error) error {
	message := "the database is down or busy; try again"
	switch codeOf(err) {
	case readOnlyTransaction:
		message = "the database is read-only: this server is a standby, or set to read-only; " +
			"the address of the database must name the primary, or all servers and target_session_attrs=read-write"
	case diskFull:
		message = "the database cannot be written: disk full"
	}
	return herb.Wrap(herb.CodeUnavailable, err, "%s", message)
}

// migrationError is the error of a call that needed schema migrations which failed; nil stays nil.
// The client cannot fix it, so the cause is only logged.
func migrationError(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*herb.Error](err); ok { // the schema requires a newer program
		return herb.Errorf(herb.CodeUnavailable, "%s", e.Message)
	}
	return unavailable(err)
}

// setupError explains to the operator why a database cannot be used. Messages of the driver and the
// server contain no password and are included where they help, so they are not wrapped again.
func setupError(config *pgx.ConnConfig, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*herb.Error](err); ok {
		return e
	}
	if reason := certificateError(err); reason != nil {
		return herb.Errorf(herb.CodeInvalid, "the certificate of the database is not trusted: %v; sslrootcert in the "+
			"address must name a file with the authority that has signed it, and the host must be one that it is for",
			reason)
	}
	reported := joinLines(err.Error())
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		reported = e.Message
	}
	switch code := codeOf(err); {
	case strings.HasPrefix(code, invalidAuthorization):
		return herb.Errorf(herb.CodeInvalid,
			"the database refuses user %q: %s; check the user and the password in its address",
			config.User, reported)
	case code == noSuchDatabase:
		return herb.Wrap(herb.CodeInvalid, err,
			"the server has no database %q; create it, or name another one in the address",
			config.Database)
	case code == noPrivilege:
		return herb.Errorf(herb.CodeInvalid, "user %q may not migrate the schema of database %q: %s; "+
			"let it own the database, or run herbarium once as the user who does", config.User,
			config.Database, reported)
	case code == readOnlyTransaction:
		return unavailable(err)
	case isUnavailable(err):
		return herb.Errorf(herb.CodeUnavailable,
			"the database cannot be used now: %s; check that it runs and that its "+
				"address is correct", reported)
	default:
		return fmt.Errorf("migrating the schema of the database: %w", err)
	}
}

// joinLines joins the lines of a driver error, which has one per attempt, and removes duplicates.
func joinLines(report string) string {
	var lines []string
	for line := range strings.Lines(report) {
		line = strings.TrimSpace(line)
		if line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.ReplaceAll(strings.Join(lines, "; "), ":; ", ": ")
}

// certificateError returns what is wrong with the certificate of a server; nil if that is not the
// cause.
func certificateError(err error) error {
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return e
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		return e
	}
	return nil
}
