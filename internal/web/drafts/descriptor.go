package drafts

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/publish"
	"herbarium/internal/publish/review"
	"herbarium/internal/web/site"
)

// describeDraft gives a draft the settings of a descriptor; nil: there is none.
func (p *Pages) describeDraft(ctx context.Context, d review.Draft, sent []byte) error {
	if sent == nil {
		return nil
	}
	descriptor, err := review.NewDescriptor(d.Ref, d.Name, sent)
	if err != nil {
		return err
	}
	_, err = p.opts.Drafts.Edit(ctx, d.ID, func(e review.Edits) (review.Edits, error) {
		e.Descriptor = descriptor
		return e, nil
	})
	return err
}

// describeKept makes a draft of a descriptor that came without a file: its file is the one at the
// address that it names, or the one that is kept with the live version.
func (p *Pages) describeKept(w *httpapi.Page, r *http.Request, fields url.Values, sent []byte) (d review.Draft,
	err error) {
	dataset := strings.TrimSpace(fields.Get(FieldDataset))
	if dataset == "" {
		return d, herb.Invalidf("enter the name of the dataset that the descriptor is for, or choose its file as well")
	}
	ref, err := review.NameDataset(strings.TrimSpace(fields.Get(FieldNamespace)), dataset, "")
	if err != nil {
		return d, err
	}
	actor, err := w.MayPublish(ref)
	if err != nil {
		return d, err
	}
	var edits review.Edits
	edits.Descriptor, err = review.NewDescriptor(ref, "", sent)
	if err != nil {
		return d, err
	}
	source, err := publish.FetchSource(ref, sent)
	switch {
	case err != nil:
		return d, err
	case source.Address == "":
		d, err = p.opts.Drafts.Restore(r.Context(), ref, edits, actor)
		if herb.CodeOf(err) == herb.CodeNotFound {
			err = herb.Wrap(herb.CodeRejected, err, "there is no dataset %s yet; choose its file as well", ref)
		}
		return d, err
	case p.opts.Fetches == nil:
		return d, herb.Errorf(herb.CodeRejected, "this server fetches nothing; choose the file as well")
	}
	f, err := p.opts.Fetches.Fetch(r.Context(), ref, source)
	if err != nil {
		return d, err
	}
	return p.keepReadable(r.Context(), ref, f, edits, actor)
}

// editSettings makes a draft of the file that is kept with a dataset, to change its settings.
func (p *Pages) editSettings(w *httpapi.Page, r *http.Request) error {
	ref, actor, err := authorizeForm(w, r)
	if err != nil {
		return err
	}
	d, err := p.opts.Drafts.Restore(r.Context(), ref, review.Edits{}, actor)
	if err != nil {
		return err
	}
	return site.Redirect(w, p.draftPath(d.ID))
}
