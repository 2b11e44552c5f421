package httpapi_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"herbarium/internal/access"
)

// TestMisplacedKey sends a key where none is expected. No response and no line of the log repeats
// it.
func TestMisplacedKey(t *testing.T) {
	t.Parallel()
	secret, _ := access.Mint("test", nil, published(), time.Time{})
	random := secret[16:] // without the prefix and the ID, which are public
	encoded := strings.ReplaceAll(secret, "_", "%5F")
	hex := ""
	for _, c := range []byte(secret) {
		hex += fmt.Sprintf("%%%02x", c)
	}
	mistyped := secret[:20] + "0" + secret[21:]
	const listing = "/api/v1/garden/catalog/data"
	for _, path := range []string{
		listing + "?title=" + secret, listing + "?title=" + encoded, listing + "?title=" + hex, listing + "?title=" + mistyped,
		listing + "?title=Bearer+" + secret, listing + "?title[contains]=" + secret, listing + "?" + secret + "=1", listing + "?" + secret,
		listing + "?search=a&search=" + secret, listing + "?sort=" + secret, listing + "?apikey=" + secret, listing + "?_filter=title%3D" + secret,
		listing + "?api_key=" + secret + "&title=" + secret, listing + ".csv?title=" + secret,
		"/api/v1/locked/staff/data?name=" + secret, "/api/v1/garden/catalog/facets?field=title&_values=" + secret, "/api/v1?search=" + secret,
		"/api/v1/search?search=" + secret, "/api/v1/garden/catalog?x=" + secret, "/openapi.json?dataset=" + secret,
		"/schemas/datapackage.json?x=" + secret,
	} {
		s := newService(t, nil)
		a := s.get(t, path)
		if a.status != 400 || !strings.Contains(a.body, "a parameter other than api_key contains a key") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
		for _, echo := range []string{a.body, fmt.Sprint(a.header), s.log.String()} {
			if decoded, err := url.QueryUnescape(echo); strings.Contains(echo, random) || err == nil && strings.Contains(decoded, random) || strings.Contains(echo, mistyped[16:]) {
				t.Errorf("%s repeats the key: %s", path, echo)
			}
		}
		if n := s.library.listed.Load(); n > 0 {
			t.Errorf("%s: %d listings", path, n)
		}
	}
	for _, path := range []string{listing + "/" + secret, "/" + secret, "/" + hex + "/", "/api/v1/" + secret + "/x/data"} {
		s := newService(t, nil)
		if a := s.get(t, path); a.status != 404 || strings.Contains(a.body+fmt.Sprint(a.header)+s.log.String(), random) {
			t.Errorf("%s: %d %s %v", path, a.status, a.body, a.header)
		}
	}
	s := newService(t, nil)
	for _, path := range []string{
		listing + "?title=herb_garden", listing + "?title=herb_and_spice_garden_of_2024_in_spring", listing + "?title=herb_medicine_chamomileofficinalis",
		listing + "?title=100%25+herb_", listing + "?api_key=" + secret, listing + "?api%5Fkey=" + hex,
	} {
		if a := s.get(t, path); a.status != 200 || strings.Contains(fmt.Sprint(a.header), random) {
			t.Errorf("%s: %d %s %v", path, a.status, a.body, a.header)
		}
	}
	if w := s.do(t, request("OPTIONS", listing+"?title="+secret, "", "Origin: https://x.example", "Access-Control-Request-Method: GET")); w.status != 204 {
		t.Errorf("a preflight gives %d", w.status)
	}
}
