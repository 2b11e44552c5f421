package httpapi

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"herbarium/internal/herb"
)

// logRequest logs a request and calls Options.Observe.
func (a *API) logRequest(w *response, r *http.Request) {
	end := a.opts.Now()
	took := end.Sub(w.start)
	pattern := ""
	if w.route != nil {
		pattern = w.route.path()
	}
	if a.opts.Observe != nil {
		a.opts.Observe(Observation{
			Method: knownMethod(r.Method), Route: pattern, Status: w.status, Bytes: w.bytes, Took: took,
		})
	}
	level := slog.LevelInfo
	switch {
	case w.status >= http.StatusInternalServerError, w.status == 0 && w.err != nil && !w.clientGone:
		level = slog.LevelError
	case w.route != nil && w.route.probe:
		level = slog.LevelDebug
	}
	ctx, handler := r.Context(), a.opts.Log.Handler()
	if !handler.Enabled(ctx, level) {
		return
	}
	// The record is made here, because the logger would also look up the source line of this call.
	record := slog.NewRecord(end, level, "request", 0)
	record.AddAttrs(
		slog.String("method", knownMethod(r.Method)),
		slog.String("path", herb.Clip(redactText(r.URL.Path), maxLogged)),
		slog.String("query", redactQuery(r.URL.RawQuery)),
		slog.Int("status", w.status),
		slog.Int64("bytes", w.bytes),
		slog.Duration("duration", took),
		slog.String("request_id", w.id),
		slog.String("route", pattern),
	)
	// Client errors are not logged: the client has the message, and it may quote a misplaced secret.
	if w.err != nil && (w.status >= http.StatusInternalServerError || w.status < http.StatusBadRequest) {
		record.AddAttrs(slog.String("error", redactText(w.err.Error())))
	}
	_ = handler.Handle(ctx, record) // slog.Logger ignores the error, too
}

// logPanic logs the stack of a panic.
func (a *API) logPanic(w *response, r *http.Request, p any) {
	a.opts.Log.LogAttrs(r.Context(), slog.LevelError, "panic",
		slog.String("request_id", w.id),
		slog.String("panic", redactText(fmt.Sprint(p))),
		slog.String("stack", redactText(string(debug.Stack()))))
}

// knownMethod returns the method for logs and metrics: "OTHER" unless it is known, because clients can send arbitrary
// ones.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return method
	}
	return "OTHER"
}
