// Package drafts serves the pages that publish a file: choosing it, its review, its progress,
// and what was published.
package drafts

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/library"
	"herbarium/internal/versions"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/datasets"
)

// doneCookie holds what a publisher has just done with a dataset, until a page has shown it.
const doneCookie = "herbarium_done"

// What a publisher can have done.
const (
	donePublished = "published"
	doneUnchanged = "unchanged"
	doneRestored  = "restored"
)

// redirectDone redirects to a page of a dataset, which tells what was done. previous is the version
// that was live before; empty if there was none. Publishers who may not read the dataset are told
// on the page to choose a file, because the pages of the dataset would require another key.
func (p *Pages) redirectDone(w *httpapi.Page, r *http.Request, ref herb.Ref, page, what, version,
	previous string) error {
	const seconds = 120
	path, value := p.DatasetPath(ref), what+"/"+version+"/"+previous
	if !p.mayReadLive(w, ref) {
		path, page, value = p.Base+site.PathPublish, "", value+"/"+ref.String()
	}
	c := p.Cookie(path, value)
	c.Name, c.MaxAge = doneCookie, seconds
	http.SetCookie(w, c)
	return site.Redirect(w, path+page)
}

// mayReadLive reports whether a visitor may read the live version of a dataset. It is true if that
// is unknown: the page of the dataset then shows the error.
func (p *Pages) mayReadLive(w *httpapi.Page, ref herb.Ref) bool {
	if site.SeesProtected(w.Visitor(), ref) {
		return true
	}
	live, err := w.OpenLive(ref)
	if err != nil {
		return herb.CodeOf(err) != herb.CodeNotFound // a private catalogue hides the dataset
	}
	defer live.Release()
	return live.Denied == nil
}

// versionName matches the names of versions.
var versionName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,100}$`)

// TakeDone returns what was done with the dataset of a page, and removes it; nil if there is
// nothing to tell, or another version is live by now.
func (p *Pages) TakeDone(w *httpapi.Page, r *http.Request, v gate.DatasetView) (*datasets.Done, error) {
	value := p.takeDoneCookie(w, r, p.DatasetPath(v.Ref))
	if value == "" {
		return nil, nil
	}
	return p.newDone(w, r, v.Ref, v.Live, value)
}

// takeUnreadableDone is TakeDone for the page to choose a file, where visitors learn what was done
// with a dataset that they may publish, but not read. Their cookie names the dataset.
func (p *Pages) takeUnreadableDone(w *httpapi.Page, r *http.Request) (*datasets.Done, error) {
	parts := strings.SplitN(p.takeDoneCookie(w, r, p.Base+site.PathPublish), "/", 4)
	if len(parts) != 4 {
		return nil, nil
	}
	ref, err := herb.ParseRef(parts[3])
	if err != nil || !w.Visitor().MayPublish(ref) {
		return nil, nil
	}
	live, err := p.opts.Versions.LiveVersion(r.Context(), ref)
	if err != nil {
		return nil, err
	}
	return p.newDone(w, r, ref, live.Version, strings.Join(parts[:3], "/"))
}

// takeDoneCookie returns the cookie of a path that tells what was done, and removes it; empty if
// there is none.
func (p *Pages) takeDoneCookie(w *httpapi.Page, r *http.Request, path string) string {
	c, err := r.Cookie(doneCookie)
	if err != nil || r.Header.Get("X-Requested-With") != "" { // the script follows a redirect before it shows the page
		return ""
	}
	removed := p.Cookie(path, "")
	removed.Name, removed.MaxAge = doneCookie, -1
	http.SetCookie(w, removed)
	return c.Value
}

// newDone returns what a cookie tells about a dataset that the visitor may publish; nil if it is
// malformed or about another version than the live one.
func (p *Pages) newDone(w *httpapi.Page, r *http.Request, ref herb.Ref, live, value string) (*datasets.Done, error) {
	parts := strings.Split(value, "/")
	if len(parts) != 3 || parts[1] != live {
		return nil, nil
	}
	d := &datasets.Done{Ref: ref, Path: p.DatasetPath(ref), Live: live}
	d.Page, d.API = p.Origin(r)+site.PathDatasets+ref.String(), p.Origin(r)+"/api/v1/"+ref.String()+"/data"
	switch parts[0] {
	case donePublished:
		d.Message = "Published."
	case doneUnchanged:
		d.Message = "Nothing to publish: the file and its settings are those of the live version."
	case doneRestored:
		d.Message = "This version is live again."
	default:
		return nil, nil
	}
	if !versionName.MatchString(parts[2]) || parts[0] == doneUnchanged {
		return d, nil
	}
	d.Previous = parts[2]
	// Publishers may know the versions of a dataset that a private catalogue hides from them.
	history, err := p.opts.History(
		library.WithReader(r.Context(), func(d herb.Dataset) bool { return w.Visitor().See(d).Report }, nil), ref)
	if err != nil {
		return nil, err
	}
	d.Exposes = Exposures(history, live, d.Previous)
	if i := slices.IndexFunc(history, func(v versions.Version) bool { return v.Version == live }); i >= 0 &&
		parts[0] == donePublished {
		for _, c := range history[i].Changes {
			d.Changes = append(d.Changes, c.Message)
		}
	}
	return d, nil
}

// authorizeForm returns the dataset of the path of a form, and who sends it and may publish the
// dataset.
func authorizeForm(w *httpapi.Page, r *http.Request) (ref herb.Ref, actor herb.Actor, err error) {
	ref = site.RefOf(r)
	if !herb.ValidName(ref.Namespace) || !herb.ValidName(ref.Name) {
		return ref, actor, herb.Errorf(herb.CodeNotFound, "no such dataset; the catalogue lists all datasets")
	}
	actor, err = w.MayPublish(ref)
	return ref, actor, err
}

// rollback makes another version of a dataset live.
func (p *Pages) rollback(w *httpapi.Page, r *http.Request) error {
	ref, actor, err := authorizeForm(w, r)
	if err != nil {
		return err
	}
	to, live := r.PostForm.Get("to"), r.PostForm.Get("live")
	if !versionName.MatchString(to) || !versionName.MatchString(live) {
		return herb.Invalidf("the form names no version; open the versions of the dataset and submit it again")
	}
	var given []herb.Consent
	if r.PostForm.Get("exposure") != "" {
		given = versions.RollbackConsents()
	}
	version, err := p.opts.Publisher.Rollback(herb.WithActor(r.Context(), actor), ref, live, to, given...)
	if len(herb.ConsentsOf(err)) > 0 {
		return herb.Wrap(herb.CodeRejected, err,
			"%s\n  select the checkbox of the version, if there is one, or use the command 'herbarium datasets "+
				"rollback'",
			herb.MessageOf(err))
	}
	if err != nil {
		return fmt.Errorf("rollback: %w", err)
	}
	return p.redirectDone(w, r, ref, "/versions", doneRestored, version, live)
}

// Exposures returns what becomes public if a version replaces the live one.
func Exposures(history []versions.Version, live, version string) (messages []string) {
	named := func(name string) (d herb.Dataset) {
		if i := slices.IndexFunc(history, func(v versions.Version) bool { return v.Version == name }); i >= 0 {
			d = history[i].Dataset
		}
		return d
	}
	for _, c := range versions.Exposures(named(live), named(version), nil) {
		messages = append(messages, c.Message)
	}
	return messages
}
