package floor_test

import (
	"net/http/httptest"
	"testing"

	"herbarium/bench/floor"
)

func TestNew(t *testing.T) {
	t.Parallel()
	h := floor.New(12_345)
	for range 2 {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/anything?a=b", nil))
		if w.Code != 200 || w.Body.Len() != 12_345 || w.Header().Get("Content-Length") != "12345" {
			t.Errorf("status %d, %d bytes, header %v", w.Code, w.Body.Len(), w.Header())
		}
	}
}
