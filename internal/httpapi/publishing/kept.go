package publishing

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"herbarium/internal/httpapi/body"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/jobs"
	"herbarium/internal/query"
)

const contentBytes = "application/octet-stream"

// Source handles the source that is kept with a version. Clients that may publish the dataset get
// it, and those that may read the records if the descriptors of that version and the live one say
// so.
func (h *Handlers) Source(w *response.Writer, r *http.Request) error {
	if _, err := w.QueryString(r).Only(query.ParamVersion); err != nil {
		return err
	}
	version, visibility, _, err := h.describeVersion(w, r)
	if err != nil {
		return err
	}
	if !visibility.Source {
		_, err := h.authorizeScopes(w, r, version.Ref)
		return err
	}
	ctx, firstByte, cancel, err := w.AdmitExport(r)
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
	body.FirstByte, body.Coding = firstByte, response.Identity
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

// describeVersion describes the version that a request names, or the live one, for a client that
// may publish the dataset or read the records of that version. It returns what the client may see
// of it, and the access that the response requires.
func (h *Handlers) describeVersion(w *response.Writer, r *http.Request) (d herb.Dataset, visibility herb.Visibility, access herb.Access, err error) {
	w.SetKeyVary()
	ref, principal, live := gate.RefOf(r), h.gate.OptionalPrincipal(w, r), ""
	version, _, err := w.QueryString(r).CutVersion()
	if err != nil {
		return d, visibility, "", err
	}
	access = herb.AccessKey
	if !principal.MayPublish(ref) {
		view, err := h.gate.OpenDataset(w, r)
		if err != nil {
			return d, visibility, "", err
		}
		view.Release()
		version, live, access = view.Version, view.Live, view.Access
	}
	if d, err = h.opts.Versions.Version(r.Context(), ref, version); err != nil || live == "" {
		return d, principal.See(d), access, err
	}
	other, err := h.opts.Versions.Version(r.Context(), ref, live)
	return d.WithoutExcluded(), principal.See(d, other), access, err
}

// PutDescriptor handles a descriptor, with which the kept source is published again.
func (h *Handlers) PutDescriptor(w *response.Writer, r *http.Request) error {
	req, err := h.publishRequest(w, r, []string{paramCheck, paramAllowBreaking, paramAllowExposure, paramAllowFailed, paramForce})
	if err != nil {
		return err
	}
	body, err := body.Read(w, r, maxDescriptor)
	if err != nil {
		return err
	}
	req.Descriptor = bytes.Clone(body.Bytes())
	body.Free()
	if len(bytes.TrimSpace(req.Descriptor)) == 0 {
		return herb.Invalidf("the body is empty; send a Data Package descriptor in JSON or YAML")
	}
	ctx, err := w.AdmitUpload(r) // it takes disk space like a file that is sent
	if err != nil {
		return err
	}
	if req.File, err = h.opts.Jobs.Restore(ctx, req.Ref); err != nil {
		return err
	}
	req.Actor.Note = "sha256 " + req.File.SHA256
	return h.startPublish(w, r, req)
}

// Descriptor handles the complete descriptor of the live version, which may quote values.
func (h *Handlers) Descriptor(w *response.Writer, r *http.Request) error {
	var actor herb.Actor
	ref, err := h.authorizePublish(w, r, &actor)
	if err != nil {
		return err
	}
	if _, err := w.QueryString(r).Only(); err != nil {
		return err
	}
	d, err := h.opts.Versions.LiveVersion(r.Context(), ref)
	switch {
	case err != nil:
		return err
	case d.Version == "":
		return herb.Errorf(herb.CodeNotFound, "no such dataset %q; GET /api/v1 lists all datasets", ref)
	case d.Settings == nil || d.Settings.Descriptor == nil:
		return herb.Errorf(herb.CodeNotFound, "%s was published without a descriptor; send one with PUT …/descriptor", ref)
	}
	w.Set("Etag", `"`+d.Version+`"`)
	w.Set("X-Dataset-Version", d.Version)
	w.Send(r, http.StatusOK, response.ContentJSON, d.Settings.Descriptor)
	return nil
}

// switched is the result of a rollback.
type switched struct {
	Dataset  string `json:"dataset"`
	Version  string `json:"version"`
	Replaces string `json:"replaces"`
}

// Rollback handles a request to make another version live.
func (h *Handlers) Rollback(w *response.Writer, r *http.Request) error {
	req, err := h.publishRequest(w, r, []string{paramAllowExposure})
	if err != nil {
		return err
	}
	to, err := rollbackTarget(w, r)
	if err != nil {
		return err
	}
	version, err := h.opts.Publisher.Rollback(herb.WithActor(r.Context(), req.Actor), req.Ref, requiredVersion(req), to, req.AllowExposure)
	if err != nil {
		return err
	}
	w.Set("X-Dataset-Version", version)
	w.Set("Etag", `"`+version+`"`)
	return w.SendJSON(r, switched{req.Ref.String(), version, req.Live})
}

// requiredVersion returns the version that must be live; empty means any.
func requiredVersion(req jobs.Request) string {
	if req.Required {
		return req.Live
	}
	return ""
}

// rollbackTarget reads the body {"to": "<version>"}. Without one, the previous version is meant.
func rollbackTarget(w *response.Writer, r *http.Request) (version string, err error) {
	const maxRollback = 1 << 10
	body, err := body.Read(w, r, maxRollback)
	if err != nil {
		return "", err
	}
	defer body.Free()
	if err := w.AdmitBody(r); err != nil {
		return "", err
	}
	var target struct{ To onceText }
	d := json.NewDecoder(bytes.NewReader(body.Bytes()))
	d.DisallowUnknownFields()
	if err := d.Decode(&target); err != nil && !errors.Is(err, io.EOF) {
		return "", herb.Invalidf(`the body is not {"to": "<version>"}, with one member; GET /api/v1/<namespace>/<dataset> has the live version`)
	}
	return strings.TrimSpace(target.To.text), nil
}

// onceText is a text of a JSON object. A second member of the same name is an error.
type onceText struct {
	text  string
	isSet bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *onceText) UnmarshalJSON(b []byte) error {
	if o.isSet {
		return errors.New("the member is given more than once")
	}
	o.isSet = true
	return json.Unmarshal(b, &o.text)
}

// RemoveDataset handles the removal of a dataset. It requires a condition, so that nothing is
// removed that the client does not know, unless it says so.
func (h *Handlers) RemoveDataset(w *response.Writer, r *http.Request) error {
	req, err := h.publishRequest(w, r, nil)
	if err != nil {
		return err
	}
	if _, stated := r.Header["If-Match"]; !stated {
		return herb.Invalidf(`If-Match is required; write If-Match: "<version>" with the live version, or If-Match: * for any`)
	}
	if err := w.AdmitBody(r); err != nil {
		return err
	}
	err = h.opts.Publisher.Remove(herb.WithActor(r.Context(), req.Actor), req.Ref, requiredVersion(req))
	if herb.CodeOf(err) == herb.CodeNotFound {
		return herb.Wrap(herb.CodePrecondition, err, "If-Match does not hold: %s does not exist", req.Ref)
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
