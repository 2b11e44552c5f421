package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/jobs"
	"herbarium/internal/query"
)

const contentBytes = "application/octet-stream"

// source handles the source that is kept with a version. Clients that may publish the dataset get
// it, and those that may read the records if the descriptors of that version and the live one say
// so.
func (a *API) source(w *response, r *http.Request) error {
	if _, err := w.queryString(r).Only(query.ParamVersion); err != nil {
		return err
	}
	version, visibility, _, err := a.describeVersion(w, r)
	if err != nil {
		return err
	}
	if !visibility.Source {
		_, err := a.authorizeScopes(w, r, version.Ref)
		return err
	}
	ctx, firstByte, cancel, err := w.admitExport(r)
	if err != nil {
		return err
	}
	defer cancel()
	content, d, err := a.opts.Publishing.Versions.OpenSource(ctx, version.Ref, version.Version)
	if err != nil {
		return err
	}
	defer content.Close()
	kept := d.Settings.Kept
	w.setCaching(r, herb.AccessKey)
	w.set("X-Dataset-Version", d.Version)
	if w.notModified(r, `"`+d.Version+`"`) {
		return nil
	}
	w.set("Content-Type", contentBytes)
	w.set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(d)}))
	body := newStream(w, r)
	body.firstByte, body.coding = firstByte, identity
	w.set("Content-Length", strconv.FormatInt(kept.Size, 10))
	return body.send(r, func(out io.Writer) error {
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
func (a *API) describeVersion(w *response, r *http.Request) (d herb.Dataset, visibility herb.Visibility, access herb.Access, err error) {
	w.setKeyVary()
	ref, principal, live := refOf(r), a.optionalPrincipal(w, r), ""
	version, _, err := w.queryString(r).CutVersion()
	if err != nil {
		return d, visibility, "", err
	}
	access = herb.AccessKey
	if !principal.MayPublish(ref) {
		view, err := a.openDataset(w, r)
		if err != nil {
			return d, visibility, "", err
		}
		view.Release()
		version, live, access = view.Version, view.Live, view.Access
	}
	if d, err = a.opts.Publishing.Versions.Version(r.Context(), ref, version); err != nil || live == "" {
		return d, principal.See(d), access, err
	}
	other, err := a.opts.Publishing.Versions.Version(r.Context(), ref, live)
	return d.WithoutExcluded(), principal.See(d, other), access, err
}

// putDescriptor handles a descriptor, with which the kept source is published again.
func (a *API) putDescriptor(w *response, r *http.Request) error {
	req, err := a.publishRequest(w, r, []string{paramCheck, paramAllowBreaking, paramAllowExposure, paramForce})
	if err != nil {
		return err
	}
	body, err := readBody(w, r, maxDescriptor)
	if err != nil {
		return err
	}
	req.Descriptor = bytes.Clone(body.Bytes())
	body.free()
	if len(bytes.TrimSpace(req.Descriptor)) == 0 {
		return herb.Invalidf("the body is empty; send a Data Package descriptor in JSON or YAML")
	}
	ctx, err := w.admitUpload(r) // it takes disk space like a file that is sent
	if err != nil {
		return err
	}
	if req.File, err = a.opts.Publishing.Jobs.Restore(ctx, req.Ref); err != nil {
		return err
	}
	req.Actor.Note = "sha256 " + req.File.SHA256
	return a.startPublish(w, r, req)
}

// descriptor handles the complete descriptor of the live version, which may quote values.
func (a *API) descriptor(w *response, r *http.Request) error {
	var actor herb.Actor
	ref, err := a.authorizePublish(w, r, &actor)
	if err != nil {
		return err
	}
	if _, err := w.queryString(r).Only(); err != nil {
		return err
	}
	d, err := a.opts.Publishing.Versions.LiveVersion(r.Context(), ref)
	switch {
	case err != nil:
		return err
	case d.Version == "":
		return herb.Errorf(herb.CodeNotFound, "no such dataset %q; GET /api/v1 lists all datasets", ref)
	case d.Settings == nil || d.Settings.Descriptor == nil:
		return herb.Errorf(herb.CodeNotFound, "%s was published without a descriptor; send one with PUT …/descriptor", ref)
	}
	w.set("Etag", `"`+d.Version+`"`)
	w.set("X-Dataset-Version", d.Version)
	w.send(r, http.StatusOK, contentJSON, d.Settings.Descriptor)
	return nil
}

// switched is the result of a rollback.
type switched struct {
	Dataset  string `json:"dataset"`
	Version  string `json:"version"`
	Replaces string `json:"replaces"`
}

// rollback handles a request to make another version live.
func (a *API) rollback(w *response, r *http.Request) error {
	req, err := a.publishRequest(w, r, []string{paramAllowExposure})
	if err != nil {
		return err
	}
	to, err := rollbackTarget(w, r)
	if err != nil {
		return err
	}
	version, err := a.opts.Publishing.Publisher.Rollback(herb.WithActor(r.Context(), req.Actor), req.Ref, requiredVersion(req), to, req.AllowExposure)
	if err != nil {
		return err
	}
	w.set("X-Dataset-Version", version)
	w.set("Etag", `"`+version+`"`)
	return w.sendJSON(r, switched{req.Ref.String(), version, req.Live})
}

// requiredVersion returns the version that must be live; empty means any.
func requiredVersion(req jobs.Request) string {
	if req.Required {
		return req.Live
	}
	return ""
}

// rollbackTarget reads the body {"to": "<version>"}. Without one, the previous version is meant.
func rollbackTarget(w *response, r *http.Request) (version string, err error) {
	const maxRollback = 1 << 10
	body, err := readBody(w, r, maxRollback)
	if err != nil {
		return "", err
	}
	defer body.free()
	if err := w.admitBody(r); err != nil {
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

// removeDataset handles the removal of a dataset. It requires a condition, so that nothing is
// removed that the client does not know, unless it says so.
func (a *API) removeDataset(w *response, r *http.Request) error {
	req, err := a.publishRequest(w, r, nil)
	if err != nil {
		return err
	}
	if _, stated := r.Header["If-Match"]; !stated {
		return herb.Invalidf(`If-Match is required; write If-Match: "<version>" with the live version, or If-Match: * for any`)
	}
	if err := w.admitBody(r); err != nil {
		return err
	}
	err = a.opts.Publishing.Publisher.Remove(herb.WithActor(r.Context(), req.Actor), req.Ref, requiredVersion(req))
	if herb.CodeOf(err) == herb.CodeNotFound {
		return herb.Wrap(herb.CodePrecondition, err, "If-Match does not hold: %s does not exist", req.Ref)
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
