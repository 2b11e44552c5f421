package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"herbarium/internal/herb"
)

// keyCookie holds the key that opens a dataset. It is a cookie of the dataset's own path, so that a browser can keep the keys
// of several datasets and sends each nowhere else, and it lasts as long as the browser is open.
const keyCookie = "herbarium_key"

// Key returns the key that a browser keeps for the dataset of a page; empty: none.
func (p *Pages) Key(r *http.Request) string {
	c, err := r.Cookie(keyCookie)
	if err != nil {
		return ""
	}
	return c.Value
}

// admit finds out whether the key that a browser keeps opens a dataset. An empty key is an error without a message.
func (p *Pages) admit(r *http.Request, d herb.Dataset) error {
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
		return herb.Errorf(herb.CodeForbidden, "this key is valid, but not for this dataset")
	}
	return nil
}

// askKey shows the form for the key of a dataset. Errors that are not about the key are returned.
func (p *Pages) askKey(w http.ResponseWriter, r *http.Request, d herb.Dataset, back string, refused error) error {
	status := http.StatusUnauthorized
	switch herb.CodeOf(refused) {
	case herb.CodeUnauthenticated:
	case herb.CodeForbidden:
		status = http.StatusForbidden
	case herb.CodeRateLimited:
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", strconv.Itoa(int(herb.RetryAfterOf(refused).Seconds())))
	default:
		return refused
	}
	h := w.Header()
	h.Set("WWW-Authenticate", `Bearer realm="herbarium"`)
	h.Set("Cache-Control", "no-store")
	head := p.datasetHead(d, "data")
	return p.render(w, "key", status, p.layout(r, "Key needed: "+nameOf(d), d.Description), struct {
		Head    datasetHead
		Message string
		Back    string
	}{head, herb.MessageOf(refused), back})
}

// keepKey takes the key from the form and has the browser keep it.
func (p *Pages) keepKey(w http.ResponseWriter, r *http.Request) error {
	const most = 32 << 10 // room for a key and for the query of the page to go back to
	if err := p.csrf.Check(r); err != nil {
		return herb.Wrap(herb.CodeForbidden, err, "this form was sent from another site; open the dataset here and enter the key again")
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	if err := r.ParseForm(); err != nil {
		return herb.Wrap(herb.CodeInvalid, err, "the form cannot be read; open the dataset and enter the key again")
	}
	snap, err := p.acquire(r)
	if err != nil {
		return err
	}
	defer snap.Release()
	key, back := strings.TrimSpace(r.PostForm.Get("key")), r.PostForm.Get("back")
	if key == "" {
		return p.askKey(w, r, snap.Dataset, back, herb.Errorf(herb.CodeUnauthenticated, "the field is empty; enter the key"))
	}
	if err := p.verify(r, snap.Ref, key); err != nil {
		return p.askKey(w, r, snap.Dataset, back, err)
	}
	http.SetCookie(w, p.cookie(snap.Ref, key))
	return p.backTo(w, snap.Ref, back)
}

// forgetKey has the browser forget the key of a dataset.
func (p *Pages) forgetKey(w http.ResponseWriter, r *http.Request) error {
	if err := p.csrf.Check(r); err != nil {
		return herb.Wrap(herb.CodeForbidden, err, "this form was sent from another site")
	}
	gone := p.cookie(refOf(r), "")
	gone.MaxAge = -1
	http.SetCookie(w, gone)
	return p.backTo(w, refOf(r), "")
}

// cookie makes the cookie of a dataset's key.
func (p *Pages) cookie(ref herb.Ref, key string) *http.Cookie {
	return &http.Cookie{
		Name: keyCookie, Value: key, Path: p.datasetPath(ref), HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: p.public != nil && p.public.Scheme == "https",
	}
}

// backTo leads back to the page of a dataset that asked for the key. Only the query of it comes from the form, so that it
// cannot lead anywhere else.
func (p *Pages) backTo(w http.ResponseWriter, ref herb.Ref, back string) error {
	if !herb.ValidName(ref.Namespace) || !herb.ValidName(ref.Name) {
		return redirect(w, p.base+pathCatalogue)
	}
	values, err := url.ParseQuery(back)
	if err != nil {
		values = nil
	}
	return redirect(w, join(p.datasetPath(ref), values.Encode()))
}
