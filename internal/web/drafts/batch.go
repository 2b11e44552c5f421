package drafts

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/publish"
	"herbarium/internal/publish/review"
	"herbarium/internal/versions"
	"herbarium/internal/web/site"
)

// pathDrafts is the path of the page that publishes several drafts.
const pathDrafts = site.PathPublish + "-all"

// Parameters of the page. Each may be repeated.
const (
	paramDraft = "draft" // a draft to show, and to select; none: all of the key
	// a publish that was started, to show its result; in the form: a draft with the state that was
	// shown
	paramLive    = "publish"
	paramSkipped = "skipped" // a draft that was not published, because it is not as the page has shown it
)

// draftsPage is the page that publishes several drafts, each as a dataset of its own.
type draftsPage struct {
	Head    publishHead
	Path    string
	Start   string // path of the page to choose a file
	Refresh int    // seconds until the page has more to show; 0: it is complete
	Shown   []string
	Drafts  []*draftState
	Done    []doneState
	Message string // why the last form was rejected; empty: it was not
	As      string // name of the dataset that the selected files would become
}

// draftState is a draft and whether it can be published.
type draftState struct {
	review.Draft
	Href     string
	Value    string // of the checkbox: the draft, and what would be published; empty: it cannot be published here
	Selected bool
	Text     string // what publishing it would do, or why that is not possible
	Failed   bool
	Progress *progressView // nil: nothing is running
}

// doneState is a publish that was started on the page and has succeeded.
type doneState struct {
	Ref        herb.Ref
	Href, Text string
}

// draftsForm serves the page that publishes several drafts.
func (p *Pages) draftsForm(w *httpapi.Page, r *http.Request) error {
	if _, err := p.mayPublish(w, r, herb.Ref{}, site.PathPublish); err != nil {
		return err
	}
	params, err := w.QueryString().Params()
	if err != nil {
		return err
	}
	named := url.Values{}
	for _, param := range params {
		named.Add(param.Name, param.Value)
	}
	return p.renderDrafts(w, r, named, nil)
}

// renderDrafts writes the page, with why a form was rejected. named are the parameters of the page,
// or the inputs of the form.
func (p *Pages) renderDrafts(w *httpapi.Page, r *http.Request, named url.Values, rejection error) error {
	page := draftsPage{Head: publishHead{Step: 2, Line: "several datasets"}, Path: p.Base + pathDrafts,
		Start: p.Base + site.PathPublish, Shown: named[paramDraft],
		As: named.Get(fieldAs)}
	if rejection != nil {
		page.Message = asSentence(herb.MessageOf(rejection))
	}
	drafts, err := p.opts.Drafts.Drafts(r.Context(), w.Visitor().ID)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(reviewWait)
	for _, d := range drafts {
		isNamed := slices.Contains(page.Shown, d.ID)
		if !w.Visitor().MayPublish(d.Ref) || len(page.Shown) > 0 && !isNamed {
			continue
		}
		s, err := p.draftState(r.Context(), d, deadline)
		if err != nil {
			return err
		}
		if s == nil { // it is live, and removed soon
			continue
		}
		s.Selected = isNamed
		if slices.Contains(named[paramSkipped], d.ID) && s.Progress == nil {
			s.Text, s.Selected = "Not published: it was changed, or is not as the page has shown it. "+s.Text, false
		}
		page.Drafts = append(page.Drafts, s)
	}
	for _, id := range named[paramLive][:min(len(named[paramLive]), review.MaxDrafts)] {
		last, err := p.opts.Drafts.State(r.Context(), id, 0)
		if err != nil || !w.Visitor().MayPublish(last.Ref()) || last.Result == nil || last.Code != "" {
			continue // the draft shows its state
		}
		text := "live, with " + herb.Plural(last.Result.Records, "record", "records")
		if last.Result.Status == versions.StatusUnchanged {
			text = "unchanged: the file and its settings are those of the live version"
		}
		page.Done = append(page.Done, doneState{last.Ref(), p.DatasetPath(last.Ref()), text})
	}
	slices.SortStableFunc(page.Drafts,
		func(a, b *draftState) int { return strings.Compare(a.Ref.String(), b.Ref.String()) })
	for _, d := range page.Drafts {
		if d.Progress != nil {
			page.Refresh = 1
		}
	}
	l := p.Shell(r, "Publish several datasets", "The files that wait to be published.")
	l.Framed = true
	return cmp.Or(p.Render(w, "drafts", l, &page), rejection)
}

// Joinable reports whether several files can become one dataset.
func (page *draftsPage) Joinable() bool {
	files := 0
	for _, d := range page.Drafts {
		if d.Value != "" && d.Table() == "" {
			files++
		}
	}
	return page.Publishable() && files > 1
}

// Publishable reports whether a draft can be published: while one is read, the page is replaced
// soon, so that nothing can be selected yet.
func (page *draftsPage) Publishable() bool {
	return page.Refresh == 0 && slices.ContainsFunc(page.Drafts, func(d *draftState) bool { return d.Value != "" })
}

// discardView is the form that removes all drafts of a page.
type discardView struct {
	Path   string
	Drafts []string
}

// Discarded returns the drafts that *Discard all* removes: those that are not being published.
func (page *draftsPage) Discarded() discardView {
	d := discardView{Path: page.Path + "/discard"}
	for _, s := range page.Drafts {
		if s.Draft.Publish == "" || s.Progress == nil {
			d.Drafts = append(d.Drafts, s.ID)
		}
	}
	return d
}

