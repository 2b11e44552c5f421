package gate

import (
	"context"
	"net/http"

	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// Library provides the published datasets and the mutable one.
type Library interface {
	library.RecordSource
	// AcquireVersion returns a version of a dataset. It fails with herb.CodeGone if it is not kept.
	AcquireVersion(ctx context.Context, ref herb.Ref, version string) (library.View, error)
	// Search returns the live versions whose metadata matches the search and the keyword. An empty
	// one matches all.
	Search(ctx context.Context, search, keyword string) ([]herb.LiveVersion, error)
	// Datasets describes versions that Live or Search returned, with or without details.
	Datasets(ctx context.Context, versions []herb.LiveVersion, details bool) ([]herb.Dataset, error)
}

// Gate opens datasets for the clients that may read them.
type Gate struct {
	library Library
	keys    response.Keys
}

func New(l Library, keys response.Keys) *Gate { return &Gate{l, keys} }

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

// Open opens the dataset in the version that the query string names. A key is required if that
// version or the live one requires it: a dataset can become protected after a version was
// published, or open. Without an error, the caller must release the view.
//
// The rest of the query string must not be interpreted for a client that is denied: an error would
// tell it the fields.
func (g *Gate) Open(w *response.Writer, r *http.Request, ref herb.Ref, words denialWords) (v DatasetView, err error) {
	if v, err = g.OpenLive(w, r, ref, words); err != nil {
		return v, err
	}
	if v.Pinned, v.Query, err = w.QueryString(r).CutVersion(); err == nil && v.Pinned != "" && v.Denied == nil {
		err = g.pinVersion(w, r, &v, words)
	}
	if err != nil {
		v.Release()
	}
	return v, err
}

// OpenLive opens the live version of a dataset. Without an error, the caller must release the view.
func (g *Gate) OpenLive(w *response.Writer, r *http.Request, ref herb.Ref, words denialWords) (v DatasetView, err error) {
	if v.View, err = g.library.Acquire(r.Context(), ref); err != nil {
		return v, err
	}
	v.Live = v.Version
	g.checkRead(w, r, &v, words)
	return v, nil
}

// pinVersion replaces the live version, which the client may read, by the one that the URL names.
func (g *Gate) pinVersion(w *response.Writer, r *http.Request, v *DatasetView, words denialWords) error {
	pinned, err := g.library.AcquireVersion(r.Context(), v.Ref, v.Pinned)
	if err != nil {
		return err
	}
	v.Release()
	if v.Access == herb.AccessKey {
		pinned.Access = herb.AccessKey
	}
	v.View = pinned
	g.checkRead(w, r, v, words)
	return nil
}

// denialWords returns what a client is told that may not read a dataset.
type denialWords func(herb.Ref) denial

// denial is what a client is told whose key is missing or lacks a scope.
type denial struct{ missing, forbidden string }

// checkRead sets why the client may not read the records of a version, and removes the values from
// its description then. The key is verified only if one is required.
func (g *Gate) checkRead(w *response.Writer, r *http.Request, v *DatasetView, words denialWords) {
	if (herb.Principal{}).See(v.Dataset).Values {
		return
	}
	denial := words(v.Ref)
	p, err := g.Authenticate(w, r, w.Key(r), denial.missing)
	if err == nil && !p.See(v.Dataset).Values {
		err = herb.Errorf(herb.CodeForbidden, "%s", denial.forbidden)
	}
	if v.Denied = err; err != nil {
		v.Dataset = v.WithoutValues()
	}
}

// OpenDataset opens the dataset of a request for records, which fails if the client may not read
// them. The caller must release the view.
func (g *Gate) OpenDataset(w *response.Writer, r *http.Request) (DatasetView, error) {
	v, err := g.Open(w, r, RefOf(r), DenyRequest)
	if v.Access == herb.AccessKey {
		w.SetKeyVary()
	}
	if v.Denied != nil { // takes precedence over an error in the version
		if err == nil {
			v.Release()
		}
		w.SetChallenge(w.Key(r), v.Denied, v.ReadScopes())
		return v, v.Denied
	}
	if err != nil {
		return v, err
	}
	w.SetCaching(r, v.Access)
	w.Set("X-Dataset-Version", v.Version)
	w.Immutable = v.Ref != herb.PlantsRef
	return v, nil
}

// RefOf returns the dataset that the path of a request names, short enough for a message.
func RefOf(r *http.Request) herb.Ref {
	return herb.Ref{Namespace: herb.Clip(r.PathValue("namespace"), response.MaxShown), Name: herb.Clip(r.PathValue("dataset"), response.MaxShown)}
}

// DescriptionAccess returns the access that a response with the description of a dataset requires:
// without values, it is public.
func (v *DatasetView) DescriptionAccess(w *response.Writer) herb.Access {
	if v.Access == herb.AccessKey {
		w.SetKeyVary()
	}
	if v.Denied != nil {
		return herb.AccessOpen
	}
	return v.Access
}

func DenyRequest(ref herb.Ref) denial {
	return denial{
		missing: "dataset " + ref.String() + " requires a key; send it as X-API-Key: <key>, as Authorization: Bearer <key>, " +
			"or as the parameter api_key",
		forbidden: lacksScope(ref.ReadScopes()),
	}
}

func DenyVisitor(ref herb.Ref) denial {
	return denial{
		missing:   "dataset " + ref.String() + " requires a key; open its page and enter one",
		forbidden: "the key is valid, but not for this dataset",
	}
}
