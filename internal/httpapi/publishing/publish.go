package publishing

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"herbarium/internal/fetch"
	"herbarium/internal/httpapi/body"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/response"
	"herbarium/internal/publish"
	"herbarium/internal/publish/receive"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/versions"
)

// Services is what publishing over HTTP needs.
type Services struct {
	Files     Files
	Queue     Queue
	Versions  Versions
	Publisher Publisher
	Fetches   Fetches // nil: nothing is fetched
}

// Fetches fetches files from other servers.
type Fetches interface {
	// Fetch fetches a file.
	Fetch(ctx context.Context, ref herb.Ref, s herb.FetchSource) (*receive.File, error)
	// Now fetches and publishes the file of a dataset; there is no result if it has not changed.
	Now(ctx context.Context, ref herb.Ref, actor herb.Actor, given ...herb.Consent) (publish.Publish, error)
	// States returns the state of a dataset that is fetched.
	States(ctx context.Context, ref herb.Ref) (map[herb.Ref]fetch.State, error)
}

// Files receives files.
type Files interface {
	// Receive stores a file until it is closed. size is -1 if it is not known.
	Receive(ctx context.Context, body io.Reader, name string, size int64) (*receive.File, error)
}

// Queue publishes files in the background.
type Queue interface {
	// Start publishes a file, and closes it.
	Start(ctx context.Context, r publish.Request) (publish.Publish, error)
	// State returns a publish of any node, after it has ended or a time has passed.
	State(ctx context.Context, id string, wait time.Duration) (publish.Publish, error)
	// Restore returns the source that is kept with the live version as a file.
	Restore(ctx context.Context, ref herb.Ref) (*receive.File, error)
}

// Versions describes the versions of datasets, also to publishers who may not read them.
type Versions interface {
	// LiveVersion describes the live version; it has no version if there is none.
	LiveVersion(ctx context.Context, ref herb.Ref) (herb.Dataset, error)
	// Version describes a version; empty means the live one.
	Version(ctx context.Context, ref herb.Ref, version string) (herb.Dataset, error)
	// Summaries returns the kept versions and those that were withdrawn.
	Summaries(ctx context.Context, ref herb.Ref) (versions.SummaryList, error)
	// OpenSource returns the source that is kept with a version; empty means the live one.
	OpenSource(ctx context.Context, ref herb.Ref, version string) (io.ReadCloser, herb.Dataset, error)
}

// Publisher changes the versions of a dataset and which one is live. live is the version that must
// be live before; empty means any.
type Publisher interface {
	Rollback(ctx context.Context, ref herb.Ref, live, version string, given ...herb.Consent) (string, error)
	Remove(ctx context.Context, ref herb.Ref, live string) error
	// Label gives a label to a version and returns the name of the version.
	Label(ctx context.Context, ref herb.Ref, version, label string) (string, error)
	// Unlabel removes a label from a version and returns the name of the version.
	Unlabel(ctx context.Context, ref herb.Ref, version, label string) (string, error)
	// Withdraw deletes a version that must not be read any more.
	Withdraw(ctx context.Context, ref herb.Ref, version string) error
}

// Handlers handles publishing over HTTP. It is safe for concurrent use.
type Handlers struct {
	opts Options
	gate *gate.Gate
}

// Options configures Handlers.
type Options struct {
	Services
	Gate           *gate.Gate
	CrossOrigin    *http.CrossOriginProtection
	Base           string // path of the public URL, without a trailing slash
	RequestTimeout time.Duration
}

// New returns the handlers.
func New(opts Options) *Handlers {
	return &Handlers{opts: opts, gate: opts.Gate}
}

// PutSource handles a file to be published. It authorizes the request and checks its conditions
// before it reads the body.
func (h *Handlers) PutSource(w *response.Writer, r *http.Request) error {
	req, err := h.publishRequest(w, r, publishParams())
	if err != nil {
		return err
	}
	if err := h.receiveSource(w, r, &req, publishParams()); err != nil {
		return err
	}
	return h.startPublish(w, r, req)
}

// PostSource handles a form like PutSource, or like PatchSource if it has a mode. Forms of web
// pages cannot be sent in another way, and many generated clients support one type of body per
// operation.
func (h *Handlers) PostSource(w *response.Writer, r *http.Request) error {
	var actor herb.Actor
	if _, err := h.authorizePublish(w, r, &actor); err != nil {
		return err
	}
	if _, isForm := body.FormBoundary(r.Header); !isForm {
		return herb.Invalidf("the body is not a form; send multipart/form-data with a part %q, or the file itself "+
			"with PUT", partFile)
	}
	if params, err := w.QueryString(r).Params(); err == nil && params.Get(paramMode) != "" {
		return h.PatchSource(w, r)
	}
	return h.PutSource(w, r)
}

