package httpapi

import (
	"log/slog"
	"net/http"
	"time"
)

// MaxHeaderBytes is how much of a request is read before its body. It leaves room for a query over the limit, which
// then gets an answer that says so.
const MaxHeaderBytes = 64 << 10

// NewServer returns a server for a handler with limits on everything a client could drag out. Its listener is wrapped
// by Listener, so that what net/http refuses by itself gets an Error body, too. A nil log is no log.
func NewServer(handler http.Handler, log *slog.Logger) *http.Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &http.Server{
		Handler:                      handler,
		DisableGeneralOptionsHandler: true, // the handler answers OPTIONS * itself
		ReadHeaderTimeout:            10 * time.Second,
		ReadTimeout:                  30 * time.Second,
		WriteTimeout:                 60 * time.Second,
		IdleTimeout:                  2 * time.Minute,
		MaxHeaderBytes:               MaxHeaderBytes,
		ConnState:                    trackConnection,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
