package publishing

import (
	"io"
	"mime"
	"net/http"
	"strconv"

	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
)

const contentBytes = "application/octet-stream"

// Source handles the source that is kept with a version. Clients that may publish the dataset get
// it, and those that may read the records if the descriptors of that version and the live one say
// so.
func (h *Handlers) Source(w *response.Writer, r *http.Request) error {
	version, visibility, _, err := h.describeVersion(w, r)
	if err != nil {
		return err
	}
	if !visibility.Source {
		_, err := h.authorizeScopes(w, r, version.Ref)
		return err
	}
	ctx, cancel, err := w.AdmitExport(r)
	if err != nil {
		return err
	}
	defer cancel()
	content, d, err := h.opts.Versions.OpenSource(ctx, version.Ref, version.Version)
	if err != nil {
		return err
	}
	defer content.Close()
	kept := d.Settings.Kept
	w.SetCaching(r, herb.AccessKey)
	w.Set("X-Dataset-Version", d.Version)
	if w.NotModified(r, `"`+d.Version+`"`) {
		return nil
	}
	w.Set("Content-Type", contentBytes)
	w.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(d)}))
	body := response.NewStream(w, r)
	body.Coding = response.Identity
	w.Set("Content-Length", strconv.FormatInt(kept.Size, 10))
	return body.Send(r, func(out io.Writer) error {
		_, err := io.Copy(out, content)
		return err
	})
}

// fileName returns the name of the source of a version.
func fileName(d herb.Dataset) string {
	if name := d.Settings.Kept.Name; name != "" {
		return name
	}
	return d.Name
}
