package herb

import (
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"time"
)

// KeyPrefix begins the secret of each key.
const KeyPrefix = "herb_"

// secretPattern matches secrets of keys, including mistyped and truncated ones. The capital letters
// of the random part distinguish them from other texts, such as names of datasets.
var secretPattern = regexp.MustCompile(KeyPrefix + `[A-Za-z0-9]{8,12}_[A-Z0-9]{16,}`)

// ContainsSecret reports whether a text contains the secret of a key, or one that is mistyped.
func ContainsSecret(text string) bool {
	return strings.Contains(text, KeyPrefix) && secretPattern.MatchString(text)
}

// Key is an API key as stored and listed, without its secret.
type Key struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Scopes   []Scope   `json:"scopes"`
	Hash     Digest    `json:"sha256"` // of the secret
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires,omitzero"`   // zero if it does not expire
	Revoked  time.Time `json:"revoked,omitzero"`   // zero if not revoked
	LastUsed time.Time `json:"last_used,omitzero"` // zero if never used or not recorded yet
}

// Digest is a SHA-256 hash, in hexadecimal in JSON.
type Digest [32]byte

// MarshalText implements encoding.TextMarshaler.
func (d Digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Digest) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(d)) {
		return Invalidf("a SHA-256 hash has %d hexadecimal digits, not %d", hex.EncodedLen(len(d)), len(text))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// Status returns "active", "expired" or "revoked" for the given time.
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

// Scope is a permission of a key.
type Scope string

// Scopes. ScopeDataRead and ScopePublish may be limited to one dataset
// (publish:<namespace>/<dataset>) or to a namespace (publish:<namespace>/*).
const (
	ScopePlantsWrite Scope = "plants:write"
	ScopeDataRead    Scope = "data:read"
	ScopePublish     Scope = "publish"
)

// AllScopes returns the scopes that together permit everything.
func AllScopes() []Scope { return []Scope{ScopePlantsWrite, ScopeDataRead, ScopePublish} }

// ParseScope parses a scope.
func ParseScope(s string) (Scope, error) {
	if slices.Contains(AllScopes(), Scope(s)) {
		return Scope(s), nil
	}
	for _, limitable := range []Scope{ScopeDataRead, ScopePublish} {
		if target, ok := strings.CutPrefix(s, string(limitable)+":"); ok && isPattern(target) {
			return Scope(s), nil
		}
	}
	return "", Invalidf("unknown scope %q; valid scopes: plants:write, data:read, data:read:<namespace>/<dataset>, "+
		"data:read:<namespace>/*, publish, publish:<namespace>/<dataset>, publish:<namespace>/*", s)
}

// ReadScopes returns the scopes that permit reading the dataset, narrowest first. Any one of them
// is sufficient.
func (r Ref) ReadScopes() []Scope { return r.limit(ScopeDataRead) }

// PublishScopes returns the scopes that permit publishing the dataset, narrowest first. Any one of
// them is sufficient.
func (r Ref) PublishScopes() []Scope { return r.limit(ScopePublish) }

// limit returns a scope limited to the dataset, limited to its namespace, and unlimited.
func (r Ref) limit(s Scope) []Scope {
	return []Scope{s + Scope(":"+r.String()), s + Scope(":"+r.Namespace+"/*"), s}
}

// Principal is the authenticated sender of a request. ID identifies the key; it is not secret.
type Principal struct {
	ID     string
	Scopes []Scope
}

// May reports whether the principal has at least one of the scopes.
func (p Principal) May(anyOf ...Scope) bool {
	return slices.ContainsFunc(anyOf, func(s Scope) bool { return slices.Contains(p.Scopes, s) })
}

// PublishScopes returns the scopes of the principal that permit publishing some dataset.
func (p Principal) PublishScopes() (scopes []Scope) {
	for _, s := range p.Scopes {
		if s == ScopePublish || strings.HasPrefix(string(s), string(ScopePublish)+":") {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

// JoinScopes joins the names of scopes.
func JoinScopes(scopes []Scope, separator string) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, separator)
}