// PatchSource handles a file that changes the live version.
func (h *Handlers) PatchSource(w *response.Writer, r *http.Request) error {
	params := slices.DeleteFunc(publishParams(), func(name string) bool {
		return name == paramAccess ||
			name == paramForce
	})
	req, err := h.publishRequest(w, r, append(params, paramMode))
	if err != nil {
		return err
	}
	if req.Mode == publish.Replace {
		return herb.Invalidf("%s is required; write append or upsert, or use PUT to replace the dataset", paramMode)
	}
	if *req.Expected == "" {
		return herb.Errorf(herb.CodeNotFound, "no such dataset %q; publish it with PUT", req.Ref)
	}
	if err := h.receiveSource(w, r, &req, params); err != nil {
		return err
	}
	if req.Descriptor != nil {
		return errors.Join(herb.Invalidf("the records are changed by the settings of the live version; send a "+
			"descriptor with PUT …/descriptor"), req.File.Close())
	}
	return h.startPublish(w, r, req)
}

// The parameters of a publish, besides consents and those of herb.ReadingNames with an
// underscore.
const (
	paramAccess  = "_access"
	paramCheck   = "_check"
	paramForce   = "_force"
	paramMessage = "_message"
	paramMode    = "_mode"
)

func publishParams() []string {
	var names []string
	for _, name := range herb.ReadingNames() {
		names = append(names, "_"+name)
	}
	return append(append(names, paramAccess), republishParams()...)
}

// republishParams returns the parameters of a publish of the kept file.
func republishParams() []string {
	return slices.Concat([]string{paramCheck}, consentParams(herb.Consents()), []string{paramForce, paramMessage})
}

func consentParams(consents []herb.Consent) (names []string) {
	for _, c := range consents {
		names = append(names, c.Parameter())
	}
	return names
}

// publishRequest returns the request of a client that may publish a dataset, without the file.
// params are the valid parameters.
func (h *Handlers) publishRequest(w *response.Writer, r *http.Request, params []string) (req publish.Request,
	err error) {
	req.Ref, err = h.authorizePublish(w, r, &req.Actor)
	if err != nil {
		return req, err
	}
	req.Authorize = h.gate.Reauthorize(w, w.Key(r), req.Ref)
	if r.Header.Get("Content-Range") != "" { // RFC 9110, section 14.4
		return req, herb.Invalidf(
			"Content-Range cannot be sent with a request: it would replace the whole by a part; send all of the file")
	}
	given, err := w.QueryString(r).OnlyOf(params...)
	if err != nil {
		return req, err
	}
	for _, p := range given {
		if err := setParam(&req, p.Name, p.Value); err != nil {
			return req, err
		}
	}
	if err := publish.CheckReading(req.Reading); err != nil {
		return req, err
	}
	var live string
	live, req.Required, err = h.checkConditions(r, req.Ref)
	req.Expected = &live
	return req, err
}

// authorizePublish returns the dataset of a request whose client may publish it.
func (h *Handlers) authorizePublish(w *response.Writer, r *http.Request, actor *herb.Actor) (herb.Ref, error) {
	w.Set("Cache-Control", "no-store")
	ref, err := herb.ParseRef(r.PathValue("namespace") + "/" + r.PathValue("dataset"))
	if err != nil {
		ref = gate.RefOf(r) // the key is checked first
	}
	principal, denied := h.authorizeScopes(w, r, ref)
	if denied != nil {
		return ref, denied
	}
	*actor = w.Actor(principal)
	return ref, err
}

// authorizeScopes checks that the key of a request has a scope that permits publishing a dataset.
func (h *Handlers) authorizeScopes(w *response.Writer, r *http.Request, ref herb.Ref) (herb.Principal, error) {
	const howTo = "publishing requires a key; send it as X-API-Key: <key>, as Authorization: Bearer <key>, or as the " +
		"password of HTTP Basic"
	if err := h.opts.CrossOrigin.Check(r); err != nil && w.HasBasicKey(r) {
		return herb.Principal{},
			herb.Wrap(herb.CodeUnauthenticated, err,
				"a browser has sent the password that it knows with a request of another site; send the key as "+
					"X-API-Key: <key>")
	}
	return h.gate.Authorize(w, r, w.Key(r), howTo, ref.PublishScopes()...)
}

// setParam sets a parameter of a publish.
func setParam(req *publish.Request, name, value string) (err error) {
	if consents := herb.Consents(); slices.Contains(consentParams(consents), name) {
		isGiven, err := parseSwitch(name, value)
		if isGiven {
			req.Consents = append(req.Consents, consents[slices.Index(consentParams(consents), name)])
		}
		return err
	}
	switch name {
	case paramAccess:
		req.Access, err = herb.ParseAccess(value)
	case paramCheck:
		req.Check, err = parseSwitch(name, value)
	case paramForce:
		req.Force, err = parseSwitch(name, value)
	case paramMessage:
		req.Message, err = herb.ParseMessage(value)
	case paramMode:
		req.Mode = publish.Mode(value)
		if req.Mode != publish.Append && req.Mode != publish.Upsert {
			return herb.Invalidf("%s is %q; write append or upsert", name, response.Shown(value))
		}
	case query.ParamAPIKey:
	default:
		*req.Reading.Member(strings.TrimPrefix(name, "_")) = value
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
	return false, herb.Invalidf("%s is %q; write true or false", name, response.Shown(value))
}
