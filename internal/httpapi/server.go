package httpapi

import (
	"log/slog"
	"net/http"
	"time"
)

// MaxHeaderBytes is the maximum size of a request before its body. It leaves room for a query over the limit, which is
// then rejected with a message.
const MaxHeaderBytes = 64 << 10

// NewServer returns a server for a handler, with limits on everything that a client could delay. Wrap its listener with
// Listener, so that requests rejected by net/http get an Error body, too. A nil log disables logging.
func NewServer(handler http.Handler, log *slog.Logger) *http.Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &http.Server{
		Handler:                      handler,
		DisableGeneralOptionsHandler: true, // the handler responds to OPTIONS *
		ReadHeaderTimeout:            10 * time.Second,
		ReadTimeout:                  30 * time.Second,
		WriteTimeout:                 60 * time.Second,
		IdleTimeout:                  2 * time.Minute,
		MaxHeaderBytes:               MaxHeaderBytes,
		ConnState:                    trackConnection,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
