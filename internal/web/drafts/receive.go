package drafts

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/publish/receive"
	"herbarium/internal/publish/review"
	"herbarium/internal/web/site"
)

// receiveFiles receives the files of a form. Each becomes a draft. A descriptor among them has
// their settings; alone, it is for the file that is kept with the live version.
func (p *Pages) receiveFiles(w *httpapi.Page, r *http.Request) error {
	if _, err := p.mayPublish(w, r, herb.Ref{}, site.PathPublish); err != nil {
		return err
	}
	var files receivedFiles
	fields, err := w.ReceiveFiles(func(fields url.Values, name string, content io.Reader) error {
		if review.IsDescriptor(name) {
			return files.readDescriptor(content)
		}
		if len(files.drafts)+len(files.rejected) > 0 && fields.Get(FieldDataset) != "" {
			return herb.Invalidf("each of several files becomes a dataset that is named after the file; leave " +
				"Dataset empty, or send one file")
		}
		d, err := p.createDraft(w, r, fields, name, content)
		return files.add(name, d, err)
	})
	if err == nil {
		err = files.keepReadable(func(d review.Draft) error {
			return p.rejectUnreadable(r.Context(), d, files.descriptor)
		})
	}
	switch {
	case err == nil && len(files.drafts) == 0 && files.descriptor != nil:
		var d review.Draft
		d, err = p.describeKept(w, r, fields, files.descriptor)
		files.drafts = append(files.drafts, d)
	case err == nil && len(files.drafts) == 0:
		return p.receiveText(w, r, fields)
	}
	if err != nil {
		return p.renderPublish(w, r, fields, err)
	}
	return p.redirectDrafts(w, files.drafts)
}

// receivedFiles are the files of a form.
type receivedFiles struct {
	drafts     []review.Draft
	descriptor []byte   // nil: none was sent
	rejected   []string // files, and why they are not drafts
	first      error    // why the first of them is not
}

// readDescriptor reads a descriptor.
func (f *receivedFiles) readDescriptor(content io.Reader) (err error) {
	if f.descriptor != nil {
		return herb.Invalidf("the form has more than one descriptor; send one")
	}
	f.descriptor, err = io.ReadAll(io.LimitReader(content, herb.MaxDescriptor+1))
	if err == nil && len(f.descriptor) > herb.MaxDescriptor {
		err = herb.Invalidf("the descriptor is larger than %s", herb.FormatBytes(herb.MaxDescriptor))
	}
	return err
}

// add adds a file that became a draft, or why it did not. An error ends the request.
func (f *receivedFiles) add(name string, d review.Draft, err error) error {
	switch herb.CodeOf(err) {
	case herb.CodeUnreadable: // the message names the file
		f.rejected = append(f.rejected, herb.MessageOf(err))
	case herb.CodeInvalid, herb.CodeRejected:
		f.rejected = append(f.rejected, name+": "+herb.MessageOf(err))
	default:
		if err == nil {
			f.drafts = append(f.drafts, d)
		}
		return err
	}
	f.first = cmp.Or(f.first, err)
	return nil // other files may become drafts
}

// keepReadable rejects the drafts for which reject returns an error. The error is about all
// rejected files.
func (f *receivedFiles) keepReadable(reject func(review.Draft) error) error {
	drafts := f.drafts
	f.drafts = nil
	for _, d := range drafts {
		if err := f.add(d.Name, d, reject(d)); err != nil {
			return err
		}
	}
	if len(f.drafts)+len(f.rejected) > 1 && f.first != nil {
		return herb.Errorf(herb.CodeOf(f.first), "%s", strings.Join(f.rejected, "\n"))
	}
	return f.first
}

// createDraft receives a file for the dataset that the form names, or that is named after the file.
func (p *Pages) createDraft(w *httpapi.Page, r *http.Request, fields url.Values, name string,
	content io.Reader) (d review.Draft, err error) {
	ref, err := review.NameDataset(strings.TrimSpace(fields.Get(FieldNamespace)),
		strings.TrimSpace(fields.Get(FieldDataset)), name)
	if err != nil {
		return d, err
	}
	actor, err := w.MayPublish(ref)
	if err != nil {
		return d, err
	}
	f, err := p.opts.Files.Receive(r.Context(), content, name, -1)
	if err != nil {
		return d, err
	}
	return p.opts.Drafts.Create(r.Context(), ref, f, review.Edits{}, actor)
}

// keepReadable keeps a file as a draft, unless it could only be discarded.
func (p *Pages) keepReadable(ctx context.Context, ref herb.Ref, f *receive.File, edits review.Edits,
	actor herb.Actor) (review.Draft, error) {
	d, err := p.opts.Drafts.Create(ctx, ref, f, edits, actor)
	if err != nil {
		return d, err
	}
	return d, p.rejectUnreadable(ctx, d, nil)
}

// How long a new draft is read before it is shown: until it is known whether a small file can be
// read. Files of unknown formats are recognized by their first bytes.
const (
	smallFile     = 4 << 20
	smallFileWait = 5 * time.Second
)

// rejectUnreadable removes a new draft that could only be discarded, and returns why. It gives the
// draft the settings of a descriptor that came with it; nil: none did.
func (p *Pages) rejectUnreadable(ctx context.Context, d review.Draft, descriptor []byte) error {
	wait := reviewWait
	if d.Size <= smallFile {
		wait = smallFileWait
	}
	rejection := p.describeDraft(ctx, d, descriptor)
	if rejection == nil {
		found, err := p.opts.Drafts.Review(ctx, d.ID, wait)
		if err != nil || !found.IsUnreadable() {
			return nil // the review tells
		}
		rejection = herb.Errorf(herb.CodeUnreadable, "%s", found.Error)
	}
	return cmp.Or(p.opts.Drafts.Discard(ctx, d.ID), rejection)
}
