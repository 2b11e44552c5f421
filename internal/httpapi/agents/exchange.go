package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
)

// exchange is a message and its response. The SDK runs a tool call in a goroutine of its own, so
// the two of them share it.
type exchange struct {
	handlers   *Handlers
	w          *response.Writer
	r          *http.Request // of the message; its context has the deadline and the pacer
	structured bool          // the client wants the records in the structured content

	mu    sync.Mutex
	begun bool // a tool call
	ended bool // the response is complete; nothing uses w and body any more

	// The response. exchange implements http.ResponseWriter for the SDK.
	header http.Header
	status int
	body   *response.Buffer
	failed error // of writing to the body
}

type exchangeKey struct{}

// serve has the SDK handle a message. It returns when no tool call runs any more: a call observes
// the deadline of the request itself and then has a result.
func (x *exchange) serve(message []byte) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(x.r.Context()))
	defer cancel()
	stop := context.AfterFunc(x.r.Context(), func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if !x.begun {
			cancel() // the SDK would wait for a response without end
		}
	})
	defer stop()
	r := x.r.Clone(context.WithValue(ctx, exchangeKey{}, x))
	r.Method, r.ContentLength, r.Body = http.MethodPost, int64(len(message)), io.NopCloser(bytes.NewReader(message))
	r.Header.Set("Accept", "application/json, text/event-stream") // clients forget the second, which is not used
	r.Header.Del("Last-Event-Id")
	x.handlers.sdk.ServeHTTP(x, r)
	x.mu.Lock()
	x.ended = true
	x.mu.Unlock()
}

// call runs a tool call, of which a message has one.
func (x *exchange) call(t tool, req *mcp.CallToolRequest) *mcp.CallToolResult {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.begun || x.ended {
		return errorResult("the request has ended")
	}
	x.begun = true
	x.w.Call = response.ToolCall{Tool: t.name, Status: http.StatusOK}
	b, err := x.run(t, req.Params.Arguments)
	if err != nil {
		status, message := x.w.DescribeError(x.r.Context(), err)
		x.w.Call.Status = status
		return errorResult(message)
	}
	return b.result(x.structured || onlyStructured(x.r, req))
}

// run runs a tool. The SDK does so in a goroutine of its own, in which a panic would end the
// server.
func (x *exchange) run(t tool, arguments json.RawMessage) (b *block, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = x.w.LogPanic(x.r, p)
		}
	}()
	args, err := decodeArguments(t, arguments)
	if err != nil {
		return nil, err
	}
	x.w.Call.Dataset = args.text("dataset")
	return t.run(&toolCall{Options: &x.handlers.opts, w: x.w, r: x.r, tool: t, args: args})
}

func errorResult(message string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: message}}}
}

// Header implements http.ResponseWriter.
func (x *exchange) Header() http.Header { return x.header }

// WriteHeader implements http.ResponseWriter.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
	}
}

// Write implements http.ResponseWriter.
func (x *exchange) Write(p []byte) (n int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		return 0, herb.Errorf(herb.CodeUnavailable, "the request has ended")
	}
	x.WriteHeader(http.StatusOK)
	n, err = x.body.Write(p)
	if err != nil {
		x.failed = err
	}
	return n, err
}
