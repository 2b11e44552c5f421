package response

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/access"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// ToolCall is what a message to POST /mcp has called, for the log and metrics.
type ToolCall struct {
	Tool    string       // one of the known tools
	Dataset string       // as the client has written it; empty if the tool takes none
	Query   query.String // of the same request to the API
	Status  int          // that it would have had
}

// logRequest logs a request and calls Options.Observe.
func (w *Writer) logRequest(r *http.Request) {
	now := time.Now()
	took := now.Sub(w.start)
	pattern := ""
	if w.Route != nil {
		pattern = w.Route.Path
	}
	w.shared.opts.Observe(Observation{
		Method: knownMethod(r.Method), Route: pattern, Status: w.status, Bytes: w.bytes, Took: took,
		Tool: w.Call.Tool, ToolStatus: w.Call.Status,
	})
	status := max(w.status, w.Call.Status)
	level := slog.LevelInfo
	switch {
	case status >= http.StatusInternalServerError, w.status == 0 && w.err != nil && !w.clientGone:
		level = slog.LevelError
	case w.Route != nil && w.Route.Cost == CostProbe:
		level = slog.LevelDebug
	}
	if !w.shared.opts.Log.Enabled(r.Context(), level) {
		return // the attributes are expensive
	}
	rawQuery, params := r.URL.RawQuery, w.QueryString(r)
	if w.Call.Tool != "" {
		rawQuery, params = w.Call.Query.Encode(), w.Call.Query
	}
	record := slog.NewRecord(now, level, "request", 0) // without looking up the caller
	record.AddAttrs(
		slog.String("method", knownMethod(r.Method)),
		slog.String("path", herb.Clip(Redact(r.URL.Path), maxLogged)),
		slog.String("query", redactQuery(rawQuery, params)),
		slog.Int("status", w.status),
		slog.Int64("bytes", w.bytes),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000),
		slog.String("client", clientName(w.address)),
		slog.String("request_id", w.id),
		slog.String("route", pattern),
	)
	if c := w.Call; c.Tool != "" {
		record.AddAttrs(slog.String("tool", c.Tool), slog.Int("tool_status", c.Status),
			slog.String("dataset", Shown(c.Dataset)))
	}
	if id, verified := w.loggedKey(r); id != "" {
		record.AddAttrs(slog.String("key_id", id), slog.Bool("key_verified", verified))
	}
	// Client errors are not logged: the client has the message, and it may quote a misplaced
	// secret.
	if w.err != nil && (status >= http.StatusInternalServerError || status < http.StatusBadRequest) {
		record.AddAttrs(slog.String("error", Redact(w.err.Error())))
	}
	// as slog.Logger does: there is nowhere to report a failure
	_ = w.shared.opts.Log.Handler().Handle(r.Context(), record)
}

// LogError records an error for the log of the request.
func (w *Writer) LogError(err error) { w.err = err }

// clientName returns the address of a client for the log.
func clientName(address netip.Addr) string {
	if !address.IsValid() {
		return "unknown"
	}
	return address.String()
}

// loggedKey returns the public ID of the key of a request, and whether the key was verified. Keys
// are not verified where none is required, and an ID alone proves nothing: anyone who has seen it
// can send it.
func (w *Writer) loggedKey(r *http.Request) (id string, verified bool) {
	if v := w.verified; v.secret != "" && v.err == nil {
		return v.principal.ID, true
	}
	id, _ = access.ID(w.Key(r)) // empty if it is mistyped
	return id, false
}

// LogPanic logs that the work of a request panicked with p, and returns the error for the client.
func (w *Writer) LogPanic(r *http.Request, p any) error {
	w.shared.opts.Log.LogAttrs(r.Context(), slog.LevelError, "panic",
		slog.String("request_id", w.id),
		slog.String("panic", Redact(fmt.Sprint(p))),
		slog.String("stack", Redact(string(debug.Stack()))))
	return errors.New("handler panicked")
}

// knownMethod returns the method for logs and metrics: "OTHER" unless it is known, because clients
// can send arbitrary ones.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return method
	}
	return "OTHER"
}

