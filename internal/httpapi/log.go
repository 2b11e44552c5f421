package httpapi

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
)

// logRequest writes the one line that every request leaves, and tells the observer.
func (a *API) logRequest(w *response, r *http.Request) {
	took := a.opts.Now().Sub(w.start)
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
	case w.status >= http.StatusInternalServerError, w.status == 0 && w.err != nil && !w.gone:
		level = slog.LevelError
	case w.route != nil && w.route.probe:
		level = slog.LevelDebug
	}
	ctx := r.Context()
	if !a.opts.Log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", knownMethod(r.Method)),
		slog.String("path", shorten(redactText(r.URL.Path))),
		slog.String("query", redactQuery(r.URL.RawQuery)),
		slog.Int("status", w.status),
		slog.Int64("bytes", w.bytes),
		slog.Duration("duration", took),
		slog.String("request_id", w.id),
		slog.String("route", pattern),
	}
	// What a client did wrong it was told; what it wrote there may be a secret in the wrong place.
	if w.err != nil && (w.status >= http.StatusInternalServerError || w.status < http.StatusBadRequest) {
		attrs = append(attrs, slog.String("error", redactText(w.err.Error())))
	}
	a.opts.Log.LogAttrs(ctx, level, "request", attrs...)
}

// logPanic writes down where a handler panicked.
func (a *API) logPanic(w *response, r *http.Request, p any) {
	a.opts.Log.LogAttrs(r.Context(), slog.LevelError, "panic",
		slog.String("request_id", w.id),
		slog.String("panic", redactText(fmt.Sprint(p))),
		slog.String("stack", redactText(string(debug.Stack()))))
}

// knownMethod returns a method as it may be logged and counted: clients can make up any number of others.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return method
	}
	return "OTHER"
}
