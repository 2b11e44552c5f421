package publishing

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/publish"
	"herbarium/internal/versions"
)

// startPublish publishes a received file and responds with the result, or with 202 after the time
// that the client wants to wait.
func (h *Handlers) startPublish(w *response.Writer, r *http.Request, req publish.Request) error {
	w.Release() // a slot is for receiving
	client := w.ClientContext()
	ctx, cancel := context.WithTimeout(client, h.opts.RequestTimeout)
	defer cancel()
	started, err := h.opts.Queue.Start(ctx, req)
	if err != nil {
		return err
	}
	wait, stated := preferredWait(r.Header)
	if stated {
		w.Set("Preference-Applied", "wait="+strconv.Itoa(int(wait.Seconds())))
	}
	p, err := h.opts.Queue.State(client, started.ID, wait)
	switch {
	case client.Err() != nil:
		return context.Cause(client) // the publish goes on
	case err != nil:
		return err
	case p.Result == nil:
		w.Set("Location", h.opts.Base+"/api/v1/"+herb.PublishesNamespace+"/"+p.ID)
		w.Set("Retry-After", "1")
		return h.sendPublish(w, r, http.StatusAccepted, newPublishBody(p))
	}
	return h.sendResult(w, r, p)
}

// Limits of the time that a client waits for the result of a publish.
const (
	defaultWait = 25 * time.Second
	maxWait     = 10 * time.Minute
)

// preferredWait returns how long a client wants to wait for the result, by its Prefer header (RFC
// 7240), and whether it says so.
func preferredWait(h http.Header) (wait time.Duration, stated bool) {
	for preference := range strings.SplitSeq(strings.Join(h["Prefer"], ","), ",") {
		preference, _, _ = strings.Cut(preference, ";")
		name, value, _ := strings.Cut(preference, "=")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "respond-async":
			return 0, true
		case "wait":
			if n, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31); err == nil {
				return min(time.Duration(n)*time.Second, maxWait), true
			}
		}
	}
	return defaultWait, false
}

// resultBody is the result of a publish: the object of publish --json, with the status and the
// message of an Error body if it failed.
type resultBody struct {
	Error   int    `json:"error,omitempty"` // instead of the message of the result
	Message string `json:"message,omitempty"`
	versions.Result
}

// newResult returns the status and the body of a publish that has ended.
func newResult(p publish.Publish) (status int, body resultBody) {
	body.Result = *p.Result
	switch {
	case p.Code != "":
		status = p.Code.HTTPStatus()
		body.Error, body.Message = status,
			response.Redact(p.Result.Error+herb.Advice(p.Result.Requires, herb.Consent.Query))
	case p.Result.Status == versions.StatusPublished && p.Result.Replaces == "":
		status = http.StatusCreated
	default:
		status = http.StatusOK
	}
	return status, body
}

// sendResult sends the result of a publish that has ended.
func (h *Handlers) sendResult(w *response.Writer, r *http.Request, p publish.Publish) error {
	status, body := newResult(p)
	switch {
	case p.Code != "":
		w.LogError(errors.New(body.Message))
		switch status {
		case http.StatusServiceUnavailable:
			w.Set("Retry-After", "1")
		case http.StatusUnauthorized: // the key was revoked during the publish
			w.Set("Www-Authenticate", response.InvalidToken)
		}
	case status == http.StatusCreated:
		w.Set("Location", h.opts.Base+"/api/v1/"+p.Result.Dataset)
		fallthrough
	default:
		if p.Result.Version != "" {
			w.Set("X-Dataset-Version", p.Result.Version)
			w.Set("Etag", `"`+p.Result.Version+`"`)
		}
	}
	return h.sendPublish(w, r, status, body)
}

// sendPublish sends JSON after a wait, for which the server has no time limit.
func (h *Handlers) sendPublish(w *response.Writer, r *http.Request, status int, v any) error {
	const writeTimeout = time.Minute
	// not supported by the writers of tests
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	ctx, cancel := context.WithTimeout(w.ClientContext(), h.opts.RequestTimeout)
	defer cancel()
	body, err := w.EncodeJSON(ctx, v)
	defer body.Free()
	if err == nil {
		w.Send(r.WithContext(ctx), status, response.ContentJSON, body.Bytes())
	}
	return err
}

// publishBody is the state of a publish.
type publishBody struct {
	publish.Publish
	Status int         `json:"status,omitempty"` // of the response to a client that had waited for the result
	Result *resultBody `json:"result,omitempty"` // the body of that response
}

func newPublishBody(p publish.Publish) publishBody {
	b := publishBody{Publish: p}
	if p.Result != nil {
		status, result := newResult(p)
		b.Status, b.Result = status, &result
	}
	return b
}

// State handles the state of a publish. Only clients that may publish the dataset see it:
// reports quote values. For the others, it does not exist.
func (h *Handlers) State(w *response.Writer, r *http.Request) error {
	w.Set("Cache-Control", "no-store")
	secret := w.Key(r)
	principal, err := h.gate.Authenticate(w, r, secret, "reading a publish requires a key")
	if err != nil {
		w.SetChallenge(secret, err, nil)
		return err
	}
	id := herb.Clip(r.PathValue("id"), response.MaxShown)
	p, err := h.opts.Queue.State(r.Context(), id, 0)
	if herb.CodeOf(err) == herb.CodeNotFound || err == nil && !principal.MayPublish(p.Ref()) {
		return herb.Errorf(herb.CodeNotFound,
			"no publish %q; the state of a publish is kept for %d hours, unless a version that it names is withdrawn, "+
				"and shown for keys that may publish its dataset",
			id, int(publish.Retention.Hours()))
	}
	if err != nil {
		return err
	}
	if p.Result == nil {
		w.Set("Retry-After", "1")
	}
	return w.SendJSON(r, newPublishBody(p))
}
