package app

import (
	"errors"
	"log/slog"
	"strings"

	"herbarium/internal/blobs"
)

// Address is where another service is. It may have a secret in it, which it does not show where it is printed or logged.
type Address string

// hidden stands in the place of a secret.
const hidden = "xxxxx"

// String hides secrets.
func (a Address) String() string {
	scheme, rest, ok := strings.Cut(string(a), "://")
	if !ok {
		if isSecret(string(a)) {
			return hidden
		}
		return string(a)
	}
	// It is not read as a URL: one with several hosts is none to Go, and a password may be what is wrong with it.
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		if user, _, ok := strings.Cut(rest[:at], ":"); ok {
			rest = user + ":" + hidden + rest[at:]
		}
	}
	if path, query, ok := strings.Cut(rest, "?"); ok {
		rest = path + "?" + hideParameters(query)
	}
	return scheme + "://" + rest
}

// hideParameters leaves the other parameters as they were written.
func hideParameters(query string) string {
	parts := strings.Split(query, "&")
	for i, part := range parts {
		if name, value, _ := strings.Cut(part, "="); isSecret(name) && value != "" {
			parts[i] = name + "=" + hidden
		}
	}
	return strings.Join(parts, "&")
}

// isSecret reports whether something is called like a secret.
func isSecret(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"password", "secret", "token", "key", "sig"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// LogValue hides secrets in logs.
func (a Address) LogValue() slog.Value { return slog.StringValue(a.String()) }

// MarshalText hides secrets in JSON and YAML.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// isPostgres reports whether an address is that of a PostgreSQL database.
func (a Address) isPostgres() bool {
	return strings.HasPrefix(string(a), "postgres://") || strings.HasPrefix(string(a), "postgresql://")
}

func blobsAddress(s string) error {
	if s == "" {
		return nil
	}
	return blobs.Check(s)
}

func databaseAddress(s string) error {
	if s != "" && !Address(s).isPostgres() {
		return errors.New("write postgres://user@host:5432/database; the password may come from PGPASSWORD or a passfile")
	}
	return nil
}
