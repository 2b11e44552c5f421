package httpapi_test

import (
	"testing"

	"herbarium/internal/httpapi"
)

// TestPlainListing holds that the shorter way to a listing leads where the mux would have.
func TestPlainListing(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	plain := 0
	for _, path := range []string{
		"/api/v1/garden/catalog/data", "/api/v1/a/b/data", "/api/v1/A-1/b_2/data", "/api/v1/data/data/data",
		"/api/v1/garden/catalog/data/", "/api/v1/garden/catalog", "/api/v1/garden/data", "/api/v1//catalog/data",
		"/api/v1/garden//data", "/api/v1/garden/catalog//data", "/api/v1/../v1/a/b/data", "/api/v1/./b/data", "/api/v1/a/../data",
		"/api/v1/a/b/c/data", "/api/v1/a%2Fb/c/data", "/api/v1/a/b%2Fdata", "/api/v1/%61/b/data", "/api/v1/a/b/dat%61",
		"/api/v1/a.b/c/data", "/api/v1/é/c/data", "/api/v2/a/b/data", "//api/v1/a/b/data", "/API/v1/a/b/data", "/",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS"} {
			r := request(method, path, "")
			ref, ok := httpapi.PlainListing(r)
			if !ok {
				continue
			}
			plain++
			if !s.ListingOf(r) {
				t.Errorf("%s %s is taken for a listing", method, path)
			}
			if want := "/api/v1/" + ref.String() + "/data"; path != want {
				t.Errorf("%s is taken for %s", path, ref)
			}
		}
	}
	if plain != 8 {
		t.Errorf("%d requests go the shorter way; want 8", plain)
	}
}
