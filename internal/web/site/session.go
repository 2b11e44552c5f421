package site

import (
	"cmp"
	"net/http"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/state"
)

// keyCookie holds a key. The path of the cookie is that of a dataset, so that a browser can hold
// the keys of several datasets and sends each only there, or that of the site. It is a session
// cookie.
const keyCookie = "herbarium_key"

// Key returns the key that the browser sends for a page; empty: none. Browsers send the cookie with
// the longest path first: the key of a dataset takes precedence over that of the site. Pages in
// frames of other sites ignore it.
func (p *Site) Key(r *http.Request) string {
	if IsEmbed(r) {
		return ""
	}
	c, err := r.Cookie(keyCookie)
	if err != nil {
		return ""
	}
	return c.Value
}

// verify checks that a key is valid and may read a dataset, if ref names one.
func (p *Site) verify(w *httpapi.Page, ref herb.Ref, key string) error {
	who, err := w.VerifyKey(key)
	if err == nil && ref != (herb.Ref{}) && !SeesProtected(who, ref) {
		err = herb.Errorf(herb.CodeForbidden, "the key is valid, but not for this dataset")
	}
	return err
}

// SeesProtected reports whether a visitor may see the values of a dataset in a version that
// requires a key, whether the live one does or not.
func SeesProtected(visitor herb.Principal, ref herb.Ref) bool {
	return visitor.See(herb.Dataset{Ref: ref, Access: herb.AccessKey}).Values
}

// siteKey serves the form for a key that the browser sends for all pages.
func (p *Site) siteKey(w *httpapi.Page, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	return p.RequestKey(w, r, nil, "", nil)
}

// RequestKey writes the form for the key of a dataset, or of the site if v is nil, with the reason
// why the key that was sent is rejected. It returns the rejection; one that is not about the key
// leads to no form.
func (p *Site) RequestKey(w *httpapi.Page, r *http.Request, v *gate.DatasetView, back string, rejection error) error {
	switch code := herb.CodeOf(rejection); {
	case rejection == nil, code == herb.CodeUnauthenticated, code == herb.CodeForbidden, code == herb.CodeRateLimited:
	default:
		return rejection
	}
	var form struct {
		Head          *datasets.Head // nil: the key of the site
		Message, Back string
	}
	l := p.Shell(r, "Enter a key", "Enter a key to see what it gives access to.")
	if v != nil {
		head := datasets.NewHead(columns.Read(&v.Dataset), p.DatasetPath(v.Ref), "", "table")
		l = p.Shell(r, "Key required: "+datasets.Title(&v.Dataset), datasets.Describe(&v.Dataset))
		l.Framed, form.Head = true, &head
	}
	form.Back = back
	if rejection != nil && (r.Method == http.MethodPost || p.Key(r) != "") {
		form.Message = herb.MessageOf(rejection)
	}
	return cmp.Or(p.Render(w, "key", l, form), rejection)
}

// SaveKey verifies the key that was entered into the form of a dataset, or of the site if v is nil,
// and stores it in a cookie.
func (p *Site) SaveKey(w *httpapi.Page, r *http.Request, v *gate.DatasetView) error {
	key, back, path := strings.TrimSpace(r.PostForm.Get("key")), r.PostForm.Get("back"), p.Base+PathCatalogue
	if v != nil {
		path = p.DatasetPath(v.Ref)
	}
	if err := p.verify(w, RefOf(r), key); err != nil {
		return p.RequestKey(w, r, v, back, err)
	}
	http.SetCookie(w, p.Cookie(path, key))
	return p.redirectBack(w, RefOf(r), back)
}

// DeleteKey deletes the keys that the browser sends for a dataset, or that of the site.
func (p *Site) DeleteKey(w *httpapi.Page, r *http.Request) error {
	paths := []string{p.Base + PathCatalogue}
	if ref := RefOf(r); herb.ValidName(ref.Namespace) && herb.ValidName(ref.Name) {
		paths = []string{p.DatasetPath(ref), p.Base + PathCatalogue}
	}
	for _, path := range paths {
		c := p.Cookie(path, "")
		c.MaxAge = -1
		http.SetCookie(w, c)
	}
	return p.redirectBack(w, RefOf(r), "")
}

// Cookie returns the cookie for the key of the pages under a path.
func (p *Site) Cookie(path, key string) *http.Cookie {
	return &http.Cookie{
		Name: keyCookie, Value: key, Path: path, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: p.public != nil && p.public.Scheme == "https",
	}
}

// The views of a dataset besides the table that the form for a key leads back to.
const (
	ViewChanges = "changes"
	ViewHistory = "history"
)

// redirectBack redirects to the page of a dataset that required the key, of which only the name of
// a view and the query string come from the form, or to a page for publishing, so that the form
// cannot redirect elsewhere.
func (p *Site) redirectBack(w http.ResponseWriter, ref herb.Ref, back string) error {
	if !herb.ValidName(ref.Namespace) || !herb.ValidName(ref.Name) {
		if PublishPath.MatchString(back) {
			return Redirect(w, p.Base+back)
		}
		return Redirect(w, p.Base+PathCatalogue)
	}
	path := p.DatasetPath(ref)
	if view, query, ok := strings.Cut(back, "?"); ok && (view == ViewChanges || view == ViewHistory) {
		path, back = path+"/"+view, query
	}
	params, _ := query.ParseParams(back) // a malformed query is dropped
	return Redirect(w, state.Join(path, params.Encode()))
}