const maxRequestID = 128

// requestID returns the ID in the request header if it is valid, or else a new one.
func requestID(h http.Header) string {
	if ids := h["X-Request-Id"]; len(ids) == 1 && isRequestID(ids[0]) {
		return ids[0]
	}
	return strconv.FormatUint(rand.Uint64(), 36)
}

// isRequestID reports whether s is safe in headers and logs. A misplaced key is not.
func isRequestID(s string) bool {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-"
	return s != "" && len(s) <= maxRequestID && strings.Trim(s, safe) == "" && !strings.Contains(s, access.Prefix)
}

const (
	redacted       = "REDACTED"
	malformedQuery = "MALFORMED" // logged if the secrets in a query cannot be located
	maxLogged      = 2048        // maximum characters of a path or query in the log
	MaxShown       = 200         // maximum characters of client input in a message
)

// redactQuery returns a query string for the log: names as written, and values that are or may be
// secrets redacted.
func redactQuery(raw string, s query.String) string {
	params := s.RawParams()
	if slices.ContainsFunc(params, func(p query.RawParam) bool { return p.Malformed }) {
		return malformedQuery
	}
	if !slices.ContainsFunc(params, func(p query.RawParam) bool { return redactParam(p) != p.Raw }) {
		return herb.Clip(raw, maxLogged)
	}
	var b strings.Builder
	b.Grow(len(raw))
	for _, p := range params {
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(redactParam(p))
	}
	return herb.Clip(b.String(), maxLogged)
}

// redactParam returns a parameter for the log.
func redactParam(p query.RawParam) string {
	rawName, _, assigned := strings.Cut(p.Raw, "=")
	switch {
	case strings.Contains(p.Name, access.Prefix) && len(p.Name) >= minSecret:
		return redacted
	case assigned && (isSecretName(p.Name) || strings.Contains(p.Value, access.Prefix) || containsSecret(p.Value) ||
		hasBasic(p.Value)):
		return rawName + "=" + redacted
	}
	return p.Raw
}

// containsSecret reports whether a value contains a parameter with a secret: some clients separate
// parameters by semicolons, or pass whole URLs.
func containsSecret(value string) bool {
	if !strings.Contains(value, "=") {
		return false
	}
	for piece := range strings.FieldsFuncSeq(value, func(c rune) bool { return strings.ContainsRune("?&;", c) }) {
		if name, _, assigned := strings.Cut(piece, "="); assigned && isSecretName(name) {
			return true
		}
	}
	return false
}

// isSecretName reports whether a parameter with this name, or a likely typo of it, contains a
// secret.
func isSecretName(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"key", "token", "secret", "password", "auth"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	if !strings.HasPrefix(name, query.ParamAPIKey[:1]) {
		return false
	}
	_, typo := text.Closest(name, []string{query.ParamAPIKey})
	return typo
}

// minSecret is the minimum length of text with the prefix of a key to be treated as one: a dataset
// may be named herb_garden.
const minSecret = len(access.Prefix) + 16

// keyPattern matches keys.
var keyPattern = regexp.MustCompile(fmt.Sprintf("%s[a-zA-Z0-9_]{%d,}", access.Prefix, minSecret-len(access.Prefix)))

// basicPattern matches the credentials of HTTP Basic, in which a key is encoded.
var basicPattern = regexp.MustCompile(`[Bb]asic [A-Za-z0-9+/]{40,}=*`)

// hasBasic reports whether a text has credentials of HTTP Basic. The pattern is slow where there is
// nothing like them.
func hasBasic(s string) bool { return strings.Contains(s, "asic ") && basicPattern.MatchString(s) }

// Shown returns text of a client for a message: short, and without keys.
func Shown(s string) string { return herb.Clip(Redact(s), MaxShown) }

// Redact redacts keys in a text that should not contain any: a path, an error, a panic value.
func Redact(s string) string {
	if hasBasic(s) {
		s = basicPattern.ReplaceAllLiteralString(s, redacted)
	}
	if !strings.Contains(s, access.Prefix) {
		return s
	}
	return keyPattern.ReplaceAllLiteralString(s, redacted)
}
