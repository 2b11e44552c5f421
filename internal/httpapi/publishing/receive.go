package publishing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"herbarium/internal/httpapi/body"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/publish"
)

// The parts of a multipart body.
const (
	partFile       = "file"
	partDescriptor = "descriptor"
)

// maxFormValue limits the parts of a multipart body other than the file and the descriptor.
const maxFormValue = 4 << 10

// receiveSource reads the body of a request: the file, or a form with the file. The caller has
// authorized it. params are the names of the parameters that a form may have.
func (h *Handlers) receiveSource(w *response.Writer, r *http.Request, req *publish.Request,
	params []string) (err error) {
	digests, err := body.ParseDigests(r.Header)
	if err != nil {
		return err
	}
	boundary, isForm := body.FormBoundary(r.Header)
	if err := checkEncoding(w, r.Header, isForm); err != nil {
		return err
	}
	ctx, err := w.AdmitUpload(r)
	if err != nil {
		return err
	}
	body := body.NewReader(w, r, digests)
	defer func() {
		if err != nil {
			w.Set("Connection", "close") // the rest is not read
			err = errors.Join(err, req.File.Close())
		}
	}()
	if isForm {
		var received []string
		if given, err := w.QueryString(r).Params(); err == nil {
			for _, p := range given {
				received = append(received, p.Name)
			}
		}
		if err := h.receiveForm(ctx, body, boundary, req, params, received); err != nil {
			return body.Cause(err)
		}
		if _, err := io.Copy(io.Discard, body); err != nil { // the epilogue, which belongs to the digest
			return body.Cause(err)
		}
	} else if req.File, err = h.opts.Files.Receive(ctx, body, dispositionName(r.Header), r.ContentLength); err != nil {
		return body.Cause(err)
	}
	body.End()
	if err := digests.Check(); err != nil {
		return err
	}
	req.Actor.Note = "sha256 " + req.File.SHA256
	return nil
}

// checkEncoding rejects a body whose Content-Encoding is not that of a compressed file, which is
// stored as it is sent and detected by its content. A form cannot be compressed.
func checkEncoding(w *response.Writer, h http.Header, isForm bool) error {
	supported := []string{"gzip", "zstd"}
	if isForm {
		supported = []string{"identity"}
	}
	codings := strings.FieldsFunc(strings.ToLower(strings.Join(h["Content-Encoding"], ",")),
		func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })
	codings = slices.DeleteFunc(codings, func(c string) bool { return c == "identity" })
	if len(codings) == 0 || len(codings) == 1 && slices.Contains(supported, strings.TrimPrefix(codings[0], "x-")) {
		return nil
	}
	list := strings.Join(supported, ", ")
	w.Set("Accept-Encoding", list)
	return herb.Errorf(herb.CodeEncoding, "the Content-Encoding is %q; supported: %s, or none",
		response.Shown(strings.Join(codings, ", ")), list)
}

// dispositionName returns the file name of a Content-Disposition header; empty if there is none.
func dispositionName(h http.Header) string {
	_, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return params["filename"]
}

// receiveForm reads the parts of a form: the file, a descriptor, and parameters, of which some are
// valid. received are those of the query string. Nothing may be given twice, so that no part
// contradicts another one.
func (h *Handlers) receiveForm(ctx context.Context, form *body.Reader, boundary string, req *publish.Request, valid,
	received []string) error {
	advice := fmt.Sprintf("send a part %q and perhaps a part %q", partFile, partDescriptor)
	err := form.ReadForm(boundary, advice, func(part *multipart.Part) (err error) {
		name := part.FormName()
		if slices.Contains(received, name) {
			return herb.Invalidf("%q is given more than once, in the query string or in several parts; give it once",
				response.Shown(name))
		}
		received = append(received, name)
		switch {
		case name == partFile:
			req.File, err = h.opts.Files.Receive(ctx, part, part.FileName(), -1)
		case name == partDescriptor:
			req.Descriptor, err = body.ReadPart(part, herb.MaxDescriptor)
		case slices.Contains(valid, name):
			var value []byte
			value, err = body.ReadPart(part, maxFormValue)
			if err == nil {
				err = setParam(req, name, string(value))
			}
		default:
			err = herb.Invalidf("unknown part %q; valid parts: %s, %s, %s", response.Shown(name), partFile,
				partDescriptor, strings.Join(valid, ", "))
		}
		return err
	})
	if err != nil {
		return err
	}
	if req.File == nil {
		return herb.Invalidf("the form has no part %q; send the file in it", partFile)
	}
	if len(req.Descriptor) == 0 { // an empty field of a form
		req.Descriptor = nil
	}
	return checkOptions(*req)
}

// checkOptions rejects reading options beside a descriptor, which says how the file is read.
func checkOptions(req publish.Request) error {
	if req.Descriptor != nil && req.Reading != (herb.Reading{}) {
		return herb.Invalidf("reading options cannot be combined with a descriptor; set format, encoding or dialect " +
			"in the descriptor")
	}
	return publish.CheckReading(req.Reading)
}
