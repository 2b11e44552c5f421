package drafts

import (
	"net/http"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/web/site"
)

// withdraw deletes a version of a dataset that must not be read any more.
func (p *Pages) withdraw(w *httpapi.Page, r *http.Request) error {
	ref, actor, err := authorizeForm(w, r)
	if err != nil {
		return err
	}
	version := r.PostForm.Get("version")
	switch {
	case !versionName.MatchString(version):
		return herb.Invalidf("the form names no version; open the versions of the dataset and submit it again")
	case r.PostForm.Get("confirm") == "":
		return herb.Errorf(herb.CodeRejected, "nothing was withdrawn: select the checkbox, because a version that is "+
			"withdrawn is gone for good")
	}
	if err := p.opts.Publisher.Withdraw(herb.WithActor(r.Context(), actor), ref, version); err != nil {
		return err
	}
	return site.Redirect(w, p.DatasetPath(ref)+"/versions#withdrawn")
}

// remove removes a dataset with all its versions.
func (p *Pages) remove(w *httpapi.Page, r *http.Request) error {
	ref, actor, err := authorizeForm(w, r)
	if err != nil {
		return err
	}
	live := r.PostForm.Get("live")
	if !versionName.MatchString(live) {
		return herb.Invalidf("the form names no version; open the versions of the dataset and submit it again")
	}
	if typed := strings.TrimSpace(r.PostForm.Get("name")); typed != ref.String() {
		return herb.Errorf(herb.CodeRejected, "nothing was removed: enter %s, the name of the dataset, instead of %q",
			ref, herb.Clip(typed, 60))
	}
	if err := p.opts.Publisher.Remove(herb.WithActor(r.Context(), actor), ref, live); err != nil {
		return err
	}
	return site.Redirect(w, p.Base+"/")
}
