package httpapi

import (
	"cmp"
	"context"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/jobs"
	"herbarium/internal/publish"
	"herbarium/internal/query"
)

const (
	datasetPattern    = "/api/v1/{namespace}/{dataset}"
	sourcePattern     = datasetPattern + "/source"
	descriptorPattern = datasetPattern + "/descriptor"
	publishPattern    = "/api/v1/" + herb.PublishesNamespace + "/{id}"
)

func (a *API) publishRoutes() []route {
	return []route{
		{method: http.MethodPut, pattern: sourcePattern, handle: a.putSource},
		{method: http.MethodPost, pattern: sourcePattern, handle: a.postSource},
		{method: http.MethodPatch, pattern: sourcePattern, handle: a.patchSource},
		{method: http.MethodGet, pattern: sourcePattern, handle: a.source},
		{method: http.MethodPut, pattern: descriptorPattern, handle: a.putDescriptor},
		{method: http.MethodGet, pattern: descriptorPattern, handle: a.descriptor},
		{method: http.MethodGet, pattern: datasetPattern + "/versions", handle: a.versions},
		{method: http.MethodGet, pattern: datasetPattern + "/report", handle: a.report},
		{method: http.MethodPost, pattern: datasetPattern + "/rollback", handle: a.rollback},
		{method: http.MethodDelete, pattern: datasetPattern, handle: a.removeDataset},
		{method: http.MethodGet, pattern: publishPattern, handle: a.publishState},
	}
}

// putSource handles a file to be published. It authorizes the request and checks its conditions
// before it reads the body.
func (a *API) putSource(w *response, r *http.Request) error {
	req, err := a.publishRequest(w, r, publishParams())
	if err != nil {
		return err
	}
	if err := a.receiveSource(w, r, &req, publishParams()); err != nil {
		return err
	}
	return a.startPublish(w, r, req)
}

// postSource handles a form like putSource, or like patchSource if it has a mode. Forms of web
// pages cannot be sent in another way, and many generated clients support one type of body per
// operation.
func (a *API) postSource(w *response, r *http.Request) error {
	var actor herb.Actor
	if _, err := a.authorizePublish(w, r, &actor); err != nil {
		return err
	}
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media != contentForm {
		return herb.Invalidf("the body is not a form; send multipart/form-data with a part %q, or the file itself with PUT", partFile)
	}
	if params, err := w.queryString(r).Params(); err == nil && params.Get(paramMode) != "" {
		return a.patchSource(w, r)
	}
	return a.putSource(w, r)
}

// patchSource handles a file that changes the live version.
func (a *API) patchSource(w *response, r *http.Request) error {
	params := slices.DeleteFunc(publishParams(), func(name string) bool { return name == paramAccess || name == paramForce })
	req, err := a.publishRequest(w, r, append(params, paramMode))
	if err != nil {
		return err
	}
	if req.Mode == jobs.Replace {
		return herb.Invalidf("%s is required; write append or upsert, or use PUT to replace the dataset", paramMode)
	}
	if req.Live == "" {
		return herb.Errorf(herb.CodeNotFound, "no such dataset %q; publish it with PUT", req.Ref)
	}
	if err := a.receiveSource(w, r, &req, params); err != nil {
		return err
	}
	if req.Descriptor != nil {
		return errors.Join(herb.Invalidf("the records are changed by the settings of the live version; send a descriptor with PUT …/descriptor"), req.File.Close())
	}
	return a.startPublish(w, r, req)
}

// The parameters of a publish, besides those of jobs.ReadingNames with an underscore.
const (
	paramAccess        = "_access"
	paramCheck         = "_check"
	paramAllowBreaking = "_allow_breaking"
	paramAllowExposure = "_allow_exposure"
	paramForce         = "_force"
	paramMode          = "_mode"
)

func publishParams() []string {
	var names []string
	for _, name := range jobs.ReadingNames() {
		names = append(names, "_"+name)
	}
	return append(names, paramAccess, paramCheck, paramAllowBreaking, paramAllowExposure, paramForce)
}

