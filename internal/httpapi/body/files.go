package body

import (
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"time"

	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
)

// Limits of the text fields of a form with files.
const (
	maxFormFields = 100
	maxFormText   = 64 << 10 // of all names and values
)

// ReceiveFiles reads a form of type multipart/form-data. It calls receive for each file, with the
// name that the sender gave it, its content, and the text fields before it; receive must read the
// content before it returns. Files without a name and content, which browsers send for an empty
// input, are skipped. ReceiveFiles returns all text fields.
//
// The context of the request must have no deadline, because a file may take as long as its client
// sends: a client that stalls or sends very slowly gets an error, as in the API. The caller sets
// Connection to close, which ReceiveFiles removes if it has read the whole body.
func ReceiveFiles(w *response.Writer, r *http.Request,
	receive func(fields url.Values, name string, content io.Reader) error) (fields url.Values, err error) {
	boundary, isForm := FormBoundary(r.Header)
	if !isForm {
		return nil, herb.Invalidf("the form has no files; send it as multipart/form-data")
	}
	if _, err := w.AdmitUpload(r); err != nil {
		return nil, err
	}
	upload := NewReader(w, r, nil)
	isRead := false
	defer func() {
		const sendTimeout = time.Minute
		upload.End()
		// not supported by the writers of tests
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(sendTimeout))
		if err != nil {
			err = upload.Cause(err)
		} else if isRead && len(r.TransferEncoding) == 0 {
			w.Header().Del("Connection")
		}
	}()
	count, size := 0, 0
	fields = url.Values{}
	err = upload.ReadForm(boundary, "open the page and send the form again", func(part *multipart.Part) error {
		count++
		if count > maxFormFields {
			return herb.Invalidf("the form has more than %d fields", maxFormFields)
		}
		if isFile := part.FileName() != "" || part.Header.Get("Content-Type") != ""; isFile {
			content := &firstByteReader{r: part}
			if part.FileName() == "" && content.isEmpty() {
				return nil
			}
			return receive(fields, part.FileName(), content)
		}
		value, err := ReadPart(part, maxFormText)
		if err != nil {
			return err
		}
		size += len(part.FormName()) + len(value)
		if size > maxFormText {
			return herb.Errorf(herb.CodeTooLarge, "the text of the form is larger than %s",
				herb.FormatBytes(maxFormText))
		}
		if err := response.RejectFormKeys(url.Values{part.FormName(): {string(value)}}); err != nil {
			return err
		}
		fields.Add(part.FormName(), string(value))
		return nil
	})
	if err != nil {
		return fields, err
	}
	// a client that sends more than the form is disconnected
	n, err := io.Copy(io.Discard, io.LimitReader(upload, maxFormText))
	isRead = n < maxFormText
	return fields, err
}
