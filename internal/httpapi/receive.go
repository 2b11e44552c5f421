package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"hash"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/jobs"
)

// The parts of a multipart body.
const (
	contentForm = "multipart/form-data"

	partFile       = "file"
	partDescriptor = "descriptor"
)

// Limits of the parts of a multipart body other than the file.
const (
	maxDescriptor = 4 << 20
	maxFormValue  = 1 << 10
)

// receiveSource reads the body of a request: the file, or a form with the file. The caller has
// authorized it. params are the names of the parameters that a form may have.
func (a *API) receiveSource(w *response, r *http.Request, req *jobs.Request, params []string) (err error) {
	digests, err := requestDigests(r.Header)
	if err != nil {
		return err
	}
	media, attributes, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err := w.checkEncoding(r.Header, media == contentForm); err != nil {
		return err
	}
	ctx, err := w.admitUpload(r)
	if err != nil {
		return err
	}
	body := w.newUploadReader(r, digests)
	defer func() {
		if err != nil {
			w.set("Connection", "close") // the rest is not read
			err = errors.Join(err, req.File.Close())
		}
	}()
	if media == contentForm {
		var received []string
		if given, err := w.queryString(r).Params(); err == nil {
			for _, p := range given {
				received = append(received, p.Name)
			}
		}
		if err := a.receiveForm(ctx, multipart.NewReader(body, attributes["boundary"]), req, params, received); err != nil {
			return body.cause(err)
		}
		if _, err := io.Copy(io.Discard, body); err != nil { // the epilogue, which belongs to the digest
			return body.cause(err)
		}
	} else if req.File, err = a.opts.Publishing.Files.Receive(ctx, body, dispositionName(r.Header), r.ContentLength); err != nil {
		return body.cause(err)
	}
	_ = body.control.SetReadDeadline(time.Time{}) // not supported by the writers of tests
	if err := digests.check(); err != nil {
		return err
	}
	req.Actor.Note = "sha256 " + req.File.SHA256
	return nil
}

// checkEncoding rejects a body whose Content-Encoding is not that of a compressed file, which is
// stored as it is sent and detected by its content. A form cannot be compressed.
func (w *response) checkEncoding(h http.Header, isForm bool) error {
	supported := []string{"gzip", "zstd"}
	if isForm {
		supported = []string{"identity"}
	}
	codings := strings.FieldsFunc(strings.ToLower(strings.Join(h["Content-Encoding"], ",")), func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })
	codings = slices.DeleteFunc(codings, func(c string) bool { return c == "identity" })
	if len(codings) == 0 || len(codings) == 1 && slices.Contains(supported, strings.TrimPrefix(codings[0], "x-")) {
		return nil
	}
	list := strings.Join(supported, ", ")
	w.set("Accept-Encoding", list)
	return herb.Errorf(herb.CodeEncoding, "the Content-Encoding is %q; supported: %s, or none",
		herb.Clip(redactText(strings.Join(codings, ", ")), maxShown), list)
}

// dispositionName returns the file name of a Content-Disposition header; empty if there is none.
func dispositionName(h http.Header) string {
	_, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return params["filename"]
}

// uploadReader reads the body of a request for as long as its client keeps sending.
type uploadReader struct {
	body    io.Reader
	control *http.ResponseController
	stall   time.Duration
	digests digests
	failed  error // of the body

	extended time.Time // when the deadline was last extended
	window   time.Time // start of the period in which minRate must be reached
	received int       // bytes in that period
}

func (w *response) newUploadReader(r *http.Request, d digests) *uploadReader {
	return &uploadReader{
		body: receivedBody(r), control: http.NewResponseController(w.ResponseWriter), stall: w.api.opts.UploadStall, digests: d,
	}
}

// minRate is how many bytes a client must send in a period of Options.UploadStall, so that it does
// not occupy a slot for days.
const minRate = 16 << 10

// Read implements io.Reader.
func (u *uploadReader) Read(p []byte) (int, error) {
	const step = 100 // a deadline is extended by at least a hundredth of the time at once
	now := time.Now()
	if now.Sub(u.extended) > u.stall/step {
		_ = u.control.SetReadDeadline(now.Add(u.stall)) // not supported by the writers of tests
		u.extended = now
	}
	if u.window.IsZero() {
		u.window = now
	}
	n, err := u.body.Read(p)
	u.digests.write(p[:n])
	u.received += n
	if now := time.Now(); err == nil && now.Sub(u.window) > u.stall {
		if u.received < minRate {
			err = os.ErrDeadlineExceeded
		}
		u.window, u.received = now, 0
	}
	if err != nil && err != io.EOF {
		u.failed = err
	}
	return n, err
}