// publishRequest returns the request of a client that may publish a dataset, without the file.
// params are the valid parameters.
func (a *API) publishRequest(w *response, r *http.Request, params []string) (req jobs.Request, err error) {
	if req.Ref, err = a.authorizePublish(w, r, &req.Actor); err != nil {
		return req, err
	}
	req.Authorize = a.reauthorize(r, apiKey(w, r), req.Ref)
	if r.Header.Get("Content-Range") != "" { // RFC 9110, section 14.4
		return req, herb.Invalidf("Content-Range cannot be sent with a request: it would replace the whole by a part; send all of the file")
	}
	given, err := w.queryString(r).Only(params...)
	if err != nil {
		return req, err
	}
	for _, p := range given {
		if err := setParam(&req, p.Name, p.Value); err != nil {
			return req, err
		}
	}
	if err := jobs.CheckReading(req.Reading); err != nil {
		return req, err
	}
	req.Live, req.Required, err = a.checkConditions(r, req.Ref)
	return req, err
}

// authorizePublish returns the dataset of a request whose client may publish it.
func (a *API) authorizePublish(w *response, r *http.Request, actor *herb.Actor) (herb.Ref, error) {
	w.set("Cache-Control", "no-store")
	ref, err := herb.ParseRef(r.PathValue("namespace") + "/" + r.PathValue("dataset"))
	if err != nil {
		ref = refOf(r) // the key is checked first
	}
	principal, denied := a.authorizeScopes(w, r, ref)
	if denied != nil {
		return ref, denied
	}
	*actor = w.actor(principal)
	return ref, err
}

// actor returns who sends a request, for the audit log.
func (w *response) actor(p herb.Principal) herb.Actor {
	return herb.Actor{Name: p.ID, Origin: w.address.String()}
}

// authorizeScopes checks that the key of a request has a scope that permits publishing a dataset.
func (a *API) authorizeScopes(w *response, r *http.Request, ref herb.Ref) (herb.Principal, error) {
	const howTo = "publishing requires a key; send it as X-API-Key: <key> or as Authorization: Bearer <key>"
	return a.authorize(w, r, apiKey(w, r), howTo, ref.PublishScopes()...)
}

// setParam sets a parameter of a publish.
func setParam(req *jobs.Request, name, value string) (err error) {
	switch name {
	case paramAccess:
		req.Access, err = herb.ParseAccess(value)
	case paramCheck:
		req.Check, err = parseSwitch(name, value)
	case paramAllowBreaking:
		req.AllowBreaking, err = parseSwitch(name, value)
	case paramAllowExposure:
		req.AllowExposure, err = parseSwitch(name, value)
	case paramForce:
		req.Force, err = parseSwitch(name, value)
	case paramMode:
		if req.Mode = jobs.Mode(value); req.Mode != jobs.Append && req.Mode != jobs.Upsert {
			return herb.Invalidf("%s is %q; write append or upsert", name, herb.Clip(redactText(value), maxShown))
		}
	case query.ParamAPIKey:
	default:
		if req.Reading == nil {
			req.Reading = map[string]string{}
		}
		req.Reading[strings.TrimPrefix(name, "_")] = value
	}
	return err
}

func parseSwitch(name, value string) (bool, error) {
	switch value {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	}
	return false, herb.Invalidf("%s is %q; write true or false", name, herb.Clip(redactText(value), maxShown))
}

// checkConditions returns the live version of a dataset, and whether the request requires it:
// If-Match: * requires any. It fails with herb.CodePrecondition if If-Match or If-None-Match does
// not hold.
func (a *API) checkConditions(r *http.Request, ref herb.Ref) (live string, required bool, err error) {
	d, err := a.opts.Publishing.Versions.LiveVersion(r.Context(), ref)
	if err != nil {
		return "", false, err
	}
	live = d.Version
	if r.Header.Get("If-None-Match") == "*" {
		if live != "" {
			return live, true, herb.Errorf(herb.CodePrecondition, "If-None-Match does not hold: %s exists, with version %s", ref, live)
		}
		required = true
	}
	if _, stated := r.Header["If-Match"]; stated {
		required = !anyMatches(r.Header["If-Match"])
		if live == "" || !matches(r.Header["If-Match"], live) {
			now := "does not exist"
			if live != "" {
				now = "has the version " + live
			}
			return live, true, herb.Errorf(herb.CodePrecondition, `If-Match does not hold: %s %s; write If-Match: "<version>"`, ref, now)
		}
	}
	return live, required, nil
}

// matches reports whether an If-Match header holds for a version. Weak tags never match.
func matches(header []string, version string) bool {
	return slices.Contains(entityTags(header), `"`+version+`"`) || anyMatches(header)
}

// anyMatches reports whether an If-Match header holds for every version.
func anyMatches(header []string) bool { return slices.Equal(entityTags(header), []string{"*"}) }

func entityTags(header []string) []string {
	return strings.FieldsFunc(strings.Join(header, ","), func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })
}

