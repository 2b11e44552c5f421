package drafts

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/publish"
	"herbarium/internal/publish/receive"
	"herbarium/internal/publish/review"
	"herbarium/internal/versions"
	"herbarium/internal/web/site"
)

// Files receives files.
type Files interface {
	// Receive stores a file until it is closed. size is -1 if it is not known.
	Receive(ctx context.Context, body io.Reader, name string, size int64) (*receive.File, error)
	// MaxSize returns the limit of the size of a file.
	MaxSize() int64
}

// Versions describes live versions, also to publishers who may not read them.
type Versions interface {
	// LiveVersion describes the live version of a dataset; it has no version if there is none.
	LiveVersion(ctx context.Context, ref herb.Ref) (herb.Dataset, error)
}

// Publisher changes the versions of a dataset and which one is live.
type Publisher interface {
	// Label gives a label to a version and returns the name of the version.
	Label(ctx context.Context, ref herb.Ref, version, label string) (string, error)
	// Unlabel removes a label from a version and returns the name of the version.
	Unlabel(ctx context.Context, ref herb.Ref, version, label string) (string, error)
	// Rollback makes another version live; live is the version that must be live, or empty.
	Rollback(ctx context.Context, ref herb.Ref, live, version string, given ...herb.Consent) (string, error)
	// Withdraw deletes a version that must not be read any more.
	Withdraw(ctx context.Context, ref herb.Ref, version string) error
	// Remove removes a dataset with all its versions; live is as in Rollback.
	Remove(ctx context.Context, ref herb.Ref, live string) error
}

// Drafts keeps files that wait to be published, reviews them and publishes them.
type Drafts interface {
	Create(ctx context.Context, ref herb.Ref, f *receive.File, edits review.Edits,
		actor herb.Actor) (review.Draft, error)
	Restore(ctx context.Context, ref herb.Ref, edits review.Edits, actor herb.Actor) (review.Draft, error)
	Split(ctx context.Context, id string, parts []review.TablePart, actor herb.Actor) ([]review.Draft, error)
	Archive(ctx context.Context, ids []string, to io.Writer) (names []string, err error)
	Drafts(ctx context.Context, owner string) ([]review.Draft, error)
	Draft(ctx context.Context, id string) (review.Draft, error)
	Review(ctx context.Context, id string, wait time.Duration) (review.Review, error)
	Edit(ctx context.Context, id string, change func(review.Edits) (review.Edits, error)) (changed bool, err error)
	Descriptor(ctx context.Context, id string) ([]byte, error)
	Publish(ctx context.Context, id string, given versions.PublishOptions, live string,
		actor herb.Actor) (string, error)
	State(ctx context.Context, publish string, wait time.Duration) (publish.Publish, error)
	Discard(ctx context.Context, id string) error
}

// Fetches fetches files from other servers.
type Fetches interface {
	// MayFetch reports whether anything may be fetched.
	MayFetch() bool
	// Fetch fetches a file for a draft.
	Fetch(ctx context.Context, ref herb.Ref, s herb.FetchSource) (*receive.File, error)
	// Request makes the next fetch of a dataset due.
	Request(ctx context.Context, ref herb.Ref) error
}

// Options are what publishing needs besides the site. Without the first four, which require
// each other, nothing is published in the browser.
type Options struct {
	Files     Files
	Drafts    Drafts
	Versions  Versions
	Publisher Publisher
	Fetches   Fetches // nil: nothing is fetched
	// the kept versions of a dataset, newest first
	History func(context.Context, herb.Ref) ([]versions.Version, error)
}

// Pages serves the pages for publishing files. It is safe for concurrent use.
type Pages struct {
	*site.Site
	opts Options
}

func New(s *site.Site, opts Options) *Pages { return &Pages{s, opts} }

// Handlers returns the pages for publishing a file; none if that is not possible.
func (p *Pages) Handlers() map[string]httpapi.PageHandler {
	if p.opts.Drafts == nil {
		return nil
	}
	const draft = site.PathPublish + "/{id}"
	page := func(serve func(*httpapi.Page, *http.Request) error) httpapi.PageHandler {
		return httpapi.PageHandler{MaxForm: maxReviewForm, Serve: func(w *httpapi.Page, r *http.Request) error {
			w.Header().Set("Cache-Control", "no-store")
			return serve(w, r)
		}}
	}
	receive := page(p.receiveFiles)
	receive.Upload = true
	return map[string]httpapi.PageHandler{
		"GET " + site.PathPublish:                                      page(p.publishForm),
		"POST " + site.PathPublish:                                     receive,
		"POST " + site.PathPublish + "-table":                          page(p.receiveTable),
		"GET " + pathDrafts:                                            page(p.draftsForm),
		"POST " + pathDrafts:                                           page(p.publishDrafts),
		"POST " + pathDrafts + "/discard":                              page(p.discardDrafts),
		"POST " + pathDrafts + "/join":                                 page(p.joinDrafts),
		"GET " + draft:                                                 page(p.review),
		"POST " + draft + "/tables":                                    page(p.splitDraft),
		"POST " + draft:                                                page(p.editDraft),
		"GET " + draft + "/descriptor":                                 page(p.draftDescriptor),
		"POST " + draft + "/discard":                                   page(p.discardDraft),
		"POST " + draft + "/publish":                                   page(p.publishDraft),
		"GET " + draft + "/live/{publish}":                             page(p.publishState),
		"POST " + site.PathDatasets + "{namespace}/{dataset}/rollback": page(p.rollback),
		"POST " + site.PathDatasets + "{namespace}/{dataset}/labels":   page(p.changeLabels),
		"POST " + site.PathDatasets + "{namespace}/{dataset}/fetch":    page(p.requestFetch),
		"POST " + site.PathDatasets + "{namespace}/{dataset}/settings": page(p.editSettings),
		"POST " + site.PathDatasets + "{namespace}/{dataset}/withdraw": page(p.withdraw),
		"POST " + site.PathDatasets + "{namespace}/{dataset}/remove":   page(p.remove),
	}
}

