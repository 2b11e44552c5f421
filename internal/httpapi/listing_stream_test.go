package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
)

// pageOf returns an API whose only page has some records of the given size.
func pageOf(t *testing.T, records, size int) *httpapi.API {
	t.Helper()
	d := herb.Dataset{
		Ref: herb.Ref{Namespace: "garden", Name: "large"}, Version: "v1", Records: records,
		Fields: []herb.Field{{Name: "text", Type: herb.TypeText}},
	}
	rec := []byte(`{"text":"` + strings.Repeat("x", size) + `"}`)
	page := query.Page{Total: records}
	for range records {
		page.Records = append(page.Records, rec)
	}
	api, err := httpapi.New(options(t, &preparedLibrary{d, page}))
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// TestLargePages checks streamed and buffered pages on both sides of the size limit.
func TestLargePages(t *testing.T) {
	t.Parallel()
	const target = "/api/v1/garden/large/data?per_page=3"
	for _, size := range []int{100, 80 << 10, 90 << 10, 1 << 20} {
		api := pageOf(t, 3, size)
		rec := `{"text":"` + strings.Repeat("x", size) + `"}`
		want := `{"data":[` + rec + "," + rec + "," + rec +
			`],"meta":{"total":3,"page":1,"per_page":3,"total_pages":1,"has_next":false,"has_prev":false}}`
		for _, coding := range []string{"identity", "gzip", "zstd"} {
			get := httptest.NewRecorder()
			api.ServeHTTP(get, request("GET", target, "", "Accept-Encoding: "+coding, "X-Request-Id: same"))
			length := get.Header().Get("Content-Length")
			if length != "" && length != strconv.Itoa(get.Body.Len()) || coding == "identity" && length == "" {
				t.Errorf("%d %s: Content-Length is %q of %d bytes", size, coding, length, get.Body.Len())
			}
			head := httptest.NewRecorder()
			api.ServeHTTP(head, request("HEAD", target, "", "Accept-Encoding: "+coding, "X-Request-Id: same"))
			if diff := cmp.Diff(get.Header(), head.Header()); diff != "" || head.Body.Len() > 0 {
				t.Errorf("%d %s (-GET +HEAD):\n%s", size, coding, diff)
			}
			for _, name := range []string{"Etag", "Link", "Vary", "Cache-Control", "Content-Type"} {
				if get.Header().Get(name) == "" {
					t.Errorf("%d %s: no %s", size, coding, name)
				}
			}
			if got := unpack(t, get); got != want {
				t.Errorf("%d %s: the body has %d bytes, want %d", size, coding, len(got), len(want))
			}
		}
	}
}

// TestLargePages_memory sends a page of 100 MiB with little memory. It is not parallel, because allocations of other
// tests would count.
func TestLargePages_memory(t *testing.T) {
	api := pageOf(t, 100, 1<<20)
	for _, coding := range []string{"identity", "gzip", "zstd"} {
		send := func() {
			api.ServeHTTP(&nullWriter{http.Header{}}, request("GET", "/api/v1/garden/large/data?per_page=100", "", "Accept-Encoding: "+coding))
		}
		send() // creates the encoders
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		send()
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
			t.Errorf("%s: a page of 100 MiB allocates %d MiB", coding, used>>20)
		}
	}
}