// startPublish publishes a received file and responds with the result, or with 202 after the time
// that the client wants to wait.
func (a *API) startPublish(w *response, r *http.Request, req jobs.Request) error {
	w.ticket.Release() // a slot is for receiving
	ctx, cancel := context.WithTimeout(w.client, a.opts.RequestTimeout)
	defer cancel()
	started, err := a.opts.Publishing.Jobs.Start(ctx, req)
	if err != nil {
		return err
	}
	wait, stated := preferredWait(r.Header)
	if stated {
		w.set("Preference-Applied", "wait="+strconv.Itoa(int(wait.Seconds())))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-started.Done():
	case <-timer.C:
	case <-w.client.Done():
		return context.Cause(w.client) // the publish goes on
	}
	record := started.Record()
	if record.Result == nil {
		w.set("Location", a.base+"/api/v1/"+herb.PublishesNamespace+"/"+record.ID)
		w.set("Retry-After", "1")
		return a.sendPublish(w, r, http.StatusAccepted, newPublishBody(record))
	}
	return a.sendResult(w, r, record.Outcome)
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
	Error   int    `json:"error,omitempty"` // instead of the message of the summary
	Message string `json:"message,omitempty"`
	publish.Summary
}

// newResult returns the status and the body of a publish that has ended.
func newResult(o jobs.Outcome) (status int, body resultBody) {
	body.Summary = *o.Result
	switch {
	case o.Code != "":
		status = cmp.Or(statuses[o.Code], http.StatusInternalServerError)
		body.Error, body.Message = status, redactText(o.Result.Error+herb.Advice(o.Result.Requires, herb.Consent.Parameter))
	case o.Result.Status == publish.StatusPublished && o.Result.Replaces == "":
		status = http.StatusCreated
	default:
		status = http.StatusOK
	}
	return status, body
}

// sendResult sends the result of a publish that has ended.
func (a *API) sendResult(w *response, r *http.Request, o jobs.Outcome) error {
	status, body := newResult(o)
	switch {
	case o.Code != "":
		w.err = errors.New(body.Message) // for the log
		switch status {
		case http.StatusServiceUnavailable:
			w.set("Retry-After", "1")
		case http.StatusUnauthorized: // the key was revoked during the publish
			w.set("Www-Authenticate", `Bearer error="invalid_token", `+realm)
		}
	case status == http.StatusCreated:
		w.set("Location", a.base+"/api/v1/"+o.Result.Dataset)
		fallthrough
	default:
		if o.Result.Version != "" {
			w.set("X-Dataset-Version", o.Result.Version)
			w.set("Etag", `"`+o.Result.Version+`"`)
		}
	}
	return a.sendPublish(w, r, status, body)
}

// sendPublish sends JSON after a wait, for which the server has no time limit.
func (a *API) sendPublish(w *response, r *http.Request, status int, v any) error {
	const writeTimeout = time.Minute
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(writeTimeout)) // not supported by the writers of tests
	ctx, cancel := context.WithTimeout(w.client, a.opts.RequestTimeout)
	defer cancel()
	body, err := w.encodeJSON(ctx, v)
	defer body.free()
	if err == nil {
		w.send(r.WithContext(ctx), status, contentJSON, body.Bytes())
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
		status, result := newResult(r.Outcome)
		b.Status, b.Result = status, &result
	}
	return b
}

// publishState handles the state of a publish. Only clients that may publish the dataset see it:
// reports quote values. For the others, it does not exist.
func (a *API) publishState(w *response, r *http.Request) error {
	w.set("Cache-Control", "no-store")
	if _, err := w.queryString(r).Only(); err != nil {
		return err
	}
	secret := apiKey(w, r)
	principal, err := a.authenticate(w, r, secret, "reading a publish requires a key")
	if err != nil {
		w.setChallenge(secret, err, nil)
		return err
	}
	id := herb.Clip(r.PathValue("id"), maxShown)
	record, err := a.opts.Publishing.Jobs.Record(r.Context(), id)
	if herb.CodeOf(err) == herb.CodeNotFound || err == nil && !principal.MayPublish(record.Ref()) {
		return herb.Errorf(herb.CodeNotFound, "no publish %q; the state of a publish is kept for %d hours, and shown for keys that may publish its dataset",
			id, int(jobs.Retention.Hours()))
	}
	if err != nil {
		return err
	}
	if record.Result == nil {
		w.set("Retry-After", "1")
	}
	return w.sendJSON(r, newPublishBody(record))
}
