package gate

import (
	"context"
	"net/http"

	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/library"
)

// Authorize authenticates a request and checks that its key has one of the scopes. A rejection
// includes a challenge as specified by RFC 6750. Without a key, howTo is the message, and fail adds
// the challenge.
func (g *Gate) Authorize(w *response.Writer, r *http.Request, secret, howTo string,
	anyOf ...herb.Scope) (herb.Principal, error) {
	p, err := g.checkScopes(w, r, secret, denial{howTo, lacksScope(anyOf)}, anyOf...)
	w.SetChallenge(secret, err, anyOf)
	return p, err
}

// checkScopes verifies a key and checks that it has one of the scopes.
func (g *Gate) checkScopes(w *response.Writer, r *http.Request, secret string, words denial,
	anyOf ...herb.Scope) (herb.Principal, error) {
	p, err := g.Authenticate(w, r, secret, words.missing)
	if err == nil && !p.May(anyOf...) {
		err = herb.Errorf(herb.CodeForbidden, "%s", words.forbidden)
	}
	return p, err
}

// Authenticate verifies a key. Without one, missing is the message.
func (g *Gate) Authenticate(w *response.Writer, r *http.Request, secret, missing string) (herb.Principal, error) {
	if secret == "" {
		return herb.Principal{}, herb.Errorf(herb.CodeUnauthenticated, "%s", missing)
	}
	return w.Verify(r.Context(), secret)
}

func lacksScope(anyOf []herb.Scope) string {
	return "the key is valid but lacks the scope; it needs " + herb.JoinScopes(anyOf, " or ")
}

// Reauthorize returns a function that fails if a key must not publish a dataset anymore. It is
// called when the version of a request that was authorized is about to go live.
func (g *Gate) Reauthorize(w *response.Writer, secret string, ref herb.Ref) func(context.Context) error {
	client := w.Client()
	return func(ctx context.Context) error {
		p, err := g.keys.Verify(ctx, secret, client)
		if err == nil && !p.MayPublish(ref) {
			err = herb.Errorf(herb.CodeForbidden, "%s", lacksScope(ref.PublishScopes()))
		}
		switch code := herb.CodeOf(err); code {
		case herb.CodeUnauthenticated, herb.CodeForbidden, herb.CodeRateLimited:
			return herb.Wrap(herb.CodeUnauthenticated, err,
				"the key was revoked or has expired since the request arrived; nothing has changed; send it again "+
					"with a valid key")
		}
		return err
	}
}

// OptionalPrincipal returns the principal of a request, or the zero one if there is no valid key.
// An invalid key is not an error, because part of the response is public.
func (g *Gate) OptionalPrincipal(w *response.Writer, r *http.Request) herb.Principal {
	if secret := w.Key(r); secret != "" {
		if p, err := w.Verify(r.Context(), secret); err == nil {
			return p
		}
	}
	return herb.Principal{}
}

// WithReader returns a context for library.Private. The key is verified before it is known whether
// the result depends on it, so that the time of a response does not tell whether a dataset exists.
func (g *Gate) WithReader(ctx context.Context, w *response.Writer, r *http.Request) context.Context {
	w.SetKeyVary()
	secret := w.Key(r)
	if secret == "" {
		return ctx
	}
	p, err := w.Verify(ctx, secret)
	switch herb.CodeOf(err) {
	case herb.CodeUnauthenticated, herb.CodeRateLimited: // as without a key
		return ctx
	}
	w.Private = err == nil
	return library.WithReader(ctx, func(d herb.Dataset) bool { return p.See(d).Values }, err)
}

// MayPublish returns who sends a request for a page, for the audit log. It fails unless the key
// that the browser sends may publish the dataset. A zero Ref means any dataset.
func (g *Gate) MayPublish(w *response.Writer, r *http.Request, ref herb.Ref) (herb.Actor, error) {
	words := denial{"publishing requires a key; enter one that may publish",
		"the key is valid, but may not publish; it needs the scope publish"}
	scopes := g.OptionalPrincipal(w, r).PublishScopes()
	if ref != (herb.Ref{}) {
		scopes = ref.PublishScopes()
		words.forbidden = lacksScope(scopes)
	}
	p, err := g.checkScopes(w, r, w.Key(r), words, scopes...)
	return w.Actor(p), err
}
