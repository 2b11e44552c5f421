package gate

import (
	"context"
	"net/http"
	"os"

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
	// ListVersions lists the versions of a dataset.
	ListVersions(ctx context.Context, ref herb.Ref) (herb.VersionList, error)
	// OpenParquet opens the Parquet file of a version; exact means texts as written.
	OpenParquet(ctx context.Context, v library.View, exact bool) (*os.File, error)
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
	Pinned string       // the version that the request names; empty if there is none
	Query  query.String // the parameters of the request, without the version
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
func (g *Gate) Open(w *response.Writer, r *http.Request, ref herb.Ref, words denialWords) (DatasetView, error) {
	return g.openVersion(w, r, ref, w.QueryString(r), words)
}

// openVersion opens the dataset in the version that params name.
func (g *Gate) openVersion(
	w *response.Writer, r *http.Request, ref herb.Ref, params query.String, words denialWords,
) (v DatasetView, err error) {
	v, err = g.OpenLive(w, r, ref, words)
	if err != nil {
		return v, err
	}
	v.Pinned, v.Query, err = params.CutVersion()
	if err == nil && v.Pinned != "" && v.Denied == nil {
		err = g.pinVersion(w, r, &v, words)
	}
	if err != nil {
		v.Release()
	}
	return v, err
}

// OpenLive opens the live version of a dataset. Without an error, the caller must release the view.
func (g *Gate) OpenLive(w *response.Writer, r *http.Request, ref herb.Ref, words denialWords) (v DatasetView,
	err error) {
	v.View, err = g.library.Acquire(r.Context(), ref)
	if err != nil {
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
	if v.Access.NeedsKey() {
		pinned.Access = herb.AccessKey
	}
	v.View = pinned
	g.checkRead(w, r, v, words)
	return nil
}

// OpenOther opens another version of the dataset of an open view, which stays open. A key is
// required if one of the two or the live version requires it. Without an error, the caller must
// release both.
func (g *Gate) OpenOther(w *response.Writer, r *http.Request, v DatasetView, version string,
	words denialWords) (DatasetView, error) {
	v.Close, v.Pinned = nil, version // the other view is closed by its owner
	err := g.pinVersion(w, r, &v, words)
	return v, err
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
	v.Denied = err
	if err != nil {
		v.Dataset = v.WithoutValues()
	}
}

// OpenRecords opens a dataset, in the version that params name, whose records the client must be
// allowed to read. The caller must release the view.
func (g *Gate) OpenRecords(
	w *response.Writer, r *http.Request, ref herb.Ref, params query.String, words denialWords,
) (DatasetView, error) {
	v, err := g.openVersion(w, r, ref, params, words)
	if v.Denied != nil { // takes precedence over an error in the version
		if err == nil {
			v.Release()
		}
		return v, v.Denied
	}
	return v, err
}

// OpenDataset opens the dataset of a request for records, which fails if the client may not read
// them. The caller must release the view.
func (g *Gate) OpenDataset(w *response.Writer, r *http.Request) (DatasetView, error) {
	v, err := g.OpenRecords(w, r, RefOf(r), w.QueryString(r), DenyRequest)
	if v.Version != "" && v.Access.NeedsKey() {
		w.SetKeyVary()
	}
	if v.Denied != nil {
		w.SetChallenge(w.Key(r), v.Denied, v.ReadScopes())
	}
	if err != nil {
		return v, err
	}
	w.SetCaching(r, v.Access)
	w.Set("X-Dataset-Version", v.Version)
	w.Immutable = v.Ref != herb.PlantsRef
	return v, nil
}

// ListVersions returns what the client of a request may see of the versions of its dataset, and the
// access that the response requires. It fails if the client may not read the live version. It opens
// no version.
func (g *Gate) ListVersions(w *response.Writer, r *http.Request) (list herb.VersionList, access herb.Access,
	err error) {
	w.SetKeyVary()
	list, err = g.library.ListVersions(r.Context(), RefOf(r))
	if err != nil {
		return list, "", err
	}
	live := DatasetView{View: library.View{Dataset: herb.Dataset{Ref: RefOf(r), Access: herb.AccessKey}}}
	for _, v := range list.Versions {
		if v.Version == list.Live {
			live.Dataset = v.Dataset()
		}
	}
	g.checkRead(w, r, &live, DenyRequest)
	if live.Denied != nil {
		w.SetChallenge(w.Key(r), live.Denied, live.ReadScopes())
		return list, "", live.Denied
	}
	p := g.OptionalPrincipal(w, r)
	access = live.Access
	if p.ID != "" {
		access = herb.AccessKey
	}
	return list.See(p), access, nil
}

// OpenVersions opens the dataset of a request in two versions: the one that ParamFrom names, and
// the one that ParamTo or ParamVersion names, or else the live one. It fails if the client may not
// read one of them. The caller must release both.
func (g *Gate) OpenVersions(w *response.Writer, r *http.Request) (from, to DatasetView, err error) {
	to, err = g.OpenDataset(w, r)
	if err != nil {
		return from, to, err
	}
	defer func() {
		if err != nil {
			to.Release()
		}
	}()
	earlier, later, rest, err := to.Query.CutVersions()
	if err != nil {
		return from, to, err
	}
	if later != "" {
		if to.Pinned != "" {
			return from, to, herb.Invalidf("%q and %q are given; give one of them", query.ParamTo, query.ParamVersion)
		}
		if err := g.pinReadable(w, r, &to, later); err != nil {
			return from, to, err
		}
	}
	from = to
	from.Close = nil // of the other view
	if err := g.pinReadable(w, r, &from, earlier); err != nil {
		return from, to, err
	}
	from.Query, to.Query = rest, rest
	if from.Access.NeedsKey() {
		w.SetKeyVary()
		w.SetCaching(r, herb.AccessKey)
	}
	w.Set("X-Dataset-Version", to.Version)
	return from, to, nil
}

// pinReadable replaces a view by the version with a name, which the client must be able to read.
func (g *Gate) pinReadable(w *response.Writer, r *http.Request, v *DatasetView, version string) error {
	v.Pinned = version
	if err := g.pinVersion(w, r, v, DenyRequest); err != nil {
		return err
	}
	if v.Denied != nil {
		w.SetKeyVary()
		w.SetChallenge(w.Key(r), v.Denied, v.ReadScopes())
		if v.Close != nil {
			v.Release()
			v.Close = nil
		}
	}
	return v.Denied
}

// RefOf returns the dataset that the path of a request names, short enough for a message.
func RefOf(r *http.Request) herb.Ref {
	return herb.Ref{Namespace: herb.Clip(r.PathValue("namespace"), response.MaxShown),
		Name: herb.Clip(r.PathValue("dataset"), response.MaxShown)}
}

// DescriptionAccess returns the access that a response with the description of a dataset requires:
// without values, it is public.
func (v *DatasetView) DescriptionAccess(w *response.Writer) herb.Access {
	if v.Access.NeedsKey() {
		w.SetKeyVary()
	}
	if v.Denied != nil {
		return herb.AccessOpen
	}
	return v.Access
}

func DenyRequest(ref herb.Ref) denial {
	return denial{
		missing: "dataset " + ref.String() +
			" requires a key; send it as X-API-Key: <key>, as Authorization: Bearer <key>, " +
			"as the password of HTTP Basic, or as the parameter api_key",
		forbidden: lacksScope(ref.ReadScopes()),
	}
}

// DenyAgent names the scope: a model cannot add a key, so it tells its user which one is needed.
func DenyAgent(ref herb.Ref) denial {
	scopes := herb.JoinScopes(ref.ReadScopes(), " or ")
	return denial{
		missing: "dataset " + ref.String() + " requires a key with the scope " + scopes +
			"; ask the user to add it to the connection " +
			"to this server as the header Authorization: Bearer <key>",
		forbidden: "the key of this connection is valid, but lacks the scope for dataset " + ref.String() +
			"; it needs " + scopes +
			"; ask the user to replace it",
	}
}

func DenyVisitor(ref herb.Ref) denial {
	return denial{
		missing:   "dataset " + ref.String() + " requires a key; open its page and enter one",
		forbidden: "the key is valid, but not for this dataset",
	}
}
