package drafts

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/publish/receive"
	"herbarium/internal/publish/review"
	"herbarium/internal/web/site"
)

// fieldAs is the name of the dataset that several files become.
const fieldAs = "as"

// joinDrafts makes one draft of several files with the same columns: an archive, whose files are
// the tables of the dataset.
func (p *Pages) joinDrafts(w *httpapi.Page, r *http.Request) error {
	if _, err := p.mayPublish(w, r, herb.Ref{}, site.PathPublish); err != nil {
		return err
	}
	d, err := p.joinSelected(w, r)
	if err != nil && herb.CodeOf(err) != herb.CodeInternal {
		named := url.Values{paramDraft: r.PostForm[paramDraft], fieldAs: r.PostForm[fieldAs]}
		return p.renderDrafts(w, r, named, err)
	}
	if err != nil {
		return err
	}
	return site.Redirect(w, p.draftPath(d.ID))
}

func (p *Pages) joinSelected(w *httpapi.Page, r *http.Request) (d review.Draft, err error) {
	var ids []string
	var first herb.Ref
	for _, value := range r.PostForm[paramLive] {
		id, _, _ := strings.Cut(value, " ")
		of, err := p.opts.Drafts.Draft(r.Context(), id)
		if err == nil {
			_, err = w.MayPublish(of.Ref)
		}
		if err != nil {
			return d, err
		}
		if len(ids) == 0 {
			first = of.Ref
		}
		ids = append(ids, id)
	}
	name := strings.TrimSpace(r.PostForm.Get(fieldAs))
	switch {
	case len(ids) < 2 || len(ids) > review.MaxDrafts:
		return d, herb.Invalidf("select 2 to %d files that become one dataset", review.MaxDrafts)
	case name == "":
		return d, herb.Invalidf("enter the name of the dataset that the selected files become")
	}
	ref, err := review.NameDataset(first.Namespace, name, "")
	if err != nil {
		return d, err
	}
	actor, err := w.MayPublish(ref)
	if err != nil {
		return d, err
	}
	f, names, err := p.archive(r.Context(), ids, ref.Name+".zip")
	if err != nil {
		return d, err
	}
	d, err = p.opts.Drafts.Create(r.Context(), ref, f, review.Edits{Tables: &names}, actor)
	for _, id := range ids { // the archive has their files, of which each can be published alone
		if err == nil {
			err = p.opts.Drafts.Discard(r.Context(), id)
		}
	}
	return d, err
}

// archive receives an archive of the files of drafts.
func (p *Pages) archive(ctx context.Context, ids []string, name string) (f *receive.File, names []string, err error) {
	in, out := io.Pipe()
	written := make(chan []string, 1)
	go func() {
		names, err := p.opts.Drafts.Archive(ctx, ids, out)
		written <- names
		out.CloseWithError(err)
	}()
	f, err = p.opts.Files.Receive(ctx, in, name, -1)
	in.CloseWithError(err)
	return f, <-written, err
}