// discardDrafts removes the drafts that a form names.
func (p *Pages) discardDrafts(w *httpapi.Page, r *http.Request) error {
	if _, err := p.mayPublish(w, r, herb.Ref{}, site.PathPublish); err != nil {
		return err
	}
	ids := r.PostForm[paramDraft]
	for _, id := range ids[:min(len(ids), review.MaxDrafts)] {
		d, err := p.opts.Drafts.Draft(r.Context(), id)
		if err == nil && w.Visitor().MayPublish(d.Ref) {
			err = p.opts.Drafts.Discard(r.Context(), id)
		}
		if err != nil && herb.CodeOf(err) != herb.CodeNotFound { // it may be gone already
			return err
		}
	}
	return site.Redirect(w, p.Base+site.PathPublish)
}

// Table returns the table of the file; empty: it has one.
func (d *draftState) Table() string { return d.Edits.Table }

// draftState returns the state of a draft, or nil if it is live by now. It waits for the end of a
// check until a deadline.
func (p *Pages) draftState(ctx context.Context, d review.Draft, deadline time.Time) (*draftState, error) {
	s := &draftState{Draft: d, Href: p.draftPath(d.ID)}
	var failure string
	if d.Publish != "" {
		switch last, err := p.opts.Drafts.State(ctx, d.Publish, 0); {
		case err == nil && last.Result == nil:
			s.Progress = runningView(&last)
			return s, nil
		case err == nil && last.Code == "":
			return nil, nil
		case err == nil:
			failure = "Not published: " + last.Result.Error + ". "
		}
	}
	found, err := p.opts.Drafts.Review(ctx, d.ID, max(0, time.Until(deadline)))
	switch {
	case err != nil && (herb.CodeOf(err) == herb.CodeInternal || ctx.Err() != nil):
		return nil, err
	case err != nil:
		s.Text, s.Failed = asSentence(herb.MessageOf(err)), true
		return s, nil
	}
	switch consents := groupByConsent(&found); {
	case found.Progress != nil:
		s.Progress = newProgressView(found.Progress)
	case len(found.Tables) > 0 && len(found.Columns) == 0 && found.Draft.Edits.Table == "":
		s.Text = "It has " + herb.Plural(len(found.Tables), "table", "tables") + ": review it to choose."
	case found.Error != "":
		s.Text, s.Failed = asSentence(found.Error), true
	case len(consents) > 0:
		s.Text, s.Failed = "Review it: it has "+consents[0].Count+".", true
	case found.Unchanged:
		s.Text, s.Value = "Publishing changes nothing.", shownState(&found)
	default:
		what := "a new dataset"
		if found.Live != "" {
			what = "replaces the live version"
		}
		s.Text, s.Value = herb.Plural(found.Records, "record", "records")+", "+what, shownState(&found)
	}
	if failure != "" && s.Progress == nil {
		s.Text, s.Failed = failure+s.Text, true
	}
	return s, nil
}

func runningView(last *publish.Publish) *progressView {
	if v := newProgressView(last.Progress); v != nil {
		return v
	}
	return &progressView{Words: "Waiting"}
}

// shownState identifies a draft, and what publishing it would do, so that nothing else is published
// than the page has shown.
func shownState(r *review.Review) string {
	edits, _ := json.Marshal(r.Draft.Edits) // it has no values that cannot be encoded
	sum := sha256.New()
	fmt.Fprintln(sum, r.Live, r.Records, string(edits))
	for _, c := range r.Changes {
		fmt.Fprintln(sum, c.Kind, c.Field, c.Message)
	}
	return r.Draft.ID + " " + hex.EncodeToString(sum.Sum(nil)[:12])
}

// publishDrafts publishes the drafts that the form selects. Each is published as a whole or not at
// all; one that is not stays as it is.
func (p *Pages) publishDrafts(w *httpapi.Page, r *http.Request) error {
	if _, err := p.mayPublish(w, r, herb.Ref{}, site.PathPublish); err != nil {
		return err
	}
	to := url.Values{paramDraft: r.PostForm[paramDraft]}
	selected := r.PostForm[paramLive]
	for _, value := range selected[:min(len(selected), review.MaxDrafts)] {
		id, _, _ := strings.Cut(value, " ")
		publish, err := p.publishShown(w, r, id, value)
		switch {
		case err != nil && (herb.CodeOf(err) == herb.CodeInternal || r.Context().Err() != nil):
			return err
		case err != nil:
			to.Add(paramSkipped, id)
		default:
			to.Add(paramLive, publish)
		}
	}
	if len(to[paramDraft]) == 0 { // the page shows all drafts of the key
		delete(to, paramDraft)
	}
	return site.Redirect(w, p.Base+pathDrafts+"?"+to.Encode())
}

// publishShown starts to publish a draft if that does what a page has shown.
func (p *Pages) publishShown(w *httpapi.Page, r *http.Request, id, shown string) (publish string, err error) {
	d, err := p.opts.Drafts.Draft(r.Context(), id)
	if err != nil {
		return "", err
	}
	actor, err := w.MayPublish(d.Ref)
	if err != nil {
		return "", err
	}
	found, err := p.opts.Drafts.Review(r.Context(), id, reviewWait)
	switch {
	case err != nil:
		return "", err
	case found.Progress != nil || found.Error != "" || len(groupByConsent(&found)) > 0 || shownState(&found) != shown:
		return "", herb.Errorf(herb.CodeRejected, "the draft is not as the page has shown it")
	}
	return p.opts.Drafts.Publish(r.Context(), id, versions.PublishOptions{Authorize: w.Reauthorize(d.Ref)},
		found.Live, actor)
}
