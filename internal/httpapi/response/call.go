package response

import (
	"context"
	"net/http"

	"herbarium/internal/query"
)

// Call is the tool call of a message to POST /mcp. It reads what a request to the API reads.
type Call struct {
	Tool    string // one of the known tools
	Dataset string // as the client has written it; empty if the tool takes none

	rawQuery string // of the request to the API
	status   int    // that the request to the API would have had
}

// BeginCall makes the request a tool call. Until SetCallQuery, its query string is that of the URL.
func (w *Writer) BeginCall(r *http.Request, tool string) *Call {
	w.call = &Call{Tool: tool, rawQuery: r.URL.RawQuery, status: http.StatusOK}
	return w.call
}

// SetCallQuery replaces the query string of a tool call by the one of the request to the API, from
// which the gate and the handlers read. A key in the URL still counts. A key among the parameters
// is rejected: the permalink and the log repeat them.
func (w *Writer) SetCallQuery(r *http.Request, params query.Params) error {
	key, _ := w.QueryString(r).Key()
	raw := params.Encode()
	own := query.Split(raw)
	if err := RejectKeys(own, false); err != nil {
		w.query = query.String{}
		return err
	}
	w.call.rawQuery = raw
	w.query = query.Split(params.WithValue(query.ParamAPIKey, key).Encode())
	return nil
}

// FailCall records why a tool call failed, and returns the message for its client. The response to
// the message succeeds: the client reads the error from the result.
func (w *Writer) FailCall(ctx context.Context, err error) (message string) {
	err = timeoutError(ctx, err)
	w.err = err
	w.call.status, message = w.describe(err)
	return message
}

// PanicCall records that a tool call panicked with p. The call runs in a goroutine of its own, so
// the panic does not reach Finish.
func (w *Writer) PanicCall(r *http.Request, p any) error {
	w.logPanic(r, p)
	return errPanic
}
