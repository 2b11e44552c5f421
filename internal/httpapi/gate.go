package httpapi

import (
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// This file is the gate to datasets. Listings and pages pass it: it opens the dataset of the path,
// selects the version that the query string names, decides whether the client may read records, and
// sets how responses are cached.

// DatasetView is an open version of a dataset, as a request reads it.
type DatasetView struct {
	library.View
	Live   string       // the live version
	Pinned string       // the version that the URL names; empty if there is none
	Query  query.String // of the URL, without the version
	// Denied is why the client may not read records; nil if it may. The description has no values
	// then. A client that the live version denies gets the live version.
	Denied error
}

// open opens the dataset in the version that the query string names. A key is required if that
// version or the live one requires it: a dataset can become protected after a version was
// published, or open. Without an error, the caller must release the view.
//
// The rest of the query string must not be interpreted for a client that is denied: an error would
// tell it the fields.
func (a *API) open(w *response, r *http.Request, ref herb.Ref, words denialWords) (v DatasetView, err error) {
	if v, err = a.openLive(w, r, ref, words); err != nil {
		return v, err
	}
	if v.Pinned, v.Query, err = w.queryString(r).CutVersion(); err == nil && v.Pinned != "" && v.Denied == nil {
		err = a.pinVersion(w, r, &v, words)
	}
	if err != nil {
		v.Release()
	}
	return v, err
}

// openLive opens the live version of a dataset. Without an error, the caller must release the view.
func (a *API) openLive(w *response, r *http.Request, ref herb.Ref, words denialWords) (v DatasetView, err error) {
	if v.View, err = a.opts.Library.Acquire(r.Context(), ref); err != nil {
		return v, err
	}
	v.Live = v.Version
	a.checkRead(w, r, &v, words)
	return v, nil
}

// OpenLive opens the live version of a dataset for a page that is not about this dataset. Without
// an error, the caller must release the view.
func OpenLive(r *http.Request, ref herb.Ref) (DatasetView, error) {
	w := responseOf(r)
	return w.api.openLive(w, r, ref, denyVisitor)
}

// pinVersion replaces the live version, which the client may read, by the one that the URL names.
func (a *API) pinVersion(w *response, r *http.Request, v *DatasetView, words denialWords) error {
	pinned, err := a.opts.Library.AcquireVersion(r.Context(), v.Ref, v.Pinned)
	if err != nil {
		return err
	}
	v.Release()
	if v.Access == herb.AccessKey {
		pinned.Access = herb.AccessKey
	}
	v.View = pinned
	a.checkRead(w, r, v, words)
	return nil
}

// denialWords returns what a client is told that may not read a dataset.
type denialWords func(herb.Ref) denial

// denial is what a client is told whose key is missing or lacks a scope.
type denial struct{ missing, forbidden string }

// checkRead sets why the client may not read the records of a version, and removes the values from
// its description then. The key is verified only if one is required.
func (a *API) checkRead(w *response, r *http.Request, v *DatasetView, words denialWords) {
	if (herb.Principal{}).See(v.Dataset).Values {
		return
	}
	denial := words(v.Ref)
	p, err := a.authenticate(w, r, a.requestKey(w, r), denial.missing)
	if err == nil && !p.See(v.Dataset).Values {
		err = herb.Errorf(herb.CodeForbidden, "%s", denial.forbidden)
	}
	if v.Denied = err; err != nil {
		v.Dataset = v.WithoutValues()
	}
}

// openDataset opens the dataset of a request for records, which fails if the client may not read
// them. The caller must release the view.
func (a *API) openDataset(w *response, r *http.Request) (DatasetView, error) {
	v, err := a.open(w, r, refOf(r), denyRequest)
	if v.Access == herb.AccessKey {
		w.setKeyVary()
	}
	if v.Denied != nil { // takes precedence over an error in the version
		if err == nil {
			v.Release()
		}
		w.setChallenge(a.requestKey(w, r), v.Denied, v.ReadScopes())
		return v, v.Denied
	}
	if err != nil {
		return v, err
	}
	w.setCaching(r, v.Access)
	w.set("X-Dataset-Version", v.Version)
	w.immutable = v.Ref != herb.PlantsRef
	return v, nil
}

// refOf returns the dataset that the path of a request names, short enough for a message.
func refOf(r *http.Request) herb.Ref {
	return herb.Ref{Namespace: herb.Clip(r.PathValue("namespace"), maxShown), Name: herb.Clip(r.PathValue("dataset"), maxShown)}
}

// descriptionAccess returns the access that a response with the description of a dataset requires:
// without values, it is public.
func (w *response) descriptionAccess(v *DatasetView) herb.Access {
	if v.Access == herb.AccessKey {
		w.setKeyVary()
	}
	if v.Denied != nil {
		return herb.AccessOpen
	}
	return v.Access
}

func denyRequest(ref herb.Ref) denial {
	return denial{
		missing: "dataset " + ref.String() + " requires a key; send it as X-API-Key: <key>, as Authorization: Bearer <key>, " +
			"or as the parameter api_key",
		forbidden: lacksScope(ref.ReadScopes()),
	}
}

// servePage calls the handler of a page, with the dataset of the path if the page has one. A
// visitor who may not read records is told so by the page.
func (a *API) servePage(w *response, r *http.Request, handler PageHandler, p *page) error {
	if handler.ServeDataset == nil {
		err := handler.Serve(p, r)
		if err == nil {
			p.setCaching(herb.AccessOpen)
		}
		return err
	}
	ref := herb.Ref{Namespace: r.PathValue("namespace"), Name: r.PathValue("dataset")}
	if !herb.ValidName(ref.Namespace) || !herb.ValidName(ref.Name) {
		return herb.Errorf(herb.CodeNotFound, "no such dataset; the catalogue lists all datasets")
	}
	v, err := a.open(w, r, ref, denyVisitor)
	if err != nil {
		return err
	}
	defer v.Release()
	err = handler.ServeDataset(p, r, v)
	if err == nil || herb.CodeOf(err) == herb.CodeInvalid && p.Len() > 0 { // rows without invalid parameters
		p.setCaching(v.Access)
	}
	return err
}

func denyVisitor(ref herb.Ref) denial {
	return denial{
		missing:   "dataset " + ref.String() + " requires a key; open its page and enter one",
		forbidden: "the key is valid, but not for this dataset",
	}
}

// setCaching sets Cache-Control: caches must revalidate. Responses to URLs that contain a key are
// not stored.
func (w *response) setCaching(r *http.Request, access herb.Access) {
	switch _, keyed := w.queryString(r).Key(); {
	case keyed:
		w.set("Cache-Control", "private, no-store")
		w.set("Referrer-Policy", "no-referrer")
	case access == herb.AccessKey, w.private:
		w.set("Cache-Control", privateCaching)
	default:
		w.set("Cache-Control", "public, no-cache")
	}
}

const privateCaching = "private, no-cache"

// setCaching sets Cache-Control of a page unless its handler has: caches must revalidate it. Pages
// that required a key are cached only by the browser.
func (p *page) setCaching(access herb.Access) {
	switch {
	case p.header.Get("Cache-Control") != "":
	case access == herb.AccessKey:
		SetPrivate(p.header)
	default:
		p.header.Set("Cache-Control", "no-cache")
	}
}

// SetPrivate restricts the caching of a page to the browser, because it depends on the key of the
// visitor.
func SetPrivate(h http.Header) {
	h.Set("Cache-Control", privateCaching)
	h.Set("Vary", varyCookie)
}