// cause returns what is wrong with a body that could not be received.
func (u *uploadReader) cause(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && u.failed == nil: // within a part
		u.failed = err
	case u.failed == nil:
		return err
	case errors.Is(u.failed, os.ErrDeadlineExceeded):
		return herb.Wrap(herb.CodeInvalid, u.failed, "the body stalled for %s; nothing has changed; send it again", u.stall)
	}
	return herb.Wrap(herb.CodeInvalid, u.failed, "the body ends early or its chunks are malformed; nothing has changed; send all of it")
}

// digests are the digests of a body that a client has stated.
type digests []*digest

type digest struct {
	name string
	want []byte
	sum  hash.Hash
}

// requestDigests reads the Content-Digest header (RFC 9530). Algorithms that are not known are
// ignored, as the standard demands.
func requestDigests(h http.Header) (all digests, err error) {
	for item := range strings.SplitSeq(strings.Join(h["Content-Digest"], ","), ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(item), "=")
		if name == "" && !ok {
			continue
		}
		d := &digest{name: strings.ToLower(strings.TrimSpace(name))}
		switch d.name {
		case "sha-256":
			d.sum = sha256.New()
		case "sha-512":
			d.sum = sha512.New()
		default:
			continue
		}
		value, _, _ = strings.Cut(value, ";")
		encoded := strings.TrimSpace(value)
		if len(encoded) < 2 || encoded[0] != ':' || encoded[len(encoded)-1] != ':' {
			return nil, errDigest()
		}
		if d.want, err = base64.StdEncoding.DecodeString(encoded[1 : len(encoded)-1]); err != nil || len(d.want) != d.sum.Size() {
			return nil, errDigest()
		}
		all = append(all, d)
	}
	return all, nil
}

func errDigest() error {
	return herb.Invalidf("malformed Content-Digest; write sha-256=:<digest in Base64>:")
}

func (all digests) write(p []byte) {
	for _, d := range all {
		d.sum.Write(p)
	}
}

// check fails if the body is not the one whose digests the client has stated.
func (all digests) check() error {
	for _, d := range all {
		if !bytes.Equal(d.sum.Sum(nil), d.want) {
			return herb.Invalidf("the body does not match its Content-Digest (%s): it was changed on the way; nothing has changed; send it again", d.name)
		}
	}
	return nil
}

// receiveForm reads the parts of a form: the file, a descriptor, and parameters, of which some are
// valid. received are those of the query string. Nothing may be given twice, so that no part
// contradicts another one.
func (a *API) receiveForm(ctx context.Context, form *multipart.Reader, req *jobs.Request, valid, received []string) error {
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return herb.Wrap(herb.CodeInvalid, err, "malformed multipart/form-data; send a part %q and perhaps a part %q", partFile, partDescriptor)
		}
		name := part.FormName()
		if slices.Contains(received, name) {
			return herb.Invalidf("%q is given more than once, in the query string or in several parts; give it once", herb.Clip(redactText(name), maxShown))
		}
		received = append(received, name)
		switch {
		case name == partFile:
			req.File, err = a.opts.Publishing.Files.Receive(ctx, part, part.FileName(), -1)
		case name == partDescriptor:
			req.Descriptor, err = readPart(part, maxDescriptor)
		case slices.Contains(valid, name):
			var value []byte
			if value, err = readPart(part, maxFormValue); err == nil {
				err = setParam(req, name, string(value))
			}
		default:
			return herb.Invalidf("unknown part %q; valid parts: %s, %s, %s", herb.Clip(redactText(name), maxShown), partFile, partDescriptor, strings.Join(valid, ", "))
		}
		if err != nil {
			return err
		}
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
func checkOptions(req jobs.Request) error {
	if req.Descriptor != nil && len(req.Reading) > 0 {
		return herb.Invalidf("reading options cannot be combined with a descriptor; set format, encoding or dialect in the descriptor")
	}
	return jobs.CheckReading(req.Reading)
}

func readPart(part *multipart.Part, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(part, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = herb.Errorf(herb.CodeTooLarge, "the part %q is larger than %d bytes", herb.Clip(redactText(part.FormName()), maxShown), limit)
	}
	return content, err
}
