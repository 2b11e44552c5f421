package webtest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// events is what has happened in a tab.
type events struct {
	site string // where requests may go

	listeners sync.WaitGroup
	mu        sync.Mutex
	troubles  []string // errors on the console, exceptions, dialogues, violations of the content policy, stray requests
	requests  []string // addresses, in order
	started   map[network.RequestID]string
	ended     map[network.RequestID]int64 // with the number of bytes that came
}

// listen collects what happens in a tab until ctx ends.
func listen(ctx context.Context, site string) *events {
	e := &events{site: site, started: map[network.RequestID]string{}, ended: map[network.RequestID]int64{}}
	e.listeners.Go(func() {
		for m, err := range chromedp.Console(ctx) {
			if err != nil {
				return
			}
			if m.IsException() || slices.Contains([]chromedp.ConsoleType{"error", "warning", "assert"}, m.Type) {
				e.trouble("%s %s %s", m.Source, m, m.URL)
			}
		}
	})
	on(ctx, e, audits.IssueAdded, func(i audits.EventIssueAdded) {
		if policy := i.Issue.Details.ContentSecurityPolicyIssueDetails; policy != nil {
			e.trouble("content policy: %s %s", policy.ViolatedDirective, policy.BlockedURL)
		}
		if mixed := i.Issue.Details.MixedContentIssueDetails; mixed != nil {
			e.trouble("mixed content: %s", mixed.InsecureURL)
		}
	})
	on(ctx, e, page.JavascriptDialogOpening, func(d page.EventJavascriptDialogOpening) {
		e.trouble("a dialogue opened: %s", d.Message)
		_, _ = chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{}) // the test fails anyway
	})
	on(ctx, e, network.RequestWillBeSent, e.begin)
	on(ctx, e, network.LoadingFinished, func(f network.EventLoadingFinished) { e.end(f.RequestID, int64(f.EncodedDataLength)) })
	on(ctx, e, network.LoadingFailed, func(f network.EventLoadingFailed) {
		e.end(f.RequestID, 0)
		if !f.Canceled {
			e.trouble("a request failed: %s", f.ErrorText)
		}
	})
	on(ctx, e, fetch.RequestPaused, func(p fetch.EventRequestPaused) { answerOutside(ctx, p) })
	return e
}

// on has a function called for every event of a kind.
func on[E any](ctx context.Context, e *events, kind cdp.Event[E], do func(E)) {
	all := chromedp.Events(ctx, kind)
	e.listeners.Go(func() {
		for event, err := range all {
			if err != nil {
				return
			}
			do(event)
		}
	})
}

func (e *events) trouble(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.troubles = append(e.troubles, fmt.Sprintf(format, args...))
}

func (e *events) begin(r network.EventRequestWillBeSent) {
	e.mu.Lock()
	e.requests = append(e.requests, r.Request.URL)
	e.started[r.RequestID] = r.Request.URL
	e.mu.Unlock()
	known := func(prefix string) bool { return strings.HasPrefix(r.Request.URL, prefix) }
	if !slices.ContainsFunc([]string{e.site + "/", pictureHost, "data:"}, known) {
		e.trouble("a request left for %s", r.Request.URL)
	}
}

func (e *events) end(id network.RequestID, bytes int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended[id] = bytes
}

// idle reports whether no request is under way.
func (e *events) idle() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id := range e.started {
		if _, ok := e.ended[id]; !ok {
			return false
		}
	}
	return true
}

// transferred returns the number of bytes that came from the site, with the headers.
func (e *events) transferred() (total int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, bytes := range e.ended {
		if strings.HasPrefix(e.started[id], e.site) {
			total += bytes
		}
	}
	return total
}

// asked returns the addresses that were asked for and contain something.
func (e *events) asked(part string) (found []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, address := range e.requests {
		if strings.Contains(address, part) {
			found = append(found, address)
		}
	}
	return found
}

// report fails the test with all that went wrong but for the statuses that it meant to get.
func (e *events) report(t *testing.T, fails []int) {
	t.Helper()
	e.listeners.Wait()
	for _, trouble := range e.troubles {
		meant := func(status int) bool { return strings.Contains(trouble, fmt.Sprintf("with a status of %d ", status)) }
		if !slices.ContainsFunc(fails, meant) {
			t.Errorf("the browser reports: %s", trouble)
		}
	}
}
