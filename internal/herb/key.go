package herb

import (
	"slices"
	"strings"
	"time"
)

// Key is a credential without its secret: what is stored and listed.
type Key struct {
	ID       string
	Name     string
	Scopes   []Scope
	Hash     [32]byte // SHA-256 of the secret
	Created  time.Time
	Expires  time.Time // zero: never
	Revoked  time.Time // zero: not revoked
	LastUsed time.Time // zero: never, or not written down yet
}

// Status tells in one word whether the key is of use at a given time: "active", "expired" or "revoked".
func (k Key) Status(now time.Time) string {
	switch {
	case !k.Revoked.IsZero():
		return "revoked"
	case !k.Expires.IsZero() && !now.Before(k.Expires):
		return "expired"
	default:
		return "active"
	}
}

// Scope is one thing that a key permits.
type Scope string

// The scopes. A key may also be confined to one dataset (data:read:<namespace>/<dataset>) or to a namespace
// (data:read:<namespace>/*).
const (
	ScopePlantsWrite Scope = "plants:write"
	ScopeDataRead    Scope = "data:read"
)

// AllScopes permit everything.
func AllScopes() []Scope { return []Scope{ScopePlantsWrite, ScopeDataRead} }

// ParseScope reads a scope and refuses what is none.
func ParseScope(s string) (Scope, error) {
	switch Scope(s) {
	case ScopePlantsWrite, ScopeDataRead:
		return Scope(s), nil
	}
	if target, ok := strings.CutPrefix(s, string(ScopeDataRead)+":"); ok {
		ns, name, ok := strings.Cut(target, "/")
		if ok && ValidName(ns) && (name == "*" || ValidName(name)) {
			return Scope(s), nil
		}
	}
	return "", Invalidf("unknown scope %q; choose from plants:write, data:read, "+
		"data:read:<namespace>/<dataset>, data:read:<namespace>/*", s)
}

// ReadScopes returns the scopes of which any one permits reading the dataset, narrowest first.
func (r Ref) ReadScopes() []Scope {
	return []Scope{
		ScopeDataRead + Scope(":"+r.String()),
		ScopeDataRead + Scope(":"+r.Namespace+"/*"),
		ScopeDataRead,
	}
}

// Principal is who sent a request: a key that was found valid. ID tells credentials apart; it is no secret.
type Principal struct {
	ID     string
	Scopes []Scope
}

// May reports whether the principal holds one of the scopes.
func (p Principal) May(anyOf ...Scope) bool {
	return slices.ContainsFunc(anyOf, func(s Scope) bool { return slices.Contains(p.Scopes, s) })
}
