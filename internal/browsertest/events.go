package browsertest

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

// events records what happened in a tab.
type events struct {
	site string // URL to which requests are allowed
	also string // another one; empty: none

	listeners sync.WaitGroup
	mu        sync.Mutex
	// console errors, exceptions, dialogs, content security policy violations, requests to other
	// hosts
	problems []string
	expected []string // parts of problems that do not fail the test
	requests []string // URLs, in order
	started  map[network.RequestID]string
	ended    map[network.RequestID]int64 // bytes received
}

// listen records the events of a tab until ctx is done.
func listen(ctx context.Context, site, also string) *events {
	e := &events{site: site, also: also, started: map[network.RequestID]string{}, ended: map[network.RequestID]int64{}}
	e.listeners.Go(func() {
		for m, err := range chromedp.Console(ctx) {
			if err != nil {
				return
			}
			if m.IsException() || slices.Contains([]chromedp.ConsoleType{"error", "warning", "assert"}, m.Type) {
				e.problem("%s %s %s", m.Source, m, m.URL)
			}
		}
	})
	on(ctx, e, audits.IssueAdded, func(i audits.EventIssueAdded) {
		if policy := i.Issue.Details.ContentSecurityPolicyIssueDetails; policy != nil {
			e.problem("content policy: %s %s", policy.ViolatedDirective, policy.BlockedURL)
		}
		if mixed := i.Issue.Details.MixedContentIssueDetails; mixed != nil {
			e.problem("mixed content: %s", mixed.InsecureURL)
		}
	})
	on(ctx, e, page.JavascriptDialogOpening, func(d page.EventJavascriptDialogOpening) {
		e.problem("dialog opened: %s", d.Message)
		// the test fails anyway
		_, _ = chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
	})
	on(ctx, e, network.RequestWillBeSent, e.begin)
	on(ctx, e, network.LoadingFinished, func(f network.EventLoadingFinished) {
		e.end(f.RequestID, int64(f.EncodedDataLength))
	})
	on(ctx, e, network.LoadingFailed, func(f network.EventLoadingFailed) {
		e.end(f.RequestID, 0)
		if !f.Canceled && f.ErrorText != "" { // empty: a tab without scripts does not preload modules
			e.problem("a request failed: %s", f.ErrorText)
		}
	})
	on(ctx, e, fetch.RequestPaused, func(p fetch.EventRequestPaused) { blockOutside(ctx, p) })
	return e
}

// on calls a function for every event of a kind.
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

func (e *events) problem(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.problems = append(e.problems, fmt.Sprintf(format, args...))
}

// Expect declares problems that do not fail the test by a part of their text.
func (e *events) Expect(parts ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.expected = append(e.expected, parts...)
}

func (e *events) begin(r network.EventRequestWillBeSent) {
	e.mu.Lock()
	// a navigation: requests of the previous page may be canceled without an event
	if string(r.RequestID) == string(r.LoaderID) {
		for id := range e.started {
			if _, ok := e.ended[id]; !ok {
				e.ended[id] = 0
			}
		}
	}
	e.requests = append(e.requests, r.Request.URL)
	e.started[r.RequestID] = r.Request.URL
	e.mu.Unlock()
	known := func(prefix string) bool { return strings.HasPrefix(r.Request.URL, prefix) }
	if !slices.ContainsFunc([]string{e.site + "/", "data:"}, known) && (e.also == "" || !known(e.also)) {
		e.problem("a request left for %s", r.Request.URL)
	}
}

func (e *events) end(id network.RequestID, bytes int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended[id] = bytes
}

// Idle reports whether no request is in progress.
func (e *events) Idle() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id := range e.started {
		if _, ok := e.ended[id]; !ok {
			return false
		}
	}
	return true
}

// Transferred returns the number of bytes received from the site, including headers, for URLs that
// contain a text.
func (e *events) Transferred(part string) (total int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, bytes := range e.ended {
		if strings.HasPrefix(e.started[id], e.site) && strings.Contains(e.started[id], part) {
			total += bytes
		}
	}
	return total
}

// Requested returns the requested URLs that contain a text.
func (e *events) Requested(part string) (found []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, address := range e.requests {
		if strings.Contains(address, part) {
			found = append(found, address)
		}
	}
	return found
}

// report fails the test with all problems except the HTTP statuses that it expects.
func (e *events) report(t *testing.T, fails []int) {
	t.Helper()
	e.listeners.Wait()
	for _, problem := range e.problems {
		meant := func(status int) bool { return strings.Contains(problem, fmt.Sprintf("with a status of %d ", status)) }
		expected := func(part string) bool { return strings.Contains(problem, part) }
		if !slices.ContainsFunc(fails, meant) && !slices.ContainsFunc(e.expected, expected) {
			t.Errorf("the browser reports: %s", problem)
		}
	}
}

// blockOutside blocks a request to another host.
func blockOutside(ctx context.Context, e fetch.EventRequestPaused) {
	_, _ = chromedp.Call(ctx, fetch.FailRequest, // fails only if the tab is gone
		fetch.FailRequestParams{RequestID: e.RequestID, ErrorReason: network.ErrorReasonBlockedByClient})
}
