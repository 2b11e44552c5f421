package drafts

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/publish/review"
	"herbarium/internal/versions"
	"herbarium/internal/web/site"
)

// reviewWait is how long a page waits for the end of a check or a publish before it shows how far
// that is.
const reviewWait = 400 * time.Millisecond

// openDraft returns the draft of a path and its publisher, who may publish its dataset.
func (p *Pages) openDraft(w *httpapi.Page, r *http.Request) (d review.Draft, actor herb.Actor, err error) {
	id := r.PathValue("id")
	back := site.PathPublish + "/" + id
	if !site.PublishPath.MatchString(back) {
		return d, actor, errNoDraft()
	}
	_, err = p.mayPublish(w, r, herb.Ref{}, back)
	if err != nil {
		return d, actor, err
	}
	d, err = p.opts.Drafts.Draft(r.Context(), id)
	if err != nil {
		if herb.CodeOf(err) == herb.CodeNotFound {
			err = errNoDraft()
		}
		return d, actor, err
	}
	actor, err = w.MayPublish(d.Ref)
	if herb.CodeOf(err) == herb.CodeForbidden {
		err = errNoDraft() // the name of the dataset may be hidden
	}
	return d, actor, err
}

func errNoDraft() error {
	return herb.Errorf(herb.CodeNotFound,
		"this file is not waiting any more, or it requires another key: it was published, discarded or kept for too "+
			"long; send it again")
}

// review serves the review of a draft.
func (p *Pages) review(w *httpapi.Page, r *http.Request) error {
	d, _, err := p.openDraft(w, r)
	if err != nil {
		return err
	}
	if d.Publish != "" {
		last, err := p.opts.Drafts.State(r.Context(), d.Publish, 0)
		if err == nil && last.Result == nil {
			return site.Redirect(w, p.livePath(d.ID, d.Publish))
		}
	}
	return p.renderReview(w, r, d.ID, nil)
}

// livePath returns the path of the page that follows a publish.
func (p *Pages) livePath(draft, publish string) string {
	return p.draftPath(draft) + "/live/" + url.PathEscape(publish)
}

// renderReview writes the review of a draft, and why it was not published.
func (p *Pages) renderReview(w *httpapi.Page, r *http.Request, id string, rejection error) error {
	found, err := p.opts.Drafts.Review(r.Context(), id, reviewWait)
	if err != nil {
		return cmp.Or(rejection, err)
	}
	params, err := w.QueryString().Params()
	if err != nil {
		return err
	}
	from, _ := strconv.Atoi(params.Get(paramColumn)) // 0 if it is not a number
	page := p.newReviewPage(&found, from)
	if _, isSent := r.PostForm[fieldAsked]; isSent || params.Get(paramTables) != "" {
		page.chooseTables(r.PostForm)
	}
	if rejection != nil {
		page.Notice = asSentence(herb.MessageOf(rejection))
	}
	l := p.Shell(r, "Publish "+found.Draft.Ref.String(), "The review of a file before it is published.")
	l.Framed = true
	return cmp.Or(p.Render(w, "review", l, page), rejection)
}

// asSentence returns a message as a sentence.
func asSentence(s string) string {
	return capitalize(s) + "."
}