// maxReviewForm is the maximum size of the form of a review, or of a pasted table, in bytes.
const maxReviewForm = 4 << 20

// mayPublish returns the publisher that sends a request. Without a key that may publish the
// dataset, it writes the form for a key, which leads back to a path.
func (p *Pages) mayPublish(w *httpapi.Page, r *http.Request, ref herb.Ref, back string) (herb.Actor, error) {
	actor, err := w.MayPublish(ref)
	if err != nil {
		err = p.RequestKey(w, r, nil, back, err)
	}
	return actor, err
}

// MaySeePublish reports whether pages offer a visitor to publish a dataset; a zero ref means any:
// the key may publish it, or there is no key yet and the page to choose a file asks for one.
// Visitors without a key cost nothing.
func (p *Pages) MaySeePublish(w *httpapi.Page, r *http.Request, ref herb.Ref) bool {
	if p.opts.Drafts == nil || ref == herb.PlantsRef {
		return false
	}
	if p.Key(r) == "" {
		return ref == (herb.Ref{})
	}
	visitor := w.Visitor()
	if ref == (herb.Ref{}) {
		return len(visitor.PublishScopes()) > 0
	}
	return visitor.MayPublish(ref)
}

// publishPage is the page to choose a file.
type publishPage struct {
	Head       publishHead
	Path       string
	Message    string // why the last form was rejected; empty: it was not
	Namespace  string
	Dataset    string
	Table      string   // pasted text
	Link       string   // pasted address
	MayFetch   bool     // the server fetches files
	Namespaces []string // of datasets that the key may publish
	Datasets   []herb.Ref
	MaxSize    string
	Drafts     []draftLink
	All        string // path of the page that publishes several drafts
}

// Discarded returns the drafts that *Discard all* removes.
func (page *publishPage) Discarded() discardView {
	d := discardView{Path: page.All + "/discard"}
	for _, link := range page.Drafts {
		d.Drafts = append(d.Drafts, link.ID)
	}
	return d
}

type draftLink struct {
	review.Draft
	Href string
}

// The fields of the form.
const (
	FieldNamespace = "namespace"
	FieldDataset   = "dataset"
	fieldTable     = "table"
	fieldLink      = "link"
	fieldRefresh   = "refresh"
)

// publishForm serves the page to choose a file. The parameters may name the dataset.
func (p *Pages) publishForm(w *httpapi.Page, r *http.Request) error {
	if _, err := p.mayPublish(w, r, herb.Ref{}, site.PathPublish); err != nil {
		return err
	}
	params, err := w.QueryString().Params()
	if err != nil {
		return err
	}
	return p.renderPublish(w, r, url.Values{FieldNamespace: {params.Get(FieldNamespace)},
		FieldDataset: {params.Get(FieldDataset)}}, nil)
}

// renderPublish writes the page to choose a file, with what was entered and why that was rejected.
func (p *Pages) renderPublish(w *httpapi.Page, r *http.Request, fields url.Values, rejection error) error {
	page := publishPage{
		Head: publishHead{Step: 1}, Path: p.Base + site.PathPublish, Namespace: fields.Get(FieldNamespace),
		Dataset: fields.Get(FieldDataset),
		Table:   fields.Get(fieldTable), Link: fields.Get(fieldLink),
		MaxSize: herb.FormatBytes(p.opts.Files.MaxSize()), All: p.Base + pathDrafts,
	}
	page.MayFetch = p.opts.Fetches != nil && p.opts.Fetches.MayFetch()
	var err error
	if rejection != nil {
		if herb.CodeOf(rejection) == herb.CodeInternal {
			return rejection
		}
		page.Message = asSentence(herb.MessageOf(rejection))
	} else if page.Head.Done, err = p.takeUnreadableDone(w, r); err != nil {
		return err
	}
	visitor := w.Visitor()
	if err := page.addDatasets(r.Context(), p, visitor); err != nil {
		return err
	}
	drafts, err := p.opts.Drafts.Drafts(r.Context(), visitor.ID)
	if err != nil {
		return err
	}
	for _, d := range drafts {
		page.Drafts = append(page.Drafts, draftLink{d, p.draftPath(d.ID)})
	}
	l := p.Shell(r, "Publish", "Publish a file as a dataset.")
	l.Framed = true
	return cmp.Or(p.Render(w, "publish", l, &page), rejection)
}

