package postgres

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"herbarium/internal/herb"
)

// SQLSTATE codes that the operator of the database can fix.
const (
	invalidAuthorization = "28" // class
	noSuchDatabase       = "3D000"
	noPrivilege          = "42501"
)

// readOnlyMessage is the message for a server that accepts no writes.
const readOnlyMessage = "the database is read-only: this server is a standby, or set to read-only; " +
	"the address of the database must name the primary, or all servers and target_session_attrs=read-write"

// newerError reports that the schema requires a newer program.
type newerError struct{ needs int64 }

func (e *newerError) Error() string {
	return fmt.Sprintf("the database needs a program that knows its version %d and this program knows versions up to %d; "+
		"use a newer herbarium", e.needs, latest)
}

// migrationError is the error of a call that needed schema migrations which failed. The client cannot fix it, so the cause
// is only logged.
func migrationError(err error) error {
	if e, ok := errors.AsType[*newerError](err); ok {
		return herb.Wrap(herb.CodeUnavailable, err, "%s", e.Error())
	}
	if codeOf(err) == readOnlyTransaction {
		return herb.Wrap(herb.CodeUnavailable, err, "%s", readOnlyMessage)
	}
	return herb.Wrap(herb.CodeUnavailable, err, "the database is down or busy; try again")
}

// setupError explains to the operator why a database cannot be used. Messages of the driver and the server contain no
// password and are included where they help, so they are not wrapped again.
func setupError(config *pgx.ConnConfig, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*newerError](err); ok {
		return herb.Wrap(herb.CodeInvalid, err, "%s", e.Error())
	}
	if reason := certificateError(err); reason != nil {
		return herb.Errorf(herb.CodeInvalid, "the certificate of the database is not trusted: %v;  sslrootcert in the "+
			"address must name a file with the authority that has signed it, and the host must be one that it is for", reason)
	}
	reported := joinLines(err.Error())
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		reported = e.Message
	}
	switch code := codeOf(err); {
	case strings.HasPrefix(code, invalidAuthorization):
		return herb.Errorf(herb.CodeInvalid, "the database refuses user %q: %s; check the user and the password in its address",
			config.User, reported)
	case code == noSuchDatabase:
		return herb.Wrap(herb.CodeInvalid, err, "the server has no database %q; create it, or name another one in the address",
			config.Database)
	case code == noPrivilege:
		return herb.Errorf(herb.CodeInvalid, "user %q may not migrate the schema of database %q: %s; "+
			"let it own the database, or run herbarium once as the user who does", config.User, config.Database, reported)
	case code == readOnlyTransaction:
		return herb.Wrap(herb.CodeUnavailable, err, "%s", readOnlyMessage)
	case isUnavailable(err):
		return herb.Errorf(herb.CodeUnavailable, "the database cannot be used now: %s; check that it runs and that its "+
			"address is correct", reported)
	default:
		return fmt.Errorf("migrating the schema of the database: %w", err)
	}
}

// joinLines joins the lines of a driver error, which has one per attempt, and removes duplicates.
func joinLines(report string) string {
	var lines []string
	for line := range strings.Lines(report) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.ReplaceAll(strings.Join(lines, "; "), ":; ", ": ")
}

// certificateError returns what is wrong with the certificate of a server; nil if that is not the cause.
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
