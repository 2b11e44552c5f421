package response

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

const (
	realm = `realm="herbarium"`
	// InvalidToken is the challenge to a key that was valid when the request arrived.
	InvalidToken = `Bearer error="invalid_token", ` + realm
	challenge    = "Bearer " + realm // value of WWW-Authenticate in responses to requests without a key
	// basicChallenge has clients ask for a user name, which is ignored, and a password: the key.
	basicChallenge = "Basic " + realm
)

// BearerToken returns the token of an Authorization header, or "" if there is none or the scheme
// differs.
func BearerToken(h http.Header) string {
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.Trim(token, " ")
}

// authorizationKey returns the key in an Authorization header: a bearer token, or the password of
// HTTP Basic, with any user name. Spreadsheets and many BI tools can send only the latter.
func authorizationKey(r *http.Request) string {
	_, password, _ := r.BasicAuth()
	return cmp.Or(BearerToken(r.Header), strings.Trim(password, " "))
}

// apiKey returns the key of a listing request: from X-API-Key, else from Authorization, else from
// the query.
func (w *Writer) apiKey(r *http.Request) string {
	key, _ := w.QueryString(r).Key()
	return cmp.Or(strings.Trim(r.Header.Get("X-Api-Key"), " "), authorizationKey(r), key)
}

// HasBasicKey reports whether the key of a request is the password of HTTP Basic. Browsers that
// know such a password, from a URL with a user name, send it also with the forms of other sites.
func (w *Writer) HasBasicKey(r *http.Request) bool {
	_, password, ok := r.BasicAuth()
	return ok && password != "" && w.Key(r) == strings.Trim(password, " ")
}

// isBrowser reports whether a browser sends a request, be it for a page, a script or an image.
// Browsers send Sec-Fetch-Mode only over HTTPS and to localhost; all of them begin User-Agent with
// Mozilla/5.0. Excel, Power BI and programs do neither.
func isBrowser(h http.Header) bool {
	return h["Sec-Fetch-Mode"] != nil || h["Origin"] != nil || strings.HasPrefix(h.Get("User-Agent"), "Mozilla/5.0")
}

// addChallenges sets WWW-Authenticate of a response with the status 401. It has a challenge for
// HTTP Basic only if no browser sends the request, because browsers show a dialog that asks for a
// password then, also when a script has sent the request.
func (w *Writer) addChallenges(r *http.Request) {
	h := w.Header()
	if h["Www-Authenticate"] == nil {
		w.Set("Www-Authenticate", challenge)
	}
	if rt := w.Route; rt != nil && !rt.Page && !rt.BearerOnly && !isBrowser(r.Header) {
		h.Add("Www-Authenticate", basicChallenge)
	}
}

// RejectKeys fails if a query string has a key where none is accepted: in a parameter other than
// api_key, or, unless acceptsKey, in that one. Such a request is rejected before its handler runs,
// because links, redirects and pages repeat the parameters of a request and would spread the key.
// Paths with a key need no such rule: they name no dataset, so they are not found, and the message
// is redacted.
func RejectKeys(s query.String, acceptsKey bool) error {
	for _, p := range s.RawParams() {
		switch {
		case p.Name == query.ParamAPIKey && !acceptsKey: // its value may be a token of any format
			return herb.Invalidf("pages and tools have no parameter api_key; enter the key on the page, or send it " +
				"as X-API-Key: <key> or as " +
				"Authorization: Bearer <key>, and revoke it if others may have seen the URL")
		case herb.ContainsSecret(p.Name), p.Name != query.ParamAPIKey && herb.ContainsSecret(p.Value):
			return herb.Invalidf("a parameter other than api_key contains a key; send it as X-API-Key: <key>, as " +
				"Authorization: Bearer <key>, as the " +
				"password of HTTP Basic, or as api_key, and revoke it if others may have seen the URL")
		}
	}
	return nil
}

// RejectFormKeys fails if a field of a form contains a key, as RejectKeys does for parameters.
func RejectFormKeys(fields url.Values) error {
	for name, values := range fields {
		if herb.ContainsSecret(name) || slices.ContainsFunc(values, herb.ContainsSecret) {
			return herb.Invalidf("a field of the form contains a key; leave it out, and revoke it if others may have " +
				"seen it")
		}
	}
	return nil
}

// Key returns the key of a request: for a page, the one that is stored in the browser.
func (w *Writer) Key(r *http.Request) string {
	switch {
	case w.Route != nil && w.Route.Page:
		return w.shared.opts.PageKey(r)
	case w.Route != nil && w.Route.BearerOnly:
		return BearerToken(r.Header)
	}
	return w.apiKey(r)
}

// verification is the result of verifying the key of a request.
type verification struct {
	secret    string // empty if no key was verified
	principal herb.Principal
	err       error
}

// Verify verifies a key once per request, however often a response depends on it, so that an
// invalid one counts as one failure of its client.
func (w *Writer) Verify(ctx context.Context, secret string) (herb.Principal, error) {
	if v := &w.verified; v.secret != secret || secret == "" {
		v.secret = secret
		v.principal, v.err = w.shared.opts.Keys.Verify(ctx, secret, w.Client())
	}
	return w.verified.principal, w.verified.err
}

// SetChallenge sets the challenge of a response to a request whose key was rejected.
func (w *Writer) SetChallenge(secret string, rejection error, anyOf []herb.Scope) {
	if secret == "" {
		return
	}
	switch herb.CodeOf(rejection) {
	case herb.CodeUnauthenticated:
		w.Set("Www-Authenticate", `Bearer error="invalid_token", `+description(herb.MessageOf(rejection))+realm)
	case herb.CodeForbidden:
		w.Set("Www-Authenticate",
			`Bearer error="insufficient_scope", scope="`+string(anyOf[0])+`", `+
				description(herb.MessageOf(rejection))+realm)
	}
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

// Client returns the client that sends a request, by its address.
func (w *Writer) Client() admission.Client { return admission.ClientOf(w.address) }

// Actor returns who sends a request, for the audit log.
func (w *Writer) Actor(p herb.Principal) herb.Actor {
	return herb.Actor{ID: p.ID, Origin: w.address.String()}
}
