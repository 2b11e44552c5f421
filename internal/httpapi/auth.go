package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"herbarium/internal/access"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

const (
	realm     = `realm="herbarium"`
	challenge = "Bearer " + realm // value of WWW-Authenticate in responses to requests without a key
)

// bearerToken returns the token of an Authorization header, or "" if there is none or the scheme
// differs.
func bearerToken(h http.Header) string {
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.Trim(token, " ")
}

// apiKey returns the key of a listing request: from X-API-Key, else from Authorization, else from
// the query.
func apiKey(w *response, r *http.Request) string {
	key, _ := w.queryString(r).Key()
	return cmp.Or(strings.Trim(r.Header.Get("X-Api-Key"), " "), bearerToken(r.Header), key)
}

// misplacesKey reports whether a query string has a key in a parameter other than api_key. Such a
// request is rejected before its handler runs, because links, redirects and pages repeat the
// parameters of a request and would spread the key. Paths with a key need no such rule: they name
// no dataset, so they are not found, and the message is redacted.
func misplacesKey(s query.String) bool {
	return slices.ContainsFunc(s.Parts(), func(p query.Part) bool {
		return access.ContainsSecret(p.Name) || p.Name != query.ParamAPIKey && access.ContainsSecret(p.Value)
	})
}

func errMisplacedKey() error {
	return herb.Invalidf("a parameter other than api_key contains a key; send it as X-API-Key: <key>, as Authorization: Bearer <key>, or as " +
		"api_key, and revoke it if others may have seen the URL")
}

// authorize authenticates a request and checks that its key has one of the scopes. A rejection
// includes a challenge as specified by RFC 6750. Without a key, howTo is the message, and fail adds
// the challenge.
func (a *API) authorize(w *response, r *http.Request, secret, howTo string, anyOf ...herb.Scope) (herb.Principal, error) {
	p, err := a.checkScopes(w, r, secret, denial{howTo, lacksScope(anyOf)}, anyOf...)
	w.setChallenge(secret, err, anyOf)
	return p, err
}

// checkScopes verifies a key and checks that it has one of the scopes.
func (a *API) checkScopes(w *response, r *http.Request, secret string, words denial, anyOf ...herb.Scope) (herb.Principal, error) {
	p, err := a.authenticate(w, r, secret, words.missing)
	if err == nil && !p.May(anyOf...) {
		err = herb.Errorf(herb.CodeForbidden, "%s", words.forbidden)
	}
	return p, err
}

// authenticate verifies a key. Without one, missing is the message.
func (a *API) authenticate(w *response, r *http.Request, secret, missing string) (herb.Principal, error) {
	if secret == "" {
		return herb.Principal{}, herb.Errorf(herb.CodeUnauthenticated, "%s", missing)
	}
	return w.verify(r.Context(), a.opts.Keys, secret, r.RemoteAddr)
}

func lacksScope(anyOf []herb.Scope) string {
	return "the key is valid but lacks the scope; it needs " + herb.JoinScopes(anyOf, " or ")
}

// reauthorize returns a function that fails if a key must not publish a dataset anymore. It is
// called when the version of a request that was authorized is about to go live.
func (a *API) reauthorize(r *http.Request, secret string, ref herb.Ref) func(context.Context) error {
	client := r.RemoteAddr
	return func(ctx context.Context) error {
		p, err := a.opts.Keys.Verify(ctx, secret, client)
		if err == nil && !p.May(ref.PublishScopes()...) {
			err = herb.Errorf(herb.CodeForbidden, "%s", lacksScope(ref.PublishScopes()))
		}
		switch code := herb.CodeOf(err); code {
		case herb.CodeUnauthenticated, herb.CodeForbidden, herb.CodeRateLimited:
			return herb.Wrap(herb.CodeUnauthenticated, err, "the key was revoked or has expired since the request arrived; nothing has changed; send it again with a valid key")
		}
		return err
	}
}

// setChallenge sets the challenge of a response to a request whose key was rejected.
func (w *response) setChallenge(secret string, rejection error, anyOf []herb.Scope) {
	if secret == "" {
		return
	}
	switch herb.CodeOf(rejection) {
	case herb.CodeUnauthenticated:
		w.set("Www-Authenticate", `Bearer error="invalid_token", `+description(herb.MessageOf(rejection))+realm)
	case herb.CodeForbidden:
		w.set("Www-Authenticate",
			`Bearer error="insufficient_scope", scope="`+string(anyOf[0])+`", `+description(herb.MessageOf(rejection))+realm)
	}
}

// optionalPrincipal returns the principal of a request, or the zero one if there is no valid key.
// An invalid key is not an error, because part of the response is public.
func (a *API) optionalPrincipal(w *response, r *http.Request) herb.Principal {
	if secret := a.requestKey(w, r); secret != "" {
		if p, err := w.verify(r.Context(), a.opts.Keys, secret, r.RemoteAddr); err == nil {
			return p
		}
	}
	return herb.Principal{}
}

// withReader returns a context for library.Private. The key is verified before it is known whether
// the result depends on it, so that the time of a response does not tell whether a dataset exists.
func (a *API) withReader(ctx context.Context, w *response, r *http.Request) context.Context {
	w.setKeyVary()
	secret := a.requestKey(w, r)
	if secret == "" {
		return ctx
	}
	p, err := w.verify(ctx, a.opts.Keys, secret, r.RemoteAddr)
	switch herb.CodeOf(err) {
	case herb.CodeUnauthenticated, herb.CodeRateLimited: // as without a key
		return ctx
	}
	w.private = err == nil
	return library.WithReader(ctx, func(d herb.Dataset) bool { return p.See(d).Values }, err)
}

// requestKey returns the key of a request: for a page, the one that is stored in the browser.
func (a *API) requestKey(w *response, r *http.Request) string {
	if w.route != nil && w.route.page {
		return a.opts.Pages.Key(r)
	}
	return apiKey(w, r)
}

// verification is the result of verifying the key of a request.
type verification struct {
	secret    string // empty if no key was verified
	principal herb.Principal
	err       error
}

// verify verifies a key once per request, however many parts of a response depend on it, so that an
// invalid one counts as one failure of its client.
func (w *response) verify(ctx context.Context, keys Keys, secret, client string) (herb.Principal, error) {
	if v := &w.verified; v.secret != secret || secret == "" {
		v.secret = secret
		v.principal, v.err = keys.Verify(ctx, secret, client)
	}
	return w.verified.principal, w.verified.err
}

// description converts a message to the error_description of a challenge, which permits fewer
// characters.
func description(message string) string {
	safe := strings.Map(func(c rune) rune {
		if c == '"' || c == '\\' || c < ' ' || c > '~' {
			return '\''
		}
		return c
	}, message)
	return `error_description="` + safe + `", `
}
