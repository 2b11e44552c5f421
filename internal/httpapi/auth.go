package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// auth says which credentials an operation takes.
type auth int

// The kinds of operations.
const (
	authNone     auth = iota // it looks at no key
	authBearer               // a bearer token, and nothing else
	authOptional             // a key in any of the three ways, where the dataset asks for one
	authKey                  // a key in any of the three ways
)

const challenge = `Bearer realm="herbarium"`

// bearerToken returns the token of an Authorization header; empty if there is none or it is of another scheme.
func bearerToken(h http.Header) string {
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.Trim(token, " ")
}

// apiKey returns the key of a listing: the first of the three ways in which one was given.
func apiKey(r *http.Request) string {
	if key := strings.Trim(r.Header.Get("X-Api-Key"), " "); key != "" {
		return key
	}
	if token := bearerToken(r.Header); token != "" {
		return token
	}
	key, _ := keyInQuery(r.URL.RawQuery)
	return key
}

// keyInQuery finds the first key in a raw query, however its name is encoded. A query that is malformed elsewhere is
// searched, too: keys are judged before queries.
func keyInQuery(raw string) (secret string, found bool) {
	for raw != "" {
		var piece string
		piece, raw, _ = strings.Cut(raw, "&")
		name, value, _ := strings.Cut(piece, "=")
		if unescape(name) != query.ParamAPIKey {
			continue
		}
		found = true
		if secret = unescape(value); secret != "" {
			break
		}
	}
	return secret, found
}

// unescape decodes a part of a query; what cannot be decoded is as good as not there.
func unescape(s string) string {
	u, err := url.QueryUnescape(s)
	if err != nil {
		return ""
	}
	return u
}

// authorise finds out who sent a request and whether they hold one of the scopes. A refusal tells, by RFC 6750, what
// would help; without a secret it says howTo.
func (a *API) authorise(w *response, r *http.Request, secret, howTo string, anyOf ...herb.Scope) (herb.Principal, error) {
	if secret == "" {
		w.Header().Set("WWW-Authenticate", challenge)
		return herb.Principal{}, herb.Errorf(herb.CodeUnauthenticated, "%s", howTo)
	}
	p, err := a.opts.Keys.Verify(r.Context(), secret, r.RemoteAddr)
	if err != nil {
		if herb.CodeOf(err) == herb.CodeUnauthenticated {
			w.Header().Set("WWW-Authenticate", challenge+`, error="invalid_token"`+description(herb.MessageOf(err)))
		}
		return p, err
	}
	if !p.May(anyOf...) {
		err := herb.Errorf(herb.CodeForbidden, "the key is valid but lacks the scope; it needs %s", orList(anyOf))
		w.Header().Set("WWW-Authenticate",
			challenge+`, error="insufficient_scope", scope="`+string(anyOf[0])+`"`+description(herb.MessageOf(err)))
		return p, err
	}
	return p, nil
}

// description writes a message as the error_description of a challenge, which takes fewer characters than a message.
func description(message string) string {
	safe := strings.Map(func(c rune) rune {
		if c == '"' || c == '\\' || c < ' ' || c > '~' {
			return '\''
		}
		return c
	}, message)
	return `, error_description="` + safe + `"`
}

// orList joins scopes of which one is enough.
func orList(scopes []herb.Scope) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, " or ")
}
