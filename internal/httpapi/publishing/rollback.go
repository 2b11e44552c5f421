package publishing

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"herbarium/internal/httpapi/body"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/versions"
)

// switched is the result of a rollback.
type switched struct {
	Dataset  string `json:"dataset"`
	Version  string `json:"version"`
	Replaces string `json:"replaces"`
}

// Rollback handles a request to make another version live.
func (h *Handlers) Rollback(w *response.Writer, r *http.Request) error {
	req, err := h.publishRequest(w, r, consentParams(versions.RollbackConsents()))
	if err != nil {
		return err
	}
	to, err := rollbackTarget(w, r)
	if err != nil {
		return err
	}
	version, err := h.opts.Publisher.Rollback(herb.WithActor(r.Context(), req.Actor), req.Ref, requiredVersion(req), to,
		req.Consents...)
	if err != nil {
		return err
	}
	w.Set("X-Dataset-Version", version)
	w.Set("Etag", `"`+version+`"`)
	return w.SendJSON(r, switched{req.Ref.String(), version, *req.Expected})
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
		return "", herb.Invalidf(
			`the body is not {"to": "<version>"}, with one member; GET /api/v1/<namespace>/<dataset> has the live version`)
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