// capitalize returns a message with a capital letter, unless it begins with a name, such as that of
// a file.
func capitalize(s string) string {
	if word, _, _ := strings.Cut(s, " "); strings.ContainsAny(word, ".:/_") {
		return s
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// editDraft changes the settings of a draft as the form says.
func (p *Pages) editDraft(w *httpapi.Page, r *http.Request) error {
	d, _, err := p.openDraft(w, r)
	if err != nil {
		return err
	}
	if _, _, err := p.saveEdits(r, d); err != nil {
		return p.rejectDraft(w, r, d, err)
	}
	to := p.draftPath(d.ID)
	if from := r.PostForm.Get(paramColumn); from != "" && from != "0" {
		to += "?" + url.Values{paramColumn: {from}}.Encode()
	}
	return site.Redirect(w, to)
}

// rejectDraft shows the review with the reason why a form was rejected.
func (p *Pages) rejectDraft(w *httpapi.Page, r *http.Request, d review.Draft, rejection error) error {
	if herb.CodeOf(rejection) == herb.CodeInternal {
		return rejection
	}
	return p.renderReview(w, r, d.ID, rejection)
}

// saveEdits applies the form of a review to the settings of a draft. It returns the review that the
// form was applied to, and whether it changed anything.
func (p *Pages) saveEdits(r *http.Request, d review.Draft) (found review.Review, changed bool, err error) {
	found, err = p.opts.Drafts.Review(r.Context(), d.ID, reviewWait)
	if err != nil {
		return found, false, err
	}
	changed, err = p.opts.Drafts.Edit(r.Context(), d.ID, func(e review.Edits) (review.Edits, error) {
		return applyForm(&found, e, r.PostForm)
	})
	return found, changed, err
}

// draftDescriptor serves the descriptor of a draft as a file.
func (p *Pages) draftDescriptor(w *httpapi.Page, r *http.Request) error {
	_, err := w.QueryString().OnlyOfPage()
	if err != nil {
		return err
	}
	d, _, err := p.openDraft(w, r)
	if err != nil {
		return err
	}
	descriptor, err := p.opts.Drafts.Descriptor(r.Context(), d.ID)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Disposition", `attachment; filename="datapackage.json"`)
	_, err = w.Write(descriptor)
	return err
}

// discardDraft removes a draft.
func (p *Pages) discardDraft(w *httpapi.Page, r *http.Request) error {
	d, _, err := p.openDraft(w, r)
	if err == nil {
		err = p.opts.Drafts.Discard(r.Context(), d.ID)
	}
	if err != nil && herb.CodeOf(err) != herb.CodeNotFound { // it may be gone already
		return err
	}
	return site.Redirect(w, p.Base+site.PathPublish)
}

// publishDraft publishes a draft as the publisher has reviewed it.
func (p *Pages) publishDraft(w *httpapi.Page, r *http.Request) error {
	d, actor, err := p.openDraft(w, r)
	if err != nil {
		return err
	}
	found, changed, err := p.saveEdits(r, d)
	if err != nil {
		return p.rejectDraft(w, r, d, err)
	}
	live, err := p.opts.Versions.LiveVersion(r.Context(), d.Ref)
	if err != nil {
		return err
	}
	consents, err := checkReviewed(&found, live.Version, changed, r.PostForm)
	if err != nil {
		return p.rejectDraft(w, r, d, err)
	}
	approval := versions.PublishOptions{Consents: consents, Authorize: w.Reauthorize(d.Ref)}
	id, err := p.opts.Drafts.Publish(r.Context(), d.ID, approval, live.Version, actor)
	if err != nil {
		return p.rejectDraft(w, r, d, err)
	}
	return site.Redirect(w, p.livePath(d.ID, id))
}

// checkReviewed rejects a publish of something else than the publisher has seen, and returns the
// consents of the form.
func checkReviewed(r *review.Review, live string, changed bool, form url.Values) ([]herb.Consent, error) {
	switch {
	case form.Get("live") != live:
		return nil, herb.Errorf(herb.CodeRejected,
			"nothing was published: another version of %s went live in the meantime; "+
				"the review compares the file with that version now; check it, then publish again", r.Draft.Ref)
	case changed:
		return nil, herb.Errorf(herb.CodeRejected,
			"your last changes are saved, but not published: check what they do, then publish")
	case r.Progress != nil:
		return nil, herb.Errorf(herb.CodeRejected,
			"the file is still being checked; publish it when the check has ended")
	case r.Error != "":
		return nil, herb.Errorf(herb.CodeRejected, "nothing was published: correct the settings first")
	}
	return givenConsents(r, form)
}

// publishState follows a publish: it shows how far it is, leads to the dataset when it is live, and
// back to the review if it failed.
func (p *Pages) publishState(w *httpapi.Page, r *http.Request) error {
	back := site.PathPublish + "/" + r.PathValue("id")
	if !site.PublishPath.MatchString(back) {
		return errNoDraft()
	}
	if _, err := p.mayPublish(w, r, herb.Ref{}, back); err != nil {
		return err
	}
	last, err := p.opts.Drafts.State(r.Context(), r.PathValue("publish"), reviewWait)
	if herb.CodeOf(err) == herb.CodeNotFound || err == nil && !w.Visitor().MayPublish(last.Ref()) {
		return errNoDraft()
	}
	if err != nil {
		return err
	}
	switch {
	case last.Result == nil:
		return p.renderProgress(w, r, last.Ref(), newProgressView(last.Progress))
	case last.Code != "":
		d, _, err := p.openDraft(w, r) // the path may name the draft of another dataset
		if err != nil {
			return err
		}
		return p.rejectDraft(w, r, d, herb.Errorf(last.Code, "nothing was published: %s", last.Result.Error))
	}
	what := donePublished
	if last.Result.Status == versions.StatusUnchanged {
		what = doneUnchanged
	}
	return p.redirectDone(w, r, last.Ref(), "", what, last.Result.Version, last.Result.Replaces)
}

// renderProgress writes the page that shows how far a publish is.
func (p *Pages) renderProgress(w *httpapi.Page, r *http.Request, ref herb.Ref, progress *progressView) error {
	page := struct {
		Head     publishHead
		Ref      herb.Ref
		Progress *progressView
	}{publishHead{Step: 3, Line: ref.String()}, ref, progress}
	if progress == nil {
		page.Progress = &progressView{Words: "Waiting"}
	}
	l := p.Shell(r, "Publishing "+ref.String(), "How far a publish is.")
	l.Framed = true
	return p.Render(w, "progress", l, page)
}
