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
	"herbarium/internal/jobs"
	"herbarium/internal/query"
	"herbarium/internal/versions"
)

// startPublish publishes a received file and responds with the result, or with 202 after the time
// that the client wants to wait.
func (h *Handlers) startPublish(w *response.Writer, r *http.Request, req jobs.Request) error {
	w.Release() // a slot is for receiving
	client := w.ClientContext()
	ctx, cancel := context.WithTimeout(client, h.opts.RequestTimeout)
	defer cancel()
	started, err := h.opts.Jobs.Start(ctx, req)
	if err != nil {
		return err
	}
	wait, stated := preferredWait(r.Header)
	if stated {
		w.Set("Preference-Applied", "wait="+strconv.Itoa(int(wait.Seconds())))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-started.Done():
	case <-timer.C:
	case <-client.Done():
		return context.Cause(client) // the publish goes on
	}
	record := started.Record()
	if record.Result == nil {
		w.Set("Location", h.opts.Base+"/api/v1/"+herb.PublishesNamespace+"/"+record.ID)
		w.Set("Retry-After", "1")
		return h.sendPublish(w, r, http.StatusAccepted, newPublishBody(record))
	}
	return h.sendResult(w, r, record)
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
func newResult(record jobs.Record) (status int, body resultBody) {
	body.Result = *record.Result
	switch {
	case record.Code != "":
		status = record.Code.HTTPStatus()
		body.Error, body.Message = status, response.Redact(record.Result.Error+herb.Advice(record.Result.Requires, herb.Consent.Query))
	case record.Result.Status == versions.StatusPublished && record.Result.Replaces == "":
		status = http.StatusCreated
	default:
		status = http.StatusOK
	}
	return status, body
}

// sendResult sends the result of a publish that has ended.
func (h *Handlers) sendResult(w *response.Writer, r *http.Request, record jobs.Record) error {
	status, body := newResult(record)
	switch {
	case record.Code != "":
		w.LogError(errors.New(body.Message))
		switch status {
		case http.StatusServiceUnavailable:
			w.Set("Retry-After", "1")
		case http.StatusUnauthorized: // the key was revoked during the publish
			w.Set("Www-Authenticate", response.InvalidToken)
		}
	case status == http.StatusCreated:
		w.Set("Location", h.opts.Base+"/api/v1/"+record.Result.Dataset)
		fallthrough
	default:
		if record.Result.Version != "" {
			w.Set("X-Dataset-Version", record.Result.Version)
			w.Set("Etag", `"`+record.Result.Version+`"`)
		}
	}
	return h.sendPublish(w, r, status, body)
}

// sendPublish sends JSON after a wait, for which the server has no time limit.
func (h *Handlers) sendPublish(w *response.Writer, r *http.Request, status int, v any) error {
	const writeTimeout = time.Minute
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // not supported by the writers of tests
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
	jobs.Record
	Status int         `json:"status,omitempty"` // of the response to a client that had waited for the result
	Result *resultBody `json:"result,omitempty"` // the body of that response
}

func newPublishBody(r jobs.Record) publishBody {
	b := publishBody{Record: r}
	if r.Result != nil {
		status, result := newResult(r)
		b.Status, b.Result = status, &result
	}
	return b
}

// State handles the state of a publish. Only clients that may publish the dataset see it:
// reports quote values. For the others, it does not exist.
func (h *Handlers) State(w *response.Writer, r *http.Request) error {
	w.Set("Cache-Control", "no-store")
	if _, err := w.QueryString(r).Only(query.KindNone); err != nil {
		return err
	}
	secret := w.Key(r)
	principal, err := h.gate.Authenticate(w, r, secret, "reading a publish requires a key")
	if err != nil {
		w.SetChallenge(secret, err, nil)
		return err
	}
	id := herb.Clip(r.PathValue("id"), response.MaxShown)
	record, err := h.opts.Jobs.Record(r.Context(), id)
	if herb.CodeOf(err) == herb.CodeNotFound || err == nil && !principal.MayPublish(record.Ref()) {
		return herb.Errorf(herb.CodeNotFound, "no publish %q; the state of a publish is kept for %d hours, unless a version that it names is withdrawn, "+
			"and shown for keys that may publish its dataset",
			id, int(jobs.Retention.Hours()))
	}
	if err != nil {
		return err
	}
	if record.Result == nil {
		w.Set("Retry-After", "1")
	}
	return w.SendJSON(r, newPublishBody(record))
}
