package httpapi_test

import (
	"log/slog"
	"net/http"
	"testing"

	"herbarium/internal/httpapi"
	"herbarium/internal/query"
)

// TestNewServer checks that there is a limit on everything that a client could delay, and that a query over its own
// limit still reaches the handler, which rejects it with a message.
func TestNewServer(t *testing.T) {
	t.Parallel()
	s := httpapi.NewServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	for name, limit := range map[string]int64{
		"ReadTimeout": int64(s.ReadTimeout), "WriteTimeout": int64(s.WriteTimeout), "IdleTimeout": int64(s.IdleTimeout), "MaxHeaderBytes": int64(s.MaxHeaderBytes),
	} {
		if limit <= 0 {
			t.Errorf("%s is not set", name)
		}
	}
	if s.MaxHeaderBytes < 2*query.MaxQueryBytes {
		t.Errorf("%d bytes of header leave no room for a query of more than %d", s.MaxHeaderBytes, query.MaxQueryBytes)
	}
}
