package web

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/web/view"
)

// doneCookie holds what a publisher has just done with a dataset, until a page of the dataset has
// shown it.
const doneCookie = "herbarium_done"

// What a publisher can have done.
const (
	donePublished = "published"
	doneUnchanged = "unchanged"
	doneRestored  = "restored"
)

// setDone lets the next page of a dataset tell what was done. previous is the version that was live
// before; empty if there was none.
func (p *Pages) setDone(w http.ResponseWriter, ref herb.Ref, what, version, previous string) {
	const seconds = 120
	c := p.cookie(p.datasetPath(ref), what+"/"+version+"/"+previous)
	c.Name, c.MaxAge = doneCookie, seconds
	http.SetCookie(w, c)
}

// versionName matches the names of versions.
var versionName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,100}$`)

// takeDone returns what was done with the dataset of a page, and removes it; nil if there is
// nothing to tell, or another version is live by now.
func (p *Pages) takeDone(w http.ResponseWriter, r *http.Request, v datasetView) *view.Done {
	c, err := r.Cookie(doneCookie)
	if err != nil || r.Header.Get("X-Requested-With") != "" { // the script follows a redirect before it shows the page
		return nil
	}
	removed := p.cookie(p.datasetPath(v.Ref), "")
	removed.Name, removed.MaxAge = doneCookie, -1
	http.SetCookie(w, removed)
	httpapi.SetPrivate(w.Header())
	parts := strings.Split(c.Value, "/")
	if len(parts) != 3 || parts[1] != v.Live {
		return nil
	}
	d := &view.Done{Live: v.Live}
	switch parts[0] {
	case donePublished:
		d.Message = "Published."
	case doneUnchanged:
		d.Message = "Nothing to publish: the file and its settings are those of the live version."
	case doneRestored:
		d.Message = "This version is live again."
	default:
		return nil
	}
	if versionName.MatchString(parts[2]) && parts[0] != doneUnchanged {
		d.Previous = parts[2]
	}
	return d
}

// rollback makes another version of a dataset live.
func (p *Pages) rollback(w http.ResponseWriter, r *http.Request) error {
	if err := p.checkOrigin(r); err != nil {
		return err
	}
	ref := refOf(r)
	if !herb.ValidName(ref.Namespace) || !herb.ValidName(ref.Name) {
		return herb.Errorf(herb.CodeNotFound, "no such dataset; the catalogue lists all datasets")
	}
	actor, err := httpapi.MayPublish(r, ref)
	if err != nil {
		return err
	}
	if err := r.ParseForm(); err != nil {
		return herb.Wrap(herb.CodeInvalid, err, "malformed form; open the page and submit it again")
	}
	to, live := r.PostForm.Get("to"), r.PostForm.Get("live")
	if !versionName.MatchString(to) || !versionName.MatchString(live) {
		return herb.Invalidf("the form names no version; open the versions of the dataset and submit it again")
	}
	version, err := p.opts.Uploads.Rollback(herb.WithActor(r.Context(), actor), ref, live, to, r.PostForm.Get("open") != "")
	if err != nil {
		return fmt.Errorf("rollback: %w", err)
	}
	p.setDone(w, ref, doneRestored, version, live)
	return redirect(w, p.datasetPath(ref)+"/versions")
}
