package webtest_test

import (
	"context"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// blockOutside blocks a request to another host.
func blockOutside(ctx context.Context, e fetch.EventRequestPaused) {
	_, _ = chromedp.Call(ctx, fetch.FailRequest, // fails only if the tab is gone
		fetch.FailRequestParams{RequestID: e.RequestID, ErrorReason: network.ErrorReasonBlockedByClient})
}
