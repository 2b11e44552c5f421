package web

import (
	"net/http"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/web/view"
)

// keyCookie holds the key of a dataset. Its path is that of the dataset, so that a browser can hold the keys of several
// datasets and sends each only there. It is a session cookie.
const keyCookie = "herbarium_key"

// Key returns the key that the browser sends for the dataset of a page; empty: none.
func (p *Pages) Key(r *http.Request) string {
	c, err := r.Cookie(keyCookie)
	if err != nil {
		return ""
	}
	return c.Value
}

// authorize checks that the key of the browser may read a dataset. The error for a missing key has no message.
func (p *Pages) authorize(r *http.Request, d *herb.Dataset) error {
	if d.Access != herb.AccessKey {
		return nil
	}
	key := p.Key(r)
	if key == "" {
		return herb.Errorf(herb.CodeUnauthenticated, "")
	}
	return p.verify(r, d.Ref, key)
}

func (p *Pages) verify(r *http.Request, ref herb.Ref, key string) error {
	who, err := p.opts.Keys.Verify(r.Context(), key, r.RemoteAddr)
	if err != nil {
		return err
	}
	if !who.May(ref.ReadScopes()...) {
		return herb.Errorf(herb.CodeForbidden, "the key is valid, but not for this dataset")
	}
	return nil
}

// requestKey responds with the form for the key of a dataset. It returns errors that are not about the key.
func (p *Pages) requestKey(w http.ResponseWriter, r *http.Request, d *herb.Dataset, back string, refused error) error {
	status, ok := map[herb.Code]int{
		herb.CodeUnauthenticated: http.StatusUnauthorized, herb.CodeForbidden: http.StatusForbidden, herb.CodeRateLimited: http.StatusTooManyRequests,
	}[herb.CodeOf(refused)]
	if !ok {
		return refused
	}
	h := w.Header()
	if wait := herb.RetryAfterOf(refused); wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
	}
	h.Set("WWW-Authenticate", `Bearer realm="herbarium"`)
	h.Set("Cache-Control", "no-store")
	l := p.layout(r, "Key required: "+view.Title(d), d.Description)
	l.Framed = true
	return p.render(w, "key", status, l, struct {
		Head          view.Head
		Message, Back string
	}{p.head(d, "table"), herb.MessageOf(refused), back})
}

// saveKey verifies the key that was entered into the form and stores it in a cookie.
func (p *Pages) saveKey(w http.ResponseWriter, r *http.Request, v library.View) error {
	const maxForm = 32 << 10 // a key and the query string of the page to return to
	if err := p.csrf.Check(r); err != nil {
		return herb.Wrap(herb.CodeForbidden, err, "the form was submitted from another site; open the dataset here and enter the key again")
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return herb.Wrap(herb.CodeInvalid, err, "malformed form; open the dataset and enter the key again")
	}
	key, back := strings.TrimSpace(r.PostForm.Get("key")), r.PostForm.Get("back")
	if key == "" {
		return p.requestKey(w, r, &v.Dataset, back, herb.Errorf(herb.CodeUnauthenticated, "the key is empty; enter a key"))
	}
	if err := p.verify(r, v.Ref, key); err != nil {
		return p.requestKey(w, r, &v.Dataset, back, err)
	}
	http.SetCookie(w, p.cookie(v.Ref, key))
	return p.redirectBack(w, v.Ref, back)
}

// deleteKey deletes the cookie with the key of a dataset.
func (p *Pages) deleteKey(w http.ResponseWriter, r *http.Request) error {
	if err := p.csrf.Check(r); err != nil {
		return herb.Wrap(herb.CodeForbidden, err, "the form was submitted from another site")
	}
	c := p.cookie(refOf(r), "")
	c.MaxAge = -1
	http.SetCookie(w, c)
	return p.redirectBack(w, refOf(r), "")
}

// cookie returns the cookie for the key of a dataset.
func (p *Pages) cookie(ref herb.Ref, key string) *http.Cookie {
	return &http.Cookie{
		Name: keyCookie, Value: key, Path: p.datasetPath(ref), HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: p.public != nil && p.public.Scheme == "https",
	}
}

// redirectBack redirects to the page of a dataset that required the key. Only its query string comes from the form, so that
// the form cannot redirect elsewhere.
func (p *Pages) redirectBack(w http.ResponseWriter, ref herb.Ref, back string) error {
	if !herb.ValidName(ref.Namespace) || !herb.ValidName(ref.Name) {
		return redirect(w, p.base+pathCatalogue)
	}
	params, _ := query.ParseParams(back) // a malformed query is dropped
	return redirect(w, view.Join(p.datasetPath(ref), params.Encode()))
}
