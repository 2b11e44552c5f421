package site

import (
	"cmp"
	"context"
	"net/http"
	"path"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/text"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/state"
)

// failurePage is a page about an error.
type failurePage struct {
	Status           int
	Heading, Message string
	Dataset, Link    string       // link to the dataset of the path, and its text; empty: there is none
	Key              string       // link to the form for a key; empty: a key does not help
	Retry            bool         // the request may succeed later
	Near             []state.Link // datasets with a similar name
}

// Failure writes an error page.
func (p *Site) Failure(w *httpapi.Page, r *http.Request, status int, message string) error {
	page := failurePage{Status: status, Heading: http.StatusText(status), Message: message,
		Retry: status >= http.StatusInternalServerError}
	switch status {
	case http.StatusGone: // the version
		page.Dataset, page.Link = p.DatasetPath(RefOf(r)), "Show the live version"
		if strings.HasSuffix(r.URL.Path, "/"+ViewChanges) {
			page.Dataset, page.Link = page.Dataset+"/versions", "Show the versions"
		}
	case http.StatusConflict, http.StatusPreconditionFailed: // of a rollback
		if ref := RefOf(r); herb.ValidName(ref.Namespace) && herb.ValidName(ref.Name) {
			page.Dataset, page.Link = p.DatasetPath(ref)+"/versions", "Show the versions"
		}
	case http.StatusNotFound:
		p.describeMissing(r, &page)
	}
	return p.Render(w, "failure", p.Shell(r, page.Heading, page.Message), &page)
}

// Missing serves paths without a page. It redirects a path that names a dataset or a namespace,
// such as /garden/catalog, and fails otherwise.
func (p *Site) Missing(w *httpapi.Page, r *http.Request) error {
	missing := herb.Errorf(herb.CodeNotFound, "there is no page %q", herb.Clip(r.URL.Path, 200))
	ref, rest := refOfPath(r.URL.Path)
	if rest != "" || !herb.ValidName(ref.Namespace) {
		return missing
	}
	live, err := p.Opts.Library.Live(r.Context())
	if err != nil {
		return err
	}
	if ref.Name == "" {
		if slices.ContainsFunc(live, func(v herb.LiveVersion) bool { return v.Namespace == ref.Namespace }) {
			return Redirect(w, p.CatalogueHref(ParamNamespace, ref.Namespace))
		}
		return missing
	}
	if !isLive(live, ref) {
		return missing
	}
	params, err := w.QueryString().Params()
	if err != nil {
		return err
	}
	return Redirect(w, state.Join(p.DatasetPath(ref), params.Encode()))
}

// refOfPath returns the dataset that a path names, as /datasets/garden/catalog or as
// /garden/catalog, and the rest of the path. The name is empty if the path has a namespace only.
func refOfPath(p string) (ref herb.Ref, rest string) {
	clean := strings.TrimPrefix(path.Clean("/"+p), "/")
	if inside, ok := strings.CutPrefix(clean, strings.Trim(PathDatasets, "/")+"/"); ok {
		clean = inside
	}
	ref.Namespace, clean, _ = strings.Cut(clean, "/")
	ref.Name, rest, _ = strings.Cut(clean, "/")
	return ref, rest
}

func isLive(live []herb.LiveVersion, ref herb.Ref) bool {
	return slices.ContainsFunc(live, func(v herb.LiveVersion) bool { return v.Ref == ref })
}

// describeMissing says what a path names that does not exist, and adds links to what does. It shows
// the message alone if the datasets are unknown.
func (p *Site) describeMissing(r *http.Request, page *failurePage) {
	page.Heading = "Page not found"
	if p.Opts.PrivateCatalog {
		page.Key = p.Base + pathKey
	}
	ref, _ := refOfPath(r.URL.Path)
	live, err := p.Opts.Library.Live(r.Context())
	if err != nil {
		return
	}
	if isLive(live, ref) {
		page.Dataset, page.Link = p.DatasetPath(ref), "Show the dataset"
		return
	}
	if strings.HasPrefix(r.URL.Path, PathDatasets) && herb.ValidName(ref.Namespace) && herb.ValidName(ref.Name) {
		page.Heading, page.Message = "Dataset not found", "There is no dataset "+herb.Clip(ref.String(), 200)+"."
		if p.Opts.PrivateCatalog {
			page.Message = "There is no dataset " + herb.Clip(ref.String(), 200) + ", or it requires another key."
		}
	}
	if !p.Opts.PrivateCatalog { // whose errors depend on nothing but the request
		page.Near = p.nearDatasets(r.Context(), live, ref)
	}
}

// nearDatasets returns links to the datasets whose names are most similar to that of a path.
func (p *Site) nearDatasets(ctx context.Context, live []herb.LiveVersion, ref herb.Ref) (links []state.Link) {
	const most = 5
	type near struct {
		herb.LiveVersion
		distance int
	}
	var found []near
	for _, v := range live {
		if d, ok := nameDistance(ref, v.Ref); ok {
			found = append(found, near{v, d})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	var versions []herb.LiveVersion
	for _, n := range found[:min(len(found), most)] {
		versions = append(versions, n.LiveVersion)
	}
	similar, err := p.Opts.Library.Datasets(ctx, versions, false)
	if err != nil {
		return nil
	}
	for i := range similar {
		d := &similar[i]
		links = append(links, state.Link{Label: datasets.Title(d), Detail: d.Ref.String(), Href: p.DatasetPath(d.Ref)})
	}
	return links
}

// nameDistance returns how much the name of a dataset differs from the one that a path names: by
// the edit distance, or not at all if it has the same name in another namespace. ok is false if a
// typo does not explain it.
func nameDistance(ref, dataset herb.Ref) (distance int, ok bool) {
	name := cmp.Or(ref.Name, ref.Namespace) // of one part: the name of a dataset without its namespace
	within := func(a, b string) bool {
		distance, ok = text.TypoDistance(a, b)
		return ok
	}
	switch {
	case within(name, dataset.Name): // in any namespace; the same one first
		if ref.Namespace != dataset.Namespace {
			distance++
		}
		return distance, true
	case ref.Name != "" && within(ref.String(), dataset.String()):
		return distance, true
	case ref.Name == "" && within(ref.Namespace, dataset.Namespace):
		return distance + 1, true
	}
	const shortest = 4 // parts of names that are shorter occur in many
	if len(name) >= shortest && strings.Contains(text.Fold(dataset.Name), text.Fold(name)) {
		return len(dataset.Name), true
	}
	return 0, false
}
