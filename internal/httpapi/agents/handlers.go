package agents

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"herbarium/internal/httpapi/body"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Limits of a message.
const (
	maxMessage = 64 << 10 // bytes; a query string has at most 8 KiB
	maxDepth   = 32       // nested objects and arrays
)

// Handlers handles messages. It is safe for concurrent use.
type Handlers struct {
	opts Options
	sdk  http.Handler
}

// Options configures Handlers. All members but SearchBudget are required.
type Options struct {
	Gate         *gate.Gate
	Library      gate.Library
	Origin       func(*http.Request) string // prefix of absolute links
	Serves       func(path string) bool     // whether the path has a route
	SearchBudget time.Duration              // see library.SearchRecords
	Version      string                     // of the program
}

const instructions = "Read-only access to the datasets of a Herbarium server. Call search_datasets to find a dataset " +
	"and describe_dataset " +
	"before you query it: it has the names, types and values of the fields. Use aggregate to count and to compute; " +
	"do not count rows yourself. " +
	"Totals are exact. Every result has a permalink: cite it."

// New returns handlers.
func New(opts Options) *Handlers {
	h := &Handlers{opts: opts}
	server := mcp.NewServer(&mcp.Implementation{Name: "herbarium", Title: "Herbarium",
		Version: cmp.Or(opts.Version, "unknown")}, &mcp.ServerOptions{
		Instructions: instructions,
		// nothing changes while a client is connected
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for _, t := range tools() {
		server.AddTool(t.declaration(),
			func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return ctx.Value(exchangeKey{}).(*exchange).call(t, req), nil
			})
	}
	server.AddReceivingMiddleware(rejectSubscriptions)
	h.sdk = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true,
		// Whoever may open the address may read the open datasets, from any page (CORS *), and keys
		// are never sent by browsers on their own. The check would reject clients behind a proxy.
		DisableLocalhostProtection: true,
	})
	return h
}

// rejectSubscriptions rejects the method whose response would never end: this server sends no
// notifications.
func rejectSubscriptions(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "subscriptions/listen" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this server sends no notifications"}
		}
		return next(ctx, method, req)
	}
}

// Post handles a message.
func (h *Handlers) Post(w *response.Writer, r *http.Request) error {
	structured := w.QueryString(r).Get(query.ParamResult)
	if structured != "" && structured != "structured" { // for clients that hand only this to the model
		return herb.Invalidf("%s is %q; it must be structured, or absent", query.ParamResult,
			response.Shown(structured))
	}
	if err := body.CheckJSON(r.Header); err != nil {
		return err
	}
	message, err := body.Read(w, r, maxMessage)
	if err != nil {
		return err
	}
	defer message.Free()
	if err := checkMessage(message.Bytes()); err != nil {
		return err
	}
	if err := w.AdmitBody(r); err != nil {
		return err
	}
	buffer := w.NewBuffer(r.Context())
	defer buffer.Free()
	x := &exchange{handlers: h, w: w, r: r, structured: structured != "", header: http.Header{}, body: buffer}
	x.serve(message.Bytes())
	return x.send()
}

// checkMessage rejects what the SDK must not decode: batches, which would be several calls in one
// slot and which newer versions of the protocol no longer have, and deeply nested values.
func checkMessage(message []byte) error {
	if start := bytes.TrimLeft(message, " \t\r\n"); len(start) > 0 && start[0] == '[' {
		return herb.Invalidf("the body is a batch; send one JSON-RPC message per request")
	}
	depth := 0
	decoder := json.NewDecoder(bytes.NewReader(message))
	for {
		token, err := decoder.Token()
		if err == io.EOF && depth == 0 {
			break
		}
		if err != nil {
			return herb.Invalidf("the body is not a JSON-RPC message: it is malformed JSON")
		}
		// results and errors repeat names and values
		if s, isString := token.(string); isString && herb.ContainsSecret(s) {
			return herb.Invalidf("the message contains a key; send it as X-API-Key: <key> or as Authorization: " +
				"Bearer <key>, and revoke it if others may have seen it")
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth > maxDepth {
			return herb.Invalidf("the message nests more than %d levels", maxDepth)
		}
	}
	if !json.Valid(message) { // several values, or none
		return herb.Invalidf("the body is not a JSON-RPC message; send one JSON object")
	}
	return nil
}

// onlyStructured reports whether a client hands only the structured content to the model if a
// result has one.
func onlyStructured(r *http.Request, req *mcp.CallToolRequest) bool {
	const claudeCode = "claude-code" // github.com/anthropics/claude-code/issues/79944
	name := ""
	if p := req.Session.InitializeParams(); p != nil && p.ClientInfo != nil {
		name = p.ClientInfo.Name
	}
	return name == claudeCode || strings.HasPrefix(r.UserAgent(), claudeCode+"/")
}

// send sends the response of the SDK. Rejections in plain text become errors like all others.
func (x *exchange) send() error {
	contentType := x.header.Get("Content-Type")
	media, _, _ := mime.ParseMediaType(contentType)
	switch {
	case x.status == 0 && x.r.Context().Err() != nil:
		return x.r.Context().Err()
	case x.failed != nil: // the budget of buffers is used up
		return x.failed
	case x.status == 0:
		return herb.Errorf(herb.CodeInternal, "mcp: no response")
	case x.status >= http.StatusBadRequest && media != response.ContentJSON:
		return herb.Invalidf("%s", response.Shown(strings.TrimSpace(string(x.body.Bytes()))))
	}
	x.w.Set("Cache-Control", "no-store")
	if x.body.Len() == 0 {
		x.w.WriteHeader(x.status)
		return nil
	}
	x.w.Send(x.r, x.status, contentType, x.body.Bytes())
	return nil
}
