package response

import (
	"context"
	"net/http"
	"time"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// This file is the only one that decides in which lane a request runs, by the cost of its route:
//
//	CostRead: until its response is ready, or after
//	its body was received                            admission.Cheap
//	a query that has worked for some milliseconds    admission.Expensive, by the ticket, to which queries report
//	an export, or a page too large to buffer         admission.Bulk, until the client has read it
//	producing a chunk of one of these                admission.Expensive, in addition
//	CostWrite: after its body was received           admission.Write
//	CostUpload: while a file is being received       admission.Publish, shared between keys
//	work in the background that requests wait for    admission.Background
//
// CostProbe runs in none, and neither do requests that wait for work in the background. Package
// publish runs publishes and reviews in lanes that keys share, too.

// startRetry is the Retry-After of requests to a server that starts.
const startRetry = 2 * time.Second

// Admit gives a request its deadline and its ticket, to which the queries of the returned context
// report. A GET enters its lane. While the server starts, requests wait briefly, so that a node
// that restarts fails none, and are rejected then: the live versions may be older than the files
// and the access that the operator has set. The caller releases the ticket and calls cancel at the
// end of the request.
func (w *Writer) Admit(r *http.Request) (ctx context.Context, cancel context.CancelFunc, err error) {
	w.ticket = w.shared.opts.Admission.NewTicket(w.Client())
	w.client = r.Context()
	ctx, cancel = w.limitTime(w.start)
	if step := w.shared.opts.Starting(ctx); step != "" {
		err = &herb.Error{Code: herb.CodeUnavailable, Message: "the server is starting: " + step + "; try again",
			RetryAfter: startRetry}
	} else if w.Route.Method == http.MethodGet {
		err = w.ticket.Enter(ctx, admission.Cheap)
	}
	return query.WithPacer(ctx, &w.pacer), cancel, err
}

// limitTime returns the context of a request that must end within the time limit.
func (w *Writer) limitTime(start time.Time) (context.Context, context.CancelFunc) {
	w.deadline = newDeadline(w.client, start.Add(w.shared.opts.RequestTimeout))
	w.pacer = pacer{&w.ticket, w.deadline}
	return w.deadline, w.deadline.finish
}

// pacer schedules the queries of a request. Time in which the request waits for work in the
// background does not count.
type pacer struct {
	*admission.Ticket
	deadline *deadline
}

// Wait implements query.Pacer.
func (p *pacer) Wait(ctx context.Context, limit time.Duration, done <-chan struct{}) error {
	if p.deadline.stop() {
		defer p.deadline.resume()
	}
	return p.Ticket.Wait(ctx, limit, done)
}

// AdmitBody enters the lane of a request whose body was received.
func (w *Writer) AdmitBody(r *http.Request) error {
	lane := admission.Write
	if w.Route.Cost == CostRead {
		lane = admission.Cheap
	}
	return w.ticket.Enter(r.Context(), lane)
}

// AdmitExport enters the lane of exports. The first byte of the response must be sent within
// Options.RequestTimeout, or else the returned context is canceled with context.DeadlineExceeded as
// its cause. It is not limited otherwise.
func (w *Writer) AdmitExport(r *http.Request) (ctx context.Context, cancel func(), err error) {
	if err := w.ticket.Enter(r.Context(), admission.Bulk); err != nil {
		return nil, nil, err
	}
	ctx, cancel = w.limitTime(time.Now())
	return query.WithPacer(ctx, &w.pacer), cancel, nil
}

// AdmitLargePage enters the lane of pages that are too large to buffer.
func (w *Writer) AdmitLargePage(r *http.Request) error {
	return w.ticket.Enter(r.Context(), admission.Bulk)
}

// AdmitUpload enters the lane of publishes for a file that is being received, as the key that the
// caller has authorized: one key is used from many addresses. The returned context has no deadline:
// the file may take as long as its client sends.
func (w *Writer) AdmitUpload(r *http.Request) (context.Context, error) {
	w.ticket.Release()
	w.ticket = w.shared.opts.Admission.NewTicket(admission.ClientOfKey(w.verified.principal.ID))
	limited, cancel := context.WithTimeout(r.Context(), w.shared.opts.RequestTimeout) // that of a page has no deadline
	defer cancel()
	return w.client, w.ticket.Enter(limited, admission.Publish)
}

// UploadStall is how long a client may stop sending a file.
func (w *Writer) UploadStall() time.Duration { return w.shared.opts.UploadStall }

// Release releases the slot of a request. It may be called more than once.
func (w *Writer) Release() { w.ticket.Release() }

// ClientContext returns a context without a deadline that is canceled when the client disconnects.
func (w *Writer) ClientContext() context.Context { return w.client }

// WithoutDeadline returns the context of a request without its deadline. It is canceled when the
// client disconnects.
func (w *Writer) WithoutDeadline(r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	stop := context.AfterFunc(w.client, func() { cancel(context.Cause(w.client)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
