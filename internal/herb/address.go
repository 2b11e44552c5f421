package herb

import (
	"log/slog"
	"slices"
	"strings"
)

// Address is the address of another service. It may contain secrets, which are redacted when it is
// printed or logged.
type Address string

// redacted replaces a secret.
const redacted = "xxxxx"

// String returns the address with secrets redacted.
func (a Address) String() string {
	scheme, rest, ok := strings.Cut(string(a), "://")
	if !ok && isSecret(string(a)) {
		return redacted
	}
	if !ok {
		return string(a)
	}
	// Not parsed as a URL: Go rejects one with several hosts, and the password may be the invalid
	// part.
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		if user, _, ok := strings.Cut(rest[:at], ":"); ok {
			rest = user + ":" + redacted + rest[at:]
		}
	}
	if path, query, ok := strings.Cut(rest, "?"); ok {
		rest = path + "?" + redactParameters(query)
	}
	return scheme + "://" + rest
}

// redactParameters redacts secret parameters and leaves the others unchanged.
func redactParameters(query string) string {
	parts := strings.Split(query, "&")
	for i, part := range parts {
		if name, value, _ := strings.Cut(part, "="); isSecret(name) && value != "" {
			parts[i] = name + "=" + redacted
		}
	}
	return strings.Join(parts, "&")
}

// isSecret reports whether a name is that of a secret.
func isSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"password", "secret", "token", "key", "sig"},
		func(word string) bool { return strings.Contains(name, word) })
}

// LogValue implements slog.LogValuer.
func (a Address) LogValue() slog.Value { return slog.StringValue(a.String()) }

// MarshalText implements encoding.TextMarshaler.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// IsPostgres reports whether an address is that of a PostgreSQL database.
func (a Address) IsPostgres() bool {
	return strings.HasPrefix(string(a), "postgres://") || strings.HasPrefix(string(a), "postgresql://")
}
