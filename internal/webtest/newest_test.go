package webtest_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// held delays the responses to some requests until they are released.
type held struct {
	http.Handler
	holds   func(*http.Request) bool
	arrived chan struct{} // closed when a delayed request arrives
	release chan struct{} // close it to release the response
}

func (h *held) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.holds(r) {
		close(h.arrived)
		<-h.release
	}
	h.Handler.ServeHTTP(w, r)
}

// TestLatestRequestWins delays the response to a request until a later one is shown: the earlier
// response must not replace it. The script aborts the earlier request; with abort disabled, the
// response arrives and is dropped.
func TestLatestRequestWins(t *testing.T) {
	t.Parallel()
	const counting = `window.texts = 0; { const text = Response.prototype.text;
		Response.prototype.text = async function () { const t = await text.call(this); setTimeout(() => window.texts++); return t; } }`
	for _, tt := range []struct{ name, before, path, part string }{
		{"page, given up", counting, catalog, "search=r*"},
		{"page, answered all the same", counting + "; AbortController.prototype.abort = () => {};", catalog,
			"search=r*"},
		{"charts, answered all the same", counting + "; AbortController.prototype.abort = () => {};",
			catalog + "/distributions", "search=r*"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := &held{arrived: make(chan struct{}), release: make(chan struct{}), holds: func(r *http.Request) bool {
				return r.URL.Path == tt.path &&
					strings.Contains(strings.ReplaceAll(r.URL.RawQuery, "%2A", "*")+"&", tt.part+"&")
			}}
			b := open(t, newSite(t, func(next http.Handler) http.Handler { h.Handler = next; return h }),
				tabOptions{Before: tt.before})
			b.Visit(catalog)
			b.settled()
			b.Fill("#search", "r")
			<-h.arrived
			b.Press("ose")
			b.Until(`location.search === "?search=rose*" && !document.querySelector("[aria-busy]")`)
			b.settled()
			newest, texts := b.view(), eval[int](b, "window.texts")
			close(h.release)
			if strings.Contains(tt.name, "answered") {
				b.Until("window.texts > " + strconv.Itoa(texts)) // the earlier response was processed
			} else {
				b.Wait("the older request is over", b.Idle)
			}
			if got := b.view(); got != newest {
				t.Errorf("an older answer is shown over a newer one:\n%s\nnot\n%s", got, newest)
			}
			b.agree()
		})
	}
}
