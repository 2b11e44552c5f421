package httpapi

import (
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"time"

	"herbarium/internal/httpapi/body"

	"herbarium/internal/herb"
)

// Limits of the text fields of a form with files.
const (
	maxFormFields = 100
	maxFormText   = 64 << 10 // of all names and values
)

// ReceiveFiles reads a form of type multipart/form-data for a page whose handler has Upload. It
// calls receive for each file, with the name that the sender gave it, its content, and the text
// fields before it; receive must read the content before it returns. Files without a name and
// content, which browsers send for an empty input, are skipped. ReceiveFiles returns all text
// fields.
//
// The context of the request has no deadline, because a file may take as long as its client sends:
// a client that stalls or sends very slowly gets an error, as in the API.
func ReceiveFiles(r *http.Request, receive func(fields url.Values, name string, content io.Reader) error) (fields url.Values, err error) {
	w := responseOf(r)
	media, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media != "multipart/form-data" {
		return nil, herb.Invalidf("the form has no files; send it as multipart/form-data")
	}
	if _, err := w.AdmitUpload(r); err != nil {
		return nil, err
	}
	upload := body.NewReader(w.Writer, r, nil)
	isRead := false
	defer func() {
		const sendTimeout = time.Minute
		upload.End()
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(sendTimeout)) // not supported by the writers of tests
		if err != nil {
			err = upload.Cause(err)
		} else if isRead && len(r.TransferEncoding) == 0 {
			w.Header().Del("Connection")
		}
	}()
	form := multipart.NewReader(upload, params["boundary"])
	fields, size := url.Values{}, 0
	for count := 0; ; count++ {
		part, err := form.NextPart()
		switch {
		case err == io.EOF: // a client that sends more than the form is disconnected
			n, err := io.Copy(io.Discard, io.LimitReader(upload, maxFormText))
			isRead = n < maxFormText
			return fields, err
		case err != nil:
			return fields, herb.Wrap(herb.CodeInvalid, err, "malformed multipart/form-data; open the page and send the form again")
		case count == maxFormFields:
			return fields, herb.Invalidf("the form has more than %d fields", maxFormFields)
		}
		if isFile := part.FileName() != "" || part.Header.Get("Content-Type") != ""; isFile {
			content := &body.FirstByteReader{R: part}
			if part.FileName() == "" && content.IsEmpty() {
				continue
			}
			if err := receive(fields, part.FileName(), content); err != nil {
				return fields, err
			}
			continue
		}
		value, err := body.ReadPart(part, maxFormText)
		if err != nil {
			return fields, err
		}
		if size += len(part.FormName()) + len(value); size > maxFormText {
			return fields, herb.Errorf(herb.CodeTooLarge, "the text of the form is larger than %d bytes", maxFormText)
		}
		fields.Add(part.FormName(), string(value))
	}
}
