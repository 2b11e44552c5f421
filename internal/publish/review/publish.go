package review

import (
	"context"

	"herbarium/internal/herb"
	"herbarium/internal/publish"
	"herbarium/internal/versions"
)

// Publish starts to publish a draft and returns the ID of the publish, whose state State returns.
// live is Review.Live: the publish is rejected if another version is live or goes live meanwhile,
// so that of two that began from the same version, one wins. The draft is removed when it is live,
// and stays otherwise.
//
// The error has herb.CodeRejected if another version is live, the draft is being published already,
// or its file cannot be published with its edits, and herb.CodeUnavailable if this node has not
// checked the file with its edits yet; it then begins to.
func (s *Service) Publish(ctx context.Context, id string, opts versions.PublishOptions, live string,
	actor herb.Actor) (string, error) {
	r, err := s.load(ctx, id)
	if err != nil {
		return "", err
	}
	d, err := s.opts.Versions.LiveVersion(ctx, r.ref())
	switch {
	case err != nil:
		return "", err
	case d.Version != live:
		return "", versions.ErrConcurrent(r.ref())
	}
	p, err := s.readPlan(id, r, d)
	if err == errUnknown { // a load balancer may have sent the review to another node
		if _, failed := s.start(id, r, d); failed != nil {
			err = failed
		}
	}
	if err != nil {
		return "", err
	}
	if r.Publish != "" {
		if last, err := s.opts.Queue.State(ctx, r.Publish, 0); err == nil && last.Result == nil {
			return "", herb.Errorf(herb.CodeRejected, "the draft is being published already; wait for the result")
		}
	}
	req := p.request(r, s.file(id, r), opts)
	req.Actor = actor
	req.Actor.Note = "sha256 " + r.SHA256
	req.Ended = func(p publish.Publish) {
		if p.State == publish.StateLive {
			s.remove(context.Background(), id)
		}
	}
	started, err := s.opts.Queue.Start(ctx, req)
	if err != nil {
		return "", err
	}
	err = s.update(ctx, id, func(r *storedDraft) bool {
		r.Publish = started.ID
		return true
	})
	if err != nil && herb.CodeOf(err) != herb.CodeNotFound { // it may be live and removed already
		s.opts.Log.Warn("cannot record the publish of a draft", "draft", id, "err", err)
	}
	return started.ID, nil
}

// readPlan returns how a draft is published, as an inspection on this node has shown. The error is
// errUnknown if there was none.
func (s *Service) readPlan(id string, r *storedDraft, live herb.Dataset) (*plan, error) {
	p, err := s.planOf(r, live, s.knownContents(id))
	if err != nil {
		return nil, err
	}
	f := s.finding(id, p.key())
	if f == nil || !f.isComplete() {
		return nil, errUnknown
	}
	return p, f.err
}
