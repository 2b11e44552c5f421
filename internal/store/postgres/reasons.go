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

// The conditions that the person who has set up the database can mend.
const (
	invalidAuthorization = "28" // class
	noSuchDatabase       = "3D000"
	noPrivilege          = "42501"
)

// readOnly is said when a server takes no changes.
const readOnly = "the database takes no changes: this server is a standby, or set to read-only; " +
	"the address of the database must name the primary, or all servers and target_session_attrs=read-write"

// newerError says that a newer program has taken away what this one needs.
type newerError struct{ needs int64 }

func (e *newerError) Error() string {
	return fmt.Sprintf("the database needs a program that knows its version %d and this program knows versions up to %d; "+
		"use a newer herbarium", e.needs, latest)
}

// unprepared is the error of a call for which the tables could not be brought up to date. Whoever sent the request cannot
// mend it, so the reason is for the log.
func unprepared(err error) error {
	if e, ok := errors.AsType[*newerError](err); ok {
		return herb.Wrap(herb.CodeUnavailable, err, "%s", e.Error())
	}
	if codeOf(err) == readOnlyTransaction {
		return herb.Wrap(herb.CodeUnavailable, err, "%s", readOnly)
	}
	return herb.Wrap(herb.CodeUnavailable, err, "the database is away or busy; try again")
}

// unusable gives the reason why a database cannot be used a message for the person who runs the program. What the driver and the
// server report, which has no password, is in the message where it helps, and so not behind it once more.
func unusable(config *pgx.ConnConfig, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*newerError](err); ok {
		return herb.Wrap(herb.CodeInvalid, err, "%s", e.Error())
	}
	if reason := untrusted(err); reason != nil {
		return herb.Errorf(herb.CodeInvalid, "the certificate of the database is not accepted: %v; sslrootcert in the "+
			"address must name a file with the authority that has signed it, and the host must be one that it is for", reason)
	}
	said := inOneLine(err.Error())
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		said = e.Message
	}
	switch code := codeOf(err); {
	case strings.HasPrefix(code, invalidAuthorization):
		return herb.Errorf(herb.CodeInvalid, "the database refuses user %q: %s; check the user and the password in its address",
			config.User, said)
	case code == noSuchDatabase:
		return herb.Wrap(herb.CodeInvalid, err, "the server has no database %q; create it, or name another one in the address",
			config.Database)
	case code == noPrivilege:
		return herb.Errorf(herb.CodeInvalid, "user %q may not bring the tables of database %q up to date: %s; "+
			"let it own the database, or run herbarium once as the user who does", config.User, config.Database, said)
	case code == readOnlyTransaction:
		return herb.Wrap(herb.CodeUnavailable, err, "%s", readOnly)
	case isAway(err):
		return herb.Errorf(herb.CodeUnavailable, "the database cannot be used now: %s; check that it runs and that its "+
			"address is right", said)
	default:
		return fmt.Errorf("bringing the tables of the database up to date: %w", err)
	}
}

// inOneLine joins the lines of a report, of which the driver has one for each attempt, and leaves out those that say the same.
func inOneLine(report string) string {
	var lines []string
	for line := range strings.Lines(report) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.ReplaceAll(strings.Join(lines, "; "), ":; ", ": ")
}

// untrusted returns what is wrong with the certificate of a server, nil if that is not what failed.
func untrusted(err error) error {
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