// addDatasets adds the datasets that a publisher may replace, and suggests the namespace or the
// dataset if there is only one that the key may publish.
func (page *publishPage) addDatasets(ctx context.Context, p *Pages, visitor herb.Principal) error {
	const most = 1000
	live, err := p.Site.Opts.Library.Live(ctx)
	if err != nil {
		return err
	}
	var namespaces []string // that the scopes name
	scopes := visitor.PublishScopes()
	for _, s := range scopes {
		namespace, dataset, limited := strings.Cut(strings.TrimPrefix(string(s), string(herb.ScopePublish)+":"), "/")
		if !limited {
			continue
		}
		namespaces = append(namespaces, namespace)
		if len(scopes) == 1 && dataset != "*" && page.Namespace == "" && page.Dataset == "" {
			page.Dataset = dataset
		}
	}
	for _, v := range live {
		if visitor.MayPublish(v.Ref) && v.Ref != herb.PlantsRef && len(page.Datasets) < most {
			page.Datasets = append(page.Datasets, v.Ref)
			namespaces = append(namespaces, v.Namespace)
		}
	}
	slices.Sort(namespaces)
	page.Namespaces = slices.Compact(namespaces)
	if len(page.Namespaces) == 1 && page.Namespace == "" {
		page.Namespace = page.Namespaces[0]
	}
	return nil
}

// fetchDraft fetches the file at an address for the dataset that the form names, or that is named
// after the file.
func (p *Pages) fetchDraft(w *httpapi.Page, r *http.Request, fields url.Values, link string) (d review.Draft,
	err error) {
	ref, err := review.NameDataset(strings.TrimSpace(fields.Get(FieldNamespace)),
		strings.TrimSpace(fields.Get(FieldDataset)), herb.FetchFile(link))
	if err != nil {
		return d, err
	}
	actor, err := w.MayPublish(ref)
	if err != nil {
		return d, err
	}
	refresh, err := herb.ParseRefresh(cmp.Or(fields.Get(fieldRefresh), string(herb.RefreshManual)))
	if err != nil {
		return d, err
	}
	f, err := p.opts.Fetches.Fetch(r.Context(), ref, herb.FetchSource{Address: link, Refresh: refresh})
	if err != nil {
		return d, err
	}
	return p.keepReadable(r.Context(), ref, f, review.Edits{Link: link, Refresh: string(refresh)}, actor)
}

// requestFetch makes the next fetch of a dataset due.
func (p *Pages) requestFetch(w *httpapi.Page, r *http.Request) error {
	ref, _, err := authorizeForm(w, r)
	if err != nil {
		return err
	}
	if p.opts.Fetches == nil {
		return herb.Errorf(herb.CodeRejected, "this server fetches nothing")
	}
	if err := p.opts.Fetches.Request(r.Context(), ref); err != nil {
		return err
	}
	return site.Redirect(w, p.DatasetPath(ref)+"/versions")
}

// redirectDrafts redirects to the review of a draft, or to the page with several.
func (p *Pages) redirectDrafts(w *httpapi.Page, drafts []review.Draft) error {
	if len(drafts) == 1 {
		return site.Redirect(w, p.draftPath(drafts[0].ID))
	}
	ids := url.Values{}
	for _, d := range drafts {
		ids.Add(paramDraft, d.ID)
	}
	return site.Redirect(w, p.Base+pathDrafts+"?"+ids.Encode())
}

// receiveTable receives a table that was pasted into a form.
func (p *Pages) receiveTable(w *httpapi.Page, r *http.Request) error {
	if _, err := p.mayPublish(w, r, herb.Ref{}, site.PathPublish); err != nil {
		return err
	}
	return p.receiveText(w, r, r.PostForm)
}

// receiveText makes a draft of a pasted table, which spreadsheets separate by tabs.
func (p *Pages) receiveText(w *httpapi.Page, r *http.Request, fields url.Values) error {
	table := strings.ReplaceAll(fields.Get(fieldTable), "\r\n", "\n")
	name := "pasted.csv"
	if strings.Contains(table, "\t") {
		name = "pasted.tsv"
	}
	var d review.Draft
	var err error
	link := strings.TrimSpace(fields.Get(fieldLink))
	switch {
	case link != "" && p.opts.Fetches != nil:
		d, err = p.fetchDraft(w, r, fields, link)
	case strings.TrimSpace(table) == "":
		err = herb.Invalidf("choose a file, or paste a table")
	case strings.TrimSpace(fields.Get(FieldDataset)) == "":
		err = herb.Invalidf("enter the name of the dataset: a pasted table has none")
	default:
		d, err = p.createDraft(w, r, fields, name, strings.NewReader(table))
		if err == nil {
			err = p.rejectUnreadable(r.Context(), d, nil)
		}
	}
	if err != nil {
		return p.renderPublish(w, r, fields, err)
	}
	return site.Redirect(w, p.draftPath(d.ID))
}
