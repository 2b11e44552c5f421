package webtest_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// pictureHost is the host of the images of the garden. It does not exist; the tests respond for it.
const pictureHost = "https://garden.example/"

// answerOutside responds to requests for an image of the garden with a drawing, and blocks all others.
func answerOutside(ctx context.Context, e fetch.EventRequestPaused) {
	if !strings.HasPrefix(e.Request.URL, pictureHost) {
		_, _ = chromedp.Call(ctx, fetch.FailRequest,
			fetch.FailRequestParams{RequestID: e.RequestID, ErrorReason: network.ErrorReasonBlockedByClient})
		return
	}
	_, _ = chromedp.Call(ctx, fetch.FulfillRequest, fetch.FulfillRequestParams{ // fails only if the tab is gone
		RequestID: e.RequestID, ResponseCode: 200, Body: []byte(drawing(e.Request.URL)),
		ResponseHeaders: []*fetch.HeaderEntry{{Name: "Content-Type", Value: "image/svg+xml"}},
	})
}

// drawing returns a leaf whose shape and colour depend on a name.
func drawing(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	n := h.Sum32()
	grounds := []string{"#dfe8d6", "#e9e2cf", "#d9e4e1", "#ece0d8", "#e4e6d0"}
	leaves := []string{"#3f7d55", "#5f8f4e", "#2f6b5a", "#8a9a3f", "#a4683c", "#6d7f46"}
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 72" width="384" height="288">`)
	fmt.Fprintf(&b, `<rect width="96" height="72" fill="%s"/>`, grounds[n%5])
	fmt.Fprintf(&b, `<g transform="rotate(%d 48 36)" fill="%s" stroke="%[2]s">`, int(n/64%50)-25, leaves[n/5%6])
	b.WriteString(`<path d="M48 68V14" fill="none" stroke-width="1.5"/>`)
	pairs := 2 + int(n/7%4)
	for i := range pairs {
		y, r := 58-i*40/pairs, 22-i*3
		for _, side := range []int{1, -1} {
			fmt.Fprintf(&b, `<path transform="translate(48 %d) scale(%d 1)" d="M0 0q%d %d %d -%dq-%d -1 -%d %dZ" stroke="none"/>`,
				y, side, r/2, -r/6, r, r/2, r*3/4, r, r/2)
		}
	}
	return b.String() + `<ellipse cx="48" cy="14" rx="4" ry="9" stroke="none"/></g></svg>`
}
